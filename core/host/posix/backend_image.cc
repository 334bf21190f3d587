#include "host/backend_image.h"

#include <loom/backend_abi.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <string_view>

namespace loom::host {
namespace {

bool holds(int file, std::string_view text) {
  struct stat status {};
  if (::fstat(file, &status) != 0 || status.st_size <= 0) return false;
  const auto size = static_cast<std::size_t>(status.st_size);
  void* const place = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (place == MAP_FAILED) return false;
  const std::string_view bytes(static_cast<const char*>(place), size);
  const bool found = bytes.find(text) != std::string_view::npos;
  ::munmap(place, size);
  return found;
}

}  // namespace

// Libraries look different from system to system, but the names that they export stand in them as
// they are, each with a NUL behind it.
Result<void> require_entry_symbol(int library) {
  using namespace std::string_view_literals;
  if (holds(library, LOOM_BACKEND_ENTRY_NAME "\0"sv)) return {};
  return fail(ErrorCode::kBackend, "does not export " LOOM_BACKEND_ENTRY_NAME);
}

Result<UniqueFd> unwritable_image(UniqueFd original, std::size_t) { return original; }

std::string name_to_map(int, const std::string& file) { return file; }

Result<void> require_image(int image, const std::string& name) {
  struct stat held {};
  struct stat named {};
  const bool same = ::fstat(image, &held) == 0 && ::stat(name.c_str(), &named) == 0 &&
                    held.st_dev == named.st_dev && held.st_ino == named.st_ino;
  if (same) return {};
  return fail(ErrorCode::kDenied, "was exchanged while it was loaded");
}

}  // namespace loom::host
