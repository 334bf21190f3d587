# Builds the inner stage of a backend (docs/backend-guide.md): loom_add_stage2(nspawn main.cc …) makes
# the target nspawn_stage2, a static program named nspawn-stage2. That is what the backend's pieces
# verb names, and it lies where a helper looks that was given the backend of this build by its path.
function(loom_add_stage2 name)
  add_executable(${name}_stage2 ${ARGN})
  # In a jail there may be no shared library, and no sanitizer's runtime anywhere.
  target_compile_features(${name}_stage2 PRIVATE cxx_std_20)
  target_compile_options(
    ${name}_stage2 PRIVATE -fno-sanitize=all -ffunction-sections -fdata-sections
                           $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti>)
  target_link_options(${name}_stage2 PRIVATE -static -fno-sanitize=all -Wl,--gc-sections
                                             $<$<NOT:$<CONFIG:Debug>>:-s>)
  # A helper runs no file that others could write (loom_add_backend.cmake).
  add_custom_command(TARGET ${name}_stage2 POST_BUILD COMMAND chmod go-w $<TARGET_FILE:${name}_stage2>
                     VERBATIM)
  set_target_properties(
    ${name}_stage2 PROPERTIES OUTPUT_NAME ${name}-stage2 POSITION_INDEPENDENT_CODE OFF
                              RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/libexec/loom-exec)
endfunction()
