#include "app/self_test/loopback_listener.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>

#include "host/errno_text.h"

namespace loom::app {
namespace {

tl::unexpected<Error> step_failed(const char* step) {
  const int error = errno;
  return fail(ErrorCode::kSystem, std::string("loopback ") + step + ": " + host::errno_text(error),
              error);
}

}  // namespace

Result<LoopbackListener> LoopbackListener::open() {
  static constexpr int kBacklog = 16;
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM, 0));
  if (!fd) return step_failed("socket");
  // macOS has no flags of socket(2) for these, and nothing is forked in between.
  if (::fcntl(fd.get(), F_SETFD, FD_CLOEXEC) != 0) return step_failed("close-on-exec");
  if (::fcntl(fd.get(), F_SETFL, O_NONBLOCK) != 0) return step_failed("non-blocking");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  auto* const plain = reinterpret_cast<sockaddr*>(&address);
  socklen_t size = sizeof address;
  if (::bind(fd.get(), plain, size) != 0) return step_failed("bind");
  if (::listen(fd.get(), kBacklog) != 0) return step_failed("listen");
  if (::getsockname(fd.get(), plain, &size) != 0) return step_failed("getsockname");
  return LoopbackListener(std::move(fd), ntohs(address.sin_port));
}

bool LoopbackListener::take_connections() const {
  bool any = false;
  for (;;) {
    const UniqueFd connection(::accept(fd_.get(), nullptr, nullptr));
    if (!connection) return any;
    any = true;
  }
}

}  // namespace loom::app
