# Code compiled for one instruction set must not be called on a machine without it. A weak symbol is shared by the linker
# among all objects that have it, so the objects of src/cpu/isa may define none.
# Arguments: -DNM=<nm> -DOBJECTS=<objects, comma-separated>
cmake_minimum_required(VERSION 3.25)

string(REPLACE "," ";" objects "${OBJECTS}")
list(FILTER objects INCLUDE REGEX "/isa/")
foreach(object IN LISTS objects)
  execute_process(COMMAND ${NM} -C --defined-only ${object} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" symbols "${symbols}")
  foreach(symbol IN LISTS symbols)
    if(symbol MATCHES "^[0-9a-f]+ [WVuw] (.*)")
      message(SEND_ERROR "${object} defines the weak symbol ${CMAKE_MATCH_1}")
    endif()
  endforeach()
endforeach()
list(LENGTH objects count)
if(count EQUAL 0)
  message(FATAL_ERROR "no object of src/cpu/isa among those given")
endif()
message(STATUS "${count} instruction sets keep to themselves")
