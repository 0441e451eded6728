# The library's floors, lowest first: each is compiled on its own and knows only those below it.
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

add_library(inlay_flags INTERFACE)
target_compile_features(inlay_flags INTERFACE cxx_std_20)
target_include_directories(inlay_flags INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/src>)
target_compile_options(inlay_flags INTERFACE
  $<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-Wall -Wextra -ffp-contract=off>)
if(INLAY_SANITIZE)
  add_compile_options(-fsanitize=${INLAY_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${INLAY_SANITIZE})
endif()

# inlay_floor(name below...): every .cpp of src/<name> as an object library.
function(inlay_floor name)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${name}/*.cpp)
  if(NOT sources)
    set(sources ${PROJECT_SOURCE_DIR}/src/base/checked.hpp)
  endif()
  add_library(inlay_${name} OBJECT ${sources})
  set_target_properties(inlay_${name} PROPERTIES LINKER_LANGUAGE CXX)
  target_link_libraries(inlay_${name} PUBLIC inlay_flags)
  target_compile_definitions(inlay_${name} PRIVATE INLAY_BUILDING)
endfunction()

foreach(floor base gguf text cpu nn runtime api)
  inlay_floor(${floor})
endforeach()
target_link_libraries(inlay_base PUBLIC Threads::Threads)
target_link_libraries(inlay_text PRIVATE fmt::fmt-header-only nlohmann_json::nlohmann_json PkgConfig::PCRE2)
target_link_libraries(inlay_gguf PRIVATE fmt::fmt-header-only)
target_link_libraries(inlay_runtime PRIVATE fmt::fmt-header-only nlohmann_json::nlohmann_json)
target_link_libraries(inlay_api PRIVATE fmt::fmt-header-only nlohmann_json::nlohmann_json)
if(INLAY_OPENMP AND OpenMP_CXX_FOUND)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/base/parallel.cpp PROPERTIES
    COMPILE_OPTIONS "${OpenMP_CXX_FLAGS}" COMPILE_DEFINITIONS INLAY_OPENMP)
endif()
include(isa)

add_library(inlay $<TARGET_OBJECTS:inlay_base> $<TARGET_OBJECTS:inlay_gguf> $<TARGET_OBJECTS:inlay_text>
  $<TARGET_OBJECTS:inlay_cpu> $<TARGET_OBJECTS:inlay_nn> $<TARGET_OBJECTS:inlay_runtime> $<TARGET_OBJECTS:inlay_api>)
add_library(inlay::inlay ALIAS inlay)
target_compile_features(inlay PUBLIC cxx_std_20)
target_include_directories(inlay PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:include>)
target_link_libraries(inlay PRIVATE Threads::Threads $<BUILD_INTERFACE:PkgConfig::PCRE2>)
if(INLAY_OPENMP AND OpenMP_CXX_FOUND)
  target_link_libraries(inlay PRIVATE ${OpenMP_CXX_LIBRARIES})
endif()
