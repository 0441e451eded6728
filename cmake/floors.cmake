# The library's floors, lowest first: each is compiled on its own and knows only those below it.
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

# What every target of the project is compiled with. No contraction: a sum must not depend on the compiler's mood.
add_library(inlay_flags INTERFACE)
target_compile_features(inlay_flags INTERFACE cxx_std_20 c_std_11)
target_include_directories(inlay_flags INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
target_compile_options(inlay_flags INTERFACE
  $<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-Wall -Wextra -Wno-missing-field-initializers -ffp-contract=off>
  $<$<CXX_COMPILER_ID:MSVC>:/utf-8 /bigobj> $<$<BOOL:${MINGW}>:-Wa,-mbig-obj>)  # the list of models has many sections
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # This version sees overflows in std::string that are not there (its bugs 105329 and 105651).
  target_compile_options(inlay_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-array-bounds -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread>)
endif()
if(BUILD_SHARED_LIBS)
  target_compile_definitions(inlay_flags INTERFACE INLAY_SHARED_LIBRARY)
endif()
if(INLAY_SANITIZE)
  add_compile_options(-fsanitize=${INLAY_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${INLAY_SANITIZE})
endif()

# inlay_floor(name libraries...): every .cpp of src/<name> as an object library. The libraries stay private to it.
function(inlay_floor name)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  add_library(inlay_${name} OBJECT ${sources})
  target_link_libraries(inlay_${name} PUBLIC inlay_flags PRIVATE ${ARGN})
  target_compile_definitions(inlay_${name} PRIVATE INLAY_BUILDING)
  target_sources(inlay PRIVATE $<TARGET_OBJECTS:inlay_${name}>)
  if(INLAY_PRECOMPILE)
    target_precompile_headers(inlay_${name} PRIVATE
      <algorithm> <cmath> <functional> <memory> <optional> <span> <string> <string_view> <unordered_map> <vector>)
  endif()
endfunction()

add_library(inlay)
add_library(inlay::inlay ALIAS inlay)
inlay_floor(base Threads::Threads)
inlay_floor(gguf fmt::fmt-header-only)
inlay_floor(conversion fmt::fmt-header-only nlohmann_json::nlohmann_json)
inlay_floor(text fmt::fmt-header-only nlohmann_json::nlohmann_json PCRE2::8BIT)
inlay_floor(cpu xsimd Eigen3::Eigen)
inlay_floor(nn)
inlay_floor(runtime fmt::fmt-header-only nlohmann_json::nlohmann_json)
inlay_floor(api fmt::fmt-header-only nlohmann_json::nlohmann_json)
include(isa)

# Files with flags of their own cannot share what was precompiled without them.
file(GLOB flagged CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cpu/isa/*.cpp)
set_source_files_properties(${flagged} ${PROJECT_SOURCE_DIR}/src/base/parallel.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
if(MINGW)  # without optimization the names of the list's many functions overflow an object's table of them
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/api/models.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON
    COMPILE_OPTIONS "$<$<NOT:$<CONFIG:Release,RelWithDebInfo,MinSizeRel>>:-O1>")
endif()

target_compile_features(inlay PUBLIC cxx_std_20)
target_include_directories(inlay PUBLIC
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(inlay PRIVATE Threads::Threads)
if(BUILD_SHARED_LIBS)
  target_compile_definitions(inlay INTERFACE INLAY_SHARED_LIBRARY)
endif()
if(TARGET pcre2-8-static)
  target_sources(inlay PRIVATE $<TARGET_OBJECTS:pcre2-8-static>)
else()
  target_link_libraries(inlay PRIVATE PCRE2::8BIT)
endif()

# OpenMP serves one file. Its runtime is linked by its plain name, so a consumer's compiler is never asked for OpenMP.
if(INLAY_OPENMP)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/base/parallel.cpp PROPERTIES
    COMPILE_OPTIONS "${OpenMP_CXX_FLAGS}" COMPILE_DEFINITIONS INLAY_OPENMP)
  list(GET OpenMP_CXX_LIB_NAMES 0 openmp_runtime)
  target_link_libraries(inlay PRIVATE ${openmp_runtime})
  target_link_libraries(inlay_base PUBLIC ${openmp_runtime})
endif()
