# What including the door costs: its lines, and its compile time beside that of the standard headers a host has anyway.
# Fails when the preprocessed door is 1.5 times as long as those, or the public headers grow past their budget.
# Arguments: -DROOT=<repository> -DCOMPILER=<compiler> -DWORK=<folder>
cmake_minimum_required(VERSION 3.25)

set(runs 5)
file(MAKE_DIRECTORY ${WORK})
file(WRITE ${WORK}/door.cpp "#include \"inlay/inlay.hpp\"\n")
file(WRITE ${WORK}/standard.cpp
  "#include <string>\n#include <vector>\n#include <memory>\n#include <functional>\n#include <stop_token>\n")

# The best of a few compilations in milliseconds, and the number of preprocessed lines.
function(measure name milliseconds lines)
  set(command ${COMPILER} -std=c++20 -O2 -I${ROOT}/include ${WORK}/${name}.cpp)
  execute_process(COMMAND ${command} -E -P -o ${WORK}/${name}.i COMMAND_ERROR_IS_FATAL ANY)
  file(STRINGS ${WORK}/${name}.i text)
  list(LENGTH text count)
  set(best 1000000)
  foreach(run RANGE 1 ${runs})
    string(TIMESTAMP before "%s%f")
    execute_process(COMMAND ${command} -c -o ${WORK}/${name}.o COMMAND_ERROR_IS_FATAL ANY)
    string(TIMESTAMP after "%s%f")
    math(EXPR took "(${after} - ${before}) / 1000")
    if(took LESS best)
      set(best ${took})
    endif()
  endforeach()
  set(${milliseconds} ${best} PARENT_SCOPE)
  set(${lines} ${count} PARENT_SCOPE)
endfunction()

measure(standard standard_time standard_lines)
measure(door door_time door_lines)
math(EXPR time_ratio "100 * ${door_time} / ${standard_time}")
math(EXPR line_ratio "100 * ${door_lines} / ${standard_lines}")
message(STATUS "standard headers: ${standard_lines} lines, ${standard_time} ms")
message(STATUS "inlay.hpp:        ${door_lines} lines (${line_ratio} %), ${door_time} ms (${time_ratio} %)")
if(line_ratio GREATER 150)
  message(SEND_ERROR "inlay.hpp is ${line_ratio} % of the standard headers; 150 % are allowed")
endif()

set(budget 900)  # lines of code: the manual between them may be as long as it needs
set(total 0)
file(GLOB headers ${ROOT}/include/inlay/*.hpp)
foreach(header IN LISTS headers)
  file(STRINGS ${header} text REGEX "^ *[^ /]")
  list(LENGTH text count)
  math(EXPR total "${total} + ${count}")
endforeach()
message(STATUS "the door in C++ has ${total} of ${budget} lines of code")
if(total GREATER budget)
  message(SEND_ERROR "the door in C++ has ${total} lines of code; ${budget} are allowed")
endif()
