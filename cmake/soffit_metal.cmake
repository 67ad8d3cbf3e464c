# soffit_metal(FILE…): Metal kernels compiled for the lane runner, each as C++ in two modes (src/lanes/translate.hpp). A
# file NAME.metal gives soffit_metal_NAME_plain() and soffit_metal_NAME_checked().
include_guard(GLOBAL)

# Appends the C++ file made of SOURCE to OUTPUTS.
function(soffit_metal_to_cpp SOURCE MODE OUTPUTS)
  cmake_path(GET SOURCE STEM name)
  set(extension cpp)
  if(MODE STREQUAL "cuda")
    set(extension cu)
  endif()
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${name}_${MODE}.${extension})
  cmake_path(RELATIVE_PATH SOURCE BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE display)
  set(preprocessed ${CMAKE_CURRENT_BINARY_DIR}/${name}_${MODE}.ii)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_CXX_COMPILER} -E -x c++ -undef -nostdinc -nostdinc++ -D__METAL__=1 -D__METAL_VERSION__=310
            -I ${PROJECT_SOURCE_DIR}/src -I ${PROJECT_SOURCE_DIR}/src/lanes/metal
            -MD -MF ${output}.d -MT ${output} ${SOURCE} -o ${preprocessed}
    COMMAND metal_to_cpp ${MODE} soffit_metal_${name}_${MODE} ${PROJECT_SOURCE_DIR}/ ${display} ${preprocessed} ${output}
    DEPENDS ${SOURCE} metal_to_cpp DEPFILE ${output}.d
    COMMENT "Metal to C++ (${MODE}): ${display}" VERBATIM)
  # What looks dubious in the translation is the translator's doing. Kernels look at bytes through pointers of many types,
  # and their integers wrap.
  set(optimised -O2)
  if(MODE STREQUAL "checked")
    set(optimised -O1)
  endif()
  # The runner knows a lane's variables by their place on its stack: AddressSanitizer must not move them away. And it
  # is the runner who is to find what a kernel does wrong.
  if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    list(APPEND optimised -fsanitize-address-use-after-return=never -fno-sanitize=undefined)
  endif()
  if(NOT MODE STREQUAL "cuda")
    set_source_files_properties(${output} PROPERTIES GENERATED TRUE COMPILE_OPTIONS
                                "-w;-fno-strict-aliasing;-fwrapv;${optimised}")
  endif()
  set(${OUTPUTS} ${${OUTPUTS}} ${output} PARENT_SCOPE)
endfunction()

function(soffit_metal TARGET)
  set(outputs)
  foreach(source IN LISTS ARGN)
    soffit_metal_to_cpp(${source} plain outputs)
    soffit_metal_to_cpp(${source} checked outputs)
  endforeach()
  add_library(${TARGET} OBJECT EXCLUDE_FROM_ALL ${outputs})  # built for who links it
  target_include_directories(${TARGET} PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/src/lanes/shim)
  target_link_libraries(${TARGET} PRIVATE soffit_flags)
endfunction()

# Writes OUTPUT, a C++ file that defines soffit::metal::lane_libraries() with all these kernels.
function(soffit_metal_list OUTPUT)
  set(declarations "")
  set(entries "")
  foreach(source IN LISTS ARGN)
    cmake_path(GET source STEM name)
    foreach(mode plain checked)
      string(APPEND declarations "extern \"C\" const soffit::lanes::Library* soffit_metal_${name}_${mode}();\n")
    endforeach()
    string(APPEND entries "    {soffit_metal_${name}_plain, soffit_metal_${name}_checked},\n")
  endforeach()
  file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT "#include \"metal/lane_libraries.hpp\"

${declarations}
namespace soffit::metal {

std::span<const LaneLibrary> lane_libraries() {
  static constexpr LaneLibrary kLibraries[] = {
${entries}  };
  return kLibraries;
}

}  // namespace soffit::metal
")
endfunction()
