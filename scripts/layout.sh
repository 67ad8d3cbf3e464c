# Whether the sources are laid out as .clang-format says. Sourced, not run.

# Exits 77 after a line "SKIP: reason" with other versions of clang-format, which lay out some lines differently.
check_layout() {
  local wanted=14 version
  version=$(clang-format --version | grep -oE '[0-9]+' | head -n 1)
  if [ "$version" != "$wanted" ]; then
    echo "SKIP: clang-format is version $version, the sources are laid out by version $wanted"
    return 77
  fi
  find include src tools tests fuzz examples -name '*.[ch]pp' -print0 -o -name '*.[ch]' -print0 |
    xargs -0 clang-format --dry-run --Werror
}
