# Messages, steps with progress, and tidy ends. Sourced by demo and check, not run.

say() { printf '%s\n' "$*" >&2; }

stop_ticker() {
  [ -n "${ticker:-}" ] || return 0
  kill -KILL "$ticker" 2>/dev/null || true  # no trap of ours may run in it
  wait "$ticker" 2>/dev/null || true
  ticker=
  if [ -t 2 ]; then printf '\r\033[K' >&2; fi
}

# tick NAME LOG: from the second second on says what is going on: on a terminal in one line, elsewhere now and then.
tick() {
  trap - EXIT INT TERM
  local name=$1 log=$2 started=$SECONDS elapsed next=2 width doing
  while sleep 1; do
    elapsed=$((SECONDS - started))
    [ "$elapsed" -ge 2 ] || continue
    [ -t 2 ] || [ "$elapsed" -ge "$next" ] || continue
    width=$((${COLUMNS:-100} - 45))
    doing=$(tail -c 500 "$log" | tr '\r' '\n' | grep -av '^ \|^$' | tail -n 1 | cut -c1-"$((width > 1 ? width : 1))") || true
    [ -z "${watched:-}" ] || doing="$(du -sm "$watched" | cut -f1) MB"
    if [ -t 2 ]; then
      printf '\r\033[K%s: %d s  %s' "$name" "$elapsed" "$doing" >&2
    else
      say "$name: $elapsed s  $doing"
      next=$((elapsed + 15))
    fi
  done
}

# stop_when_full LOG: a full disk is no reason to go on with something else.
stop_when_full() {
  local place
  grep -qE 'No space left on device|Disk quota exceeded' "$1" || return 0
  say "the disk is full:"
  for place in "$cache" "$PWD" "${TMPDIR:-/tmp}"; do
    say "    $(df -h --output=avail "$place" | tail -n 1 | tr -d ' ') free in $place"
  done
  exit 1
}

# step NAME COMMAND…: runs the command with its output kept aside; shows the end of it when the command fails.
step() {
  local name=$1 log=$scratch/step.log status=0 started=$SECONDS
  shift
  tick "$name" "$log" &
  ticker=$!
  "$@" >"$log" 2>&1 </dev/null || status=$?
  stop_ticker
  if [ "$status" -eq 77 ]; then
    say "$name: skipped"
  elif [ "$status" -ne 0 ]; then
    say "$name: failed after $((SECONDS - started)) s"
    stop_when_full "$log"
    tail -n 40 "$log" >&2
  elif [ $((SECONDS - started)) -ge 2 ]; then
    say "$name: done in $((SECONDS - started)) s"
  fi
  return "$status"
}

# What is fetched is kept in the cache. What is not whole yet lies in `scratch`, on the same file system, so that a move
# puts it in place in one step.
cache=${XDG_CACHE_HOME:-~/.cache}/soffit
if ! mkdir -p "$cache" || ! scratch=$(mktemp -d "$cache/tmp.XXXXXXXX"); then
  say "what is fetched is kept in $cache, which cannot be written; XDG_CACHE_HOME names another place"
  exit 1
fi
find "$cache" -maxdepth 1 -name 'tmp.*' -mtime +0 -exec rm -rf {} +  # of runs that were killed, a day ago or more
unfinished=()  # what else must not stay when a run ends
tidy() {
  stop_ticker
  rm -rf "$scratch" "${unfinished[@]}"
}
trap tidy EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# usage SCRIPT: the comment at its head.
usage() { sed -n '2,/^[^#]/s/^# \{0,1\}//p' "$1"; }
