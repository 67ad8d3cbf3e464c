# soffit_python_test(NAME SCRIPT [ARGUMENTS argument…] [LABELS label…])
# A Python script as a test. It exits 77 after a line "SKIP: reason" when a package it needs is missing. SOFFIT_PYTHON, from the
# cache or the environment, names an interpreter that has the packages (numpy, gguf, xllamacpp).
include_guard(GLOBAL)
set(SOFFIT_PYTHON "$ENV{SOFFIT_PYTHON}" CACHE FILEPATH "Python interpreter for the tests (default: the one found)")
find_package(Python3 COMPONENTS Interpreter)

function(soffit_python_test NAME SCRIPT)
  cmake_parse_arguments(A "" "" "ARGUMENTS;LABELS" ${ARGN})
  set(interpreter "${SOFFIT_PYTHON}")
  if(NOT interpreter)
    set(interpreter "${Python3_EXECUTABLE}")
  endif()
  if(NOT interpreter)
    add_test(NAME ${NAME} COMMAND ${CMAKE_COMMAND} -E echo "SKIP: no Python 3 interpreter")
    set_tests_properties(${NAME} PROPERTIES SKIP_REGULAR_EXPRESSION "SKIP: " LABELS "${A_LABELS}")
    return()
  endif()
  add_test(NAME ${NAME} COMMAND ${interpreter} ${CMAKE_CURRENT_SOURCE_DIR}/${SCRIPT} ${A_ARGUMENTS})
  # One BLAS thread: the matrices are tiny, and other tests run beside. No bytecode: the source tree stays clean.
  set_tests_properties(${NAME} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600 LABELS "${A_LABELS}" ENVIRONMENT
                       "OPENBLAS_NUM_THREADS=1;OMP_NUM_THREADS=1;PYTHONDONTWRITEBYTECODE=1")
endfunction()
