#include "kernel_arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>

#include "check/blocks.hpp"
#include "check/random.hpp"
#include "console.hpp"
#include "core/half.hpp"
#include "metal/payload.hpp"
#include "soffit/format.hpp"

namespace soffit::tool {
namespace {

namespace fs = std::filesystem;

Error wrong(std::string text) { return invalid_argument("arguments: " + std::move(text)); }

struct ElementType {
  std::string_view name;
  uint32_t bytes;
  char kind;  // f(loat), h(alf), b(float), s(igned), u(nsigned)
};
constexpr ElementType kTypes[] = {{"half", 2, 'h'},    {"float", 4, 'f'},    {"bfloat", 2, 'b'},  {"char", 1, 's'},
                                  {"uchar", 1, 'u'},   {"short", 2, 's'},    {"ushort", 2, 'u'},  {"int", 4, 's'},
                                  {"uint", 4, 'u'},    {"long", 8, 's'},     {"ulong", 8, 'u'},   {"bool", 1, 'u'},
                                  {"int8_t", 1, 's'},  {"uint8_t", 1, 'u'},  {"int16_t", 2, 's'}, {"uint16_t", 2, 'u'},
                                  {"int32_t", 4, 's'}, {"uint32_t", 4, 'u'}, {"int64_t", 8, 's'}, {"uint64_t", 8, 'u'}};

const ElementType* element_type(std::string_view name) {
  const auto found = std::ranges::find(kTypes, name, &ElementType::name);
  return found == std::end(kTypes) ? nullptr : found;
}

double get(const ElementType& type, const std::byte* from) {
  const auto as = [&](auto value) {
    std::memcpy(&value, from, sizeof value);
    return value;
  };
  switch (type.kind) {
    case 'f':
      return double(as(float()));
    case 'h':
      return double(half_to_float(as(uint16_t())));
    case 'b':
      return double(bfloat_to_float(as(uint16_t())));
    case 's':
      return type.bytes == 1   ? as(int8_t())
             : type.bytes == 2 ? as(int16_t())
             : type.bytes == 4 ? as(int32_t())
                               : double(as(int64_t()));
    default:
      return type.bytes == 1   ? as(uint8_t())
             : type.bytes == 2 ? as(uint16_t())
             : type.bytes == 4 ? as(uint32_t())
                               : double(as(uint64_t()));
  }
}

void set(const ElementType& type, std::byte* to, const Json& value) {
  const auto store = [&](auto v) { std::memcpy(to, &v, sizeof v); };
  const double number = value.is_boolean() ? double(value.get<bool>()) : value.get<double>();
  switch (type.kind) {
    case 'f':
      return store(float(number));
    case 'h':
      return store(float_to_half(float(number)));
    case 'b':
      return store(float_to_bfloat(float(number)));
    default:
      const int64_t integer = value.is_number_integer() ? value.get<int64_t>() : int64_t(number);
      std::memcpy(to, &integer, type.bytes);  // little-endian hosts
  }
}

// A member that is an index, such as "3".
Result<uint32_t> index_of(const std::string& text, std::string_view what) {
  uint32_t index = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  if (error != std::errc() || end != text.data() + text.size() || index > 30) {
    return wrong(fmt::format("'{}' is no index of {} (0 to 30)", printable(text), what));
  }
  return index;
}

Result<lanes::Position> position(const Json& json, const char* member, lanes::Position otherwise) {
  if (!json.contains(member)) return otherwise;
  const Json& list = json[member];
  const auto is_count = [](const Json& n) { return n.is_number_unsigned() && n.get<uint64_t>() <= UINT32_MAX; };
  if (!list.is_array() || list.empty() || list.size() > 3 || !std::ranges::all_of(list, is_count)) {
    return wrong(fmt::format("'{}' is to be [x, y, z]", member));
  }
  const auto at = [&](size_t i) { return i < list.size() ? list[i].get<uint32_t>() : 1; };
  return lanes::Position{at(0), at(1), at(2)};
}

Result<std::vector<std::byte>> file_contents(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::vector<char> bytes((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (!in) return Error{Code::io, fmt::format("{}: cannot be read", path.string())};
  std::vector<std::byte> result(bytes.size());
  if (!bytes.empty()) std::memcpy(result.data(), bytes.data(), bytes.size());
  return result;
}

class Reader {
 public:
  Reader(const Json& json, const lanes::Kernel& kernel, const fs::path& directory, uint64_t seed)
      : json_(json), kernel_(kernel), directory_(directory), random_(seed) {}

  Result<KernelArguments> read() {
    SOFFIT_CHECK(check_members());
    SOFFIT_TRY(result_.template_arguments, template_arguments(json_));
    SOFFIT_TRY(result_.launch.grid, position(json_, "grid", {1, 1, 1}));
    SOFFIT_TRY(result_.launch.threadgroup, position(json_, "threadgroup", {lanes::kLanes, 1, 1}));
    for (const auto& [key, value] : members("constants")) {
      SOFFIT_TRY(const uint32_t index, constant_index(key));
      if (!value.is_number() && !value.is_boolean())
        return wrong(fmt::format("function constant {} is no number", key));
      lanes::ConstantValue constant;
      constant.real = value.is_number_float();
      constant.number = value.is_boolean() ? double(value.get<bool>()) : value.get<double>();
      constant.integer = value.is_boolean()          ? int64_t(value.get<bool>())
                         : value.is_number_integer() ? value.get<int64_t>()
                                                     : 0;
      result_.launch.constants[index] = constant;
    }
    for (const auto& [key, value] : members("threadgroup_bytes")) {
      SOFFIT_TRY(const uint32_t index, index_of(key, "threadgroup memory"));
      if (!value.is_number_unsigned()) return wrong(fmt::format("threadgroup memory {} has no size", index));
      result_.launch.threadgroup_bytes[index] = value.get<uint64_t>();
    }
    for (const auto& [key, value] : members("bytes")) SOFFIT_CHECK(read_bytes(key, value));
    for (const auto& [key, value] : members("buffers")) SOFFIT_CHECK(read_buffer(key, value));
    if (json_.contains("weights")) {
      if (!json_["weights"].is_number_unsigned()) return wrong("'weights' is no number of weights");
      result_.weights = json_["weights"].get<uint64_t>();
    }
    if (json_.contains("cols")) {
      if (!json_["cols"].is_number_unsigned() || json_["cols"].get<uint64_t>() > INT32_MAX)
        return wrong("'cols' is no number of columns");
      result_.cols = json_["cols"].get<uint64_t>();
    }
    for (auto& [index, buffer] : result_.buffers) {
      lanes::Buffer& bound = result_.launch.buffers[index];
      bound.data = buffer.memory.data();
      bound.bytes = buffer.memory.bytes();
    }
    return std::move(result_);
  }

 private:
  // A misspelt member would be a silent default.
  Status check_members() const {
    static constexpr std::string_view kMembers[] = {
        "grid", "threadgroup", "template", "constants", "threadgroup_bytes", "bytes", "buffers", "weights", "cols"};
    if (!json_.is_object()) return wrong("they are no JSON object");
    for (const auto& [key, value] : json_.items()) {
      if (std::ranges::find(kMembers, key) == std::end(kMembers))
        return wrong(fmt::format("'{}' is not known", printable(key)));
    }
    return {};
  }

  nlohmann::detail::iteration_proxy<Json::const_iterator> members(const char* name) const {
    static const Json kNone = Json::object();
    return (json_.contains(name) && json_[name].is_object() ? json_[name] : kNone).items();
  }

  static Result<uint32_t> constant_index(const std::string& key) {
    uint32_t index = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
    if (error != std::errc() || end != key.data() + key.size() || index > 65535) {
      return wrong(fmt::format("'{}' is no index of a function constant", printable(key)));
    }
    return index;
  }

  Status read_bytes(const std::string& key, const Json& value) {
    SOFFIT_TRY(const uint32_t index, index_of(key, "a buffer"));
    if (!value.is_string())
      return wrong(fmt::format("bytes of buffer {} are to be a text of hexadecimal digits", index));
    std::string digits;
    for (const char c : value.get<std::string>()) {
      if (!std::isspace(static_cast<unsigned char>(c))) digits += c;
    }
    if (digits.empty() || digits.size() % 2 != 0)
      return wrong(fmt::format("bytes of buffer {}: {} hexadecimal digits", index, digits.size()));
    KernelBuffer buffer;
    buffer.type = "uchar";
    buffer.count = digits.size() / 2;
    SOFFIT_TRY(buffer.memory, lanes::DeviceMemory::create(buffer.count));
    for (size_t i = 0; i < buffer.count; ++i) {
      unsigned byte = 0;
      const auto [end, error] = std::from_chars(digits.data() + 2 * i, digits.data() + 2 * i + 2, byte, 16);
      if (error != std::errc() || end != digits.data() + 2 * i + 2)
        return wrong(fmt::format("bytes of buffer {}: '{}' is no byte", index, printable(digits.substr(2 * i, 2))));
      buffer.memory.data()[i] = std::byte(byte);
    }
    result_.buffers[index] = std::move(buffer);
    result_.launch.buffers[index].role = lanes::Role::index;
    return {};
  }

  // What a buffer is taken for when nobody says: arguments, results, data.
  lanes::Role usual_role(uint32_t index) const {
    for (uint32_t p = 0; p < kernel_.parameter_count; ++p) {
      const lanes::KernelParameter& parameter = kernel_.parameters[p];
      if (parameter.kind != lanes::Parameter::buffer || parameter.index != index) continue;
      return parameter.constant   ? lanes::Role::index
             : parameter.writable ? lanes::Role::output
                                  : lanes::Role::activations;
    }
    return lanes::Role::index;
  }

  Status read_buffer(const std::string& key, const Json& json) {
    SOFFIT_TRY(const uint32_t index, index_of(key, "a buffer"));
    const std::string name = fmt::format("buffer {}", index);
    static constexpr std::string_view kMembers[] = {"type",      "count", "fill", "file",  "expect",
                                                    "tolerance", "save",  "role", "format"};
    if (!json.is_object() || !json.contains("type") || !json["type"].is_string()) return wrong(name + " has no type");
    for (const auto& [member, value] : json.items()) {
      if (std::ranges::find(kMembers, member) == std::end(kMembers))
        return wrong(fmt::format("{}: '{}' is not known", name, printable(member)));
    }
    KernelBuffer buffer;
    buffer.type = json["type"].get<std::string>();
    lanes::Buffer& bound = result_.launch.buffers[index];
    bound.role = usual_role(index);
    const ElementType* type = element_type(buffer.type);
    const FormatInfo* format =
        find_format(type ? (json.contains("format") ? json["format"].get<std::string>() : "") : buffer.type);
    if (!type && (!format || !format->supported)) {
      return wrong(
          fmt::format("{}: unknown type '{}': a type of Metal's (half, float, uchar …) or a format of blocks (q4_k …)",
                      name, printable(buffer.type)));
    }
    if (json.contains("format") && (!format || !format->supported))
      return wrong(fmt::format("{}: unknown format", name));
    if (format) {
      bound.role = lanes::Role::weights;
      bound.layout = metal::block_layout(Format(format->id));
      buffer.format = Format(format->id);
    }
    if (json.contains("role")) SOFFIT_CHECK(set_role(json["role"], name, bound.role));
    const uint64_t element = type ? type->bytes : format->block_bytes;

    std::vector<std::byte> contents;
    if (json.contains("file")) {
      if (!json["file"].is_string()) return wrong(name + ": 'file' is to be a path");
      SOFFIT_TRY(contents, file_contents(directory_ / json["file"].get<std::string>()));
      buffer.count = contents.size() / element;
    }
    const Json fill = json.contains("fill") ? json["fill"] : Json("zero");
    if (fill.is_array()) buffer.count = fill.size();
    if (json.contains("count")) {
      if (!json["count"].is_number_unsigned()) return wrong(name + ": 'count' is no number of elements");
      buffer.count = json["count"].get<uint64_t>();
    }
    if (buffer.count == 0 || buffer.count > (uint64_t(1) << 40) / element)
      return wrong(fmt::format("{} of {} elements", name, buffer.count));
    SOFFIT_TRY(buffer.memory, lanes::DeviceMemory::create(buffer.count * element));
    if (!contents.empty()) {
      if (contents.size() != buffer.count * element)
        return wrong(
            fmt::format("{}: the file has {} bytes, the buffer {}", name, contents.size(), buffer.count * element));
      std::memcpy(buffer.memory.data(), contents.data(), contents.size());
    } else {
      SOFFIT_CHECK(fill_buffer(buffer, type, format, fill, name));
    }
    const auto text = [&](const char* member) {
      return json.contains(member) && json[member].is_string() ? json[member].get<std::string>() : std::string();
    };
    buffer.expect = text("expect");
    buffer.save = text("save");
    if (json.contains("tolerance") && json["tolerance"].is_number()) buffer.tolerance = json["tolerance"].get<double>();
    result_.buffers[index] = std::move(buffer);
    return {};
  }

  static Status set_role(const Json& json, const std::string& name, lanes::Role& role) {
    static const std::map<std::string, lanes::Role> kRoles = {{"weights", lanes::Role::weights},
                                                              {"activations", lanes::Role::activations},
                                                              {"index", lanes::Role::index},
                                                              {"output", lanes::Role::output}};
    const auto found = json.is_string() ? kRoles.find(json.get<std::string>()) : kRoles.end();
    if (found == kRoles.end()) return wrong(name + ": 'role' is weights, activations, index or output");
    role = found->second;
    return {};
  }

  Status fill_buffer(KernelBuffer& buffer, const ElementType* type, const FormatInfo* format, const Json& fill,
                     const std::string& name) {
    if (fill == "zero") return {};
    if (fill == "random" && !type) {
      checker::fill_blocks(Format(format->id), checker::Blocks::random, random_, buffer.memory.span());
      return {};
    }
    if (fill == "random") {
      for (uint64_t i = 0; i < buffer.count; ++i) {
        const bool number = type->kind == 'f' || type->kind == 'h' || type->kind == 'b';
        set(*type, buffer.memory.data() + i * type->bytes,
            number ? Json(double(random_.normal())) : Json(int64_t(random_.next() >> 1)));
      }
      return {};
    }
    if (!fill.is_array() || !type) return wrong(name + ": 'fill' is \"zero\", \"random\" or a list of numbers");
    if (fill.size() > buffer.count)
      return wrong(fmt::format("{}: {} numbers for {} elements", name, fill.size(), buffer.count));
    for (size_t i = 0; i < fill.size(); ++i) {
      if (!fill[i].is_number() && !fill[i].is_boolean())
        return wrong(fmt::format("{}: element {} of 'fill' is no number", name, i));
      set(*type, buffer.memory.data() + i * type->bytes, fill[i]);
    }
    return {};
  }

  const Json& json_;
  const lanes::Kernel& kernel_;
  const fs::path& directory_;
  checker::Random random_;
  KernelArguments result_;
};

}  // namespace

Result<std::vector<std::string>> template_arguments(const Json& json) {
  std::vector<std::string> arguments;
  if (!json.is_object() || !json.contains("template")) return arguments;
  const Json& list = json["template"];
  if (!list.is_array() || !std::ranges::all_of(list, [](const Json& item) { return item.is_string(); })) {
    return wrong("'template' is to be a list of texts");
  }
  for (const Json& item : list) arguments.push_back(item.get<std::string>());
  return arguments;
}

Result<KernelArguments> kernel_arguments(const Json& json, const lanes::Kernel& kernel, const fs::path& directory,
                                         uint64_t seed) {
  return Reader(json, kernel, directory, seed).read();
}

Result<Comparison> compared(const KernelBuffer& buffer, uint32_t index, const fs::path& directory) {
  SOFFIT_TRY(const auto expected, file_contents(directory / buffer.expect));
  if (expected.size() != buffer.memory.bytes()) {
    return wrong(
        fmt::format("buffer {} has {} bytes, {} has {}", index, buffer.memory.bytes(), buffer.expect, expected.size()));
  }
  const ElementType* type = element_type(buffer.type);
  const uint64_t element = type ? type->bytes : 1;
  for (uint64_t i = 0; i < expected.size() / element; ++i) {
    const std::byte *got = buffer.memory.data() + i * element, *wanted = expected.data() + i * element;
    if (std::memcmp(got, wanted, element) == 0) continue;
    if (!type)
      return Comparison{
          fmt::format("buffer {}: byte {} is {}, expected {}", index, i, unsigned(*got), unsigned(*wanted))};
    const double value = get(*type, got), right = get(*type, wanted);
    if (std::fabs(value - right) <= buffer.tolerance * std::max(1.0, std::fabs(right))) continue;
    return Comparison{fmt::format("buffer {}: element {} is {}, expected {}", index, i, value, right)};
  }
  return Comparison{};
}

Status saved(const KernelBuffer& buffer, const fs::path& directory) {
  std::ofstream out(directory / buffer.save, std::ios::binary | std::ios::trunc);
  out.write(reinterpret_cast<const char*>(buffer.memory.data()), std::streamsize(buffer.memory.bytes()));
  out.close();
  if (!out) return Error{Code::io, fmt::format("{}: cannot be written", buffer.save)};
  return {};
}

}  // namespace soffit::tool
