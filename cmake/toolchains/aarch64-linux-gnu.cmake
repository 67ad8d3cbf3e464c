# 64-bit Arm Linux, with Debian's cross compiler (the package g++-aarch64-linux-gnu). What is built runs in qemu-user where
# that is installed. Libraries for the target are found where Debian's arm64 packages put them, beside the host's own.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER ${CMAKE_LIBRARY_ARCHITECTURE}-gcc)
set(CMAKE_CXX_COMPILER ${CMAKE_LIBRARY_ARCHITECTURE}-g++)
set(ENV{PKG_CONFIG_LIBDIR} /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/pkgconfig:/usr/share/pkgconfig)

find_program(SOFFIT_QEMU_AARCH64 NAMES qemu-aarch64 qemu-aarch64-static)
if(SOFFIT_QEMU_AARCH64)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${SOFFIT_QEMU_AARCH64} -L /usr/${CMAKE_LIBRARY_ARCHITECTURE})
endif()
