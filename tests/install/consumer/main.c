/* A user of the installed library from C11: its header alone, linked by CMake and by pkg-config. */
#include <soffit/soffit.h>
#include <stdio.h>

int main(void) {
  soffit_error error = {.size = sizeof error};
  soffit_backend* backend = NULL;
  if (soffit_backend_open(NULL, &backend, &error)) return printf("%s\n", error.message), 1;
  printf("installed soffit: %s from C, on %s\n", soffit_version(), soffit_backend_isa(backend));
  soffit_backend_free(backend);
  return 0;
}
