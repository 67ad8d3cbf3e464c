# soffit_test(NAME SOURCES file… [LIBRARIES lib…] [LABELS label…])
# One GoogleTest program, its cases found when the tests run. Tests may include headers of src/.
function(soffit_test NAME)
  cmake_parse_arguments(A "" "" "SOURCES;LIBRARIES;LABELS" ${ARGN})
  add_executable(${NAME} ${A_SOURCES})
  target_link_libraries(${NAME} PRIVATE soffit soffit_flags soffit_not_hot GTest::gtest_main GTest::gmock ${A_LIBRARIES})
  gtest_discover_tests(${NAME} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
                       PROPERTIES LABELS "${A_LABELS}" TIMEOUT ${SOFFIT_TEST_TIMEOUT})
endfunction()
