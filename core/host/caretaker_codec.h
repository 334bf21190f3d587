#pragma once

#include <loom/bytes.h>
#include <loom/facts.h>
#include <loom/result.h>

#include <string>
#include <vector>

#include "host/held_names.h"

namespace loom::host {

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
