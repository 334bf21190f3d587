#pragma once

#include <loom/absolute_path.h>
#include <loom/result.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace loom::app {

// A fresh directory of one probe, mode 0700, with everything below it removed at the end.
class ProbeDirectory {
 public:
  // Errors carry the errno of the failing step.
  [[nodiscard]] static Result<ProbeDirectory> make(const AbsolutePath& base);
  ProbeDirectory(ProbeDirectory&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  ProbeDirectory& operator=(ProbeDirectory&&) = delete;
  ProbeDirectory(const ProbeDirectory&) = delete;
  ProbeDirectory& operator=(const ProbeDirectory&) = delete;
  ~ProbeDirectory() noexcept;

  [[nodiscard]] AbsolutePath path() const { return at(""); }
  // `name` is one of ours: relative and clean.
  [[nodiscard]] AbsolutePath at(std::string_view name) const;

  // Mode 0700 each; a parent comes before its children.
  [[nodiscard]] Result<void> add_directories(const std::vector<std::string>& names) const;
  // Mode 0600.
  [[nodiscard]] Result<void> write(std::string_view name, std::string_view text) const;
  // At most 1 MiB; nothing when it cannot be read.
  [[nodiscard]] std::optional<std::string> read(std::string_view name) const;
  [[nodiscard]] bool has(std::string_view name) const;
  // Of a file; nothing when there is none.
  [[nodiscard]] std::optional<std::uint64_t> size(std::string_view name) const;

 private:
  explicit ProbeDirectory(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

// A text that nothing on this machine holds yet: "loom-probe-`what`-" and 16 random hex digits.
[[nodiscard]] Result<std::string> make_marker(std::string_view what);

}  // namespace loom::app
