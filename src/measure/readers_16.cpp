#define SOFFIT_READER_BYTES 16
#include "measure/readers-inl.hpp"

namespace soffit::measure {

std::span<const Reader> readers_16() { return kReaders; }

}  // namespace soffit::measure
