#pragma once

#include <loom/result.h>
#include <loom/unique_fd.h>

#include <string>

namespace loom::conformance {

// Listeners on this machine that a command may try to reach. Connections wait in the backlog.
struct TcpListener {
  UniqueFd socket{};
  std::string port{};
};
[[nodiscard]] Result<TcpListener> listen_on_loopback();

struct AbstractListener {
  UniqueFd socket{};
  std::string name{};
};
[[nodiscard]] Result<AbstractListener> listen_abstract();

}  // namespace loom::conformance
