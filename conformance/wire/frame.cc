#include "frame.h"

#include <loom/utf8.h>

#include <span>

namespace loom::conformance {
namespace {

constexpr std::size_t kMaxChunk = 32'768;

enum class Type : unsigned char { kCount, kText, kBytes, kFlag, kTexts, kMap };
struct Key {
  std::string_view name;
  Type type;
};

constexpr Key kHello[] = {
    {"proto", Type::kCount}, {"peer", Type::kText}, {"features", Type::kTexts}};
constexpr Key kOut[] = {{"stream", Type::kText},
                        {"data", Type::kBytes},
                        {"bytes", Type::kCount},
                        {"truncated", Type::kFlag}};
constexpr Key kExit[] = {{"code", Type::kCount},
                         {"signal", Type::kCount},
                         {"stdout_bytes", Type::kCount},
                         {"stderr_bytes", Type::kCount},
                         {"stdout_truncated", Type::kFlag},
                         {"stderr_truncated", Type::kFlag},
                         {"enforcement", Type::kTexts},
                         {"degraded", Type::kFlag},
                         {"wall_ms", Type::kCount},
                         {"timed_out", Type::kFlag},
                         {"cancelled", Type::kFlag},
                         {"outcome", Type::kMap}};
constexpr Key kError[] = {{"code", Type::kText}, {"msg", Type::kText}, {"denial", Type::kMap}};

struct Kind {
  std::string_view name;
  std::span<const Key> keys;
};
constexpr Kind kKinds[] = {{"hello", kHello},
                           {"exec_out", kOut},
                           {"exec_exit", kExit},
                           {"error", kError},
                           {"heartbeat", {}}};

tl::unexpected<Error> refuse(const std::string& why) { return fail(ErrorCode::kBackend, why); }

bool is_of(const Json& value, Type type) {
  switch (type) {
    case Type::kCount:
      return value.is_number_unsigned();
    case Type::kText:
      return value.is_string();
    case Type::kBytes:
      return value.is_binary();
    case Type::kFlag:
      return value.is_boolean();
    case Type::kMap:
      return value.is_object();
    case Type::kTexts:
      if (value.is_null()) return true;  // as an older helper writes an empty list
      for (const Json& item : value) {
        if (!item.is_string()) return false;
      }
      return value.is_array();
  }
  return false;
}

// Whether the key is due, may be there, or must not.
enum class Due : unsigned char { kYes, kMaybe, kNo };
Due due(const Key& key, const Terms& terms) {
  if (key.name == "outcome") return terms.outcome ? Due::kYes : Due::kNo;
  if (key.name == "denial") return terms.denial ? Due::kMaybe : Due::kNo;
  return Due::kYes;
}

const Kind* find_kind(std::string_view name) {
  for (const Kind& kind : kKinds) {
    if (kind.name == name) return &kind;
  }
  return nullptr;
}

Result<void> judge_chunk(const Frame& frame) {
  const auto stream = frame.body["stream"].get<std::string>();
  const std::size_t size = frame.body["data"].get_binary().size();
  if (stream != "stdout" && stream != "stderr")
    return refuse("a stream of another name: " + frame.text());
  if (size > kMaxChunk) return refuse("a chunk of " + std::to_string(size) + " bytes");
  if (size == 0 && !frame.body["truncated"].get<bool>()) {
    return refuse("an empty chunk that cuts nothing off: " + frame.text());
  }
  return {};
}

Result<void> judge_body(Frame& frame, const Terms& terms) {
  const Kind* const kind = find_kind(frame.kind);
  if (kind == nullptr) return refuse("a helper never sends " + frame.text());
  std::size_t known = 0;
  for (const Key& key : kind->keys) {
    const auto found = frame.body.find(key.name);
    const Due wanted = due(key, terms);
    if (found == frame.body.end()) {
      if (wanted == Due::kYes) return refuse("no " + std::string(key.name) + " in " + frame.text());
      continue;
    }
    ++known;
    if (wanted == Due::kNo) {
      return refuse("the key " + std::string(key.name) +
                    ", which the two hellos did not agree on, in " + frame.text());
    }
    if (!is_of(*found, key.type))
      return refuse(std::string(key.name) + " of another type in " + frame.text());
    if (found->is_null()) *found = Json::array();
  }
  if (known != frame.body.size()) return refuse("a key that nobody knows in " + frame.text());
  return frame.kind == "exec_out" ? judge_chunk(frame) : Result<void>{};
}

Result<void> judge_envelope(const Json& map, Frame& frame) {
  if (!map.is_object() || map.size() != 4)
    return refuse("not an envelope of four keys: " + map.dump());
  const auto is = [&map](const char* key, auto test) {
    return map.contains(key) && test(map[key]);
  };
  const bool sound = is("v", [](const Json& v) { return v == 1 && v.is_number_unsigned(); }) &&
                     is("id", [](const Json& id) { return id.is_number_unsigned(); }) &&
                     is("kind", [](const Json& kind) { return kind.is_string(); }) &&
                     is("body", [](const Json& body) { return body.is_object(); });
  if (!sound) return refuse("an envelope that a broker refuses");
  frame.id = map["id"].get<std::uint64_t>();
  frame.kind = map["kind"].get<std::string>();
  frame.body = map["body"];
  static constexpr std::string_view kOrder[] = {"v", "id", "kind", "body"};
  std::size_t at = 0;
  for (const auto& [key, value] : map.items())
    frame.in_order = frame.in_order && key == kOrder[at++];
  return {};
}

}  // namespace

std::string Frame::text() const {
  const std::string shown = body.dump(-1, ' ', true, Json::error_handler_t::replace);
  return kind + " id=" + std::to_string(id) + " " + printable(shown, 300);
}

std::string frame_of(std::string_view payload) {
  std::string frame;
  for (int shift = 24; shift >= 0; shift -= 8) {
    frame += static_cast<char>((payload.size() >> shift) & 0xFF);
  }
  return frame.append(payload);
}

std::string envelope(std::uint64_t id, std::string_view kind, const Json& body) {
  return frame_of(pack({{"v", 1u}, {"id", id}, {"kind", kind}, {"body", body}}));
}

Result<Frame> read_frame(std::string payload, const Terms& terms) {
  LOOM_TRY(const Unpacked unpacked, unpack(payload));
  Frame frame;
  frame.spelling = unpacked.spelling;
  LOOM_TRY_VOID(judge_envelope(unpacked.value, frame));
  LOOM_TRY_VOID(judge_body(frame, terms));
  frame.payload = std::move(payload);
  return frame;
}

}  // namespace loom::conformance
