#include <loom/value.h>

#include <algorithm>
#include <cmath>
#include <compare>
#include <msgpack.hpp>
#include <string>

namespace loom {
namespace {

// Maps up to this many keys are searched for equal keys pair by pair; larger ones by sorting.
constexpr std::size_t kSmallMap = 16;

// Room made at once for a container's first items, however many it announces.
constexpr std::size_t kFirstItems = 16;

std::strong_ordering order(const Value& a, const Value& b);

// The library that macOS builds use has no std::lexicographical_compare_three_way yet.
std::strong_ordering order_of_items(const Value& a, const Value& b) {
  const std::size_t common = std::min(a.items.size(), b.items.size());
  for (std::size_t i = 0; i < common; ++i) {
    const std::strong_ordering here = order(a.items[i], b.items[i]);
    if (here != std::strong_ordering::equal) return here;
  }
  return a.items.size() <=> b.items.size();
}

std::strong_ordering order(const Value& a, const Value& b) {
  if (const auto kinds = a.kind <=> b.kind; kinds != 0) return kinds;
  switch (a.kind) {
    case Value::Kind::kNil:
      return std::strong_ordering::equal;
    case Value::Kind::kBoolean:
      return a.boolean <=> b.boolean;
    case Value::Kind::kUnsigned:
      return a.unsigned_number <=> b.unsigned_number;
    case Value::Kind::kNegative:
      return a.negative_number <=> b.negative_number;
    case Value::Kind::kFloat:  // finite, or it would not have been read
      if (a.float_number < b.float_number) return std::strong_ordering::less;
      return a.float_number > b.float_number ? std::strong_ordering::greater
                                             : std::strong_ordering::equal;
    case Value::Kind::kText:
    case Value::Kind::kBinary:
    case Value::Kind::kUnusable:
      return a.bytes <=> b.bytes;
    case Value::Kind::kArray:
    case Value::Kind::kMap:
      return order_of_items(a, b);
  }
  return std::strong_ordering::equal;
}

bool same(const Value& a, const Value& b) {
  // Nearly every key is a short text, and nearly every pair differs in length already.
  if (a.kind != b.kind || a.bytes.size() != b.bytes.size()) return false;
  return order(a, b) == 0;
}

bool has_equal_keys(const Value& map) {
  const std::size_t count = map.items.size() / 2;
  if (count <= kSmallMap) {
    for (std::size_t i = 1; i < count; ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (same(map.items[2 * i], map.items[2 * j])) return true;
      }
    }
    return false;
  }
  std::vector<const Value*> keys;
  keys.reserve(count);
  for (std::size_t i = 0; i < count; ++i) keys.push_back(&map.items[2 * i]);
  std::sort(keys.begin(), keys.end(), [](auto* a, auto* b) { return order(*a, *b) < 0; });
  return std::adjacent_find(keys.begin(), keys.end(),
                            [](auto* a, auto* b) { return same(*a, *b); }) != keys.end();
}

// Builds the tree while msgpack reads. Every method answers whether to go on; where it says no,
// refusal() says why.
class TreeBuilder : public msgpack::null_visitor {
 public:
  explicit TreeBuilder(bool keep_unusable) : keep_unusable_(keep_unusable) {}

  // Not an error until somebody asks: set where the input ends too early.
  [[nodiscard]] const char* refusal() const { return refusal_; }
  [[nodiscard]] Value take() { return std::move(root_); }

  bool visit_nil() { return add(Value{}); }
  bool visit_boolean(bool v) { return add(Value{.kind = Value::Kind::kBoolean, .boolean = v}); }
  bool visit_positive_integer(std::uint64_t v) {
    return add(Value{.kind = Value::Kind::kUnsigned, .unsigned_number = v});
  }
  // msgpack calls this for every signed form, positive values included.
  bool visit_negative_integer(std::int64_t v) {
    if (v >= 0) return visit_positive_integer(static_cast<std::uint64_t>(v));
    return add(Value{.kind = Value::Kind::kNegative, .negative_number = v});
  }
  bool visit_float32(float) { return unusable("a float32"); }
  bool visit_float64(double v) {
    if (!std::isfinite(v)) return unusable("a float that is not finite");
    return add(Value{.kind = Value::Kind::kFloat, .float_number = v});
  }
  bool visit_str(const char* data, std::uint32_t size) {
    return add(Value{.kind = Value::Kind::kText, .bytes = view(data, size)});
  }
  bool visit_bin(const char* data, std::uint32_t size) {
    return add(Value{.kind = Value::Kind::kBinary, .bytes = view(data, size)});
  }
  bool visit_ext(const char*, std::uint32_t) { return unusable("an extension type"); }

