#include "identity/decode_policy_operand.h"

#include <loom/value.h>

#include <algorithm>
#include <array>
#include <utility>

#include "identity/base64.h"

namespace loom {
namespace {

// Of a document that decode_policy took, so every list is one of strings; mounts are checked there.
bool names_a_parent(const Value& document) {
  constexpr std::array<std::string_view, 3> kPathLists = {"writable_roots", "readable_roots",
                                                          "protected"};
  for (const std::string_view list : kPathLists) {
    const std::vector<Value>& paths = document.find(list)->items;
    const bool found = std::any_of(paths.begin(), paths.end(), [](const Value& path) {
      return has_parent_segment(path.bytes);
    });
    if (found) return true;
  }
  return has_parent_segment(document.find("scratch")->bytes);
}

}  // namespace

bool has_parent_segment(std::string_view path) noexcept {
  while (!path.empty()) {
    const std::size_t slash = std::min(path.find('/'), path.size());
    if (path.substr(0, slash) == "..") return true;
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return false;
}

IdentityResult<Policy> decode_policy_operand(std::string_view base64) {
  if (base64.size() > kMaxPolicyOperandChars) {
    return tl::unexpected(IdentityRefusal::kPolicyTooLong);
  }
  const auto bytes = decode_base64(base64, kMaxBasePolicyBytes);
  if (!bytes) return tl::unexpected(IdentityRefusal::kPolicyNotBase64);
  const auto document = parse_value(*bytes);
  if (!document) return tl::unexpected(IdentityRefusal::kPolicyInvalid);
  auto policy = decode_policy(*document);
  if (!policy) return tl::unexpected(IdentityRefusal::kPolicyInvalid);
  if (names_a_parent(*document)) return tl::unexpected(IdentityRefusal::kPolicyParentSegment);
  return *std::move(policy);
}

}  // namespace loom
