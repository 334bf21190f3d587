#include <loom/report.h>
#include <loom/utf8.h>
#include <loom/value.h>

#include <string_view>

namespace loom {
namespace {

tl::unexpected<Error> refused(std::string why) {
  return fail(ErrorCode::kInvalidRequest, "inner report: " + std::move(why));
}

void write_list(ValueWriter& out, std::string_view key, const std::vector<std::string>& entries) {
  out.text(key);
  out.array(entries.size());
  for (const std::string& entry : entries) out.text(Utf8::sanitise(entry).str());
}

Result<std::vector<std::string>> read_list(const Value& map, std::string_view key) {
  const Value* value = map.find(key);
  std::vector<std::string> entries;
  if (value == nullptr || value->is(Value::Kind::kNil)) return entries;
  if (!value->is(Value::Kind::kArray)) {
    return refused(std::string(key) + ": expected array, found " +
                   std::string(kind_name(value->kind)));
  }
  for (const Value& item : value->items) {
    if (!item.is(Value::Kind::kText)) {
      return refused(std::string(key) + ": expected string, found " +
                     std::string(kind_name(item.kind)));
    }
    entries.emplace_back(item.bytes);
  }
  return entries;
}

}  // namespace

Bytes encode(const InnerReport& report) {
  ValueWriter out;
  out.map(2);
  write_list(out, "applied", report.applied);
  write_list(out, "skipped", report.skipped);
  return out.take();
}

Result<InnerReport> decode_inner_report(ByteView bytes) {
  if (bytes.size() > kMaxInnerReportBytes) return refused("too long");
  LOOM_TRY(const Value map, parse_value(bytes));
  if (!map.is(Value::Kind::kMap)) {
    return refused("expected map, found " + std::string(kind_name(map.kind)));
  }
  for (std::size_t i = 0; i < map.items.size(); i += 2) {
    const Value& key = map.items[i];
    if (!key.is(Value::Kind::kText)) return refused("a key is not a string");
    if (key.bytes != "applied" && key.bytes != "skipped") {
      return refused(escaped(key.bytes, 256) + ": unknown key");
    }
  }
  LOOM_TRY(auto applied, read_list(map, "applied"));
  LOOM_TRY(auto skipped, read_list(map, "skipped"));
  return InnerReport{.applied = std::move(applied), .skipped = std::move(skipped)};
}

}  // namespace loom
