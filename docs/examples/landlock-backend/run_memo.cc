#include "run_memo.h"

#include <loom/value.h>

#include <cstdint>
#include <utility>

namespace landlock {
namespace {

using loom::Value;
using Kind = loom::Value::Kind;

constexpr std::uint64_t kVersion = 2;
constexpr std::size_t kFields = 12;

void write_limit(loom::ValueWriter& out, const std::optional<std::uint64_t>& limit) {
  if (limit) {
    out.number(*limit);
  } else {
    out.nil();
  }
}

// Reads a tuple item by item. What was read wrongly reads as empty, and ok() says so.
class Tuple {
 public:
  Tuple(const Value& value, std::size_t fields) {
    ok_ = value.is(Kind::kArray) && value.items.size() == fields;
    if (ok_) items_ = &value.items;
  }

  const Value& next() {
    static const Value nothing{};
    return ok_ ? (*items_)[at_++] : nothing;
  }
  std::uint64_t number() {
    const Value& value = next();
    ok_ = ok_ && value.is(Kind::kUnsigned);
    return value.unsigned_number;
  }
  bool boolean() {
    const Value& value = next();
    ok_ = ok_ && value.is(Kind::kBoolean);
    return value.boolean;
  }
  std::optional<std::uint64_t> limit() {
    const Value& value = next();
    if (value.is(Kind::kNil)) return std::nullopt;
    ok_ = ok_ && value.is(Kind::kUnsigned);
    return value.unsigned_number;
  }
  loom::Bytes binary() {
    const Value& value = next();
    ok_ = ok_ && value.is(Kind::kBinary);
    const loom::ByteView bytes = loom::as_bytes(value.bytes);
    return {bytes.begin(), bytes.end()};
  }
  loom::AbsolutePath path() {
    const Value& value = next();
    auto parsed = loom::AbsolutePath::parse(value.bytes);
    ok_ = ok_ && value.is(Kind::kBinary) && parsed.has_value();
    return ok_ ? *std::move(parsed) : loom::AbsolutePath::root();
  }
  const std::vector<Value>& list() {
    static const std::vector<Value> none;
    const Value& value = next();
    ok_ = ok_ && value.is(Kind::kArray);
    return ok_ ? value.items : none;
  }
  void demand(bool sound) { ok_ = ok_ && sound; }
  [[nodiscard]] bool ok() const { return ok_; }

 private:
  const std::vector<Value>* items_ = nullptr;
  std::size_t at_ = 0;
  bool ok_ = false;
};

void write_path(loom::ValueWriter& out, const loom::AbsolutePath& path) {
  out.binary(loom::as_bytes(path.str()));
}

void read_watched(Tuple& in, RunMemo& memo) {
  for (const Value& item : in.list()) {
    Tuple one(item, 3);
    loom::WatchedPath watched{.path = one.path()};
    watched.identity.device = one.number();
    watched.identity.inode = one.number();
    in.demand(one.ok());
    memo.watched.push_back(std::move(watched));
  }
}

void read_subjects(Tuple& in, RunMemo& memo) {
  constexpr auto kLastRole = static_cast<std::uint64_t>(loom::PathRole::kPiece);
  for (const Value& item : in.list()) {
    Tuple one(item, 3);
    const std::uint64_t role = one.number();
    loom::AbsolutePath written = one.path();
    in.demand(role <= kLastRole);
    memo.subjects.push_back({.role = static_cast<loom::PathRole>(role <= kLastRole ? role : 0),
                             .written = std::move(written),
                             .real = one.path()});
    in.demand(one.ok());
  }
}

}  // namespace

loom::Bytes encode(const RunMemo& memo) {
  loom::ValueWriter out;
  out.array(kFields);
  out.number(kVersion);
  out.binary(memo.document);
  out.binary(memo.commit);
  write_limit(out, memo.ceilings.memory_bytes);
  write_limit(out, memo.ceilings.pids);
  out.array(memo.watched.size());
  for (const loom::WatchedPath& watched : memo.watched) {
    out.array(3);
    write_path(out, watched.path);
    out.number(watched.identity.device);
    out.number(watched.identity.inode);
  }
  out.array(memo.subjects.size());
  for (const Subject& subject : memo.subjects) {
    out.array(3);
    out.number(static_cast<std::uint64_t>(subject.role));
    write_path(out, subject.written);
    write_path(out, subject.real);
  }
  out.number(memo.abi);
  out.boolean(memo.denies_unix);
  out.boolean(memo.private_scratch);
  out.boolean(memo.in_group);
  out.number(memo.linked_masks);
  return out.take();
}

loom::Result<RunMemo> decode_run_memo(loom::ByteView bytes) {
  LOOM_TRY(const Value value, loom::parse_value(bytes));
  Tuple in(value, kFields);
  in.demand(in.number() == kVersion);
  RunMemo memo;
  memo.document = in.binary();
  memo.commit = in.binary();
  memo.ceilings.memory_bytes = in.limit();
  memo.ceilings.pids = in.limit();
  read_watched(in, memo);
  read_subjects(in, memo);
  const std::uint64_t abi = in.number();
  in.demand(abi <= UINT32_MAX);
  memo.abi = static_cast<std::uint32_t>(abi);
  memo.denies_unix = in.boolean();
  memo.private_scratch = in.boolean();
  memo.in_group = in.boolean();
  memo.linked_masks = in.number();
  if (in.ok()) return memo;
  return loom::fail(loom::ErrorCode::kInvalidRequest, "plan: not one of this backend");
}

}  // namespace landlock
