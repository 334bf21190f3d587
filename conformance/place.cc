#include "place.h"

#include <loom/check.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace loom::conformance {
namespace {

namespace fs = std::filesystem;

struct Entry {
  std::string_view file;
  std::string_view text;
};

constexpr std::array<Entry, 12> kFiles = {{{"work/kept", "kept"},
                                           {"work/notes/inner", "inner"},
                                           {"work/.env", kSecret},
                                           {"work/.git/config", kSecret},
                                           {"more/file", "more"},
                                           {"read/file", "readable"},
                                           {"read/secret", kSecret},
                                           {"read/deep/file", "deep"},
                                           {"elsewhere/hidden", kSecret},
                                           {"mounted/ro/file", "mounted"},
                                           {"mounted/rw/file", "mounted"},
                                           {"scratch/file", "scratch"}}};

}  // namespace

// Not below /tmp: a private scratch would hide it there.
Result<std::unique_ptr<Place>> Place::make() {
  std::string pattern = "/var/tmp/loom-conformance-XXXXXX";
  if (::mkdtemp(pattern.data()) == nullptr) {
    const int error = errno;
    return fail(ErrorCode::kSystem, "make " + pattern + ": " + std::strerror(error), error);
  }
  std::unique_ptr<Place> place(new Place(pattern));
  LOOM_TRY_VOID(place->fill());
  return place;
}

Place::~Place() {
  std::error_code ignored;
  fs::remove_all(root_, ignored);
}

std::string Place::at(std::string_view inside) const {
  return inside.empty() ? root_ : root_ + "/" + std::string(inside);
}

AbsolutePath Place::path(std::string_view inside) const {
  auto parsed = AbsolutePath::parse(at(inside));
  LOOM_CHECK(parsed.has_value());
  return *parsed;
}

bool Place::has(std::string_view inside) const {
  std::error_code ignored;
  return fs::exists(fs::symlink_status(at(inside), ignored));
}

std::string Place::contents(std::string_view inside) const {
  std::ifstream file(at(inside), std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Result<void> Place::write(std::string_view inside, std::string_view text) const {
  std::error_code error;
  fs::create_directories(fs::path(at(inside)).parent_path(), error);
  std::ofstream file(at(inside), std::ios::binary);
  file << text;
  file.close();
  if (file && !error) return {};
  return fail(ErrorCode::kSystem, "write " + at(inside) + ": " + std::strerror(errno), errno);
}

std::string Place::listing() const {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::recursive_directory_iterator(root_, ignored)) {
    names.push_back(entry.path().string().substr(root_.size()));
  }
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string& name : names) text += name + "\n";
  return text;
}

Result<void> Place::fill() const {
  for (const Entry& entry : kFiles) LOOM_TRY_VOID(write(entry.file, entry.text));
  return {};
}

Policy plain_policy(const Place& place) {
  Policy policy;
  policy.writable_roots = {place.path("work")};
  policy.env_allow = {"PATH", "CONFORMANCE_A", "CONFORMANCE_B"};
  return policy;
}

}  // namespace loom::conformance
