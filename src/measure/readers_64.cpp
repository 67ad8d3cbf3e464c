#define SOFFIT_READER_BYTES 64
#include "measure/readers-inl.hpp"

namespace soffit::measure {

std::span<const Reader> readers_64() { return kReaders; }

}  // namespace soffit::measure
