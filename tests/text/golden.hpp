// The committed strings and ids that these tests compare with, and where the real model files are.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/tokenizer.hpp"

namespace soffit::text::test {

// The strings of data/hostile_strings.txt, in order.
const std::vector<std::string>& hostile_strings();

// The lines of a file of data/, and a line's text without its escapes (described at the head of hostile_strings.txt).
std::vector<std::string> data_lines(const std::string& name);
std::string unescape(std::string_view line);

struct GoldenIds {
  bool defined = true;         // false: llama.cpp does not survive this string
  std::vector<TokenId> plain;  // parse_special off
  std::vector<TokenId> special;
};
// One entry a hostile string, of data/NAME.golden.
std::vector<GoldenIds> golden_ids(const std::string& name);

// data/splits.vocabulary under a pre-tokeniser; make_splits_vocabulary.py says what it is.
Vocabulary splits_vocabulary(const std::string& pre);

// A file of $SOFFIT_TEST_MODEL_DIR, else of ${XDG_CACHE_HOME:-~/.cache}/soffit; nullopt when it is not there.
std::optional<std::filesystem::path> model_file(const std::string& name);

// Why a test that needs the file is skipped.
std::string skip_reason(const std::string& name);

// A string for a failure's message, in printable characters.
std::string printable(std::string_view bytes);

}  // namespace soffit::text::test
