# Cross-compiles for 64-bit Windows with mingw-w64. Nothing is linked: PCRE2 is taken from the build machine, whose header
# serves and whose library does not.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_CXX_FLAGS_INIT "-idirafter /usr/include")  # after the target's own headers
include(${CMAKE_CURRENT_LIST_DIR}/host_headers.cmake)
