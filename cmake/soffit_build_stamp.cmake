# The target soffit_build_stamp: what the sources were when the build ran, compiled in (src/measure/provenance.hpp). A
# script looks at every build; the file that it writes keeps its time when nothing has changed, so that nothing is
# compiled or linked again.
include_guard(GLOBAL)

set(stamp ${PROJECT_BINARY_DIR}/build_stamp.cpp)
string(TOUPPER "${CMAKE_BUILD_TYPE}" build_type)
add_custom_target(soffit_look_at_sources
  COMMAND ${CMAKE_COMMAND}
    -D "SOURCE=${PROJECT_SOURCE_DIR}" -D "STAMP=${stamp}" -D "VERSION=${PROJECT_VERSION}"
    -D "COMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}"
    -D "FLAGS=${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${build_type}} -std=c++${CMAKE_CXX_STANDARD} -ffp-contract=off"
    -P ${PROJECT_SOURCE_DIR}/cmake/write_build_stamp.cmake
  BYPRODUCTS ${stamp} COMMENT "" VERBATIM)
add_library(soffit_build_stamp STATIC ${stamp})
add_dependencies(soffit_build_stamp soffit_look_at_sources)
target_link_libraries(soffit_build_stamp PRIVATE soffit_flags)
