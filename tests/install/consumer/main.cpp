// A user of the installed library: it sees the public headers alone, and links all of the library's parts.
#include <cstdio>
#include <soffit/backend.hpp>
#include <soffit/format.hpp>
#include <soffit/gguf.hpp>
#include <soffit/operation.hpp>
#include <soffit/status.hpp>

int main() {
  const auto missing = soffit::gguf::File::open("no such file.gguf");
  if (missing || missing.error().code != soffit::Code::io) return 1;
  const auto backend = soffit::create_backend("cpu", {.threads = 1});
  if (!backend) return std::printf("%s\n", backend.error().message.c_str()), 1;
  const soffit::Support linear =
      (*backend)->supports(soffit::OperationKind::linear, soffit::Format::q4_k, {.rows = 16, .cols = 256});
  if (!linear) return std::printf("%s\n", linear.reason.c_str()), 1;
  std::printf("installed soffit: %zu formats, %s %s\n", soffit::all_formats().size(),
              std::string((*backend)->isa()).c_str(), linear.kernel.c_str());
}
