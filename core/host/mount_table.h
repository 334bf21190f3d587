#pragma once

#include <loom/absolute_path.h>
#include <loom/bytes.h>
#include <loom/result.h>
#include <loom/unique_fd.h>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace loom::host {

// One line of a mount table (proc_pid_mountinfo(5)), octal escapes undone.
struct MountRow {
  std::uint64_t id = 0;
  std::uint64_t parent = 0;  // the mount that holds the mount point
  std::string device{};      // "major:minor" of the file system
  AbsolutePath root;         // what of the file system is shown; "/net:[…]" for a namespace
  AbsolutePath point;
  std::string type{};
  friend bool operator==(const MountRow&, const MountRow&) = default;
};

// The lines in their order. One whose directory is gone, or that has too few fields, is left out.
[[nodiscard]] std::vector<MountRow> parse_mount_rows(std::string_view mountinfo);

// The mount points of one mountinfo text, sorted, octal escapes undone. Repeats are kept.
[[nodiscard]] std::vector<std::string> parse_mount_points(std::string_view mountinfo);

// Each mount's number and point, nothing left out: the place where a mask is says what became of
// it, whatever it shows.
using NumberedPoints = std::map<std::uint64_t, std::string>;
[[nodiscard]] NumberedPoints parse_numbered_points(std::string_view mountinfo);

// The mount points, only those of one file-system type ("cgroup2").
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
  [[nodiscard]] Result<NumberedPoints> numbered_points() const;
  [[nodiscard]] Result<std::vector<MountRow>> rows() const;
  [[nodiscard]] Result<Bytes> text() const { return read(); }
  // Whether a mount came, went or was changed since the open, or since this was asked last
  // (proc_pid_mounts(5)). Writing the text takes the kernel a hundred times as long. What the text
  // shows may be another one all the same, where a directory above a mount point got a new name.
  [[nodiscard]] bool has_changed() const noexcept;
  // For poll(2): POLLPRI once the table is another than at the open, or the last poll.
  [[nodiscard]] int fd() const noexcept { return file_.get(); }
  [[nodiscard]] Result<std::vector<std::string>> mount_points_of_type(std::string_view type) const;

 private:
  [[nodiscard]] Result<Bytes> read() const;
  explicit MountTable(UniqueFd file) : file_(std::move(file)) {}
  UniqueFd file_;
};

}  // namespace loom::host
