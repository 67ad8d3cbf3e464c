#include "soffit/status.hpp"

namespace soffit {

const char* to_string(Code code) {
  switch (code) {
    case Code::ok:
      return "ok";
    case Code::invalid_argument:
      return "invalid_argument";
    case Code::invalid_file:
      return "invalid_file";
    case Code::unsupported:
      return "unsupported";
    case Code::out_of_memory:
      return "out_of_memory";
    case Code::io:
      return "io";
    case Code::cancelled:
      return "cancelled";
    case Code::internal:
      return "internal";
  }
  return "unknown";
}

}  // namespace soffit
