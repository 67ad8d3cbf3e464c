#!/usr/bin/env bash
# The Metal kernels on a CUDA GPU: against the oracle, against the lanes bit by bit, and under compute-sanitizer, which also has
# to find planted faults. docs/metal-on-cuda.md says what it found.
#   tests/metal/cuda/run.sh BUILD-DIRECTORY LOG-DIRECTORY [PART…]       parts: suite bits planted sanitize suite-all bits-all sanitize-all
set -uo pipefail
if [ $# -lt 2 ]; then sed -n '2,4s/^# *//p' "$0" >&2; exit 2; fi
build=$1 logs=$2
shift 2
parts=${*:-suite bits planted sanitize}
mkdir -p "$logs"
failures=0

program() {  # by its name, wherever it lies in the build directory
  local found
  found=$(find "$build" -type f -name "$1" -perm -u+x | head -1)
  [ -n "$found" ] || { echo "no $1 below $build" >&2; exit 2; }
  echo "$found"
}
test=$(program metal_cuda_test) || exit 2
faulty=$(program metal_cuda_faulty) || exit 2

# report NAME WANTED GOT: what came of it, with the seconds it took.
report() {
  local verdict=right
  [ "$2" = "$3" ] || verdict=WRONG failures=$((failures + 1))
  printf '%-44s %-24s %s, %s s\n' "$1" "$3" "$verdict" "$((SECONDS - began))"
}

passes() {  # NAME LIMIT COMMAND…
  local name=$1 limit=$2 log
  shift 2
  began=$SECONDS log="$logs/${name//[^a-zA-Z0-9]/_}.log"
  local got=passes
  timeout "$limit" "$@" >"$log" 2>&1 || got="exit code $?"
  report "$name" passes "$got"
  grep -E '^[0-9]+ cases|ERROR SUMMARY|RACECHECK SUMMARY' "$log" | sed 's/^=* */    /' | sort -u
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

compared() {  # FewShapes or AllShapes; a table of the kernels follows
  passes "bits of the lanes, $1" 600 "$test" --gtest_filter="Bits.$1:Variants.*"
  grep -E '^(kernel|[a-z0-9_]+ +[0-9]+ )|Failure' "$logs/bits_of_the_lanes__$1.log"
}

under() {  # TOOL TESTS
  passes "$1, $2" 600 "${sanitizer[@]}" "$1" "$test" --gtest_filter="$2"
}

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader || exit 2
for part in $parts; do
  case $part in
    suite) passes "suite, few shapes" 300 "$test" --gtest_filter=Suite.FewShapes ;;
    suite-all) passes "suite, all shapes" 600 "$test" --gtest_filter=Suite.AllShapes ;;
    bits) compared FewShapes ;;
    bits-all) compared AllShapes ;;
    planted) planted ;;
    sanitize) for tool in memcheck racecheck synccheck; do under "$tool" Suite.FewShapes; done ;;
    sanitize-all) for tool in memcheck synccheck; do under "$tool" Suite.AllShapes; done && under memcheck 'Variants.*' ;;
    *) echo "no part '$part'" >&2; exit 2 ;;
  esac
done
echo "$failures wrong"
[ $failures = 0 ]
