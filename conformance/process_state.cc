#include "process_state.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <clocale>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "child_process.h"

namespace loom::conformance {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> names_in(const char* directory) {
  std::vector<std::string> names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    names.push_back(entry.path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// But for the sealed copies that the loader keeps open, and the listing itself.
std::map<int, std::string> open_descriptors() {
  std::map<int, std::string> found;
  for (const std::string& name : names_in("/proc/self/fd")) {
    std::error_code error;
    const std::string target = fs::read_symlink("/proc/self/fd/" + name, error).string();
    if (error || target.find("memfd:loom-backend") != std::string::npos) continue;
    found[std::stoi(name)] = target;
  }
  return found;
}

std::string text_of(const struct sigaction& action) {
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "handler %p, flags %x",
                reinterpret_cast<void*>(action.sa_handler), static_cast<unsigned>(action.sa_flags));
  return text.data();
}

std::map<int, std::string> signal_actions() {
  std::map<int, std::string> found;
  for (int number = 1; number <= SIGRTMAX; ++number) {
    struct sigaction action {};
    if (::sigaction(number, nullptr, &action) == 0) found[number] = text_of(action);
  }
  sigset_t mask;
  ::sigprocmask(SIG_BLOCK, nullptr, &mask);
  for (int number = 1; number <= SIGRTMAX; ++number) {
    found[0] += ::sigismember(&mask, number) == 1 ? '1' : '0';
  }
  return found;
}

std::vector<std::string> all_variables() {
  std::vector<std::string> variables;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    variables.emplace_back(*variable);
  }
  return variables;
}

std::vector<std::string> all_limits() {
  std::vector<std::string> limits;
  std::ifstream file("/proc/self/limits");
  for (std::string line; std::getline(file, line);) limits.push_back(line);
  return limits;
}

std::string privilege_lines() {
  std::string lines;
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);) {
    const bool matters = line.starts_with("Uid:") || line.starts_with("Gid:") ||
                         line.starts_with("Groups:") || line.starts_with("Cap") ||
                         line.starts_with("NoNewPrivs:") || line.starts_with("Seccomp:");
    if (matters) lines += line + "; ";
  }
  return lines;
}

std::size_t printed_bytes() {
  std::fflush(nullptr);
  struct stat out {};
  return ::fstat(STDOUT_FILENO, &out) == 0 ? static_cast<std::size_t>(out.st_size) : 0;
}

}  // namespace

ProcessState look_at_this_process() {
  ProcessState state;
  state.descriptors = open_descriptors();
  state.signals = signal_actions();
  state.environment = all_variables();
  state.locale = std::setlocale(LC_ALL, nullptr);
  std::error_code ignored;
  state.directory = fs::current_path(ignored).string();
  state.umask = ::umask(0);
  ::umask(static_cast<mode_t>(state.umask));
  state.threads = names_in("/proc/self/task");
  for (const auto& [pid, name] : own_children()) {
    state.children.push_back(std::to_string(pid) + " " + name);
  }
  state.limits = all_limits();
  state.privileges = privilege_lines();
  state.printed = printed_bytes();
  return state;
}

}  // namespace loom::conformance
