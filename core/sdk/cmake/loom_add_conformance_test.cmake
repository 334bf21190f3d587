# Judges a backend that loom_add_backend made: loom_add_conformance_test(nspawn [ONLY check…]) adds the
# test nspawn.conformance. It fails unless the backend conforms, so also when it could not be judged:
# its output ends with what became of it. ONLY: these checks and themes instead of all.
function(loom_add_conformance_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ONLY")
  set(call "loom_add_conformance_test(${name})")
  if(arg_UNPARSED_ARGUMENTS OR arg_KEYWORDS_MISSING_VALUES)
    message(FATAL_ERROR "${call}: takes ONLY and the checks to run, nothing else: "
                        "${arg_UNPARSED_ARGUMENTS}${arg_KEYWORDS_MISSING_VALUES}")
  endif()
  if(NOT TARGET ${name}_backend)
    message(FATAL_ERROR "${call}: there is no target ${name}_backend; loom_add_backend(${name} …) makes it")
  endif()
  if(DEFINED BUILD_TESTING AND NOT BUILD_TESTING)
    return()
  endif()
  # No test is what would pass silently.
  if(NOT TARGET loom::conformance)
    message(FATAL_ERROR "${call}: this installation of loom-exec has no loom-conformance. It is there on "
                        "Linux, where loom-exec was built with LOOM_CONFORMANCE=ON; BUILD_TESTING=OFF "
                        "builds without tests")
  endif()
  if(NOT CMAKE_TESTING_ENABLED)
    message(FATAL_ERROR "${call}: enable_testing() or include(CTest) must stand above it, in the topmost "
                        "CMakeLists.txt: ctest would find no test")
  endif()
  list(TRANSFORM arg_ONLY PREPEND --only=)
  add_test(NAME ${name}.conformance
           COMMAND $<TARGET_FILE:loom::conformance> --backend=$<TARGET_FILE:${name}_backend> ${arg_ONLY})
  set_tests_properties(${name}.conformance PROPERTIES LABELS conformance TIMEOUT 1200)
endfunction()
