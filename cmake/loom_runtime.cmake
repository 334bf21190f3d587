# What an executable or a backend of ours is linked with (docs/adr/0018). With LOOM_STATIC_RUNTIME
# they carry the C++ runtime, libsodium and the log's library themselves: binding the names of
# those takes longer than all that `loom-exec why` does.
option(LOOM_STATIC_RUNTIME "Link the C++ runtime, libsodium, spdlog and fmt into what ships" OFF)

# The log.
add_library(loom_spdlog INTERFACE)
add_library(loom::spdlog ALIAS loom_spdlog)
# The digests, where the system brings none.
if(loom_uses_sodium)
  add_library(loom_sodium INTERFACE)
  add_library(loom::sodium ALIAS loom_sodium)
endif()
if(LOOM_STATIC_RUNTIME)
  # The distribution has no static library of either; both consist of headers as well.
  if(NOT TARGET fmt::fmt-header-only)
    find_package(fmt REQUIRED)
  endif()
  find_package(Threads REQUIRED)
  get_target_property(loom_spdlog_headers spdlog::spdlog_header_only INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(loom_spdlog SYSTEM INTERFACE ${loom_spdlog_headers})
  target_compile_definitions(loom_spdlog INTERFACE SPDLOG_FMT_EXTERNAL)
  target_link_libraries(loom_spdlog INTERFACE fmt::fmt-header-only Threads::Threads)
  if(loom_uses_sodium)
    find_library(LOOM_SODIUM_ARCHIVE libsodium.a HINTS ${sodium_LIBRARY_DIRS} REQUIRED)
    target_include_directories(loom_sodium SYSTEM INTERFACE ${sodium_INCLUDE_DIRS})
    target_link_libraries(loom_sodium INTERFACE ${LOOM_SODIUM_ARCHIVE})
  endif()
else()
  target_link_libraries(loom_spdlog INTERFACE spdlog::spdlog)
  if(loom_uses_sodium)
    target_link_libraries(loom_sodium INTERFACE PkgConfig::sodium)
  endif()
endif()

# For the helper, our backends and the test that loads others: loom_link_runtime(loom-exec)
function(loom_link_runtime target)
  if(LOOM_STATIC_RUNTIME AND APPLE)
    target_link_options(${target} PRIVATE -Wl,-dead_strip)
  elseif(LOOM_STATIC_RUNTIME)
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc -Wl,--gc-sections)
  endif()
endfunction()
