#include "tuple_reader.h"

namespace loom::seatbelt {
namespace {

const Value& nothing() {
  static const Value kNothing;
  return kNothing;
}

}  // namespace

TupleReader::TupleReader(const Value& tuple, std::size_t size)
    : tuple_(&tuple), ok_(tuple.is(Value::Kind::kArray) && tuple.items.size() == size) {}

const Value& TupleReader::next(Value::Kind kind) {
  if (!ok_ || at_ >= tuple_->items.size() || !tuple_->items[at_].is(kind)) {
    ok_ = false;
    return nothing();
  }
  return tuple_->items[at_++];
}

bool TupleReader::boolean() { return next(Value::Kind::kBoolean).boolean; }

std::uint64_t TupleReader::number() { return next(Value::Kind::kUnsigned).unsigned_number; }

std::string TupleReader::bytes() { return std::string(next(Value::Kind::kBinary).bytes); }

std::vector<std::string> TupleReader::list_of_bytes() {
  std::vector<std::string> list;
  for (const Value& item : next(Value::Kind::kArray).items) {
    if (!item.is(Value::Kind::kBinary)) ok_ = false;
    list.emplace_back(item.bytes);
  }
  return list;
}

}  // namespace loom::seatbelt
