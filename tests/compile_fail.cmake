# Mistakes that the door forbids do not compile, and the same file without them does. Arguments: -DROOT=<repository>
# -DCOMPILER=<compiler> -DSOURCE=<file with mistakes: each under #if WRONG == 1, 2, ...>
cmake_minimum_required(VERSION 3.25)

set(command ${COMPILER} -std=c++20 -fsyntax-only -I${ROOT}/include)
execute_process(COMMAND ${command} -DWRONG=0 ${SOURCE} COMMAND_ERROR_IS_FATAL ANY)
file(STRINGS ${SOURCE} mistakes REGEX "#(el)?if WRONG == [0-9]+")
list(LENGTH mistakes count)
if(count EQUAL 0)
  message(FATAL_ERROR "${SOURCE} has no mistake")
endif()
foreach(mistake RANGE 1 ${count})
  execute_process(COMMAND ${command} -DWRONG=${mistake} ${SOURCE} RESULT_VARIABLE result ERROR_VARIABLE message)
  if(result EQUAL 0)
    message(FATAL_ERROR "${SOURCE} compiles with mistake ${mistake}")
  elseif(NOT message MATCHES "deleted|private")
    message(FATAL_ERROR "${SOURCE} fails with mistake ${mistake} for another reason:\n${message}")
  endif()
endforeach()
