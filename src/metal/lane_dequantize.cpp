#include "metal/lane_dequantize.hpp"

#include <algorithm>
#include <cstring>

#include "core/concat.hpp"
#include "metal/payload.hpp"

extern "C" const soffit::lanes::Library* soffit_metal_dequantize_tq1_0_plain();
extern "C" const soffit::lanes::Library* soffit_metal_dequantize_tq1_0_checked();

namespace soffit::metal {
namespace {

#define TQ1_0(name, threads)                                                                       \
  {                                                                                                \
    Format::tq1_0, #name, "dequantize_tq1_0_" #name, threads, soffit_metal_dequantize_tq1_0_plain, \
        soffit_metal_dequantize_tq1_0_checked                                                      \
  }
constexpr DequantizeVariant kVariants[] = {TQ1_0(element, 16), TQ1_0(hoisted, 16), TQ1_0(block, 52)};
#undef TQ1_0

}  // namespace

std::span<const DequantizeVariant> dequantize_variants() { return kVariants; }

const DequantizeVariant* find_dequantize_variant(Format format, std::string_view name) {
  const auto found =
      std::ranges::find_if(kVariants, [&](const DequantizeVariant& v) { return v.format == format && v.name == name; });
  return found == std::end(kVariants) ? nullptr : &*found;
}

Result<Dequantized> run_dequantize(const DequantizeVariant& variant, std::span<const std::byte> bytes,
                                   const LaneOptions& options) {
  const FormatInfo& format = info(variant.format);
  const uint64_t blocks = bytes.size() / format.block_bytes;
  if (blocks == 0 || bytes.size() % format.block_bytes != 0 || blocks > UINT32_MAX / 4096) {
    return invalid_argument(concat(bytes.size(), " bytes are no blocks of ", format.block_bytes, " of ", format.name));
  }
  const lanes::Library& library = *(options.checked ? variant.checked : variant.plain)();
  const lanes::Kernel* kernel = find_kernel(library, variant.kernel);
  if (!kernel) return Error{Code::internal, concat(library.source, " has no kernel ", variant.kernel)};

  const auto threads = uint32_t(blocks * variant.threads_per_block);
  SOFFIT_TRY(const auto count, lanes::DeviceMemory::create(sizeof threads));
  SOFFIT_TRY(const auto from, lanes::DeviceMemory::create(bytes.size()));
  SOFFIT_TRY(const auto to, lanes::DeviceMemory::create(blocks * format.block_elements * sizeof(float)));
  std::memcpy(count.data(), &threads, sizeof threads);
  std::memcpy(from.data(), bytes.data(), bytes.size());

  constexpr uint32_t kThreads = 64;
  lanes::Launch launch;
  launch.grid = {(threads + kThreads - 1) / kThreads, 1, 1};
  launch.threadgroup = {kThreads, 1, 1};
  launch.buffers[0] = {count.data(), count.bytes(), lanes::Role::index, {}};
  launch.buffers[1] = {from.data(), from.bytes(), lanes::Role::weights, block_layout(variant.format)};
  launch.buffers[2] = {to.data(), to.bytes(), lanes::Role::output, {}};
  launch.seed = options.seed;
  launch.contract = options.contract;
  launch.threads = options.threads;
  Dequantized result;
  SOFFIT_TRY(result.outcome, run(library, *kernel, launch, options.watch()));
  result.values.resize(blocks * format.block_elements);
  std::memcpy(result.values.data(), to.data(), size_t(to.bytes()));
  return result;
}

}  // namespace soffit::metal
