// A bubblewrap that loses a mask: stands on the helper's PATH as `bwrap` and becomes the real one,
// having left the mask of one path out of the options. A file `drop` beside it names the path, or
// an option that has no arguments and is left out instead; without one nothing is left out, which
// is the control. A file `bare` makes it lose everything: it becomes what it should have put into a
// jail. A file `unknown` names an option that this release does not know. A file `exchange` holds
// two paths, a line each: before a jail is built that shows the first, their names are exchanged. A
// file `remove` names a path that is removed before a jail is built that shows it. A file `linger`
// makes it stay when what it became has ended. A file `report` holds a number of bytes, which it
// writes as the report of an inner stage, and no jail is built. A file `hold` holds a number of
// milliseconds for which the report's end is kept open elsewhere. Each start leaves a file
// `started`.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "fake_bwrap.h"

namespace {

std::string content(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  std::string text;
  std::getline(file, text, '\0');
  return text;
}

// How the helper names a path for a link that leads bubblewrap to it.
std::string as_target(const std::string& path) { return "/newroot" + path; }

// Where such a link is; the path itself where there is none.
std::string place_of(const std::vector<std::string>& words, const std::string& path) {
  const std::size_t slash = path.rfind('/');
  for (std::size_t at = 0; at + 2 < words.size(); ++at) {
    if (words[at] == "--symlink" && words[at + 1] == as_target(path)) return words[at + 2];
  }
  // That of the directory above serves the mask of a file.
  for (std::size_t at = 0; slash != std::string::npos && at + 2 < words.size(); ++at) {
    const std::string place = words[at + 2] + path.substr(slash);
    if (words[at] == "--symlink" && words[at + 1] == as_target(path.substr(0, slash)) &&
        std::find(words.begin(), words.end(), place) != words.end()) {
      return place;
    }
  }
  return path;
}

// The option itself; else "--ro-bind /dev/null PATH" and whatever else mounts something there,
// "--tmpfs PATH" and
// "--remount-ro PATH".
std::size_t words_of_mask(const std::vector<std::string>& words, std::size_t at,
                          const std::string& path) {
  const std::string_view option = words[at];
  if (option == path && option.starts_with("--")) return 1;
  const bool binds = option.starts_with("--bind") || option.starts_with("--ro-bind");
  if (binds && at + 2 < words.size() && words[at + 2] == path) return 3;
  const bool covers = option == "--tmpfs" || option == "--remount-ro";
  return covers && at + 1 < words.size() && words[at + 1] == path ? 2 : 0;
}

std::string without_mask(const std::vector<std::string>& words, const std::string& path) {
  std::string kept;
  const std::string place = place_of(words, path);
  for (std::size_t at = 0; at < words.size();) {
    if (const std::size_t lost = words_of_mask(words, at, place); lost > 0) {
      at += lost;
      continue;
    }
    kept.append(words[at]).push_back('\0');
    ++at;
  }
  return kept;
}

// Whether the option is among the arguments, or among those on a descriptor, which stay as they
// are.
bool names(int argc, char** argv, const std::string& option) {
  for (int i = 1; i < argc; ++i) {
    if (argv[i] == option) return true;
    if (std::string_view(argv[i]) != "--args" || i + 1 == argc) continue;
    for (const std::string& word : read_options(std::atoi(argv[i + 1]))) {
      if (word == option) return true;
    }
  }
  return false;
}

bool shows(int argc, char** argv, const std::string& path) {
  return names(argc, argv, path) || names(argc, argv, as_target(path)) ||
         names(argc, argv, as_target(path.substr(0, path.rfind('/'))));
}

// Whether it is done, or there is nothing to exchange for this jail, which must name the first.
bool exchange_names(const std::string& file, int argc, char** argv) {
  std::ifstream lines(file, std::ios::binary);
  std::string one;
  std::string other;
  if (!std::getline(lines, one) || !std::getline(lines, other)) return true;
  if (!shows(argc, argv, one)) return true;
  return ::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE) == 0;
}

bool remove_name(const std::string& path, int argc, char** argv) {
  return path.empty() || !shows(argc, argv, path) || ::remove(path.c_str()) == 0;
}

// The child goes on as the launcher. Whoever waits for the parent waits for good; it ends with its
// own, as a bubblewrap does.
void stay_behind() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::fork() == 0) return;
  ::signal(SIGCHLD, SIG_IGN);
  for (;;) ::pause();
}

// The same number in every launch that has an inner stage; a trial has none.
constexpr int kReportNumber = 4;

bool has_report() { return ::fcntl(kReportNumber, F_GETFD) >= 0; }

// Ends when all of it was taken.
[[noreturn]] void report_bytes(std::size_t size) {
  const std::string bytes(size, 'x');
  std::size_t done = 0;
  while (done < size) {
    const ssize_t wrote = ::write(kReportNumber, bytes.data() + done, size - done);
    if (wrote <= 0) ::_exit(93);
    done += static_cast<std::size_t>(wrote);
  }
  ::_exit(94);
}

void hold_report(int milliseconds) {
  if (::fork() != 0) return;
  ::dup2(kReportNumber, 0);
  ::close_range(1, ~0u, 0);
  ::poll(nullptr, 0, milliseconds);
  ::_exit(0);
}

// The options lie on a descriptor and not in the arguments, so that is what is exchanged.
bool rewrite_options(int fd, const std::string& path) {
  const std::string kept = without_mask(read_options(fd), path);
  const int fresh = ::memfd_create("options", 0);
  const auto size = static_cast<ssize_t>(kept.size());
  return fresh >= 0 && ::write(fresh, kept.data(), kept.size()) == size &&
         ::lseek(fresh, 0, SEEK_SET) == 0 && ::dup2(fresh, fd) == fd && ::close(fresh) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string directory = own_directory();
  const std::string path = content(directory + "/drop");
  const std::string unknown = content(directory + "/unknown");
  std::ofstream(directory + "/started") << "yes\n";
  if (::access((directory + "/linger").c_str(), F_OK) == 0) stay_behind();
  const std::string size = content(directory + "/report");
  if (has_report() && !size.empty()) report_bytes(std::stoul(size));
  const std::string held = content(directory + "/hold");
  if (has_report() && !held.empty()) hold_report(std::stoi(held));
  if (::access((directory + "/bare").c_str(), F_OK) == 0) {
    ::execv(argv[argc - 1], argv + argc - 1);
    return 97;
  }
  if (!unknown.empty() && names(argc, argv, unknown)) {
    std::fprintf(stderr, "bwrap: Unknown option %s\n", unknown.c_str());
    return 1;
  }
  if (!exchange_names(directory + "/exchange", argc, argv)) return 96;
  if (!remove_name(content(directory + "/remove"), argc, argv)) return 95;
  for (int i = 1; !path.empty() && i + 1 < argc; ++i) {
    if (std::string_view(argv[i]) != "--args") continue;
    if (!rewrite_options(std::atoi(argv[i + 1]), path)) return 99;
  }
  return become_bwrap(argv);
}
