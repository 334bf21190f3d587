// Says on standard output what a freshly executed image finds. Its first argument is the question.

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <set>
#include <string>
#include <thread>

namespace {

int descriptors() {
  std::set<int> open;
  DIR* const listing = ::opendir("/proc/self/fd");
  if (listing == nullptr) return 1;
  while (const dirent* const entry = ::readdir(listing)) {
    if (entry->d_name[0] != '.') open.insert(std::atoi(entry->d_name));
  }
  open.erase(::dirfd(listing));
  ::closedir(listing);
  for (const int fd : open) std::cout << fd << ' ';
  return 0;
}

// The signal lines of /proc/self/status: ignored, caught, blocked.
int signals() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("SigBlk") || line.starts_with("SigIgn") || line.starts_with("SigCgt")) {
      std::cout << line.substr(line.find('\t') + 1) << ' ';
    }
  }
  return 0;
}

int session() {
  std::cout << (::getsid(0) == ::getpid()) << (::getpgrp() == ::getpid());
  return 0;
}

int place() {
  char directory[4'096];
  if (::getcwd(directory, sizeof directory) == nullptr) return 1;
  rlimit size{};
  if (::getrlimit(RLIMIT_FSIZE, &size) != 0) return 1;
  std::cout << directory << ' ' << size.rlim_cur << ' ' << size.rlim_max;
  return 0;
}

int words(int count, char** text) {
  for (int i = 0; i < count; ++i) std::cout << text[i] << '|';
  for (char** variable = environ; *variable != nullptr; ++variable) std::cout << *variable << '|';
  return 0;
}

// Reads a line from each descriptor named and repeats it.
int repeat(int count, char** numbers) {
  for (int i = 0; i < count; ++i) {
    char line[64] = {};
    if (::read(std::atoi(numbers[i]), line, sizeof line - 1) <= 0) return 1;
    std::cout << numbers[i] << '=' << line << ' ';
  }
  return 0;
}

// Makes a child, says its pid, reaps it. The child waits for the end of standard input and then
// ends as told.
int parent_of_one(const std::string& how) {
  const pid_t child = ::fork();
  if (child == 0) {
    char byte = 0;
    while (::read(0, &byte, 1) > 0) {
    }
    if (how == "killed") ::kill(::getpid(), SIGKILL);
    ::_exit(how == "killed" ? 1 : std::atoi(how.c_str()));
  }
  std::cout << child << std::endl;
  return ::waitpid(child, nullptr, 0) == child ? 0 : 1;
}

// Ends with `code`, by a thread that outlives the main one, which ends with 0, until the end of
// standard input.
int outlive_main(int code) {
  const std::string file = "/proc/self/task/" + std::to_string(::getpid()) + "/stat";
  std::thread([file, code] {
    std::string text;
    do {
      std::ifstream stat(file);
      std::getline(stat, text);
    } while (text.find(") Z ") == std::string::npos);
    std::cout << "up" << std::endl;
    char byte = 0;
    while (::read(0, &byte, 1) > 0) {
    }
    ::_exit(code);
  }).detach();
  ::syscall(SYS_exit, 0);
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string question = argc > 1 ? argv[1] : "";
  if (question == "descriptors") return descriptors();
  if (question == "signals") return signals();
  if (question == "session") return session();
  if (question == "place") return place();
  if (question == "words") return words(argc, argv);
  if (question == "repeat") return repeat(argc - 2, argv + 2);
  if (question == "parent-of-one" && argc > 2) return parent_of_one(argv[2]);
  if (question == "exit" && argc > 2) return std::atoi(argv[2]);
  if (question == "outlive-main" && argc > 2) return outlive_main(std::atoi(argv[2]));
  if (question == "sleep") return static_cast<int>(::sleep(60));
  return 2;
}
