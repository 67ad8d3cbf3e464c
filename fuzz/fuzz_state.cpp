// Any bytes as the saved keys and values of a sequence: they are refused with a printable message, or what save() then
// gives is as long, and loads and saves as it is.
#include <cstring>

#include "cpu/state.hpp"
#include "fault.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace soffit;
  const auto state =
      cpu::CpuState::create({.layers = {KeyValueLayer{1, 2}, KeyValueLayer{2, 3, 5}, RecurrentLayer{4, 3, 1, 2, 2}},
                             .sequences = 2,
                             .context = 100,
                             .batch = 2});
  fuzz::expect(bool(state), "no state");
  const std::span saved(reinterpret_cast<const std::byte*>(data), size);
  if (const Status status = (*state)->load(1, saved); !status) {
    fuzz::expect_printable(status.error());
    return 0;
  }
  int64_t length = 0;
  std::memcpy(&length, data, sizeof length);
  const auto once = (*state)->save(1, length);
  fuzz::expect(once && once->size() == size, "a state that is not saved as it was loaded");
  fuzz::expect(bool((*state)->load(1, *once)), "a saved state that is not loaded");
  const auto twice = (*state)->save(1, length);
  fuzz::expect(twice && *once == *twice, "a state that changes when it is saved and loaded");
  return 0;
}
