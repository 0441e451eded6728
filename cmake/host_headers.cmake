# Packages that are headers only serve a cross build as they serve the build machine: found where that has them.
set(CMAKE_PREFIX_PATH /usr)
foreach(package fmt xsimd)
  file(GLOB ${package}_DIR /usr/lib/*/cmake/${package})
endforeach()
file(GLOB PCRE2_LIBRARY /usr/lib/*/libpcre2-8.so)
set(PCRE2_INCLUDE_DIR /usr/include)
