// A bubblewrap that loses a mask: stands on the helper's PATH as `bwrap` and becomes the real one,
// having left the mask of one path out of the options. A file `drop` beside it names the path;
// without one nothing is left out, which is the control. A file `bare` makes it lose everything: it
// becomes what it should have put into a jail. Each start leaves a file `started`.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <climits>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr const char* kRealBwrap = "/usr/bin/bwrap";

std::string own_directory() {
  char self[PATH_MAX];
  const ssize_t size = ::readlink("/proc/self/exe", self, sizeof self);
  const std::string own(self, size > 0 ? static_cast<std::size_t>(size) : 0);
  return own.substr(0, own.rfind('/'));
}

std::string path_to_drop(const std::string& directory) {
  std::ifstream file(directory + "/drop", std::ios::binary);
  std::string path;
  std::getline(file, path, '\0');
  return path;
}

std::vector<std::string> read_words(int fd) {
  std::vector<std::string> words(1);
  char byte = 0;
  while (::read(fd, &byte, 1) == 1) {
    if (byte == '\0') {
      words.emplace_back();
    } else {
      words.back().push_back(byte);
    }
  }
  words.pop_back();
  return words;
}

// "--ro-bind /dev/null PATH", "--tmpfs PATH" and "--remount-ro PATH".
std::size_t words_of_mask(const std::vector<std::string>& words, std::size_t at,
                          const std::string& path) {
  const std::string_view option = words[at];
  if (option == "--ro-bind" && at + 2 < words.size() && words[at + 1] == "/dev/null" &&
      words[at + 2] == path) {
    return 3;
  }
  const bool covers = option == "--tmpfs" || option == "--remount-ro";
  return covers && at + 1 < words.size() && words[at + 1] == path ? 2 : 0;
}

std::string without_mask(const std::vector<std::string>& words, const std::string& path) {
  std::string kept;
  for (std::size_t at = 0; at < words.size();) {
    if (const std::size_t lost = words_of_mask(words, at, path); lost > 0) {
      at += lost;
      continue;
    }
    kept.append(words[at]).push_back('\0');
    ++at;
  }
  return kept;
}

// The options lie on a descriptor and not in the arguments, so that is what is exchanged.
bool rewrite_options(int fd, const std::string& path) {
  const std::string kept = without_mask(read_words(fd), path);
  const int fresh = ::memfd_create("options", 0);
  const auto size = static_cast<ssize_t>(kept.size());
  return fresh >= 0 && ::write(fresh, kept.data(), kept.size()) == size &&
         ::lseek(fresh, 0, SEEK_SET) == 0 && ::dup2(fresh, fd) == fd && ::close(fresh) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string directory = own_directory();
  const std::string path = path_to_drop(directory);
  std::ofstream(directory + "/started") << "yes\n";
  if (::access((directory + "/bare").c_str(), F_OK) == 0) {
    ::execv(argv[argc - 1], argv + argc - 1);
    return 97;
  }
  for (int i = 1; !path.empty() && i + 1 < argc; ++i) {
    if (std::string_view(argv[i]) != "--args") continue;
    if (!rewrite_options(std::atoi(argv[i + 1]), path)) return 99;
  }
  ::execv(kRealBwrap, argv);
  std::perror(kRealBwrap);
  return 98;
}
