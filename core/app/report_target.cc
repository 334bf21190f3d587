#include "app/report_target.h"

#include <fcntl.h>
#include <loom/utf8.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "host/errno_text.h"
#include "host/random_name.h"

namespace loom::app {
namespace {

tl::unexpected<Error> failed(const std::string& file, int error) {
  return fail(ErrorCode::kSystem, "--report-file " + escaped(file) + ": " + host::errno_text(error),
              error);
}

// 0 or errno.
int write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t wrote = ::write(fd, text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return wrote < 0 ? errno : EIO;
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return 0;
}

bool is_descriptor(const std::string& file) {
  return file.starts_with("/dev/fd/") || file.starts_with("/proc/self/fd/") ||
         file == "/dev/stdout" || file == "/dev/stderr";
}

// Not a link, and neither a regular file nor a directory: something that is written, not replaced.
bool is_stream(const std::string& file) {
  struct stat about {};
  return ::lstat(file.c_str(), &about) == 0 && !S_ISREG(about.st_mode) && !S_ISLNK(about.st_mode) &&
         !S_ISDIR(about.st_mode);
}

// Empty when the kernel has no random bytes to give.
std::string fresh_name() {
  const auto hex = host::random_hex(8);
  return hex ? ".loom-exec-report-" + *hex : std::string();
}

}  // namespace

Result<ReportTarget> ReportTarget::open(const std::string& file) {
  ReportTarget target;
  target.file_ = file;
  if (file.empty()) return target;
  if (is_descriptor(file) || is_stream(file)) {
    target.stream_.reset(::open(file.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    if (!target.stream_) return failed(file, errno);
    return target;
  }
  const std::size_t slash = file.rfind('/');
  const std::string directory = slash == std::string::npos ? "." : file.substr(0, slash + 1);
  target.directory_path_ = directory;
  target.name_ = slash == std::string::npos ? file : file.substr(slash + 1);
  target.directory_.reset(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!target.directory_) return failed(file, errno);
  struct stat about {};
  const bool taken =
      ::fstatat(target.directory_.get(), target.name_.c_str(), &about, AT_SYMLINK_NOFOLLOW) == 0 &&
      S_ISDIR(about.st_mode);
  if (taken || target.name_.empty()) return failed(file, EISDIR);
  if (::faccessat(target.directory_.get(), ".", W_OK | X_OK, AT_EACCESS) != 0) {
    return failed(file, errno);
  }
  return target;
}

Result<void> ReportTarget::write(std::string_view text) const {
  if (directory_) return replace(text);
  const int error = write_all(stream_ ? stream_.get() : STDERR_FILENO, text);
  if (error != 0) return failed(file_.empty() ? "standard error" : file_, error);
  return {};
}

Result<void> ReportTarget::replace(std::string_view text) const {
  const std::string fresh = fresh_name();
  if (fresh.empty()) return failed(file_, errno);
  const int directory = directory_.get();
  const UniqueFd out(::openat(directory, fresh.c_str(),
                              O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
  if (!out) return failed(file_, errno);
  int error = write_all(out.get(), text);
  if (error == 0 && ::renameat(directory, fresh.c_str(), directory, name_.c_str()) != 0) {
    error = errno;
  }
  if (error != 0) {
    ::unlinkat(directory, fresh.c_str(), 0);
    return failed(file_, error);
  }
  return require_place();
}

// The command may have put another directory under the name of the one that was opened.
Result<void> ReportTarget::require_place() const {
  struct stat opened {};
  struct stat named {};
  const bool same = ::fstat(directory_.get(), &opened) == 0 &&
                    ::stat(directory_path_.c_str(), &named) == 0 && opened.st_dev == named.st_dev &&
                    opened.st_ino == named.st_ino;
  if (same) return {};
  return fail(ErrorCode::kDenied, "--report-file " + escaped(file_) +
                                      ": its directory was exchanged during the run, and what has "
                                      "that name now is not the report");
}

}  // namespace loom::app
