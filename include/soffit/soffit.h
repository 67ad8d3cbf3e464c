/* soffit in C: y = W x with the weights of GGUF files.
 *
 * Every struct begins with its size, which the caller sets to sizeof: later versions add members at the end, and what a
 * caller does not know of is 0. Functions that can fail return a status, and say more in *error, if there is one; what
 * they would have made is then NULL.
 * Nothing is printed, no function ends the process, and no C++ exception gets out.
 *
 * Objects keep what they are made from: they may be freed in any order, and freeing NULL does nothing. One object is
 * for one thread at a time; different ones may be used at once, but the linears of one backend may not.
 */
#ifndef SOFFIT_SOFFIT_H
#define SOFFIT_SOFFIT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The values stay. Here and below numbers, not enumerations: any value may be passed, and a wrong one is an error. */
typedef int32_t soffit_status;
enum {
  SOFFIT_OK = 0,
  SOFFIT_INVALID_ARGUMENT = 1, /* a shape, an id, an option that the caller got wrong */
  SOFFIT_INVALID_FILE = 2,     /* bytes that break their format's rules */
  SOFFIT_UNSUPPORTED = 3,      /* well-formed, but nothing here can do it; the message lists what can */
  SOFFIT_OUT_OF_MEMORY = 4,
  SOFFIT_IO = 5,        /* the operating system refused a read, a write or a mapping */
  SOFFIT_CANCELLED = 6, /* the caller asked to stop */
  SOFFIT_INTERNAL = 7   /* a fault of soffit's own */
};
const char* soffit_status_name(soffit_status status); /* "invalid_argument" */

/* What went wrong. Written only when a call fails. */
typedef struct soffit_error {
  size_t size;
  soffit_status status;
  char message[500]; /* names the thing and the numbers; cut where it is longer */
} soffit_error;

const char* soffit_version(void); /* "0.1.0" */

/* ---- formats ---- */

typedef struct soffit_format {
  size_t size;
  uint32_t id;             /* GGUF's type id */
  uint32_t block_elements; /* a row is whole blocks */
  uint32_t block_bytes;
  int32_t supported; /* 0: known by name and size only */
  const char* name;  /* "q4_k" */
} soffit_format;
soffit_status soffit_format_by_name(const char* name, soffit_format* format, soffit_error* error);
soffit_status soffit_format_by_id(uint32_t id, soffit_format* format, soffit_error* error);
/* The reference conversion of whole blocks, by the format's id. */
soffit_status soffit_encode(uint32_t format, const float* from, void* to, size_t blocks, soffit_error* error);
soffit_status soffit_decode(uint32_t format, const void* from, float* to, size_t blocks, soffit_error* error);

/* ---- backends ---- */

typedef struct soffit_backend soffit_backend;
typedef struct soffit_backend_options {
  size_t size;
  const char* name; /* "cpu"; NULL or "auto": the first that is available */
  const char* isa;  /* instruction set, "avx2"; NULL or "auto": the best that is there */
  int32_t threads;  /* 0: the processors that this process may use */
  int32_t device;
  int32_t exact; /* not 0: activations are never rounded below fp16 */
} soffit_backend_options;
/* `options` may be NULL. */
soffit_status soffit_backend_open(const soffit_backend_options* options, soffit_backend** backend, soffit_error* error);
void soffit_backend_free(soffit_backend* backend);
/* Valid as long as the backend. */
const char* soffit_backend_name(const soffit_backend* backend);
const char* soffit_backend_isa(const soffit_backend* backend);
int32_t soffit_backend_threads(const soffit_backend* backend);

/* ---- weights ---- */

/* `rows` rows of `cols` columns, and where their bytes lie: as in a GGUF file, without gaps where row_stride is 0. */
typedef struct soffit_matrix {
  size_t size;
  uint32_t format;
  int64_t rows, cols;
  const void* bytes;
  uint64_t byte_count;
  uint64_t row_stride; /* bytes from a row to the next: a shard of columns has gaps */
} soffit_matrix;

typedef int32_t soffit_layout;
enum {
  SOFFIT_LAYOUT_AUTOMATIC = 0, /* rearranged as the machine streams them best: the same size, a copy */
  SOFFIT_LAYOUT_FILE = 1       /* used where they lie, if they can be: the bytes must outlive the weights */
};

typedef struct soffit_weights soffit_weights;
/* `count` matrices of the same columns, one on top of the other, such as a model's q, k and v. */
soffit_status soffit_weights_create(soffit_backend* backend, const soffit_matrix* matrices, size_t count,
                                    soffit_layout layout, soffit_weights** weights, soffit_error* error);
void soffit_weights_free(soffit_weights* weights);
int64_t soffit_weights_rows(const soffit_weights* weights); /* of all matrices */
int64_t soffit_weights_cols(const soffit_weights* weights);

/* ---- y = W x ---- */

/* A product of a fixed number of rows of x, ready to be run any number of times. */
typedef struct soffit_linear soffit_linear;
typedef struct soffit_linear_options {
  size_t size;
  int64_t n;         /* rows of x and y; 0 means 1 */
  const float* bias; /* one for each row of the weights, copied; or NULL */
} soffit_linear_options;
/* `options` may be NULL. */
soffit_status soffit_linear_create(soffit_weights* weights, const soffit_linear_options* options,
                                   soffit_linear** linear, soffit_error* error);
void soffit_linear_free(soffit_linear* linear);
/* x is (n, cols), y is (n, rows), row after row; they may lie anywhere and must not overlap. */
soffit_status soffit_linear_run(soffit_linear* linear, const float* x, float* y, soffit_error* error);

#ifdef __cplusplus
}
#endif

#endif
