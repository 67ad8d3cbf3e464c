#include "text/stream_decoder.hpp"

#include <utility>

#include "text/utf8.hpp"

namespace soffit::text {

std::string StreamDecoder::push(std::string_view bytes) {
  pending_.append(bytes);
  // Only the last three bytes can begin a sequence that does not end here.
  size_t whole = pending_.size();
  for (size_t back = 1; back <= 3 && back <= pending_.size(); ++back) {
    const size_t offset = pending_.size() - back;
    const auto byte = uint8_t(pending_[offset]);
    if ((byte & 0xC0) == 0x80) continue;
    if (classify_sequence(pending_, offset).state == SequenceState::incomplete) whole = offset;
    break;
  }
  std::string held = pending_.substr(whole);
  pending_.resize(whole);
  std::string out = replace_invalid(pending_);
  pending_ = std::move(held);
  return out;
}

std::string StreamDecoder::finish() {
  std::string out = replace_invalid(pending_);
  pending_.clear();
  return out;
}

}  // namespace soffit::text
