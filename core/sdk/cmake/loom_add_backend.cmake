# Builds one backend: loom_add_backend(nspawn nspawn_backend.cc …). The result is a module without a
# prefix that exports one symbol, placed where the helper looks for backends.
function(loom_add_backend name)
  add_library(${name}_backend MODULE ${ARGN})
  target_link_libraries(${name}_backend PRIVATE loom::sdk)
  target_link_options(${name}_backend PRIVATE -Wl,-z,defs -Wl,-z,now -Wl,--exclude-libs,ALL)
  set_target_properties(
    ${name}_backend
    PROPERTIES PREFIX "" OUTPUT_NAME ${name} CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden
               VISIBILITY_INLINES_HIDDEN ON
               LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib/loom-exec/backends)
endfunction()
