// Stands where macOS has /usr/bin/sandbox-exec: takes the same arguments, is strict about them, and
// becomes the program. There is no sandbox in it.
//
//   fake_sandbox_exec (-p PROFILE | -f FILE) [-DNAME=VALUE]… [--] PROGRAM [ARGUMENT]…
//
// It is started with an empty environment, so it looks into the one that the helper above it was
// started with: LOOM_LAUNCHER_STATUS makes it fail as the kernel's refusal of a profile does,
// LOOM_LAUNCHER_LOG names a file to which it adds one line about each call.
#include <sys/types.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr int kUsage = 64;
constexpr std::size_t kMaxArgument = 131'072;  // of one word, on Linux

[[noreturn]] void refuse(const std::string& why) {
  std::fprintf(stderr, "fake sandbox-exec: %s\n", why.c_str());
  std::exit(kUsage);
}

std::string read_file(const std::string& name) {
  std::ifstream file(name, std::ios::binary);
  if (!file) refuse(name + " cannot be read");
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string helpers_variable(std::string_view name) {
  const std::string all = read_file("/proc/" + std::to_string(::getppid()) + "/environ");
  const std::string wanted = std::string(name) + "=";
  for (std::size_t at = 0; at < all.size(); at = all.find('\0', at) + 1) {
    if (all.compare(at, wanted.size(), wanted) != 0) continue;
    return all.substr(at + wanted.size(), all.find('\0', at) - at - wanted.size());
  }
  return {};
}

struct Call {
  std::string form;
  std::string profile;
  std::set<std::string> defined;
  std::vector<char*> program;
};

void take_definition(std::string_view word, Call& call) {
  const std::size_t mark = word.find('=');
  if (mark == std::string_view::npos || mark < 3) refuse("no NAME=VALUE in " + std::string(word));
  const std::string name(word.substr(2, mark - 2));
  if (!call.defined.insert(name).second) refuse(name + " is defined twice");
  if (mark + 1 == word.size() || word[mark + 1] != '/') refuse(name + " is not an absolute path");
}

Call parse(int argc, char** argv) {
  Call call;
  if (argc < 4) refuse("too few arguments");
  call.form = argv[1];
  if (call.form != "-p" && call.form != "-f") refuse("neither -p nor -f comes first");
  call.profile = call.form == "-p" ? argv[2] : read_file(argv[2]);
  int next = 3;
  for (; next < argc && std::string_view(argv[next]).starts_with("-D"); ++next) {
    take_definition(argv[next], call);
  }
  if (next < argc && std::string_view(argv[next]) == "--") ++next;
  for (; next < argc; ++next) call.program.push_back(argv[next]);
  if (call.program.empty() || call.program.front()[0] == '-') refuse("no program");
  call.program.push_back(nullptr);
  return call;
}

// Every parameter must be defined: an undefined one makes the real one fail.
void check_profile(const Call& call) {
  if (!call.profile.starts_with("(version 1)\n")) refuse("the profile has no version");
  if (call.form == "-p" && call.profile.size() >= kMaxArgument) refuse("the profile is too long");
  constexpr std::string_view kParameter = "(param \"";
  for (std::size_t at = call.profile.find(kParameter); at != std::string::npos;
       at = call.profile.find(kParameter, at + 1)) {
    const std::size_t begin = at + kParameter.size();
    const std::string name = call.profile.substr(begin, call.profile.find('"', begin) - begin);
    if (!call.defined.contains(name)) refuse("the profile uses " + name + ", which is not defined");
  }
}

void log(const Call& call) {
  const std::string name = helpers_variable("LOOM_LAUNCHER_LOG");
  if (name.empty()) return;
  char directory[4096];
  const char* here = ::getcwd(directory, sizeof directory);
  std::ofstream file(name, std::ios::app);
  file << call.form << ' ' << call.profile.size() << ' ' << call.defined.size() << ' '
       << (here == nullptr ? "nowhere" : here) << ' ' << call.program.front() << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  const Call call = parse(argc, argv);
  check_profile(call);
  log(call);
  const std::string status = helpers_variable("LOOM_LAUNCHER_STATUS");
  if (!status.empty()) {
    std::fputs("sandbox-exec: sandbox_apply: Operation not permitted\n", stderr);
    return std::atoi(status.c_str());
  }
  ::execv(call.program.front(), call.program.data());
  std::perror(call.program.front());
  return 71;
}