  bool start_array(std::uint32_t count) { return open(Value::Kind::kArray, count); }
  bool end_array() { return close(); }
  bool start_map(std::uint32_t count) { return open(Value::Kind::kMap, 2 * std::size_t{count}); }
  bool end_map() {
    Value& map = *open_.back();
    open_.pop_back();
    if (!has_equal_keys(map)) return true;
    if (!keep_unusable_) return refuse("a map with two equal keys");
    map = Value{.kind = Value::Kind::kUnusable, .bytes = "a map with two equal keys"};
    return true;
  }

  void parse_error(std::size_t, std::size_t) { refuse("a byte that starts no value"); }
  void insufficient_bytes(std::size_t, std::size_t) { refuse("too short"); }

 private:
  bool refuse(const char* why) {
    if (refusal_ == nullptr) refusal_ = why;
    return false;
  }

  bool unusable(const char* what) {
    return keep_unusable_ ? add(Value{.kind = Value::Kind::kUnusable, .bytes = what})
                          : refuse(what);
  }

  // The pointer for an empty text may be null or stale.
  static std::string_view view(const char* data, std::uint32_t size) {
    return size == 0 ? std::string_view() : std::string_view(data, size);
  }

  bool add(Value value) {
    if (++count_ > kMaxValueItems) return refuse("too many values");
    place(std::move(value));
    return true;
  }

  Value* place(Value value) {
    if (open_.empty()) {
      root_ = std::move(value);
      return &root_;
    }
    return &open_.back()->items.emplace_back(std::move(value));
  }

  bool open(Value::Kind kind, std::size_t announced) {
    if (open_.size() >= kMaxValueNesting) return refuse("nested too deeply");
    if (++count_ > kMaxValueItems) return refuse("too many values");
    Value* container = place(Value{.kind = kind});
    container->items.reserve(std::min(announced, kFirstItems));
    open_.push_back(container);
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  bool keep_unusable_;
  Value root_;
  // From the outermost to the innermost container that is not complete. Each is the last item of
  // the one before, whose items therefore stay where they are.
  std::vector<Value*> open_;
  std::size_t count_ = 0;
  const char* refusal_ = nullptr;
};

tl::unexpected<Error> refused(const char* why) {
  return fail(ErrorCode::kInvalidRequest, std::string("decode msgpack: ") + why);
}

Result<Value> parse(ByteView bytes, bool keep_unusable) try {
  if (bytes.empty()) return refused("empty");
  const std::string_view text = as_text(bytes);
  TreeBuilder builder(keep_unusable);
  std::size_t used = 0;
  // The return value does not tell a value that ends exactly here from one that does not end.
  const bool complete = msgpack::parse(text.data(), text.size(), used, builder);
  if (builder.refusal() != nullptr) return refused(builder.refusal());
  if (!complete) return refused("not one value");
  if (used != text.size()) return refused("bytes after the value");
  return builder.take();
} catch (const std::exception& error) {
  return refused(error.what());
}

}  // namespace

const Value* Value::find(std::string_view key) const noexcept {
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    if (items[i].is(Kind::kText) && items[i].bytes == key) return &items[i + 1];
  }
  return nullptr;
}

std::string_view kind_name(Value::Kind kind) noexcept {
  switch (kind) {
    case Value::Kind::kNil:
      return "nil";
    case Value::Kind::kBoolean:
      return "bool";
    case Value::Kind::kUnsigned:
    case Value::Kind::kNegative:
      return "integer";
    case Value::Kind::kFloat:
      return "float";
    case Value::Kind::kText:
      return "string";
    case Value::Kind::kBinary:
      return "binary";
    case Value::Kind::kArray:
      return "array";
    case Value::Kind::kMap:
      return "map";
    case Value::Kind::kUnusable:
      return "an unusable value";
  }
  return "value";
}

Result<Value> parse_value(ByteView bytes) { return parse(bytes, false); }

Result<Value> parse_value_keeping_unusable(ByteView bytes) { return parse(bytes, true); }

}  // namespace loom
