#include "cpu/isa.hpp"

#include <vector>

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace soffit::cpu {
namespace {

#if defined(__x86_64__)
struct Need {
  const char* feature;
  bool present;
};

std::string missing(std::initializer_list<Need> needs) {
  std::string list;
  for (const auto& n : needs)
    if (!n.present) list += (list.empty() ? "the processor lacks " : ", ") + std::string(n.feature);
  return list;
}

struct Cpuid {
  unsigned a = 0, b = 0, c = 0, d = 0;
  Cpuid(unsigned leaf, unsigned sub) {
    if (leaf <= unsigned(__get_cpuid_max(leaf & 0x80000000u, nullptr))) __cpuid_count(leaf, sub, a, b, c, d);
  }
};

uint64_t enabled_state() {
  if (!(Cpuid(1, 0).c >> 27 & 1)) return 0;  // OSXSAVE
  unsigned low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return uint64_t(high) << 32 | low;
}

std::vector<IsaEntry> detect() {
  const Cpuid one(1, 0), seven(7, 0);
  const uint64_t state = enabled_state();
  const bool ymm = (state & 0x6) == 0x6, zmm = (state & 0xe6) == 0xe6;
  const auto bit = [](unsigned r, int i) { return (r >> i & 1) != 0; };
  const std::string avx2 = missing({{"AVX", bit(one.c, 28)},
                                    {"FMA", bit(one.c, 12)},
                                    {"F16C", bit(one.c, 29)},
                                    {"AVX2", bit(seven.b, 5)},
                                    {"the system's support for 256-bit registers", ymm}});
  const std::string avx512 = missing({{"AVX2", avx2.empty()},
                                      {"AVX512F", bit(seven.b, 16)},
                                      {"AVX512BW", bit(seven.b, 30)},
                                      {"AVX512DQ", bit(seven.b, 17)},
                                      {"AVX512VL", bit(seven.b, 31)},
                                      {"AVX512_VNNI", bit(seven.c, 11)},
                                      {"AVX512_VBMI", bit(seven.c, 1)},
                                      {"GFNI", bit(seven.c, 8)},
                                      {"the system's support for 512-bit registers", zmm}});
  const std::string arm = "not an Arm processor";
  return {{Isa::scalar, "scalar", true, ""},
          {Isa::neon, "neon", false, arm},
          {Isa::neon_dotprod, "neon_dotprod", false, arm},
          {Isa::avx2, "avx2", avx2.empty(), avx2},
          {Isa::avx512, "avx512", avx512.empty(), avx512}};
}
#else
std::vector<IsaEntry> detect() {
  const std::string x86 = "not an x86-64 processor";
#if defined(__aarch64__)
  const bool arm = true;
#if defined(__linux__)
  const bool dot = (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0;
#else
  const bool dot = true;  // every Apple arm64 processor has it
#endif
#else
  const bool arm = false, dot = false;
#endif
  return {{Isa::scalar, "scalar", true, ""},
          {Isa::neon, "neon", arm, arm ? "" : "not an Arm processor"},
          {Isa::neon_dotprod, "neon_dotprod", dot, dot ? "" : "the processor lacks the dot product instructions"},
          {Isa::avx2, "avx2", false, x86},
          {Isa::avx512, "avx512", false, x86}};
}
#endif

}  // namespace

std::span<const IsaEntry> isas() {
  static const std::vector<IsaEntry> kList = detect();
  return kList;
}

Result<Isa> find_isa(std::string_view name) {
  std::string available, reason = "is not known";
  Isa best = Isa::scalar;
  for (const auto& e : isas()) {
    if (e.available) {
      if (e.name == name) return e.isa;
      best = e.isa;
      available += (available.empty() ? "" : ", ") + std::string(e.name);
    } else if (e.name == name) {
      reason = "is not available: " + e.reason;
    }
  }
  if (name == "auto") return best;
  if (name == "avx_vnni" || name == "amx" || name == "neon_i8mm") reason = "has no kernels yet";
  return unsupported("instruction set '" + std::string(name) + "' " + reason + "; there is: " + available);
}

std::string_view to_string(Isa isa) {
  for (const auto& e : isas())
    if (e.isa == isa) return e.name;
  return "unknown";
}

}  // namespace soffit::cpu
