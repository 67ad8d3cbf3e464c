#!/usr/bin/env bash
# The Metal kernels on a CUDA GPU: against the oracle, against the lanes bit by bit, and under compute-sanitizer, which also has
# to find planted faults. docs/metal-on-cuda.md says what it found.
#   tests/metal/cuda/run.sh BUILD-DIRECTORY LOG-DIRECTORY [PART…]       parts: check bits planted sanitize check-all bits-all
set -uo pipefail
if [ $# -lt 2 ]; then sed -n '2,4s/^# *//p' "$0" >&2; exit 2; fi
build=$1 logs=$2
shift 2
parts=${*:-check bits planted sanitize}
mkdir -p "$logs"
failures=0

program() {  # by its name, wherever it lies in the build directory
  local found
  found=$(find "$build" -type f -name "$1" -perm -u+x | head -1)
  [ -n "$found" ] || { echo "no $1 below $build" >&2; exit 2; }
  echo "$found"
}
soffit=$(program soffit) bits=$(program metal_cuda_bits_test) faulty=$(program metal_cuda_faulty)

# report NAME WANTED GOT: what came of it, with the seconds it took.
report() {
  local verdict=right
  [ "$2" = "$3" ] || verdict=WRONG failures=$((failures + 1))
  printf '%-44s %-24s %s, %s s\n' "$1" "$3" "$verdict" "$((SECONDS - began))"
}

passes() {  # NAME LIMIT COMMAND…
  local name=$1 limit=$2 log
  shift 2
  began=$SECONDS log="$logs/${name//[^a-z0-9]/_}.log"
  local got=passes
  timeout "$limit" "$@" >"$log" 2>&1 || got="exit code $?"
  report "$name" passes "$got"
  grep -E 'cases passed|ERROR SUMMARY|RACECHECK SUMMARY' "$log" | sed 's/^=* */    /' | sort -u
}

sanitizer=(compute-sanitizer --error-exitcode 99 --print-limit 20 --tool)

# finds TOOL KERNEL TEXT: the tool reports TEXT for the kernel, or "nothing".
finds() {
  local tool=$1 kernel=$2 wanted=$3 log="$logs/planted_$1_$2.log"
  began=$SECONDS
  timeout 60 "${sanitizer[@]}" "$tool" "$faulty" "$kernel" >"$log" 2>&1
  local code=$? got
  if [ "$wanted" = nothing ]; then
    got=nothing
    [ $code = 0 ] || got="exit code $code"
  elif [ $code != 0 ] && grep -q "$wanted" "$log"; then
    got=$wanted
  else
    got="exit code $code"
  fi
  report "$tool $kernel" "$wanted" "$got"
}

planted() {
  local memcheck="Invalid __global__ read" tool
  finds memcheck reads_behind "$memcheck"
  finds memcheck reads_before "$memcheck"
  finds memcheck unguarded_tail "$memcheck"
  finds memcheck writes_behind "Invalid __global__ write"
  finds memcheck shared_out_of_bounds "Invalid __shared__ write"
  finds memcheck misaligned_word "misaligned"
  for kernel in no_barrier simdgroup_barrier_for_all write_after_read; do finds racecheck "$kernel" "hazard"; done
  finds synccheck divergent_barrier "Divergent thread"
  for tool in memcheck racecheck synccheck; do
    finds $tool fine nothing
    finds $tool simdgroup_barrier_within nothing
  done
}

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
for part in $parts; do
  case $part in
    check) passes "check, few shapes" 300 "$soffit" check --backend metal-cuda --quick ;;
    check-all) passes "check, all shapes" 580 "$soffit" check --backend metal-cuda ;;
    bits | bits-all)
      filter='Bits.FewShapes'
      [ "$part" = bits ] || filter='Bits.AllShapes'
      passes "bits of the lanes, $filter" 580 "$bits" --gtest_filter="$filter"
      grep -E '^(kernel|[a-z0-9_]+ +[0-9]+ )|Failure' "$logs"/bits_of_the_lanes*.log | sed 's/^[^:]*log://'
      ;;
    planted) planted ;;
    sanitize)
      for tool in memcheck racecheck synccheck; do
        passes "$tool, few shapes" 580 "${sanitizer[@]}" "$tool" "$soffit" check --backend metal-cuda --quick
      done
      ;;
    *) echo "no part '$part'" >&2; exit 2 ;;
  esac
done
echo "$failures wrong"
[ $failures = 0 ]
