# Shared by demo and check: what both need before they can do their work. Sourced, not run.

say() { printf '%s\n' "$*" >&2; }

# The Debian packages a build and the tests need.
build_packages=(g++ cmake ninja-build pkg-config git libcli11-dev libfmt-dev nlohmann-json3-dev libpcre2-dev)
test_packages=(libgtest-dev libgmock-dev python3 python3-venv)

# install_packages PACKAGE…: installs those that are missing; where that is not allowed, names them and stops.
install_packages() {
  local missing=() package as_root=()
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return 0
  if [ "$(id -u)" -ne 0 ]; then
    if command -v sudo >/dev/null && sudo -n true 2>/dev/null; then
      as_root=(sudo -n)
    else
      say "missing packages: ${missing[*]}"
      say "install them with: apt-get install ${missing[*]}"
      exit 2
    fi
  fi
  say "installing ${#missing[@]} packages: ${missing[*]}"
  "${as_root[@]}" apt-get -qq update >&2
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${missing[@]}" >&2
}

# build_preset PRESET [TARGET…]: configures once, then builds what has changed.
build_preset() {
  local preset=$1
  shift
  [ -f "build/$preset/build.ninja" ] || cmake --preset "$preset" >&2
  cmake --build --preset "$preset" ${*:+--target "$@"} >&2
}

model_cache=${XDG_CACHE_HOME:-$HOME/.cache}/soffit
