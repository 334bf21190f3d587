#include "host/trusted_file.h"

#include <unistd.h>

namespace loom::host {

std::optional<std::string> distrust(const struct stat& status) {
  if (!S_ISREG(status.st_mode)) return "is not a regular file";
  if (status.st_uid != 0 && status.st_uid != ::geteuid()) {
    return "belongs to uid " + std::to_string(status.st_uid) + ", neither to us nor to root";
  }
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0) return "is writable by group or others";
  return std::nullopt;
}

}  // namespace loom::host
