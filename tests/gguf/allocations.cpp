#include "allocations.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace soffit::gguf::test {
namespace {

std::atomic<size_t> largest{0};

void* allocate(size_t size) {
  size_t seen = largest;
  while (size > seen && !largest.compare_exchange_weak(seen, size)) {
  }
  if (void* memory = std::malloc(std::max<size_t>(size, 1))) return memory;
  throw std::bad_alloc();
}

}  // namespace

void reset_largest_allocation() { largest = 0; }
size_t largest_allocation() { return largest; }

}  // namespace soffit::gguf::test

void* operator new(size_t size) { return soffit::gguf::test::allocate(size); }
void* operator new[](size_t size) { return soffit::gguf::test::allocate(size); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, size_t) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, size_t) noexcept { std::free(memory); }
