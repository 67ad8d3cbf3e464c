/* The C interface, from C11. */
#include <math.h>
#include <soffit/soffit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int faults = 0;

#define CHECK(condition)                                              \
  do {                                                                \
    if (!(condition)) {                                               \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition); \
      ++faults;                                                       \
    }                                                                 \
  } while (0)

enum { kRows = 37, kCols = 512, kN = 3 };

static float value(int i) { return (float)((i * 7919) % 2003) / 1001.0f - 1.0f; }

static soffit_error new_error(void) {
  soffit_error error;
  memset(&error, 0, sizeof error);
  error.size = sizeof error;
  return error;
}

/* A call that must fail, and what its message must name. */
static void expect(soffit_status result, soffit_status status, const soffit_error* error, const char* text, int line) {
  if (result == status && error->status == status && strstr(error->message, text)) return;
  fprintf(stderr, "line %d: %s \"%s\", expected %s with \"%s\"\n", line, soffit_status_name(result), error->message,
          soffit_status_name(status), text);
  ++faults;
}
#define EXPECT_FAILURE(status, text, call)            \
  do {                                                \
    soffit_error error = new_error();                 \
    expect((call), (status), &error, text, __LINE__); \
  } while (0)

static soffit_backend* open_backend(void) {
  soffit_backend_options options;
  soffit_backend* backend = NULL;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.threads = 2;
  options.exact = 1;
  CHECK(soffit_backend_open(&options, &backend, NULL) == SOFFIT_OK);
  return backend;
}

/* kRows x kCols encoded values; freed by the caller. */
static soffit_matrix new_matrix(const char* name, void** bytes) {
  soffit_format format;
  soffit_matrix matrix;
  float* w = malloc(sizeof(float) * kRows * kCols);
  memset(&matrix, 0, sizeof matrix);
  memset(&format, 0, sizeof format);
  format.size = sizeof format;
  CHECK(soffit_format_by_name(name, &format, NULL) == SOFFIT_OK);
  for (int i = 0; i < kRows * kCols; ++i) w[i] = value(i);
  matrix.size = sizeof matrix;
  matrix.format = format.id;
  matrix.rows = kRows;
  matrix.cols = kCols;
  matrix.byte_count = (uint64_t)kRows * kCols / format.block_elements * format.block_bytes;
  *bytes = malloc(matrix.byte_count);
  matrix.bytes = *bytes;
  CHECK(soffit_encode(format.id, w, *bytes, (size_t)kRows * kCols / format.block_elements, NULL) == SOFFIT_OK);
  free(w);
  return matrix;
}

/* y = W x from the decoded bytes, in double precision. */
static void reference(const soffit_matrix* matrix, const float* x, double* y) {
  soffit_format format;
  float* w = malloc(sizeof(float) * kRows * kCols);
  memset(&format, 0, sizeof format);
  format.size = sizeof format;
  CHECK(soffit_format_by_id(matrix->format, &format, NULL) == SOFFIT_OK);
  CHECK(soffit_decode(matrix->format, matrix->bytes, w, (size_t)kRows * kCols / format.block_elements, NULL) ==
        SOFFIT_OK);
  for (int i = 0; i < kN; ++i)
    for (int r = 0; r < kRows; ++r) {
      y[i * kRows + r] = 0;
      for (int k = 0; k < kCols; ++k) y[i * kRows + r] += (double)w[r * kCols + k] * x[i * kCols + k];
    }
  free(w);
}

