# What our own code is compiled with. Linked PRIVATE: our warnings are not our users' problem.
add_library(loom_build INTERFACE)
target_compile_features(loom_build INTERFACE cxx_std_20)
target_compile_options(
  loom_build
  INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wcast-align
            -Wcast-qual -Wformat=2 -Wundef -Wvla
            $<$<COMPILE_LANGUAGE:CXX>:-Wold-style-cast>
            $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor>
            $<$<COMPILE_LANGUAGE:CXX>:-Woverloaded-virtual>
            $<$<COMPILE_LANGUAGE:CXX>:-Wextra-semi>
            $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wsuggest-override>
            -Wswitch-enum
            $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-cond>
            $<$<CXX_COMPILER_ID:GNU>:-Wduplicated-branches>
            $<$<CXX_COMPILER_ID:GNU>:-Wlogical-op>
            $<$<CXX_COMPILER_ID:GNU>:-Wnull-dereference>)
# What is built for others says nothing of the place where it was built.
option(LOOM_HIDE_SOURCE_DIR "Let no object name the folder of the sources" ${CMAKE_CROSSCOMPILING})
if(LOOM_HIDE_SOURCE_DIR)
  target_compile_options(loom_build INTERFACE -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
endif()

# One static library of the core: loom_module(policy SOURCES decode_policy.cc LINK loom::sdk)
function(loom_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LINK;PRIVATE_LINK")
  add_library(loom_${name} STATIC ${arg_SOURCES})
  add_library(loom::${name} ALIAS loom_${name})
  target_include_directories(loom_${name} PUBLIC ${PROJECT_SOURCE_DIR}/core)
  target_link_libraries(loom_${name} PUBLIC ${arg_LINK} PRIVATE loom_build ${arg_PRIVATE_LINK})
  set_target_properties(loom_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON
                                                CXX_VISIBILITY_PRESET hidden
                                                VISIBILITY_INLINES_HIDDEN ON)
endfunction()

# One GoogleTest program: loom_test(policy_test LABEL unit SOURCES … LINK …). LABEL: unit, process, jail.
# PREFIX: put before its tests' names, where another program has tests of the same names.
function(loom_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "LABEL;TIMEOUT;PREFIX" "SOURCES;LINK")
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 120)
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR}/core ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ${arg_LINK} GTest::gmock GTest::gtest_main loom_build)
  # Of all that the preset with sanitizers compiles, assertions take longest, and optimising them half of
  # that. What they test keeps its own options.
  target_compile_options(${name} PRIVATE $<$<CONFIG:RelWithDebInfo>:-O0>)
  target_compile_definitions(
    ${name} PRIVATE LOOM_SOURCE_DIR="${PROJECT_SOURCE_DIR}" LOOM_BINARY_DIR="${PROJECT_BINARY_DIR}")
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  gtest_discover_tests(${name} DISCOVERY_MODE PRE_TEST TEST_PREFIX "${arg_PREFIX}"
                       PROPERTIES LABELS "${arg_LABEL}" TIMEOUT ${arg_TIMEOUT})
  # What one label needs and nothing else: cmake --build … --target unit-tests
  if(NOT TARGET ${arg_LABEL}-tests)
    add_custom_target(${arg_LABEL}-tests)
  endif()
  add_dependencies(${arg_LABEL}-tests ${name})
endfunction()
