#pragma once

#include <loom/bytes.h>
#include <loom/result.h>

#include <string>
#include <vector>

namespace loom::seatbelt {

// What this backend's own probe found out about the machine; travels as HostFacts::backend.
struct MachineFacts {
  // The user's temporary and cache directory, as the system names them. Fewer where it could not
  // say: every run is then narrower.
  std::vector<std::string> user_directories{};
  // Not empty: a trial profile was refused because this helper is inside one already, in the
  // launcher's words. The kernel takes one profile for a process and its descendants.
  std::string already_profiled{};
  friend bool operator==(const MachineFacts&, const MachineFacts&) = default;
};

[[nodiscard]] Bytes encode(const MachineFacts& facts);

// Strict. No bytes at all mean that nobody probed: no directories, and no profile known.
[[nodiscard]] Result<MachineFacts> decode_machine_facts(ByteView bytes);

}  // namespace loom::seatbelt
