# The house rules as tests: what may include what, what the objects contain, how big the house is, what must not compile.

# house_rule(name script arguments...)
function(house_rule name script)
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} ${ARGN} -P ${PROJECT_SOURCE_DIR}/${script})
  set_tests_properties(${name} PROPERTIES LABELS house)
endfunction()

house_rule(layers tests/layers.cmake)
house_rule(budget tests/budget.cmake)
house_rule(c_coverage tests/c_coverage.cmake)
if(NOT CMAKE_CROSSCOMPILING AND NOT MSVC)
  house_rule(door bench/door.cmake -DCOMPILER=${CMAKE_CXX_COMPILER} -DWORK=${CMAKE_CURRENT_BINARY_DIR}/door)
  file(GLOB mistakes CONFIGURE_DEPENDS compile_fail/*.cpp)
  foreach(mistake IN LISTS mistakes)
    cmake_path(GET mistake STEM name)
    house_rule(compile_fail_${name} tests/compile_fail.cmake -DCOMPILER=${CMAKE_CXX_COMPILER} -DSOURCE=${mistake})
  endforeach()
endif()

# Consumers outside the tree; the one that builds its own copy takes as long as the library does.
find_program(INLAY_OTHER_COMPILER clang++ DOC "A second compiler for the consumer of the installed package")
if(NOT CMAKE_CROSSCOMPILING AND NOT INLAY_SANITIZE AND CMAKE_BUILD_TYPE STREQUAL Release)
  set(compilers ${CMAKE_CXX_COMPILER})
  if(INLAY_OTHER_COMPILER AND NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
    string(APPEND compilers ",${INLAY_OTHER_COMPILER}")
  endif()
  set(model ${PROJECT_SOURCE_DIR}/examples/models/inlay-nano-q8_0.gguf)
  house_rule(install_static tests/install.cmake -DBUILD=${PROJECT_BINARY_DIR} -DMODEL=${model} -DCOMPILERS=${compilers}
    -DWORK=${CMAKE_CURRENT_BINARY_DIR}/install_static)
  house_rule(install_shared tests/install.cmake -DSHARED=ON -DMODEL=${model} -DCOMPILERS=${CMAKE_CXX_COMPILER}
    -DWORK=${CMAKE_CURRENT_BINARY_DIR}/install_shared)
  set_tests_properties(install_static install_shared PROPERTIES TIMEOUT 3600 RESOURCE_LOCK compilers)
endif()

# Another processor, where a compiler for it and an emulator of it are installed.
find_program(INLAY_ARM64_COMPILER aarch64-linux-gnu-g++ DOC "Compiles the kernels for 64-bit ARM")
find_program(INLAY_ARM64_EMULATOR qemu-aarch64 DOC "Runs the kernels of 64-bit ARM")
if(INLAY_ARM64_COMPILER AND INLAY_ARM64_EMULATOR AND NOT CMAKE_CROSSCOMPILING AND NOT INLAY_SANITIZE AND
    CMAKE_BUILD_TYPE STREQUAL Release)
  house_rule(arm64 tests/arm64.cmake -DWORK=${PROJECT_BINARY_DIR}/arm64)
  set_tests_properties(arm64 PROPERTIES TIMEOUT 3600 RESOURCE_LOCK compilers)
endif()

# Symbols tell the truth in plain builds only: sanitizers add their own.
if(CMAKE_NM AND NOT INLAY_SANITIZE)
  house_rule(isa_hygiene tests/isa_hygiene.cmake
    -DNM=${CMAKE_NM} "-DOBJECTS=$<JOIN:$<TARGET_OBJECTS:inlay_cpu>,$<COMMA>>")
  if(CMAKE_BUILD_TYPE STREQUAL Release)
    set(objects "")
    foreach(floor base gguf conversion text cpu nn runtime api)
      string(APPEND objects "$<JOIN:$<TARGET_OBJECTS:inlay_${floor}>,$<COMMA>>,")
    endforeach()
    house_rule(manners tests/manners.cmake -DNM=${CMAKE_NM} "-DOBJECTS=${objects}")
  endif()
endif()
