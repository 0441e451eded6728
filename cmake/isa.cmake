# The CPU kernels, compiled once for each instruction set. Only the files in src/cpu/isa see these flags.

# inlay_isa(avx2 -mavx2 ...): compile src/cpu/isa/avx2.cpp with these flags, and nothing else with them.
function(inlay_isa name)
  set(source ${PROJECT_SOURCE_DIR}/src/cpu/isa/${name}.cpp)
  set_source_files_properties(${source} PROPERTIES COMPILE_OPTIONS "${ARGN};-O2;-fno-exceptions")
  target_sources(inlay_cpu PRIVATE ${source})
endfunction()
