# The checks of ./check that are not ctest's. Sourced after common.sh.
# Each exits 0, or 77 after a last line "SKIP: reason", or otherwise when it failed.

# check NAME COMMAND…: runs it and notes its outcome for the summary.
check() {
  local name=$1 status=0 reason=
  shift
  step "$name" "$@" || status=$?
  case $status in
    0) status=passed ;;
    77) status=skipped reason=$(sed -n 's/^SKIP: //p' "$scratch/step.log" | tail -n 1) ;;
    *) status=failed ;;
  esac
  printf '%s\t%s\t%s\n' "$status" "$name" "$reason" >>"$scratch/outcomes"
}

# Other versions of clang-format lay out some lines differently.
check_format() {
  local wanted=14 version
  version=$(clang-format --version | grep -oE '[0-9]+' | head -n 1)
  if [ "$version" != "$wanted" ]; then
    echo "SKIP: clang-format is version $version, the sources are laid out by version $wanted"
    return 77
  fi
  find include src tools tests fuzz examples -name '*.[ch]pp' -print0 -o -name '*.[ch]' -print0 |
    xargs -0 clang-format --dry-run --Werror
}

check_scripts() { shellcheck --check-sourced demo check .ci/run; }

# check_fuzz NAME: half a minute of new inputs, from the committed ones on. What fails is kept in build/fuzz.
check_fuzz() {
  mkdir -p "$scratch/corpus"
  UBSAN_OPTIONS=halt_on_error=1 "build/fuzz/fuzz/fuzz_$1" -max_total_time=30 -rss_limit_mb=2048 -malloc_limit_mb=64 -timeout=10 \
    -dict="fuzz/$1.dict" -artifact_prefix=build/fuzz/ -print_final_stats=1 "$scratch/corpus" "fuzz/corpus/$1"
}
