# The libraries we build on, as targets.
#
# A build for this system asks the packages. A cross build sets LOOM_HEADERS_DIR: what it needs then
# consists of headers, the same for every system, but /usr/include itself must stay out of its search
# path, since that is this system's. So that folder holds one link for each library, and the links
# are made here.
set(LOOM_HEADERS_DIR "" CACHE PATH "Folder of links to header-only libraries, for a cross build")
set(LOOM_HEADERS_FROM /usr/include CACHE PATH "Where the libraries in LOOM_HEADERS_DIR are installed")

# loom_header_library(tl::expected DEFINITIONS … LINK …): a library that lies in LOOM_HEADERS_DIR.
function(loom_header_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "DEFINITIONS;LINK")
  add_library(${name} INTERFACE IMPORTED GLOBAL)
  target_include_directories(${name} SYSTEM INTERFACE ${LOOM_HEADERS_DIR})
  target_compile_definitions(${name} INTERFACE ${arg_DEFINITIONS})
  target_link_libraries(${name} INTERFACE ${arg_LINK})
endfunction()

if(LOOM_HEADERS_DIR)
  file(MAKE_DIRECTORY ${LOOM_HEADERS_DIR})
  foreach(entry CLI boost fmt msgpack msgpack.hpp nlohmann spdlog tl)
    if(NOT EXISTS ${LOOM_HEADERS_FROM}/${entry})
      message(FATAL_ERROR "${LOOM_HEADERS_FROM}/${entry} is missing: install the package that has "
                          "it, or set LOOM_HEADERS_FROM")
    endif()
    # Two builds may share the folder and be configured at once.
    if(NOT EXISTS ${LOOM_HEADERS_DIR}/${entry})
      file(CREATE_LINK ${LOOM_HEADERS_FROM}/${entry} ${LOOM_HEADERS_DIR}/${entry} SYMBOLIC)
    endif()
  endforeach()
  find_package(Threads REQUIRED)
  loom_header_library(tl::expected)
  loom_header_library(nlohmann_json::nlohmann_json)
  loom_header_library(CLI11::CLI11)
  # libc++ has taken out a base class that Boost 1.74 hashes with.
  loom_header_library(Boost::headers
                      DEFINITIONS _LIBCPP_ENABLE_CXX17_REMOVED_UNARY_BINARY_FUNCTION)
  loom_header_library(fmt::fmt-header-only DEFINITIONS FMT_HEADER_ONLY)
  loom_header_library(spdlog::spdlog_header_only DEFINITIONS SPDLOG_FMT_EXTERNAL
                      LINK fmt::fmt-header-only Threads::Threads)
  set(LOOM_MSGPACK_INCLUDE_DIR ${LOOM_HEADERS_DIR})
else()
  find_package(tl-expected REQUIRED)
  find_package(msgpackc-cxx QUIET)
  if(NOT msgpackc-cxx_FOUND)
    find_package(msgpack REQUIRED)
  endif()
  # Found by its header: the package calls its target by different names from release to release.
  find_path(LOOM_MSGPACK_INCLUDE_DIR msgpack.hpp REQUIRED)
  find_package(nlohmann_json REQUIRED)
  find_package(spdlog REQUIRED)
  find_package(CLI11 REQUIRED)
  find_package(Boost REQUIRED)
endif()

# libsodium is compiled code, and macOS and Windows bring what we take from it (docs/adr/0008).
if(CMAKE_SYSTEM_NAME MATCHES "^(Darwin|Windows)$")
  set(loom_uses_sodium OFF)
else()
  set(loom_uses_sodium ON)
  find_package(PkgConfig REQUIRED)
  pkg_check_modules(sodium REQUIRED IMPORTED_TARGET libsodium)
endif()
