# The kernels on 64-bit ARM: cross-compiled, and run by an emulator against the reference. Arguments: -DROOT=<repository>
# -DWORK=<folder>
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY OUTPUT_VARIABLE output ERROR_VARIABLE output)
endfunction()

# Kernels have flags of their own; the rest need not be fast.
run(${CMAKE_COMMAND} -S ${ROOT} -B ${WORK} -G Ninja -DCMAKE_TOOLCHAIN_FILE=${ROOT}/cmake/arm64-linux.cmake
  -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE=-O1 -DINLAY_PRECOMPILE=ON)
run(${CMAKE_COMMAND} --build ${WORK} --target test_cpu test_backends)
execute_process(COMMAND ${CMAKE_CTEST_COMMAND} --test-dir ${WORK} --parallel 2 --output-on-failure -R "^(cpu|backends)$"
  COMMAND_ERROR_IS_FATAL ANY)
