# A consumer outside the tree: built, and run on the model of the repository. Arguments: -DROOT=<repository>
# -DWORK=<folder> -DMODEL=<gguf> -DCOMPILERS=<C++ compilers, comma-separated>, and one of
#   -DBUILD=<build folder>   installs that build; each compiler's consumer finds the package
#   -DSHARED=ON              the consumer fetches the source and builds inlay as a shared library; that is installed
#                            again, and found by a consumer of its own
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY OUTPUT_VARIABLE output ERROR_VARIABLE output)
endfunction()

# consume(name compiler settings...): configures and builds the consumer, then runs its two programs.
function(consume name compiler)
  run(${CMAKE_COMMAND} -S ${ROOT}/tests/install -B ${WORK}/${name} -G Ninja
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER=${compiler} ${ARGN})
  run(${CMAKE_COMMAND} --build ${WORK}/${name})
  run(${WORK}/${name}/app ${MODEL})
  run(${WORK}/${name}/app_in_c ${MODEL})
  message(STATUS "${name}: built by ${compiler} and run")
endfunction()

file(REMOVE_RECURSE ${WORK})
string(REPLACE "," ";" compilers "${COMPILERS}")
list(GET compilers 0 first)
if(SHARED)
  # Kernels have flags of their own; the rest need not be fast.
  consume(fetched ${first} -DINLAY_SOURCE=${ROOT} -DBUILD_SHARED_LIBS=ON "-DCMAKE_CXX_FLAGS_RELEASE=-O1 -DNDEBUG")
  run(${CMAKE_COMMAND} --install ${WORK}/fetched --prefix ${WORK}/prefix)
  consume(found ${first} -DCMAKE_PREFIX_PATH=${WORK}/prefix)
else()
  run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/prefix)
  foreach(compiler IN LISTS compilers)
    cmake_path(GET compiler STEM name)
    consume(found_${name} ${compiler} -DCMAKE_PREFIX_PATH=${WORK}/prefix)
  endforeach()
endif()
