# Fails when the object that runs between fork and exec uses a symbol that is not on the list below.
# Variables: NM, OBJECT. Adding a call to the child means adding a word here.
execute_process(COMMAND ${NM} --undefined-only --format=just-symbols ${OBJECT}
                OUTPUT_VARIABLE used COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[^\n]+" used "${used}")
list(LENGTH used count)
if(count EQUAL 0)
  message(FATAL_ERROR "no symbols in ${OBJECT}: the wrong file was read")
endif()
list(REMOVE_ITEM used __errno_location _exit chdir clock_gettime close close_range dup2 execve
     execveat fcntl getpid getppid prctl read send setrlimit setsid sigaction sigemptyset sigprocmask write)
# What a compiler adds by itself: instrumentation, and the table for position-independent code.
list(FILTER used EXCLUDE REGEX "^(__(asan|ubsan|stack_chk|gcov|sanitizer)|_GLOBAL_OFFSET_TABLE_$)")
if(used)
  message(FATAL_ERROR "not on the child's allowlist: ${used}")
endif()
