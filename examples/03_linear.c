/* y = W x from C: encode, upload, run, and compare with the reference.
 * Usage: 03_linear [FORMAT] */
#include <math.h>
#include <soffit/soffit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kRows = 300, kCols = 1024 };

static int fail(const soffit_error* error) {
  fprintf(stderr, "%s: %s\n", soffit_status_name(error->status), error->message);
  return 1;
}

/* Pseudo-random, in [-1, 1). */
static float next_value(uint32_t* state) {
  *state = *state * 1664525u + 1013904223u;
  return (float)(*state >> 8) / 8388608.0f - 1.0f;
}

int main(int argc, char** argv) {
  /* Every struct begins with its size; what is not set is 0. */
  soffit_error error = {.size = sizeof error};
  soffit_format format = {.size = sizeof format};
  if (soffit_format_by_name(argc > 1 ? argv[1] : "q6_k", &format, &error)) return fail(&error);

  static float w[kRows * kCols], x[kCols], y[kRows];
  uint32_t random = 1;
  for (int i = 0; i < kRows * kCols; ++i) w[i] = next_value(&random);
  for (int i = 0; i < kCols; ++i) x[i] = next_value(&random);

  /* In a real program these bytes are a tensor of a GGUF file. */
  const size_t blocks = (size_t)kRows * kCols / format.block_elements, size = blocks * format.block_bytes;
  void* bytes = malloc(size);
  if (!bytes || soffit_encode(format.id, w, bytes, blocks, &error)) return fail(&error);

  soffit_backend* backend = NULL;
  soffit_weights* weights = NULL;
  soffit_linear* linear = NULL;
  const soffit_matrix matrix = {
      .size = sizeof matrix, .format = format.id, .rows = kRows, .cols = kCols, .bytes = bytes, .byte_count = size};
  if (soffit_backend_open(NULL, &backend, &error) ||
      soffit_weights_create(backend, &matrix, 1, SOFFIT_LAYOUT_AUTOMATIC, &weights, &error) ||
      soffit_linear_create(weights, NULL, &linear, &error) || soffit_linear_run(linear, x, y, &error))
    return fail(&error);
  printf("soffit %s: %s on %s %s, %d threads\n", soffit_version(), format.name, soffit_backend_name(backend),
         soffit_backend_isa(backend), (int)soffit_backend_threads(backend));

  /* The same product from what the bytes decode to. */
  if (soffit_decode(format.id, bytes, w, blocks, &error)) return fail(&error);
  double wrong = 0, all = 0;
  for (int r = 0; r < kRows; ++r) {
    double sum = 0;
    for (int c = 0; c < kCols; ++c) sum += (double)w[r * kCols + c] * x[c];
    wrong += (y[r] - sum) * (y[r] - sum);
    all += sum * sum;
  }
  printf("relative error %.1e\n", sqrt(wrong / all));
  soffit_linear_free(linear);
  soffit_weights_free(weights);
  soffit_backend_free(backend);
  free(bytes);
  return sqrt(wrong / all) < 0.01 ? 0 : 1; /* activations are int8; NaN fails too */
}
