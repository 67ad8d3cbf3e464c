// The C interface on top of the C++ one. What handles hold is shared, so that the order in which they are freed does
// not matter.
#include "soffit/soffit.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "core/checked.hpp"
#include "core/concat.hpp"
#include "soffit/backend.hpp"
#include "soffit/operation.hpp"

// Members are destroyed from the last to the first: nothing outlives its backend.
struct soffit_backend {
  std::shared_ptr<soffit::Backend> backend;
  std::string name, isa;
};

struct soffit_weights {
  std::shared_ptr<soffit::Backend> backend;
  std::shared_ptr<soffit::Weights> weights;
};

struct soffit_linear {
  std::shared_ptr<soffit::Backend> backend;
  std::shared_ptr<soffit::Weights> weights;
  uint64_t x_bytes = 0, y_bytes = 0;
  std::unique_ptr<soffit::Buffer> x, y, bias;
  std::unique_ptr<soffit::Activations> activations;
  std::unique_ptr<soffit::Plan> plan;
};

namespace {

using namespace soffit;

static_assert(int(Code::ok) == SOFFIT_OK && int(Code::invalid_argument) == SOFFIT_INVALID_ARGUMENT &&
              int(Code::invalid_file) == SOFFIT_INVALID_FILE && int(Code::unsupported) == SOFFIT_UNSUPPORTED &&
              int(Code::out_of_memory) == SOFFIT_OUT_OF_MEMORY && int(Code::io) == SOFFIT_IO &&
              int(Code::cancelled) == SOFFIT_CANCELLED && int(Code::internal) == SOFFIT_INTERNAL);

// Writes no more than the caller's struct has room for, and whole characters.
soffit_status report(soffit_error* error, soffit_status status, std::string_view message) noexcept {
  constexpr size_t kHead = offsetof(soffit_error, message);
  if (!error || error->size < kHead) return status;
  error->status = status;
  const size_t room = std::min(error->size - kHead, sizeof error->message);
  if (room == 0) return status;
  size_t count = std::min(message.size(), room - 1);
  while (count < message.size() && count > 0 && (message[count] & 0xc0) == 0x80) --count;
  std::memcpy(error->message, message.data(), count);
  error->message[count] = 0;
  return status;
}

template <class F>
soffit_status guarded(soffit_error* error, F&& f) noexcept {
  try {
    const Status status = f();
    return status ? SOFFIT_OK : report(error, soffit_status(status.error().code), status.error().message);
  } catch (const std::bad_alloc&) {
    return report(error, SOFFIT_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception& e) {
    return report(error, SOFFIT_INTERNAL, e.what());
  } catch (...) {
    return report(error, SOFFIT_INTERNAL, "an unknown exception");
  }
}

Status need(const void* pointer, const char* name) {
  if (pointer) return {};
  return invalid_argument(concat(name, " is NULL"));
}

// What this version knows of a caller's struct; what an older caller does not have is 0. A newer caller's further
// members must be 0, for nobody would heed them.
template <class T>
Result<T> known(const T* given, const char* name) {
  T value{};
  if (!given) return value;
  if (given->size < sizeof given->size) return invalid_argument(concat(name, ".size is ", given->size));
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  for (size_t i = sizeof(T); i < given->size; ++i)
    if (bytes[i])
      return unsupported(
          concat(name, " of ", given->size, " bytes: of ", sizeof(T), " bytes on this version knows none"));
  std::memcpy(&value, given, std::min(given->size, sizeof(T)));
  return value;
}

Status give(const FormatInfo* f, soffit_format* to) {
  SOFFIT_CHECK(need(to, "format"));
  if (to->size < sizeof to->size) return invalid_argument(concat("format.size is ", to->size));
  const soffit_format value{to->size, f->id, f->block_elements, f->block_bytes, f->supported, f->name.data()};
  std::memcpy(static_cast<void*>(to), &value, std::min(to->size, sizeof value));
  return {};
}

Result<const FormatInfo*> format_of(uint32_t id) {
  const FormatInfo* f = find_format(id);
  if (!f) return unsupported(concat("format id ", id, " is not known"));
  return f;
}
Result<const FormatInfo*> convertible(uint32_t id, const void* from, const void* to, size_t blocks) {
  SOFFIT_TRY(const FormatInfo* f, format_of(id));
  if (!f->supported) return unsupported(concat("format ", f->name, " is known by name and size only"));
  if (blocks > 0) {
    SOFFIT_CHECK(need(from, "from"));
    SOFFIT_CHECK(need(to, "to"));
  }
  return f;
}

Result<std::shared_ptr<Weights>> make_weights(Backend& backend, const soffit_matrix* matrices, size_t count,
                                              Layout layout) {
  std::vector<MatrixDescription> parts;
  std::vector<MatrixSource> sources;
  // The caller's structs are as far apart as its own size says.
  const size_t stride = matrices->size;
  for (size_t i = 0; i < count; ++i) {
    const auto* at = reinterpret_cast<const soffit_matrix*>(reinterpret_cast<const char*>(matrices) + i * stride);
    SOFFIT_TRY(const soffit_matrix m, known(at, "matrix"));
    if (m.size != stride)
      return invalid_argument(concat("matrix ", i, ".size is ", m.size, ", that of matrix 0 ", stride));
    SOFFIT_TRY(const FormatInfo* f, format_of(m.format));
    if (m.byte_count > 0) SOFFIT_CHECK(need(m.bytes, "matrix.bytes"));
    parts.push_back({Format(f->id), m.rows, m.cols, 1});
    sources.push_back({{static_cast<const std::byte*>(m.bytes), size_t(m.byte_count)}, m.row_stride, 0});
  }
  SOFFIT_TRY(std::shared_ptr<Weights> weights, backend.new_weights(parts, layout));
  for (size_t i = 0; i < count; ++i) SOFFIT_CHECK(weights->adopt(i, sources[i], nullptr));
  SOFFIT_CHECK(weights->finish());
  return weights;
}

Result<uint64_t> float_bytes(int64_t n, int64_t cols) {
  const auto count = checked_mul(uint64_t(n), uint64_t(cols));
  const auto bytes = count ? checked_mul(*count, sizeof(float)) : std::nullopt;
  if (!bytes || *bytes > uint64_t(INT64_MAX)) return invalid_argument(concat(n, " rows of ", cols, " are too many"));
  return *bytes;
}

Result<std::unique_ptr<soffit_linear>> make_linear(const soffit_weights& w, const soffit_linear_options& options) {
  const int64_t n = options.n == 0 ? 1 : options.n, rows = w.weights->rows(), cols = w.weights->cols();
  if (n < 0) return invalid_argument(concat("options.n is ", n));
  auto linear = std::make_unique<soffit_linear>();
  linear->backend = w.backend;
  linear->weights = w.weights;
  Backend& backend = *w.backend;
  SOFFIT_TRY(linear->x_bytes, float_bytes(n, cols));
  SOFFIT_TRY(linear->y_bytes, float_bytes(n, rows));
  SOFFIT_TRY(linear->x, backend.new_buffer(linear->x_bytes));
  SOFFIT_TRY(linear->y, backend.new_buffer(linear->y_bytes));
  const Weights* readers[] = {w.weights.get()};
  SOFFIT_TRY(linear->activations, backend.new_activations(n, cols, readers));
  Epilogue epilogue;
  if (options.bias) {
    const auto bias = std::as_bytes(std::span(options.bias, size_t(rows)));
    SOFFIT_TRY(linear->bias, backend.new_buffer(bias.size()));
    SOFFIT_CHECK(linear->bias->write(0, bias));
    epilogue.bias = view(*linear->bias, DataType::f32, 1, rows);
  }
  const Operation operations[] = {
      Prepare{view(*linear->x, DataType::f32, n, cols), linear->activations.get()},
      Linear{w.weights.get(), linear->activations.get(), view(*linear->y, DataType::f32, n, rows), epilogue}};
  SOFFIT_TRY(linear->plan, backend.plan(operations, {}));
  return linear;
}

}  // namespace

extern "C" {

const char* soffit_status_name(soffit_status status) { return to_string(Code(status)); }

const char* soffit_version(void) { return SOFFIT_VERSION; }

soffit_status soffit_format_by_name(const char* name, soffit_format* format, soffit_error* error) {
  return guarded(error, [&]() -> Status {
    SOFFIT_CHECK(need(name, "name"));
    const FormatInfo* f = find_format(std::string_view(name));
    if (!f) return unsupported(concat("format '", name, "' is not known"));
    return give(f, format);
  });
}

soffit_status soffit_format_by_id(uint32_t id, soffit_format* format, soffit_error* error) {
  return guarded(error, [&]() -> Status {
    SOFFIT_TRY(const FormatInfo* f, format_of(id));
    return give(f, format);
  });
}

soffit_status soffit_encode(uint32_t format, const float* from, void* to, size_t blocks, soffit_error* error) {
  return guarded(error, [&]() -> Status {
    SOFFIT_TRY(const FormatInfo* f, convertible(format, from, to, blocks));
    f->encode(from, static_cast<std::byte*>(to), blocks);
    return {};
  });
}

soffit_status soffit_decode(uint32_t format, const void* from, float* to, size_t blocks, soffit_error* error) {
  return guarded(error, [&]() -> Status {
    SOFFIT_TRY(const FormatInfo* f, convertible(format, from, to, blocks));
    f->decode(static_cast<const std::byte*>(from), to, blocks);
    return {};
  });
}

soffit_status soffit_backend_open(const soffit_backend_options* options, soffit_backend** backend,
                                  soffit_error* error) {
  return guarded(error, [&]() -> Status {
    SOFFIT_CHECK(need(backend, "backend"));
    *backend = nullptr;
    SOFFIT_TRY(const soffit_backend_options o, known(options, "options"));
    BackendOptions wanted;
    wanted.threads = o.threads;
    wanted.device = o.device;
    wanted.exact = o.exact != 0;
    if (o.isa) wanted.isa = o.isa;
    SOFFIT_TRY(std::shared_ptr<Backend> made, create_backend(o.name ? o.name : "auto", wanted));
    const std::string name(made->name()), isa(made->isa());
    *backend = new soffit_backend{std::move(made), name, isa};
    return {};
  });
}
void soffit_backend_free(soffit_backend* backend) { delete backend; }
const char* soffit_backend_name(const soffit_backend* backend) { return backend ? backend->name.c_str() : ""; }
const char* soffit_backend_isa(const soffit_backend* backend) { return backend ? backend->isa.c_str() : ""; }
int32_t soffit_backend_threads(const soffit_backend* backend) { return backend ? backend->backend->threads() : 0; }

soffit_status soffit_weights_create(soffit_backend* backend, const soffit_matrix* matrices, size_t count,
                                    soffit_layout layout, soffit_weights** weights, soffit_error* error) {
  return guarded(error, [&]() -> Status {
    SOFFIT_CHECK(need(weights, "weights"));
    *weights = nullptr;
    SOFFIT_CHECK(need(backend, "backend"));
    SOFFIT_CHECK(need(matrices, "matrices"));
    if (count == 0) return invalid_argument("0 matrices");
    if (layout != SOFFIT_LAYOUT_AUTOMATIC && layout != SOFFIT_LAYOUT_FILE)
      return invalid_argument(concat("layout is ", int(layout)));
    const Layout wanted = layout == SOFFIT_LAYOUT_FILE ? Layout::file : Layout::automatic;
    SOFFIT_TRY(auto made, make_weights(*backend->backend, matrices, count, wanted));
    *weights = new soffit_weights{backend->backend, std::move(made)};
    return {};
  });
}
void soffit_weights_free(soffit_weights* weights) { delete weights; }
int64_t soffit_weights_rows(const soffit_weights* weights) { return weights ? weights->weights->rows() : 0; }
int64_t soffit_weights_cols(const soffit_weights* weights) { return weights ? weights->weights->cols() : 0; }

soffit_status soffit_linear_create(soffit_weights* weights, const soffit_linear_options* options,
                                   soffit_linear** linear, soffit_error* error) {
  return guarded(error, [&]() -> Status {
    SOFFIT_CHECK(need(linear, "linear"));
    *linear = nullptr;
    SOFFIT_CHECK(need(weights, "weights"));
    SOFFIT_TRY(const soffit_linear_options o, known(options, "options"));
    SOFFIT_TRY(auto made, make_linear(*weights, o));
    *linear = made.release();
    return {};
  });
}
void soffit_linear_free(soffit_linear* linear) { delete linear; }

soffit_status soffit_linear_run(soffit_linear* linear, const float* x, float* y, soffit_error* error) {
  return guarded(error, [&]() -> Status {
    SOFFIT_CHECK(need(linear, "linear"));
    SOFFIT_CHECK(need(x, "x"));
    SOFFIT_CHECK(need(y, "y"));
    SOFFIT_CHECK(linear->x->write(0, {reinterpret_cast<const std::byte*>(x), size_t(linear->x_bytes)}));
    SOFFIT_CHECK(linear->plan->run());
    return linear->y->read(0, {reinterpret_cast<std::byte*>(y), size_t(linear->y_bytes)});
  });
}

}  // extern "C"
