#pragma once

#include <loom/absolute_path.h>
#include <loom/policy.h>
#include <loom/result.h>

#include <memory>
#include <string>
#include <string_view>

namespace loom::conformance {

// A tree of its own on the host, for policies to name: removed at the end.
//
//   work/             kept  notes/inner  .env  .git/config
//   more/             a second workspace, with file
//   read/             file  secret  deep/file
//   elsewhere/        hidden: named by no policy
//   mounted/ro/file   mounted/rw/file
//   scratch/
class Place {
 public:
  [[nodiscard]] static Result<std::unique_ptr<Place>> make();
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  ~Place();

  [[nodiscard]] std::string at(std::string_view inside) const;
  [[nodiscard]] AbsolutePath path(std::string_view inside) const;
  [[nodiscard]] bool has(std::string_view inside) const;
  // What the file holds; empty when it is not there.
  [[nodiscard]] std::string contents(std::string_view inside) const;
  [[nodiscard]] Result<void> write(std::string_view inside, std::string_view text) const;
  // Every name inside, sorted, one a line.
  [[nodiscard]] std::string listing() const;

 private:
  explicit Place(std::string root) : root_(std::move(root)) {}
  [[nodiscard]] Result<void> fill() const;
  std::string root_;
};

inline constexpr std::string_view kSecret = "conformance-secret-4711";

// work/ writable, network off, private scratch, no limits, PATH and two more variables allowed.
[[nodiscard]] Policy plain_policy(const Place& place);

}  // namespace loom::conformance
