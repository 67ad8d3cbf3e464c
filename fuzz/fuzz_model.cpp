// Any GGUF file as a model: it is refused with a printable message, or it runs. On the backend of the tests, which
// knows no instruction set: what kernels do with weights is for the tests of kernels.
#include "fault.hpp"
#include "model/session.hpp"
#include "plain_backend.hpp"

namespace {

using namespace soffit;

Status run(const model::Model& model) {
  SOFFIT_TRY(const auto session,
             model::Session::create(model, {.context = 6, .batch = 2, .key_value_type = DataType::f32}));
  const auto last = int32_t(model.config().vocabulary - 1);
  const int32_t tokens[] = {0, last, 0};
  SOFFIT_TRY(const auto logits, session->append(0, tokens));
  fuzz::expect(int64_t(logits.size()) == model.config().vocabulary, "logits of another size than the vocabulary");
  const int32_t outside[] = {last + 1};
  fuzz::expect(!session->append(0, outside), "a token outside the vocabulary");
  return {};
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const auto backend = test::make_plain_backend();
  const auto file = gguf::File::parse({reinterpret_cast<const std::byte*>(data), size}, "fuzz");
  if (!file) return 0;
  const auto loaded = model::Model::load(*file, *backend);
  if (!loaded) {
    fuzz::expect_printable(loaded.error());
    return 0;
  }
  if (const Status status = run(**loaded); !status) fuzz::expect_printable(status.error());
  return 0;
}