static void test_names(void) {
  soffit_format format;
  memset(&format, 0, sizeof format);
  format.size = sizeof format;
  CHECK(strlen(soffit_version()) > 0);
  CHECK(strcmp(soffit_status_name(SOFFIT_UNSUPPORTED), "unsupported") == 0);
  CHECK(soffit_format_by_name("q4_k", &format, NULL) == SOFFIT_OK);
  CHECK(format.id == 12 && format.block_elements == 256 && format.block_bytes == 144 && format.supported == 1);
  CHECK(strcmp(format.name, "q4_k") == 0);
  CHECK(soffit_format_by_id(8, &format, NULL) == SOFFIT_OK);
  CHECK(strcmp(format.name, "q8_0") == 0);
  EXPECT_FAILURE(SOFFIT_UNSUPPORTED, "'q4_x'", soffit_format_by_name("q4_x", &format, &error));
  EXPECT_FAILURE(SOFFIT_UNSUPPORTED, "4711", soffit_format_by_id(4711, &format, &error));
  EXPECT_FAILURE(SOFFIT_INVALID_ARGUMENT, "name is NULL", soffit_format_by_name(NULL, &format, &error));
  EXPECT_FAILURE(SOFFIT_INVALID_ARGUMENT, "format is NULL", soffit_format_by_name("q4_k", NULL, &error));
}

/* Callers of other versions: structs that are shorter or longer than ours. */
static void test_sizes(void) {
  struct {
    soffit_backend_options known;
    int64_t later;
  } options;
  struct {
    soffit_error known;
    char after;
  } error;
  soffit_backend* backend = NULL;
  soffit_format format;

  memset(&options, 0, sizeof options);
  EXPECT_FAILURE(SOFFIT_INVALID_ARGUMENT, "size is 0", soffit_backend_open(&options.known, &backend, &error));
  options.known.size = sizeof options;
  options.later = 1;
  EXPECT_FAILURE(SOFFIT_UNSUPPORTED, "options of", soffit_backend_open(&options.known, &backend, &error));
  options.later = 0;
  CHECK(soffit_backend_open(&options.known, &backend, NULL) == SOFFIT_OK);
  soffit_backend_free(backend);
  options.known.size = offsetof(soffit_backend_options, isa);
  options.known.isa = "not read";
  CHECK(soffit_backend_open(&options.known, &backend, NULL) == SOFFIT_OK);
  soffit_backend_free(backend);

  memset(&format, 0x55, sizeof format);
  format.size = offsetof(soffit_format, supported);
  CHECK(soffit_format_by_name("q6_k", &format, NULL) == SOFFIT_OK);
  CHECK(format.block_bytes == 210 && format.supported == 0x55555555);

  for (size_t room = 0; room <= sizeof error.known.message; ++room) {
    memset(&error, 0x55, sizeof error);
    error.known.size = offsetof(soffit_error, message) + room;
    CHECK(soffit_format_by_name("a format of this name is not to be found", &format, &error.known) ==
          SOFFIT_UNSUPPORTED);
    CHECK(error.known.status == SOFFIT_UNSUPPORTED);
    if (room > 0) CHECK(strlen(error.known.message) < room);
    if (room < sizeof error.known.message) CHECK(error.known.message[room] == 0x55);
    CHECK(error.after == 0x55);
  }
}

static void test_linear(const char* name, soffit_layout layout) {
  void* bytes = NULL;
  const soffit_matrix matrix = new_matrix(name, &bytes);
  soffit_backend* backend = open_backend();
  soffit_weights* weights = NULL;
  soffit_linear* linear = NULL;
  soffit_linear_options options;
  float x[kN * kCols], y[kN * kRows], bias[kRows];
  double expected[kN * kRows];
  for (int i = 0; i < kN * kCols; ++i) x[i] = value(3 * i + 1);
  for (int i = 0; i < kRows; ++i) bias[i] = value(5 * i);
  reference(&matrix, x, expected);
  CHECK(soffit_weights_create(backend, &matrix, 1, layout, &weights, NULL) == SOFFIT_OK);
  CHECK(soffit_weights_rows(weights) == kRows && soffit_weights_cols(weights) == kCols);
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.n = kN;
  options.bias = bias;
  CHECK(soffit_linear_create(weights, &options, &linear, NULL) == SOFFIT_OK);
  /* Freed in the wrong order, and used after that. */
  soffit_backend_free(backend);
  soffit_weights_free(weights);
  for (int run = 0; run < 2; ++run) {
    memset(y, 0xff, sizeof y);
    CHECK(soffit_linear_run(linear, x, y, NULL) == SOFFIT_OK);
    for (int i = 0; i < kN * kRows; ++i) CHECK(fabs(y[i] - (expected[i] + bias[i % kRows])) < 1e-3);
  }
  soffit_linear_free(linear);
  free(bytes);
}

