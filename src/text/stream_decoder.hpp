// Text from a stream of tokens: only whole code points leave it.
#pragma once

#include <string>
#include <string_view>

namespace soffit::text {

class StreamDecoder {
 public:
  // The valid UTF-8 that is certain after these bytes; a sequence that may still be completed is held back, and a
  // faulty one becomes U+FFFD.
  std::string push(std::string_view bytes);
  // What was held back, as U+FFFD, at the end of the stream. The decoder is as new afterwards.
  std::string finish();
  // Bytes held back: at most three.
  std::string_view pending() const { return pending_; }

 private:
  std::string pending_;
};

}  // namespace soffit::text
