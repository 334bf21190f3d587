#pragma once

#include <loom/result.h>
#include <loom/unique_fd.h>

#include <cstdint>
#include <utility>

namespace loom::app {

// A listener on 127.0.0.1, any port. Connections succeed without being accepted; who connected is
// known by accepting afterwards.
class LoopbackListener {
 public:
  [[nodiscard]] static Result<LoopbackListener> open();

  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  // Accepts and closes what has come since the last call; whether anything had.
  [[nodiscard]] bool take_connections() const;

 private:
  LoopbackListener(UniqueFd fd, std::uint16_t port) : fd_(std::move(fd)), port_(port) {}
  UniqueFd fd_;
  std::uint16_t port_;
};

}  // namespace loom::app
