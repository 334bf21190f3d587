#pragma once

#include <loom/bytes.h>
#include <loom/facts.h>
#include <loom/result.h>

#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "host/held_names.h"

namespace loom::host {

inline constexpr std::size_t kMaxCaretakerMessage = 65'536;  // bytes, head included

// The plain struct at the start of a message; nothing when it is too short for one. What remains of
// `bytes` is what follows it.
template <class Head>
[[nodiscard]] std::optional<Head> take_head(ByteView& bytes) noexcept {
  static_assert(std::is_trivially_copyable_v<Head>);
  if (bytes.size() < sizeof(Head)) return std::nullopt;
  Head head;
  std::memcpy(&head, bytes.data(), sizeof head);
  bytes = bytes.subspan(sizeof head);
  return head;
}

template <class Head>
[[nodiscard]] ByteView head_bytes(const Head& head) noexcept {
  static_assert(std::has_unique_object_representations_v<Head>);
  return std::as_bytes(std::span(&head, 1));
}

// What follows the head of a message or an answer, in as many parts as the socket needs: each part
// is one msgpack array, and the list is all of them together.
[[nodiscard]] std::vector<Bytes> encode_names(const std::vector<WantedName>& names);
[[nodiscard]] std::vector<Bytes> encode_identities(const std::vector<FileIdentity>& identities);
[[nodiscard]] Bytes encode_texts(const std::vector<std::string>& texts);  // as many as fit
[[nodiscard]] Bytes encode_error(const Error& error);

// Append what one part holds. Fail with kInvalidRequest.
[[nodiscard]] Result<void> decode_names(ByteView part, std::vector<WantedName>& names);
[[nodiscard]] Result<void> decode_identities(ByteView part, std::vector<FileIdentity>& identities);
[[nodiscard]] Result<std::vector<std::string>> decode_texts(ByteView part);
[[nodiscard]] Result<Error> decode_error(ByteView part);

}  // namespace loom::host
