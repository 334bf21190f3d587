#pragma once

#include <array>
#include <chrono>
#include <optional>

#include "frame.h"

namespace loom::conformance {

// What one exec_start led to, as the frames under its id tell it.
struct Run {
  std::uint64_t id = 0;
  std::string out{};
  std::string err{};
  int chunks = 0;
  bool out_cut = false;
  bool err_cut = false;
  std::optional<Json> exit{};        // the body of exec_exit
  std::optional<Json> error{};       // or that of the refusal
  std::chrono::milliseconds took{};  // from the start to either, as we saw it

  [[nodiscard]] bool settled() const noexcept { return exit || error; }
  [[nodiscard]] std::uint64_t count(const char* key) const;  // of the exit frame
  [[nodiscard]] bool flag(const char* key) const;
  [[nodiscard]] std::uint64_t code() const { return count("code"); }
  [[nodiscard]] std::vector<std::string> entries() const;  // the report
  // "exit 3, stdout "…", stderr "…"", or the refusal.
  [[nodiscard]] std::string text() const;

  // Adds a frame. kBackend: it does not follow from those before.
  [[nodiscard]] Result<void> take(const Frame& frame);
};

}  // namespace loom::conformance
