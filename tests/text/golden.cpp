#include "golden.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <set>
#include <sstream>

#include "text/byte_alphabet.hpp"
#include "text/utf8.hpp"

namespace soffit::text::test {
namespace {

std::vector<TokenId> parse_ids(const std::string& text) {
  std::istringstream in(text);
  std::vector<TokenId> ids;
  for (TokenId id; in >> id;) ids.push_back(id);
  return ids;
}

}  // namespace

std::vector<std::string> data_lines(const std::string& name) {
  std::ifstream file(std::filesystem::path(SOFFIT_TEXT_TEST_DATA) / name);
  if (!file) {
    std::fprintf(stderr, "cannot read %s\n", name.c_str());
    std::abort();
  }
  std::vector<std::string> out;
  for (std::string line; std::getline(file, line);) out.push_back(line);
  return out;
}

std::string unescape(std::string_view line) {
  std::string out;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] != '\\') {
      out.push_back(line[i]);
      continue;
    }
    const auto number = [&](size_t at, int base) { return std::stoul(std::string(line.substr(at, 8)), nullptr, base); };
    switch (line[++i]) {
      case 'n':
        out.push_back('\n');
        break;
      case 'r':
        out.push_back('\r');
        break;
      case 't':
        out.push_back('\t');
        break;
      case 'e':
        break;
      case '\\':
        out.push_back('\\');
        break;
      case 'x':
        out.push_back(char(std::stoul(std::string(line.substr(i + 1, 2)), nullptr, 16)));
        i += 2;
        break;
      case 'u':
        append_utf8(out, uint32_t(number(i + 2, 16)));
        i = line.find('}', i);
        break;
      case '*': {
        const size_t open = line.find('(', i), close = line.find(')', open);
        const std::string text = unescape(line.substr(open + 1, close - open - 1));
        for (size_t n = number(i + 1, 10); n > 0; --n) out += text;
        i = close;
        break;
      }
      default:
        std::fprintf(stderr, "unknown escape in %s\n", std::string(line).c_str());
        std::abort();
    }
  }
  return out;
}

const std::vector<std::string>& hostile_strings() {
  static const std::vector<std::string> strings = [] {
    std::vector<std::string> out;
    for (const std::string& line : data_lines("hostile_strings.txt")) {
      if (!line.empty() && line[0] != '#') out.push_back(unescape(line));
    }
    return out;
  }();
  return strings;
}

std::vector<GoldenIds> golden_ids(const std::string& name) {
  std::vector<GoldenIds> out;
  for (const std::string& line : data_lines(name + ".golden")) {
    GoldenIds ids;
    const size_t bar = line.find('|');
    ids.defined = bar != std::string::npos;
    if (ids.defined) {
      ids.plain = parse_ids(line.substr(0, bar));
      ids.special = line.find('=', bar) != std::string::npos ? ids.plain : parse_ids(line.substr(bar + 1));
    }
    out.push_back(ids);
  }
  return out;
}

Vocabulary splits_vocabulary(const std::string& pre) {
  Vocabulary v;
  v.pre = pre;
  v.add_bos = false;
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const char c = char(byte);
    v.tokens.push_back(to_byte_alphabet({&c, 1}));
  }
  std::vector<std::string> words;
  std::set<std::string> seen;
  for (const std::string& line : data_lines("splits.vocabulary")) {
    const size_t space = line.find(' ');
    if (line.rfind("# ", 0) == 0 && v.merges.empty()) continue;  // the head line
    if (space == std::string::npos) {
      words.push_back(line);
      continue;
    }
    v.merges.push_back(line);
    std::string piece = line;
    piece.erase(space, 1);
    if (seen.insert(piece).second && seen.size() % 40 != 0) v.tokens.push_back(piece);
  }
  v.tokens.insert(v.tokens.end(), words.begin(), words.end());
  return v;
}

std::optional<std::filesystem::path> model_file(const std::string& name) {
  std::filesystem::path directory;
  if (const char* given = std::getenv("SOFFIT_TEST_MODEL_DIR")) {
    directory = given;
  } else if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache) {
    directory = std::filesystem::path(cache) / "soffit";
  } else if (const char* home = std::getenv("HOME")) {
    directory = std::filesystem::path(home) / ".cache" / "soffit";
  }
  std::error_code error;
  const std::filesystem::path path = directory / name;
  if (!std::filesystem::exists(path, error)) return std::nullopt;
  return path;
}

std::string skip_reason(const std::string& name) {
  return "model file not found: " + name +
         " (looked in SOFFIT_TEST_MODEL_DIR, else in ${XDG_CACHE_HOME:-~/.cache}/soffit)";
}

std::string printable(std::string_view bytes) {
  std::string out;
  for (char c : bytes.substr(0, 200)) {
    char buffer[8];
    std::snprintf(buffer, sizeof buffer, uint8_t(c) < 0x20 || uint8_t(c) >= 0x7F ? "\\x%02x" : "%c", uint8_t(c));
    out += buffer;
  }
  return out;
}

}  // namespace soffit::text::test
