# What an executable or a backend of ours is linked with (docs/adr/0018). With LOOM_STATIC_RUNTIME
# they carry the C++ runtime, libsodium and the log's library themselves: binding the names of
# those takes longer than all that `loom-exec why` does.
option(LOOM_STATIC_RUNTIME "Link the C++ runtime, libsodium, spdlog and fmt into what ships" OFF)

# The log.
add_library(loom_spdlog INTERFACE)
add_library(loom::spdlog ALIAS loom_spdlog)
# The digests.
add_library(loom_sodium INTERFACE)
add_library(loom::sodium ALIAS loom_sodium)
if(LOOM_STATIC_RUNTIME)
  # The distribution has no static library of either; both consist of headers as well.
  find_package(fmt REQUIRED)
  find_package(Threads REQUIRED)
  get_target_property(loom_spdlog_headers spdlog::spdlog_header_only INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(loom_spdlog SYSTEM INTERFACE ${loom_spdlog_headers})
  target_compile_definitions(loom_spdlog INTERFACE SPDLOG_FMT_EXTERNAL)
  target_link_libraries(loom_spdlog INTERFACE fmt::fmt-header-only Threads::Threads)
  find_library(LOOM_SODIUM_ARCHIVE libsodium.a HINTS ${sodium_LIBRARY_DIRS} REQUIRED)
  target_include_directories(loom_sodium SYSTEM INTERFACE ${sodium_INCLUDE_DIRS})
  target_link_libraries(loom_sodium INTERFACE ${LOOM_SODIUM_ARCHIVE})
else()
  target_link_libraries(loom_spdlog INTERFACE spdlog::spdlog)
  target_link_libraries(loom_sodium INTERFACE PkgConfig::sodium)
endif()

# For the helper, our backends and the test that loads others: loom_link_runtime(loom-exec)
function(loom_link_runtime target)
  if(LOOM_STATIC_RUNTIME)
    target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc -Wl,--gc-sections)
  endif()
endfunction()
