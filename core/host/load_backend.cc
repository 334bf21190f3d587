// Before Boost.DLL: std::filesystem instead of a library to link.
#ifndef BOOST_DLL_USE_STD_FS
#define BOOST_DLL_USE_STD_FS
#endif

#include "host/load_backend.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <loom/unique_fd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/dll/shared_library.hpp>
#include <cerrno>
#include <cstdio>
#include <utility>
#include <vector>

#include "host/backend_image.h"
#include "host/errno_text.h"
#include "host/trusted_file.h"

namespace loom::host {
namespace {

Result<UniqueFd> open_trusted(const std::string& file) {
  // Non-blocking: a FIFO under this name must not hold us up before it is refused.
  UniqueFd opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY));
  const int error = errno;
  if (!opened && error == ELOOP) return fail(ErrorCode::kDenied, "is a symbolic link");
  if (!opened) return fail(ErrorCode::kSystem, "open: " + errno_text(error), error);
  struct stat status {};
  if (::fstat(opened.get(), &status) != 0) {
    const int why = errno;
    return fail(ErrorCode::kSystem, "stat: " + errno_text(why), why);
  }
  if (auto why = distrust(status)) return fail(ErrorCode::kDenied, std::move(*why));
  if (status.st_size > static_cast<off_t>(kMaxBackendBytes)) {
    return fail(ErrorCode::kInvalidRequest,
                "is larger than " + std::to_string(kMaxBackendBytes) + " bytes");
  }
  return opened;
}

// Boost.DLL throws from its path type.
Result<boost::dll::shared_library> map_now_and_local(const std::string& pinned) try {
  boost::dll::shared_library library;
  boost::dll::fs::error_code error;
  library.load(pinned, error, boost::dll::load_mode::rtld_now | boost::dll::load_mode::rtld_local);
  if (!error) return library;
  // The code is the same for every failure; only the linker's own words tell them apart.
  const char* words = ::dlerror();
  return fail(ErrorCode::kBackend,
              "cannot be mapped: " + std::string(words != nullptr ? words : "no reason given"));
} catch (const std::exception& error) {
  return fail(ErrorCode::kBackend, std::string("cannot be mapped: ") + error.what());
}

Result<loom_backend_entry> find_entry(const boost::dll::shared_library& library) try {
  return &library.get<std::remove_pointer_t<loom_backend_entry>>(LOOM_BACKEND_ENTRY_NAME);
} catch (const std::exception& error) {
  return fail(ErrorCode::kBackend, std::string("find the entry: ") + error.what());
}

// The dynamic linker remembers libraries by name, and their name holds the number of the
// descriptor: were it closed, the next library on that number would come back as this one. Nothing
// is ever unloaded, so that no vtable, thread-local or static of a backend can dangle.
void keep_forever(UniqueFd image, boost::dll::shared_library library) {
  static auto& kept = *new std::vector<std::pair<UniqueFd, boost::dll::shared_library>>();
  kept.emplace_back(std::move(image), std::move(library));
}

Result<boost::dll::shared_library> map_checked(int image, const std::string& file) {
  LOOM_TRY_VOID(require_entry_symbol(image));
  const std::string name = name_to_map(image, file);
  LOOM_TRY_VOID(require_image(image, name));
  LOOM_TRY(auto library, map_now_and_local(name));
  LOOM_TRY_VOID(require_image(image, name));
  return library;
}

Result<const loom_backend_v1*> table_of(UniqueFd image, boost::dll::shared_library library) {
  LOOM_TRY(const loom_backend_entry entry, find_entry(library));
  keep_forever(std::move(image), std::move(library));
  const loom_backend_v1* table = entry();
  LOOM_TRY_VOID(check_table(table));
  return table;
}

Result<const loom_backend_v1*> load(const std::string& file, BackendImage image) {
  LOOM_TRY(UniqueFd original, open_trusted(file));
  if (image == BackendImage::kFile) {
    // Nothing of it has run when it cannot be mapped. The copy still can be where the file lies on
    // a file system that maps no code.
    auto library = map_checked(original.get(), file);
    if (library) return table_of(std::move(original), std::move(*library));
  }
  LOOM_TRY(UniqueFd copy, unwritable_image(std::move(original), kMaxBackendBytes));
  LOOM_TRY(auto library, map_checked(copy.get(), file));
  return table_of(std::move(copy), std::move(library));
}

}  // namespace

Result<const loom_backend_v1*> load_backend(const std::string& file, BackendImage image) {
  auto table = load(file, image);
  if (table) return table;
  return fail(table.error().code, "backend " + file + ": " + table.error().message,
              table.error().sys_errno);
}

}  // namespace loom::host
