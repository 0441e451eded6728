# The library never aborts, exits, prints, reads the environment, or runs code before main: its own Release objects say so.
# Arguments: -DNM=<nm> -DOBJECTS=<objects, comma-separated>
cmake_minimum_required(VERSION 3.25)

set(forbidden "abort|exit|_exit|_Exit|quick_exit|atexit|assert_fail|__assert_fail|(v|f|vf|d)?printf|__(v|f|vf)?printf_chk|f?puts|f?putc|putchar|perror|getenv|secure_getenv|setenv|putenv|std::c(out|err|log|in)|std::ios_base::Init::Init.*|setlocale|signal|sigaction|system|popen")

string(REPLACE "," ";" objects "${OBJECTS}")
list(FILTER objects INCLUDE REGEX "[.]o(bj)?$")
foreach(object IN LISTS objects)
  execute_process(COMMAND ${NM} -C ${object} OUTPUT_VARIABLE symbols COMMAND_ERROR_IS_FATAL ANY)
  string(REPLACE ";" "," symbols "${symbols}")
  string(REGEX MATCHALL "[^\n]+" symbols "${symbols}")
  foreach(symbol IN LISTS symbols)
    if(symbol MATCHES "^ +U (${forbidden})(@.*)?$")
      message(SEND_ERROR "${object} calls ${CMAKE_MATCH_1}")
    elseif(symbol MATCHES "_GLOBAL__(sub_)?I|__cxx_global_var_init|__static_initialization_and_destruction")
      message(SEND_ERROR "${object} runs code before main: ${symbol}")
    endif()
  endforeach()
endforeach()
list(LENGTH objects count)
message(STATUS "${count} objects have good manners")
