# Third parties: the distribution's package where there is one, else fetched at a pinned version.
include(FetchContent)

find_package(Threads REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(xsimd REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
if(INLAY_OPENMP)
  find_package(OpenMP COMPONENTS CXX)
endif()
