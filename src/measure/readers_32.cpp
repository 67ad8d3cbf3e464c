#define SOFFIT_READER_BYTES 32
#include "measure/readers-inl.hpp"

namespace soffit::measure {

std::span<const Reader> readers_32() { return kReaders; }

}  // namespace soffit::measure
