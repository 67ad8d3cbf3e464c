# The checks of ./check that are not ctest's, and what ctest needs on an emulated processor. Sourced after common.sh.
# Each check exits 0, or 77 after a last line "SKIP: reason", or otherwise when it failed.

# outcome passed|failed|skipped NAME REASON: notes it for the summary.
outcome() { printf '%s\t%s\t%s\n' "$1" "$2" "$3" >>"$scratch/outcomes"; }

# check NAME COMMAND…: runs it and notes its outcome.
check() {
  local name=$1 status=0 reason=
  shift
  step "$name" "$@" || status=$?
  case $status in
    0) status=passed ;;
    77) status=skipped reason=$(sed -n 's/^SKIP: //p' "$scratch/step.log" | tail -n 1) ;;
    *) status=failed ;;
  esac
  outcome "$status" "$name" "$reason"
}

check_scripts() { shellcheck --check-sourced demo check .ci/run scripts/fuzz scripts/lint scripts/sanitize; }

# The NEON kernels, on any other machine than an Arm one, where they are among the ordinary tests.
aarch64_packages=(g++-aarch64-linux-gnu qemu-user googletest)
if [[ $(uname -m) =~ ^(aarch64|arm64)$ ]]; then aarch64_packages=(); fi

# prepare_aarch64: builds them and their tests. Sets `emulated` to the presets whose tests there are.
prepare_aarch64() {
  local missing=()
  emulated=()
  [ ${#aarch64_packages[@]} -gt 0 ] || return 0
  command -v aarch64-linux-gnu-g++ >/dev/null || missing+=("a cross compiler")
  command -v qemu-aarch64 >/dev/null || missing+=("qemu-aarch64")
  [ -e /usr/src/googletest/CMakeLists.txt ] || missing+=("the sources of GoogleTest")
  if [ ${#missing[@]} -gt 0 ]; then
    outcome skipped aarch64 "no emulated Arm processor without $(IFS=,; echo "${missing[*]}")"
    return 0
  fi
  configure aarch64-kernels && build aarch64-kernels && emulated=(aarch64-kernels)
}