/* Two halves of the columns in the place where they lie: their products add up. */
static void test_shards(void) {
  void* bytes = NULL;
  const soffit_matrix whole = new_matrix("q8_0", &bytes);
  const uint64_t row = whole.byte_count / kRows;
  soffit_backend* backend = open_backend();
  float x[kN * kCols], sum[kRows], y[kRows];
  double expected[kN * kRows];
  for (int i = 0; i < kN * kCols; ++i) x[i] = value(i);
  memset(sum, 0, sizeof sum);
  reference(&whole, x, expected);
  for (int half = 0; half < 2; ++half) {
    soffit_matrix shard = whole;
    soffit_weights* weights = NULL;
    soffit_linear* linear = NULL;
    shard.cols = kCols / 2;
    shard.bytes = (const char*)bytes + (uint64_t)half * row / 2;
    shard.byte_count = whole.byte_count - (uint64_t)half * row / 2;
    shard.row_stride = row;
    CHECK(soffit_weights_create(backend, &shard, 1, SOFFIT_LAYOUT_FILE, &weights, NULL) == SOFFIT_OK);
    CHECK(soffit_linear_create(weights, NULL, &linear, NULL) == SOFFIT_OK);
    CHECK(soffit_linear_run(linear, x + half * (kCols / 2), y, NULL) == SOFFIT_OK);
    for (int r = 0; r < kRows; ++r) sum[r] += y[r];
    soffit_linear_free(linear);
    soffit_weights_free(weights);
  }
  for (int r = 0; r < kRows; ++r) CHECK(fabs(sum[r] - expected[r]) < 1e-3);
  soffit_backend_free(backend);
  free(bytes);
}

/* Two matrices on top of each other. */
static void test_stack(void) {
  void *first = NULL, *second = NULL;
  soffit_matrix parts[2];
  soffit_backend* backend = open_backend();
  soffit_weights* weights = NULL;
  soffit_linear* linear = NULL;
  float x[kN * kCols], y[2 * kRows];
  double expected[2][kN * kRows];
  parts[0] = new_matrix("q4_k", &first);
  parts[1] = new_matrix("f16", &second);
  for (int i = 0; i < kN * kCols; ++i) x[i] = value(i + 17);
  for (int p = 0; p < 2; ++p) reference(&parts[p], x, expected[p]);
  CHECK(soffit_weights_create(backend, parts, 2, SOFFIT_LAYOUT_AUTOMATIC, &weights, NULL) == SOFFIT_OK);
  CHECK(soffit_weights_rows(weights) == 2 * kRows);
  CHECK(soffit_linear_create(weights, NULL, &linear, NULL) == SOFFIT_OK);
  CHECK(soffit_linear_run(linear, x, y, NULL) == SOFFIT_OK);
  for (int r = 0; r < 2 * kRows; ++r) CHECK(fabs(y[r] - expected[r / kRows][r % kRows]) < 1e-3);
  soffit_linear_free(linear);
  soffit_weights_free(weights);
  soffit_backend_free(backend);
  free(first);
  free(second);
}

