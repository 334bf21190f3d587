#include "host/add_seals.h"

#include <fcntl.h>

#include <cerrno>
#include <chrono>
#include <thread>

namespace loom::host {

namespace {

constexpr std::chrono::milliseconds kPatience{500};
constexpr std::chrono::milliseconds kPause{10};

}  // namespace

int add_seals(int file, int seals) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (::fcntl(file, F_ADD_SEALS, seals) != 0) {
    if (errno != EBUSY || std::chrono::steady_clock::now() >= deadline) return errno;
    std::this_thread::sleep_for(kPause);
  }
  return 0;
}

}  // namespace loom::host
