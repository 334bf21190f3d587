#pragma once

#include <loom/bytes.h>
#include <loom/result.h>

#include <string>
#include <string_view>
#include <vector>

namespace landlock {

// Which filter a run gets. Some calls are refused in every one.
struct FilterChoice {
  bool cuts_network = false;  // no socket but of AF_UNIX, and no ring that could make one
  bool denies_unix = false;   // no AF_UNIX either, but connected pairs
  friend bool operator==(const FilterChoice&, const FilterChoice&) = default;
};

// The filter as instructions of the kernel's classic BPF (struct sock_filter). Pure; for the
// architecture that this is compiled for, kUnsupported for any other.
[[nodiscard]] loom::Result<loom::Bytes> compile_filter(const FilterChoice& choice,
                                                       std::string_view machine);

// The same rules for people, one a line.
[[nodiscard]] std::vector<std::string> explain_filter(const FilterChoice& choice);

}  // namespace landlock
