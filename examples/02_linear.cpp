// y = W x with quantised W: encode, upload, plan, run, and compare with the reference.
// Usage: 02_linear [FORMAT]
#include <cmath>
#include <cstdio>
#include <random>
#include <soffit/backend.hpp>
#include <soffit/format.hpp>
#include <soffit/operation.hpp>
#include <span>
#include <vector>

namespace {

constexpr int64_t kRows = 500, kCols = 1024;

soffit::Status multiply(const soffit::FormatInfo& format, std::span<const std::byte> bytes, std::span<const float> x,
                        std::span<float> y) {
  SOFFIT_TRY(const auto backend, soffit::create_backend("auto", {}));

  // Weights: described, written in pieces of any size, finished. The backend may lay them out as it likes.
  const soffit::MatrixDescription matrix{soffit::Format(format.id), kRows, kCols};
  SOFFIT_TRY(const auto weights, backend->new_weights(std::span(&matrix, 1), soffit::Layout::automatic));
  SOFFIT_CHECK(weights->write(0, 0, bytes));
  SOFFIT_CHECK(weights->finish());

  // Buffers, and activations in the form that these weights read.
  SOFFIT_TRY(const auto in, backend->new_buffer(x.size_bytes()));
  SOFFIT_TRY(const auto out, backend->new_buffer(y.size_bytes()));
  const soffit::Weights* reader = weights.get();
  SOFFIT_TRY(const auto activations, backend->new_activations(1, kCols, std::span(&reader, 1)));

  // Recorded once; run as often as there are inputs.
  const soffit::Operation operations[] = {
      soffit::Prepare{.x = view(*in, soffit::DataType::f32, 1, kCols), .to = activations.get()},
      soffit::Linear{
          .weights = reader, .x = activations.get(), .y = view(*out, soffit::DataType::f32, 1, kRows), .epilogue = {}},
  };
  SOFFIT_TRY(const auto plan, backend->plan(operations, {}));
  SOFFIT_CHECK(in->write(0, std::as_bytes(x)));
  SOFFIT_CHECK(plan->run());
  SOFFIT_CHECK(out->read(0, std::as_writable_bytes(y)));

  const std::string_view isa = backend->isa(), layout = weights->layout_name(0);
  std::printf("%.*s as %.*s on %.*s, %d threads\n", int(format.name.size()), format.name.data(), int(layout.size()),
              layout.data(), int(isa.size()), isa.data(), backend->threads());
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  const char* name = argc > 1 ? argv[1] : "q4_k";
  const soffit::FormatInfo* format = soffit::find_format(name);
  if (!format || !format->supported) return std::fprintf(stderr, "no kernels for '%s'\n", name), 2;

  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> w(kRows * kCols), x(kCols), y(kRows);
  for (float& value : w) value = normal(random);
  for (float& value : x) value = normal(random);

  const size_t blocks = w.size() / format->block_elements;
  std::vector<std::byte> bytes(blocks * format->block_bytes);
  format->encode(w.data(), bytes.data(), blocks);
  if (const auto status = multiply(*format, bytes, x, y); !status)
    return std::fprintf(stderr, "%s\n", status.error().message.c_str()), 1;

  // The same product from what the bytes decode to, in double precision.
  format->decode(bytes.data(), w.data(), blocks);
  double error = 0, scale = 0;
  for (int64_t row = 0; row < kRows; ++row) {
    double sum = 0;
    for (int64_t col = 0; col < kCols; ++col) sum += double(w[size_t(row * kCols + col)]) * double(x[size_t(col)]);
    error += (sum - double(y[size_t(row)])) * (sum - double(y[size_t(row)]));
    scale += sum * sum;
  }
  const double relative = std::sqrt(error / scale);
  std::printf("relative error %.1e\n", relative);
  return relative < 0.01 ? 0 : 1;  // int8 activations; NaN fails too
}
