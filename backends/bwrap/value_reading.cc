#include "value_reading.h"

namespace loom::bwrap {
namespace {

const Value& no_value() {
  static const Value kNone;
  return kNone;
}

}  // namespace

TupleReader::TupleReader(const Value& tuple, std::size_t size)
    : tuple_(&tuple), ok_(tuple.is(Value::Kind::kArray) && tuple.items.size() == size) {}

const Value& TupleReader::next(Value::Kind kind) {
  if (!ok_ || at_ >= tuple_->items.size()) {
    ok_ = false;
    return no_value();
  }
  const Value& item = tuple_->items[at_++];
  ok_ = item.is(kind);
  return ok_ ? item : no_value();
}

bool TupleReader::boolean() { return next(Value::Kind::kBoolean).boolean; }

std::uint64_t TupleReader::number() { return next(Value::Kind::kUnsigned).unsigned_number; }

std::string TupleReader::text() { return std::string(next(Value::Kind::kBinary).bytes); }

const Value& TupleReader::list() { return next(Value::Kind::kArray); }

AbsolutePath TupleReader::path() {
  auto parsed = AbsolutePath::parse(next(Value::Kind::kBinary).bytes);
  if (parsed) return *std::move(parsed);
  ok_ = false;
  return AbsolutePath::root();
}

}  // namespace loom::bwrap
