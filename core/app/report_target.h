#pragma once

#include <loom/result.h>
#include <loom/unique_fd.h>

#include <string>
#include <string_view>

namespace loom::app {

// Where a person's report goes.
//
// Security: a report file may lie in the command's own workspace. So it is written after the run,
// under a new name, and put in the place of whatever the command left there; the directory is the
// one that was opened before the run, and no link in it is followed.
class ReportTarget {
 public:
  ReportTarget() = default;  // standard error

  // An empty `file` is standard error. A device, a FIFO, or a descriptor (/dev/fd/N) is opened now
  // and written as it is.
  [[nodiscard]] static Result<ReportTarget> open(const std::string& file);

  // Once.
  [[nodiscard]] Result<void> write(std::string_view text) const;

 private:
  [[nodiscard]] Result<void> replace(std::string_view text) const;
  [[nodiscard]] Result<void> require_place() const;

  std::string file_;    // as typed, for messages
  UniqueFd stream_;     // opened before the run; or
  UniqueFd directory_;  // where `name_` is put in place
  std::string directory_path_;
  std::string name_;
};

}  // namespace loom::app
