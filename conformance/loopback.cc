#include "loopback.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

namespace loom::conformance {
namespace {

constexpr int kBacklog = 16;

tl::unexpected<Error> failed(const char* what) {
  const int error = errno;
  return fail(ErrorCode::kSystem, std::string(what) + ": " + std::strerror(error), error);
}

}  // namespace

Result<TcpListener> listen_on_loopback() {
  TcpListener listener{.socket = UniqueFd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0))};
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof at;
  auto* const address = reinterpret_cast<sockaddr*>(&at);
  if (!listener.socket || ::bind(listener.socket.get(), address, size) != 0 ||
      ::listen(listener.socket.get(), kBacklog) != 0 ||
      ::getsockname(listener.socket.get(), address, &size) != 0) {
    return failed("listen on the loopback");
  }
  listener.port = std::to_string(ntohs(at.sin_port));
  return listener;
}

Result<AbstractListener> listen_abstract() {
  AbstractListener listener{.socket = UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)),
                            .name = "loom-conformance-" + std::to_string(::getpid())};
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  std::memcpy(at.sun_path + 1, listener.name.data(), listener.name.size());
  const auto size =
      static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + listener.name.size());
  if (!listener.socket ||
      ::bind(listener.socket.get(), reinterpret_cast<sockaddr*>(&at), size) != 0 ||
      ::listen(listener.socket.get(), kBacklog) != 0) {
    return failed("listen on an abstract socket");
  }
  return listener;
}

}  // namespace loom::conformance