static void test_misuse(void) {
  void* bytes = NULL;
  const soffit_matrix matrix = new_matrix("q4_k", &bytes);
  soffit_matrix wrong = matrix;
  soffit_backend* backend = NULL;
  soffit_backend_options backend_options;
  soffit_linear_options options;
  soffit_weights* weights = NULL;
  soffit_linear* linear = NULL;
  float x[kCols] = {0}, y[kRows];

  memset(&backend_options, 0, sizeof backend_options);
  backend_options.size = sizeof backend_options;
  backend_options.name = "abacus";
  backend = (soffit_backend*)&backend_options; /* not NULL */
  EXPECT_FAILURE(SOFFIT_UNSUPPORTED, "abacus", soffit_backend_open(&backend_options, &backend, &error));
  CHECK(backend == NULL);
  backend_options.name = NULL;
  backend_options.isa = "mmx";
  EXPECT_FAILURE(SOFFIT_UNSUPPORTED, "scalar", soffit_backend_open(&backend_options, &backend, &error));
  EXPECT_FAILURE(SOFFIT_INVALID_ARGUMENT, "backend is NULL", soffit_backend_open(NULL, NULL, &error));
  backend = open_backend();
  CHECK(strcmp(soffit_backend_name(backend), "cpu") == 0);
  CHECK(strlen(soffit_backend_isa(backend)) > 0 && soffit_backend_threads(backend) == 2);

  wrong.byte_count -= 1;
  EXPECT_FAILURE(SOFFIT_INVALID_ARGUMENT, "10656",
                 soffit_weights_create(backend, &wrong, 1, SOFFIT_LAYOUT_FILE, &weights, &error));
  CHECK(weights == NULL);
  wrong = matrix;
  wrong.cols = 500;
  EXPECT_FAILURE(SOFFIT_INVALID_ARGUMENT, "500",
                 soffit_weights_create(backend, &wrong, 1, SOFFIT_LAYOUT_FILE, &weights, &error));
  wrong = matrix;
  wrong.bytes = NULL;
  EXPECT_FAILURE(SOFFIT_INVALID_ARGUMENT, "bytes is NULL",
                 soffit_weights_create(backend, &wrong, 1, SOFFIT_LAYOUT_FILE, &weights, &error));
  wrong = matrix;
  wrong.format = 4711;
  EXPECT_FAILURE(SOFFIT_UNSUPPORTED, "4711",
                 soffit_weights_create(backend, &wrong, 1, SOFFIT_LAYOUT_FILE, &weights, &error));
  EXPECT_FAILURE(SOFFIT_INVALID_ARGUMENT, "0 matrices",
                 soffit_weights_create(backend, &matrix, 0, SOFFIT_LAYOUT_FILE, &weights, &error));
  EXPECT_FAILURE(SOFFIT_INVALID_ARGUMENT, "layout is 7",
                 soffit_weights_create(backend, &matrix, 1, (soffit_layout)7, &weights, &error));
  EXPECT_FAILURE(SOFFIT_INVALID_ARGUMENT, "matrices is NULL",
                 soffit_weights_create(backend, NULL, 1, SOFFIT_LAYOUT_FILE, &weights, &error));

  CHECK(soffit_weights_create(backend, &matrix, 1, SOFFIT_LAYOUT_FILE, &weights, NULL) == SOFFIT_OK);
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.n = -1;
  EXPECT_FAILURE(SOFFIT_INVALID_ARGUMENT, "-1", soffit_linear_create(weights, &options, &linear, &error));
  options.n = INT64_MAX / 2;
  EXPECT_FAILURE(SOFFIT_INVALID_ARGUMENT, "too many", soffit_linear_create(weights, &options, &linear, &error));
  CHECK(linear == NULL);
  CHECK(soffit_linear_create(weights, NULL, &linear, NULL) == SOFFIT_OK);
  EXPECT_FAILURE(SOFFIT_INVALID_ARGUMENT, "x is NULL", soffit_linear_run(linear, NULL, y, &error));
  EXPECT_FAILURE(SOFFIT_INVALID_ARGUMENT, "y is NULL", soffit_linear_run(linear, x, NULL, &error));
  EXPECT_FAILURE(SOFFIT_INVALID_ARGUMENT, "linear is NULL", soffit_linear_run(NULL, x, y, &error));

  soffit_linear_free(linear);
  soffit_weights_free(weights);
  soffit_backend_free(backend);
  soffit_linear_free(NULL);
  soffit_weights_free(NULL);
  soffit_backend_free(NULL);
  free(bytes);
}

int main(void) {
  test_names();
  test_sizes();
  test_linear("q4_k", SOFFIT_LAYOUT_AUTOMATIC);
  test_linear("q4_k", SOFFIT_LAYOUT_FILE);
  test_linear("f32", SOFFIT_LAYOUT_AUTOMATIC);
  test_shards();
  test_stack();
  test_misuse();
  if (faults) fprintf(stderr, "%d faults\n", faults);
  return faults != 0;
}
