# Suites in Python around the real helper, as the user who runs the tests and, where that is the
# superuser, each module once more as an ordinary user.
find_program(LOOM_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)
execute_process(COMMAND id -u OUTPUT_VARIABLE loom_uid OUTPUT_STRIP_TRAILING_WHITESPACE)

# loom_suite(jail MODULES masks view… [TIMEOUT 240] [FILES NAME=FILE…] [ENVIRONMENT NAME=VALUE…]
#            [PROPERTIES NAME VALUE…] [HELPER TARGET] [DIRECTORY FOLDER])
#
# Test jail.masks runs tests/jail/test_masks.py, jail.masks.ordinary_user does so as an ordinary
# user. Labels: the suite's name, and for the second also <name>_user. The suite finds the helper in
# LOOM_EXEC and each file in its variable. HELPER: another helper than loom-exec, in a tree of its
# own. DIRECTORY: the modules are another suite's, tests/FOLDER.
function(loom_suite name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "TIMEOUT;HELPER;DIRECTORY"
                        "MODULES;FILES;ENVIRONMENT;PROPERTIES")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 240)
  endif()
  set(support ${PROJECT_SOURCE_DIR}/tests/support)
  set(directory ${CMAKE_CURRENT_SOURCE_DIR})
  if(arg_DIRECTORY)
    set(directory ${PROJECT_SOURCE_DIR}/tests/${arg_DIRECTORY})
  endif()
  if(NOT arg_HELPER)
    set(arg_HELPER loom-exec)
  endif()
  foreach(module ${arg_MODULES})
    set(tests ${name}.${module})
    add_test(NAME ${tests} COMMAND ${LOOM_PYTHON} ${support}/run_suite.py
                                   ${directory} test_${module})
    if(loom_uid EQUAL 0)
      add_test(NAME ${name}.${module}.ordinary_user
               COMMAND ${support}/as_ordinary_user.sh $<TARGET_FILE_DIR:${arg_HELPER}>/..
                       ${directory} ${arg_FILES} test_${module})
      list(APPEND tests ${name}.${module}.ordinary_user)
      set_property(TEST ${name}.${module}.ordinary_user PROPERTY LABELS ${name}_user)
    endif()
    set_tests_properties(${tests} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${arg_TIMEOUT}
                                             ${arg_PROPERTIES})
    set_property(TEST ${tests} APPEND PROPERTY LABELS ${name})
    set_property(
      TEST ${tests} PROPERTY ENVIRONMENT LOOM_EXEC=$<TARGET_FILE:${arg_HELPER}> ${arg_FILES}
                             ${arg_ENVIRONMENT} PYTHONDONTWRITEBYTECODE=1)
  endforeach()
endfunction()
