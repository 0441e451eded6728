# The CPU kernels, compiled once for each instruction set. Only the files in src/cpu/isa see these flags.

# inlay_isa(avx2 -mavx2 ...): compile src/cpu/isa/avx2.cpp with these flags, and nothing else with them.
function(inlay_isa name)
  set(source ${PROJECT_SOURCE_DIR}/src/cpu/isa/${name}.cpp)
  set(flags ${ARGN} -O2 -fno-exceptions)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # these move sums away from their products or loads ahead of their use, and registers run out
    list(APPEND flags -fno-tree-ter -fno-tree-reassoc -fno-schedule-insns)
  endif()
  set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${flags}")
  target_sources(inlay_cpu PRIVATE ${source})
endfunction()

if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(avx2 -mavx2 -mfma -mf16c)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(quiet -Wno-maybe-uninitialized -Wno-uninitialized)  # version 12 warns of its own intrinsics
  endif()
  set(avx512 ${avx2} ${quiet} -mavx512f -mavx512cd -mavx512bw -mavx512dq -mavx512vl)
  inlay_isa(baseline)
  inlay_isa(rows_baseline)
  inlay_isa(rows_avx2 ${avx2})
  inlay_isa(rows_avx512 ${avx512})
  inlay_isa(avx2 ${avx2})
  inlay_isa(avx512 ${avx512})
  inlay_isa(avx512vnni ${avx512} -mavx512vnni)
  inlay_isa(avx512bf16 ${avx512} -mavx512vnni -mavx512bf16)
  inlay_isa(avx512amx ${avx512} -mavx512vnni -mamx-tile -mamx-int8)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "aarch64|arm64|ARM64")
  inlay_isa(neon)
  inlay_isa(rows_neon)
  inlay_isa(neon_dot -march=armv8.2-a+dotprod)
  inlay_isa(neon_i8mm -march=armv8.2-a+dotprod+i8mm)
endif()

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")  # packing moves words of four bytes; vectors of them, made by the loop, are slower
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/cpu/pack.cpp PROPERTIES
    COMPILE_OPTIONS -O2 SKIP_PRECOMPILE_HEADERS ON)
endif()
