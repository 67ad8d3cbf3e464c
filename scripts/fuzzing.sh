# The fuzz targets, with both sanitizers. Sourced, not run.

fuzz_targets=(gguf text model formats state logits metal)

# run_fuzzer NAME SECONDS CORPUS: new inputs from those in CORPUS and the committed ones on; what reaches something new
# is kept in CORPUS, what fails in build/fuzz.
run_fuzzer() {
  local name=$1 seconds=$2 corpus=$3 dictionary=()
  mkdir -p "$corpus"
  [ ! -e "fuzz/$name.dict" ] || dictionary=(-dict="fuzz/$name.dict")
  "build/fuzz/fuzz/fuzz_$name" -max_total_time="$seconds" -rss_limit_mb=2048 -malloc_limit_mb=64 -timeout=10 \
    -artifact_prefix="build/fuzz/$name-" -print_final_stats=1 "${dictionary[@]}" "$corpus" "fuzz/corpus/$name"
}
