# soffit_metal_cuda(TARGET FILE…): Metal kernels as CUDA C++ (src/lanes/translate.hpp), compiled by nvcc. A file NAME.metal
# gives soffit_metal_NAME_cuda().
include_guard(GLOBAL)
include(${PROJECT_SOURCE_DIR}/cmake/soffit_metal.cmake)

function(soffit_metal_cuda TARGET)
  set(outputs)
  foreach(source IN LISTS ARGN)
    soffit_metal_to_cpp(${source} cuda outputs)
  endforeach()
  add_library(${TARGET} OBJECT EXCLUDE_FROM_ALL ${outputs})
  target_include_directories(${TARGET} PRIVATE ${PROJECT_SOURCE_DIR}/src)
  # No contraction, as on the lanes: see the flags of soffit. -lineinfo: compute-sanitizer names lines of the .metal file.
  target_compile_options(${TARGET} PRIVATE --expt-relaxed-constexpr --fmad=false -lineinfo -w)
endfunction()

# Writes OUTPUT, a C++ file that defines soffit::metal::cuda_libraries() with all these kernels.
function(soffit_metal_cuda_list OUTPUT)
  set(declarations "")
  set(entries "")
  foreach(source IN LISTS ARGN)
    cmake_path(GET source STEM name)
    string(APPEND declarations "extern \"C\" const soffit::lanes::CudaLibrary* soffit_metal_${name}_cuda();\n")
    string(APPEND entries "    soffit_metal_${name}_cuda,\n")
  endforeach()
  file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT "#include \"metal/cuda/libraries.hpp\"

${declarations}
namespace soffit::metal {

std::span<const CudaLibrary> cuda_libraries() {
  static constexpr CudaLibrary kLibraries[] = {
${entries}  };
  return kLibraries;
}

}  // namespace soffit::metal
")
endfunction()
