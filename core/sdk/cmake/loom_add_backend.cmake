# Builds one backend: loom_add_backend(nspawn nspawn_backend.cc …). The result is a module without a
# prefix that exports one symbol, placed where the helper looks for backends. It ends in .so on every
# POSIX system, in .dll on Windows: a helper knows one name (docs/backend-guide.md).
function(loom_add_backend name)
  set(suffix .so)
  if(WIN32)
    set(suffix .dll)
  endif()
  add_library(${name}_backend MODULE ${ARGN})
  target_link_libraries(${name}_backend PRIVATE loom::sdk)
  if(APPLE)
    # The names of a C symbol begin with an underscore there.
    target_link_options(${name}_backend PRIVATE -Wl,-exported_symbol,_loom_backend_entry_v1)
  elseif(WIN32)
    # What is marked dllexport, and nothing else.
    target_link_options(${name}_backend PRIVATE -Wl,--exclude-all-symbols)
  else()
    set(symbols ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/loom_backend.map)
    target_link_options(${name}_backend PRIVATE -Wl,-z,defs -Wl,-z,now -Wl,--exclude-libs,ALL
                        -Wl,--version-script=${symbols})
    set_property(TARGET ${name}_backend APPEND PROPERTY LINK_DEPENDS ${symbols})
  endif()
  if(CMAKE_HOST_UNIX)
    # A helper loads no file that others could write, and under some users' umask a linker makes one.
    add_custom_command(TARGET ${name}_backend POST_BUILD COMMAND chmod go-w $<TARGET_FILE:${name}_backend>
                       VERBATIM)
  endif()
  set_target_properties(
    ${name}_backend
    PROPERTIES PREFIX "" SUFFIX ${suffix} OUTPUT_NAME ${name}
               CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden
               VISIBILITY_INLINES_HIDDEN ON
               LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/loom-exec/backends)
endfunction()
