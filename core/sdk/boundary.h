#pragma once

#include <loom/backend_abi.h>
#include <loom/bytes.h>
#include <loom/result.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

// What both sides of the C table do alike.
namespace loom::boundary {

inline constexpr std::size_t kMaxAnswerBytes = 16'777'216;
inline constexpr std::size_t kMaxErrorBytes = 4'096;

// Collects what a callee appends, up to a ceiling. Lives on the caller's stack for one call.
class Collector {
 public:
  explicit Collector(std::size_t ceiling) noexcept : ceiling_(ceiling) {}

  [[nodiscard]] loom_sink sink() noexcept { return {.ctx = this, .append = &append}; }
  [[nodiscard]] const Bytes& bytes() const noexcept { return bytes_; }
  [[nodiscard]] Bytes take() noexcept { return std::move(bytes_); }
  // The callee wrote past the ceiling, or passed null for bytes.
  [[nodiscard]] bool broken() const noexcept { return broken_; }

 private:
  static void append(void* ctx, const std::uint8_t* data, std::size_t size) noexcept;

  std::size_t ceiling_;
  Bytes bytes_;
  bool broken_ = false;
};

[[nodiscard]] ByteView bytes_of(loom_view view) noexcept;
[[nodiscard]] loom_view view_of(ByteView bytes) noexcept;
void append_to(const loom_sink* sink, ByteView bytes) noexcept;

// Writes the message to `error` and gives the status to return.
[[nodiscard]] loom_status report(const Error& failure, const loom_sink* error) noexcept;
// The same for what was thrown: `where` names the function, `what` is the exception's own text.
[[nodiscard]] loom_status report_thrown(std::string_view where, std::string_view what,
                                        const loom_sink* error) noexcept;

// What became of a call through a table: nothing wrong, the callee's error, or kBackend (which
// names `where`) when status or sinks break the contract.
[[nodiscard]] Result<void> outcome_of(std::string_view where, loom_status status,
                                      const Collector& out, const Collector& error);

// Prefixes an error found in the other side's bytes and makes it that side's fault.
[[nodiscard]] tl::unexpected<Error> broken_answer(std::string_view where, const Error& found);

}  // namespace loom::boundary
