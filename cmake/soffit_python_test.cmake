# soffit_python_test(NAME SCRIPT [ARGUMENTS argument…] [LABELS label…])
# A Python script as a test. It exits 77 after a line "SKIP: reason" when a package it needs is missing. SOFFIT_TEST_PYTHON
# names an interpreter that has the packages of scripts/requirements.txt.
include_guard(GLOBAL)
find_package(Python3 COMPONENTS Interpreter)
set(SOFFIT_TEST_PYTHON "${Python3_EXECUTABLE}" CACHE FILEPATH "Python for the tests that compare (scripts/requirements.txt)")

function(soffit_python_test NAME SCRIPT)
  cmake_parse_arguments(A "" "" "ARGUMENTS;LABELS" ${ARGN})
  if(NOT SOFFIT_TEST_PYTHON)
    add_test(NAME ${NAME} COMMAND ${CMAKE_COMMAND} -E echo "SKIP: no Python 3 interpreter")
    set_tests_properties(${NAME} PROPERTIES SKIP_REGULAR_EXPRESSION "SKIP: " LABELS "${A_LABELS}")
    return()
  endif()
  add_test(NAME ${NAME} COMMAND ${SOFFIT_TEST_PYTHON} ${CMAKE_CURRENT_SOURCE_DIR}/${SCRIPT} ${A_ARGUMENTS})
  # One BLAS thread: the matrices are tiny, and other tests run beside. No bytecode: the source tree stays clean.
  set_tests_properties(${NAME} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${SOFFIT_TEST_TIMEOUT} LABELS "${A_LABELS}" ENVIRONMENT
                       "OPENBLAS_NUM_THREADS=1;OMP_NUM_THREADS=1;PYTHONDONTWRITEBYTECODE=1")
endfunction()
