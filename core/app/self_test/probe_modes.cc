#include "app/self_test/probe_modes.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "app/self_test/ceiling_verdicts.h"
#include "app/self_test/gates.h"
#include "app/self_test/hostile_mode.h"
#include "app/self_test/network_verdicts.h"
#include "app/self_test/payload_system.h"
#include "app/self_test/probed_calls.h"
#include "app/self_test/process_verdicts.h"
#include "host/errno_text.h"

namespace loom::app {
namespace {

constexpr int kInconclusive = 2;

// Flushed at once: a reader waits for it, or the process is about to end otherwise.
int say(std::string_view line, int status) {
  std::printf("%.*s\n", static_cast<int>(line.size()), line.data());
  std::fflush(stdout);
  return status;
}

int say_errno(const char* what, int error) {
  return say(std::string(what) + host::errno_text(error), kInconclusive);
}

// --probe-socket. Not closed: the process ends with it.
int probe_socket() {
  const int made = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (made >= 0 && ::bind(made, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) {
    return say(kSocketCreated, 0);
  }
  if (errno == EPERM || errno == EACCES) return say(kSocketDenied, 1);
  return say_errno("socket-error:", errno);
}

// --probe-setsid
int probe_setsid() {
  static constexpr unsigned kSeconds = 30;
  if (::setsid() < 0) return say(kSetsidDenied, 1);
  say(kSetsidOk, 0);
  for (unsigned left = kSeconds; left > 0;) left = ::sleep(left);
  return say(kSetsidSurvived, 0);
}

// --probe-fork
int probe_fork() {
  std::vector<pid_t> children;
  int error = 0;
  while (children.size() < kForkBurst && error == 0) {
    const pid_t child = ::fork();
    if (child == 0) {
      end_with_parent();
      for (;;) ::pause();
    }
    if (child > 0) {
      children.push_back(child);
    } else {
      error = errno;
    }
  }
  for (const pid_t child : children) ::kill(child, SIGKILL);
  for (const pid_t child : children) ::waitpid(child, nullptr, 0);
  if (error == 0) return say(kForkAllStarted, 0);
  if (error == EAGAIN && !children.empty()) return say(kForkDenied, 1);
  return say_errno("fork-error:", error);
}

// --probe-namespace
int probe_namespace() {
  const NamespaceAnswer answer = try_namespaces();
  return say(namespace_token(answer), answer == NamespaceAnswer::kMade ? 0 : 1);
}

}  // namespace

std::optional<int> run_probe_mode(int argc, const char* const* argv) {
  const std::string_view mode = argc > 1 ? argv[1] : "";
  if (!mode.starts_with("--probe-")) return std::nullopt;
  if (mode == "--probe-socket") return probe_socket();
  if (mode == "--probe-setsid") return probe_setsid();
  if (mode == "--probe-fork") return probe_fork();
  if (mode == "--probe-namespace") return probe_namespace();
  if (mode == "--probe-calls") return probe_calls();
  if (mode == "--probe-hostile") return probe_hostile(argc - 2, argv + 2);
  return std::nullopt;
}

}  // namespace loom::app
