# GTest::gtest_main and GTest::gmock: the installed libraries, or built from Debian's sources (the package googletest)
# where there are none for the target, as when cross-compiling.
include_guard(GLOBAL)
find_package(GTest QUIET)
if(NOT GTest_FOUND)
  set(SOFFIT_GOOGLETEST_SOURCE /usr/src/googletest CACHE PATH "Sources of GoogleTest, where it is not installed for the target")
  if(NOT EXISTS ${SOFFIT_GOOGLETEST_SOURCE}/CMakeLists.txt)
    message(FATAL_ERROR "The tests need GoogleTest (libgtest-dev and libgmock-dev, or the sources of googletest), "
                        "or turn them off: -DSOFFIT_BUILD_TESTS=OFF")
  endif()
  add_subdirectory(${SOFFIT_GOOGLETEST_SOURCE} googletest EXCLUDE_FROM_ALL SYSTEM)
endif()
include(GoogleTest)
