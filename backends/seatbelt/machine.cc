#include "machine.h"

#include <loom/value.h>

#include <utility>

#include "tuple_reader.h"

namespace loom::seatbelt {
namespace {

constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kFields = 3;

}  // namespace

Bytes encode(const MachineFacts& facts) {
  ValueWriter out;
  out.array(kFields);
  out.number(kVersion);
  out.array(facts.user_directories.size());
  for (const std::string& directory : facts.user_directories) out.binary(as_bytes(directory));
  out.binary(as_bytes(facts.already_profiled));
  return out.take();
}

Result<MachineFacts> decode_machine_facts(ByteView bytes) {
  if (bytes.empty()) return MachineFacts{};
  LOOM_TRY(const Value value, parse_value(bytes));
  TupleReader in(value, kFields);
  const std::uint64_t version = in.number();
  MachineFacts facts;
  facts.user_directories = in.list_of_bytes();
  facts.already_profiled = in.bytes();
  if (!in.ok() || version != kVersion) {
    return fail(ErrorCode::kInvalidRequest,
                "facts.backend: not what this backend's probe returned");
  }
  return facts;
}

}  // namespace loom::seatbelt
