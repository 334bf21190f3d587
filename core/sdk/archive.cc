#include "archive.h"

#include <loom/utf8.h>

namespace loom::archive {

Result<void> check_version(const Value& value, std::string_view noun) {
  const std::string name(noun);
  if (!value.is(Value::Kind::kMap)) {
    return fail(ErrorCode::kInvalidRequest,
                name + ": expected map, found " + std::string(kind_name(value.kind)));
  }
  const Value* version = value.find("v");
  if (version == nullptr) return fail(ErrorCode::kInvalidRequest, name + ": v: missing key");
  if (!version->is(Value::Kind::kUnsigned)) {
    return fail(ErrorCode::kInvalidRequest,
                name + ": v: expected integer, found " + std::string(kind_name(version->kind)));
  }
  if (version->unsigned_number != kValueVersion) {
    return fail(ErrorCode::kInvalidRequest,
                name + ": v: unsupported version " + std::to_string(version->unsigned_number) +
                    ", this side knows " + std::to_string(kValueVersion));
  }
  return {};
}

tl::unexpected<Error> refused(std::string_view noun, const Refusal& refusal) {
  // An unknown key is as long and as strange as its writer liked.
  std::string message(noun);
  if (!refusal.where.empty()) message += ": " + escaped(refusal.where, 256);
  return fail(ErrorCode::kInvalidRequest, message + ": " + refusal.why);
}

}  // namespace loom::archive
