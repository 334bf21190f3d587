#pragma once

#include <loom/bytes.h>
#include <loom/facts.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace landlock {

// One Landlock rule: what the command may do with the object at `path` and, where that is a
// directory, with everything beneath.
struct Rule {
  std::string path{};  // real
  std::uint64_t access = 0;
  loom::FileIdentity identity{};  // of what must be there; zero: a directory that the host made
  friend bool operator==(const Rule&, const Rule&) = default;
};

// What the inner stage does before it reports (stage2/prepare_document.h reads it).
struct PrepareDocument {
  std::uint32_t abi = 0;  // the kernel's number; what is handled is never more than it knows
  std::uint64_t handled_files = 0;
  std::uint64_t handled_tcp = 0;
  std::uint64_t scopes = 0;
  std::vector<Rule> rules{};
  loom::Bytes filter{};
  bool cuts_network = false;
  bool denies_unix = false;
  std::optional<std::uint64_t> file_bytes{};
  std::optional<std::uint64_t> cpu_s{};
  std::optional<std::uint64_t> descriptors{};
};

[[nodiscard]] loom::Bytes encode(const PrepareDocument& document);

}  // namespace landlock
