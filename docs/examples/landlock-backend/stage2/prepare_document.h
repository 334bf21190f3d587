#pragma once

#include <cstddef>
#include <cstdint>

#include "control.h"

namespace landlock::stage2 {

struct Rule {
  const char* path = nullptr;  // a real path
  std::uint64_t access = 0;
  // What must be there; 0 and 0: whatever directory is.
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
};

struct Limit {
  bool asked = false;
  std::uint64_t value = 0;
};

// What plan decided (../prepare_document.h), as this program reads it. Borrows the document.
struct PrepareDocument {
  std::uint32_t abi = 0;
  std::uint64_t handled_files = 0;
  std::uint64_t handled_tcp = 0;
  std::uint64_t scopes = 0;
  const Rule* rules = nullptr;
  std::size_t rule_count = 0;
  const char* filter = nullptr;  // sock_filter instructions
  std::size_t filter_bytes = 0;
  bool cuts_network = false;
  bool denies_unix = false;
  Limit file_bytes{};
  Limit cpu_soft{};
  Limit cpu_hard{};
  Limit descriptors{};
};

// false: not a document of this version.
bool decode_prepare(Document document, PrepareDocument& prepare) noexcept;

}  // namespace landlock::stage2
