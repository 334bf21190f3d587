#pragma once

#include <loom/bytes.h>
#include <loom/result.h>
#include <loom/unique_fd.h>

#include <string>
#include <string_view>
#include <vector>

namespace loom::host {

// The mount points of one mountinfo text, sorted, octal escapes undone. Repeats are kept.
[[nodiscard]] std::vector<std::string> parse_mount_points(std::string_view mountinfo);

// The same, only those of one file-system type ("cgroup2").
[[nodiscard]] std::vector<std::string> mount_points_of_type(std::string_view mountinfo,
                                                            std::string_view type);

// Mount points of `before` that `after` has fewer of.
[[nodiscard]] std::vector<std::string> lost_mount_points(const std::vector<std::string>& before,
                                                         const std::vector<std::string>& after);

// The mount table of a process: opened while it lives, readable after its end (the descriptor holds
// the mount namespace).
class MountTable {
 public:
  [[nodiscard]] static Result<MountTable> open(int pid);
  [[nodiscard]] Result<std::vector<std::string>> mount_points() const;
  [[nodiscard]] Result<std::vector<std::string>> mount_points_of_type(std::string_view type) const;

 private:
  [[nodiscard]] Result<Bytes> read() const;
  explicit MountTable(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

}  // namespace loom::host
