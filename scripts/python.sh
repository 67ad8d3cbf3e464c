# The Python packages that tests compare with, in an environment of their own. Sourced after common.sh.

# shellcheck disable=SC2034  # for check
test_python=$cache/python/bin/python

make_environment() {
  rm -rf "$cache/python"
  python3 -m venv "$cache/python" &&
    "$test_python" -m pip install --disable-pip-version-check --no-deps --only-binary :all: --retries 1 --timeout 20 \
      -r scripts/requirements.txt &&
    "$test_python" -c 'import gguf, numpy, xllamacpp' &&
    cp scripts/requirements.txt "$cache/python/complete"
}

# Returns 1 when the packages cannot be fetched.
get_python() {
  cmp -s scripts/requirements.txt "$cache/python/complete" && return 0
  unfinished+=("$cache/python")
  step "Python packages for the comparisons" make_environment || return 1
  unfinished=()
}
