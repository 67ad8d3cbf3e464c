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
  local name=$1 log=$2 started=$SECONDS elapsed next=2 doing
  while sleep 1; do
    elapsed=$((SECONDS - started))
    [ "$elapsed" -ge 2 ] || continue
    [ -t 2 ] || [ "$elapsed" -ge "$next" ] || continue
    doing=$(tail -c 500 "$log" | tr '\r' '\n' | grep -v '^ *$' | tail -n 1 | cut -c1-"$((${COLUMNS:-100} - 45))") || true
    [ -z "${watched:-}" ] || doing="$(du -sm "$watched" | cut -f1) MB"
    if [ -t 2 ]; then
      printf '\r\033[K%s: %d s  %s' "$name" "$elapsed" "$doing" >&2
    else
      say "$name: $elapsed s  $doing"
      next=$((elapsed + 15))
    fi
  done
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
    tail -n 40 "$log" >&2
  elif [ $((SECONDS - started)) -ge 2 ]; then
    say "$name: done in $((SECONDS - started)) s"
  fi
  return "$status"
}

# What is fetched is kept in the cache. What is not whole yet lies in `scratch`, on the same file system, so that a move
# puts it in place in one step.
cache=${XDG_CACHE_HOME:-~/.cache}/soffit
mkdir -p "$cache"
scratch=$(mktemp -d "$cache/tmp.XXXXXXXX")
tidy() {
  stop_ticker
  rm -rf "$scratch"
}
trap tidy EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
