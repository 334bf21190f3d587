# loom_add_posix_helper(loom-exec-posix DIRECTORY unsupported… [SOURCES …]): the helper over the shell of
# any POSIX system, in a Linux build, with its own tree: DIRECTORY/bin/loom-exec and the backends
# named. For tests only. The application is the one that the helper of this build has, but for what it
# asks of poll; the archives are named as files, so that no part of Linux' own shell can slip in. What
# SOURCES define takes the place of what an archive has.
function(loom_add_posix_helper name directory)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "SOURCES")
  add_executable(${name} ${PROJECT_SOURCE_DIR}/core/app/main.cc
                         ${PROJECT_SOURCE_DIR}/core/app/server.cc ${arg_SOURCES})
  target_compile_definitions(${name} PRIVATE LOOM_ASKS_FOR_HANG_UPS)
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/core)
  target_link_libraries(
    ${name}
    PRIVATE $<TARGET_FILE:loom_self_test>
            $<TARGET_FILE:loom_app>
            loom::host_posix
            loom::guard
            loom::law
            loom::protocol
            loom::policy
            loom::environment
            loom::cancel
            loom::report
            loom::identity
            loom::sdk
            loom_build
            loom::spdlog
            CLI11::CLI11
            nlohmann_json::nlohmann_json)
  add_dependencies(${name} loom_app loom_self_test)
  loom_link_runtime(${name})
  set_target_properties(${name} PROPERTIES OUTPUT_NAME loom-exec
                                           RUNTIME_OUTPUT_DIRECTORY ${directory}/bin)
  file(MAKE_DIRECTORY ${directory}/lib/loom-exec/backends ${directory}/libexec/loom-exec)
  foreach(backend ${arg_UNPARSED_ARGUMENTS})
    add_custom_target(
      ${name}-${backend} ALL
      COMMAND ${CMAKE_COMMAND} -E copy_if_different $<TARGET_FILE:${backend}_backend>
              ${directory}/lib/loom-exec/backends/${backend}.so
      DEPENDS ${backend}_backend
      VERBATIM)
    add_dependencies(${name} ${name}-${backend})
  endforeach()
endfunction()
