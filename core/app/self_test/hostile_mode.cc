#include "app/self_test/hostile_mode.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <loom/result.h>
#include <loom/unique_fd.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "host/errno_text.h"

namespace loom::app {
namespace {

constexpr std::size_t kMaxSecretBytes = 256;
constexpr int kConnectSeconds = 3;
constexpr int kUsageError = 2;

void say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

std::string reason(int error) { return host::errno_text(error); }

// What the file begins with, or the errno.
Result<std::string> read_file(const char* path) {
  const UniqueFd file(::open(path, O_RDONLY | O_CLOEXEC));
  if (!file) return fail(ErrorCode::kSystem, reason(errno), errno);
  std::array<char, kMaxSecretBytes> buffer;
  const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
  if (got < 0) return fail(ErrorCode::kSystem, reason(errno), errno);
  return std::string(buffer.data(), static_cast<std::size_t>(got));
}

Result<void> write_file(const char* path) {
  const UniqueFd file(::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600));
  if (!file || ::write(file.get(), "hostile\n", 8) != 8) {
    return fail(ErrorCode::kSystem, reason(errno), errno);
  }
  return {};
}

Result<void> connect_to(std::uint16_t port) {
  const UniqueFd out(::socket(AF_INET, SOCK_STREAM, 0));
  if (!out) return fail(ErrorCode::kSystem, reason(errno), errno);
  // Bounds connect as well (socket(7)).
  const timeval limit{.tv_sec = kConnectSeconds, .tv_usec = 0};
  ::setsockopt(out.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(out.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return fail(ErrorCode::kSystem, reason(errno), errno);
  }
  return {};
}

// One line: a newline in the secret must not look like a second attempt.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

int probe_hostile(int argc, const char* const* argv) {
  if (argc < 5) {
    std::fputs("loom-exec: --probe-hostile READABLE WRITABLE SECRET OUTSIDE PORT\n", stderr);
    return kUsageError;
  }
  say("hostile-loaded");
  const auto allowed = read_file(argv[0]);
  say(allowed ? "control-read-ok" : "control-read-BROKEN:" + allowed.error().message);
  const auto written = write_file(argv[1]);
  say(written ? "control-write-ok" : "control-write-BROKEN:" + written.error().message);
  const auto secret = read_file(argv[2]);
  say(secret ? "secret-read-SUCCEEDED:" + first_line(*secret)
             : "secret-read-denied:" + secret.error().message);
  const auto outside = write_file(argv[3]);
  say(outside ? "outside-write-SUCCEEDED" : "outside-write-denied:" + outside.error().message);
  const auto connected = connect_to(static_cast<std::uint16_t>(std::atoi(argv[4])));
  say(connected ? "net-CONNECTED" : "net-denied:" + connected.error().message);
  say("hostile-done");
  return 0;
}

}  // namespace loom::app
