#pragma once

#include <unistd.h>

#include <climits>
#include <cstdio>
#include <string>
#include <vector>

// What programs share that stand on the helper's PATH as `bwrap` and become the real one.

inline std::string own_directory() {
  char self[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", self, sizeof self);
  const std::string own(self, size > 0 ? static_cast<std::size_t>(size) : 0);
  return own.substr(0, own.rfind('/'));
}

// The options that lie on a descriptor, which the real one can still read from their start.
inline std::vector<std::string> read_options(int fd) {
  std::vector<std::string> words(1);
  char byte = 0;
  for (off_t at = 0; ::pread(fd, &byte, 1, at) == 1; ++at) {
    if (byte == '\0') {
      words.emplace_back();
    } else {
      words.back().push_back(byte);
    }
  }
  words.pop_back();
  return words;
}

[[nodiscard]] inline int become_bwrap(char** argv) {
  constexpr const char* kRealBwrap = "/usr/bin/bwrap";
  ::execv(kRealBwrap, argv);
  std::perror(kRealBwrap);
  return 98;
}
