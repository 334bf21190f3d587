#include "kernel_facts.h"

#include <loom/value.h>

namespace landlock {
namespace {

constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kFields = 5;

}  // namespace

loom::Bytes encode(const KernelFacts& facts) {
  loom::ValueWriter out;
  out.array(kFields);
  out.number(kVersion);
  out.number(facts.abi);
  out.binary(loom::as_bytes(facts.no_landlock));
  out.boolean(facts.seccomp);
  out.binary(loom::as_bytes(facts.no_seccomp));
  return out.take();
}

loom::Result<KernelFacts> decode_kernel_facts(loom::ByteView bytes) {
  using Kind = loom::Value::Kind;
  if (bytes.empty()) {
    return KernelFacts{.no_landlock = "not probed", .no_seccomp = "not probed"};
  }
  LOOM_TRY(const loom::Value value, loom::parse_value(bytes));
  const auto& items = value.items;
  const bool sound = value.is(Kind::kArray) && items.size() == kFields &&
                     items[0].is(Kind::kUnsigned) && items[0].unsigned_number == kVersion &&
                     items[1].is(Kind::kUnsigned) && items[1].unsigned_number <= UINT32_MAX &&
                     items[2].is(Kind::kBinary) && items[3].is(Kind::kBoolean) &&
                     items[4].is(Kind::kBinary);
  if (!sound) {
    return loom::fail(loom::ErrorCode::kInvalidRequest,
                      "facts.backend: not what this backend's probe returned");
  }
  return KernelFacts{.abi = static_cast<std::uint32_t>(items[1].unsigned_number),
                     .no_landlock = std::string(items[2].bytes),
                     .seccomp = items[3].boolean,
                     .no_seccomp = std::string(items[4].bytes)};
}

}  // namespace landlock
