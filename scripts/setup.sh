# Packages and builds. Sourced after common.sh.

build_packages=(g++ cmake ninja-build pkg-config libcli11-dev libfmt-dev nlohmann-json3-dev libpcre2-dev libboost-context-dev libhwloc-dev)

# install_packages PACKAGE…: installs the Debian packages that are missing; where that is not allowed, names them and
# stops.
install_packages() {
  if ! command -v dpkg-query >/dev/null; then
    say "this is not Debian: if the build fails, install what these packages hold: $*"
    return 0
  fi
  local installed package missing=() as_root=()
  installed=$(dpkg-query -W -f='${Status}=${Package}\n' "$@" 2>/dev/null) || true  # fails when it does not know one
  for package in "$@"; do
    [[ $'\n'$installed$'\n' == *$'\n'"install ok installed=$package"$'\n'* ]] || missing+=("$package")
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    if sudo -n true 2>/dev/null; then
      as_root=(sudo -n)
    else
      say "missing packages: ${missing[*]}"
      say "install them with: sudo apt-get install --no-install-recommends ${missing[*]}"
      exit 2
    fi
  fi
  # shellcheck disable=SC2317  # step calls it
  apt_get() { "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=120 "$@"; }
  say "installing ${#missing[@]} packages: ${missing[*]}"
  step "list of packages" apt_get update || true
  if ! step "packages" apt_get install -y --no-install-recommends "${missing[@]}"; then
    say "apt-get could not install them (without a network it cannot): ${missing[*]}"
    exit 2
  fi
}

# python_packages MODULE…: the packages of the modules (pip, ensurepip) that the Python 3 found lacks.
python_packages() {
  local module
  for module in "$@"; do
    python3 -c "import $module" 2>/dev/null && continue
    case $module in
      pip) printf '%s\n' python3 python3-pip ;;
      ensurepip) printf '%s\n' python3 python3-venv ;;
    esac
  done
}

# configure PRESET [OPTION…]; build PRESET [TARGET…]
configure() {
  local preset=$1
  shift
  step "configuring ($preset)" cmake --preset "$preset" "$@"
}
build() {
  local preset=$1 targets=()
  shift
  [ $# -eq 0 ] || targets=(--target "$@")
  step "building ($preset)" cmake --build --preset "$preset" --parallel "${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}" \
    "${targets[@]}"
}
