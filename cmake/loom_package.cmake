# Debian packages, by CPack (docs/packaging.md). ./dev package builds, checks and compares them.
# What only a Debian package has, loom_debian_files.cmake adds while they are made.
set(debian_dir ${PROJECT_SOURCE_DIR}/docs/packaging/debian)
# Upstream's version and the revision of the packaging, as the newest entry of the changelog has them.
file(STRINGS ${debian_dir}/changelog newest LIMIT_COUNT 1)
if(NOT newest MATCHES "^loom-exec \\(${PROJECT_VERSION}-([0-9.]+)\\) ")
  message(FATAL_ERROR "${debian_dir}/changelog: begins with another version than ${PROJECT_VERSION}")
endif()
set(CPACK_DEBIAN_PACKAGE_RELEASE ${CMAKE_MATCH_1})
set(debian_version ${PROJECT_VERSION}-${CPACK_DEBIAN_PACKAGE_RELEASE})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME loom-exec)
set(CPACK_PACKAGE_CONTACT "loom-exec maintainers <maintainers@loom-exec.invalid>")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL helper backend-bwrap backend-unsupported dev)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/loom_debian_files.cmake)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_THREADS 1)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SOURCE loom-exec)
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)

# loom_debian_package(COMPONENT NAME SECTION DEPENDS SUMMARY TEXT): the text is what the control file has, without its
# leading blanks.
macro(loom_debian_package component name section depends summary text)
  string(TOUPPER ${component} upper)
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS "${depends}")
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${summary}\n${text}")
endmacro()

# The number is that of the table between helper and backend (LOOM_BACKEND_ABI). Ours are held to the
# helper of their own version besides: the values that cross may still change from one to the next.
set(backend_provides "loom-exec-backend (= 1)")
set(other_helpers "loom-exec (<< ${debian_version}), loom-exec (>> ${debian_version})")

loom_debian_package(
  helper loom-exec admin
  "loom-exec-backend-bwrap (= ${debian_version}) | loom-exec-backend (= 1)"
  "run untrusted commands in a kernel jail and say what held"
  "loom-exec runs a command that it does not trust inside a kernel jail and then
says exactly what the kernel enforced around it. Every clause of a policy is
enforced, refused by name, or reported by name as not enforced. It serves a
person at a shell, and brokers that drive it over a framed protocol.")
set(CPACK_DEBIAN_HELPER_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_HELPER_PACKAGE_SUGGESTS libloom-exec-dev)

loom_debian_package(
  backend-bwrap loom-exec-backend-bwrap admin
  bubblewrap
  "backend of loom-exec that builds jails with bubblewrap"
  "This is the backend for Linux, which loom-exec uses unless told otherwise:
namespaces and a minimal view of the files by bubblewrap, around a small
static program that restricts itself with Landlock, a filter of system calls,
resource limits and no capabilities before it becomes the command.")
set(CPACK_DEBIAN_BACKEND-BWRAP_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_BACKEND-BWRAP_PACKAGE_PROVIDES "${backend_provides}")
set(CPACK_DEBIAN_BACKEND-BWRAP_PACKAGE_BREAKS "${other_helpers}")
set(CPACK_DEBIAN_BACKEND-BWRAP_PACKAGE_ENHANCES loom-exec)

loom_debian_package(
  backend-unsupported loom-exec-backend-unsupported admin
  ""
  "backend of loom-exec that builds no jail and says so"
  "This backend is for systems without a jail, and for tests. Commands run with
every right of their user, and each report names what the policy asked for
and is not held. loom-exec serves with it only where it is told to
(--allow-unenforced).")
set(CPACK_DEBIAN_BACKEND-UNSUPPORTED_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_BACKEND-UNSUPPORTED_PACKAGE_PROVIDES "${backend_provides}")
set(CPACK_DEBIAN_BACKEND-UNSUPPORTED_PACKAGE_BREAKS "${other_helpers}")
set(CPACK_DEBIAN_BACKEND-UNSUPPORTED_PACKAGE_ENHANCES loom-exec)

# The suite judges with the helper beside it, which is why that is a dependency.
loom_debian_package(
  dev libloom-exec-dev libdevel
  "loom-exec (= ${debian_version}), libexpected-dev, libsodium-dev"
  "development files for backends of loom-exec"
  "A backend knows one way to build a jail. This package has the headers, the
static library behind them, what CMake needs to find both (find_package,
loom_add_backend, loom_add_conformance_test), loom-conformance, which judges
any backend by its contract, and projects to copy.")
set(CPACK_DEBIAN_DEV_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_DEV_PACKAGE_RECOMMENDS "cmake, g++, make | ninja-build")

include(CPack)
