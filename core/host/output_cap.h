#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace loom::host {

// The output cap of one stream (docs/wire.md 7). Pure.
class OutputCap {
 public:
  struct Verdict {
    bool forward = false;    // send a chunk (possibly empty) for this read
    std::size_t bytes = 0;   // how much of the read goes out
    bool truncated = false;  // true on exactly one chunk of a stream
  };
  explicit OutputCap(std::optional<std::uint64_t> cap) : cap_(cap) {}

  [[nodiscard]] Verdict take(std::size_t read_bytes);
  [[nodiscard]] std::uint64_t forwarded() const noexcept { return forwarded_; }
  [[nodiscard]] bool truncated() const noexcept { return truncated_; }

 private:
  std::optional<std::uint64_t> cap_;
  std::uint64_t forwarded_ = 0;
  bool truncated_ = false;
};

}  // namespace loom::host
