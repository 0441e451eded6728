# A mistake that the door forbids does not compile, and the same file without it does. Arguments: -DROOT=<repository>
# -DCOMPILER=<compiler> -DSOURCE=<file with both: the mistake under #ifdef WRONG>
cmake_minimum_required(VERSION 3.25)

set(command ${COMPILER} -std=c++20 -fsyntax-only -I${ROOT}/include)
execute_process(COMMAND ${command} ${SOURCE} COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${command} -DWRONG ${SOURCE} RESULT_VARIABLE result ERROR_VARIABLE message)
if(result EQUAL 0)
  message(FATAL_ERROR "${SOURCE} compiles with its mistake")
elseif(NOT message MATCHES "deleted|private")
  message(FATAL_ERROR "${SOURCE} fails for another reason:\n${message}")
endif()
