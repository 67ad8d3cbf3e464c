# What is installed: the program, the static library, its public headers, and the files by which CMake and pkg-config
# find them.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS soffit EXPORT soffit-targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/soffit DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET soffit_program)
  install(TARGETS soffit_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

set(package_directory ${CMAKE_INSTALL_LIBDIR}/cmake/soffit)
install(EXPORT soffit-targets NAMESPACE soffit:: DESTINATION ${package_directory})
configure_package_config_file(cmake/soffit-config.cmake.in soffit-config.cmake INSTALL_DESTINATION ${package_directory})
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(soffit-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/soffit-config.cmake ${PROJECT_BINARY_DIR}/soffit-config-version.cmake
        DESTINATION ${package_directory})

file(RELATIVE_PATH SOFFIT_PREFIX_FROM_PKGCONFIG ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
set(SOFFIT_PRIVATE_LIBRARIES "-lstdc++ -lm -pthread")
if(SOFFIT_BUILD_LANES)
  set(SOFFIT_PRIVATE_LIBRARIES "-lboost_context ${SOFFIT_PRIVATE_LIBRARIES}")
endif()
set(SOFFIT_REQUIRES_PRIVATE "")
if(SOFFIT_BUILD_MODELS)
  set(SOFFIT_REQUIRES_PRIVATE "libpcre2-8 >= 10.40")
endif()
configure_file(cmake/soffit.pc.in soffit.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/soffit.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
