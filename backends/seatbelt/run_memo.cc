#include "run_memo.h"

#include <loom/value.h>

#include <array>
#include <string_view>

#include "tuple_reader.h"

namespace loom::seatbelt {
namespace {

constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kFields = 21;

template <class Memo>
auto numbers(Memo& memo) {
  auto& counts = memo.counts;
  return std::array{&counts.writable, &counts.protected_paths, &counts.bind_ro,
                    &counts.bind_rw,  &counts.exec_allow,      &counts.exec_deny};
}

template <class Memo>
auto switches(Memo& memo) {
  return std::array{&memo.private_scratch,   &memo.shows_whole_host,    &memo.cuts_network,
                    &memo.confines_programs, &memo.denies_unix_sockets, &memo.lacks_fork_brake};
}

Bytes owned(const std::string& text) {
  const ByteView bytes = as_bytes(text);
  return Bytes(bytes.begin(), bytes.end());
}

}  // namespace

Bytes encode(const RunMemo& memo) {
  ValueWriter out;
  out.array(kFields);
  out.number(kVersion);
  out.binary(as_bytes(memo.profile));
  out.array(memo.definitions.size());
  for (const std::string& definition : memo.definitions) out.binary(as_bytes(definition));
  out.binary(as_bytes(memo.stage2));
  out.binary(as_bytes(memo.cwd));
  out.binary(memo.prepare);
  out.binary(memo.commit);
  for (const std::uint64_t* number : numbers(memo)) out.number(*number);
  for (const bool* each : switches(memo)) out.boolean(*each);
  for (const auto* list : {&memo.widened, &memo.remarks}) {
    out.array(list->size());
    for (const std::string& entry : *list) out.binary(as_bytes(entry));
  }
  return out.take();
}

Result<RunMemo> decode_run_memo(ByteView bytes) {
  LOOM_TRY(const Value value, parse_value(bytes));
  TupleReader in(value, kFields);
  const std::uint64_t version = in.number();
  RunMemo memo;
  memo.profile = in.bytes();
  memo.definitions = in.list_of_bytes();
  memo.stage2 = in.bytes();
  memo.cwd = in.bytes();
  memo.prepare = owned(in.bytes());
  memo.commit = owned(in.bytes());
  for (std::uint64_t* number : numbers(memo)) *number = in.number();
  for (bool* each : switches(memo)) *each = in.boolean();
  memo.widened = in.list_of_bytes();
  memo.remarks = in.list_of_bytes();
  if (!in.ok() || version != kVersion) {
    return fail(ErrorCode::kInvalidRequest, "plan.backend: not what this backend's plan returned");
  }
  return memo;
}

}  // namespace loom::seatbelt
