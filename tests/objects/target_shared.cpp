// An object file as it must not be: an inline function that others may have too, a global, and code before main().
#include <cstdlib>

namespace soffit::cpu {

[[gnu::noinline]] inline int shared_helper(int x) { return x * std::abs(x); }

int runs_early = std::rand();

int shared_kernels() { return shared_helper(runs_early); }

}  // namespace soffit::cpu
