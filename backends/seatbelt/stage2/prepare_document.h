#pragma once

#include <loom/bytes.h>
#include <loom/result.h>

#include <cstdint>
#include <optional>

namespace loom::seatbelt {

// What stage 2 does to itself before it reports, decided by render and read from descriptor 3.
// Holds no path: those travel as parameters of the profile, which is in force when stage 2 begins.
struct PrepareDocument {
  std::optional<std::uint64_t> fsize_bytes{};
  std::optional<std::uint64_t> cpu_s{};
  std::optional<std::uint64_t> address_space_bytes{};  // attempted; the policy's mem_bytes
  // The account's processes, attempted with a reserve; the policy's pids. Not with a fork brake.
  std::optional<std::uint64_t> processes{};
  // Version 3: the budget of the account's processes beyond those it has now. Cannot be installed:
  // nothing runs.
  std::optional<std::uint64_t> fork_brake{};
  // The soft RLIMIT_NOFILE that the command gets back.
  std::optional<std::uint64_t> descriptor_limit{};
  bool proxy_asked = false;  // the policy's network is "proxy": cut, and reported
  friend bool operator==(const PrepareDocument&, const PrepareDocument&) = default;
};

[[nodiscard]] Bytes encode(const PrepareDocument& document);
// Strict: what is not one of these, exactly, is kInvalidRequest.
[[nodiscard]] Result<PrepareDocument> decode_prepare_document(ByteView bytes);

}  // namespace loom::seatbelt
