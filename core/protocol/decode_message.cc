#include <loom/utf8.h>

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "protocol/messages.h"

namespace loom {
namespace {

tl::unexpected<Error> refuse(std::string message) {
  return fail(ErrorCode::kInvalidRequest, std::move(message));
}

std::string quoted_key(std::string_view key) { return '"' + escaped(key, 256) + '"'; }

// A message body and the name it has in error texts.
struct Body {
  const Value& map;
  std::string_view name;

  [[nodiscard]] std::string place(std::string_view key) const {
    return std::string(name) + "." + std::string(key);
  }
  // The value of a key, or null when it is missing or nil: both count as empty.
  [[nodiscard]] const Value* find(std::string_view key) const {
    const Value* value = map.find(key);
    return value == nullptr || value->is(Value::Kind::kNil) ? nullptr : value;
  }
};

std::string expected(const std::string& place, std::string_view what, const Value& found) {
  const bool unusable = found.is(Value::Kind::kUnusable);
  return place + ": expected " + std::string(what) + ", found " +
         std::string(unusable ? found.bytes : kind_name(found.kind));
}

bool is_string(const Value& value) {
  return value.is(Value::Kind::kText) || value.is(Value::Kind::kBinary);
}

Result<void> check_keys(const Body& body, std::initializer_list<std::string_view> known) {
  if (!body.map.is(Value::Kind::kMap)) {
    return refuse(expected(std::string(body.name), "map", body.map));
  }
  for (std::size_t i = 0; i < body.map.items.size(); i += 2) {
    const Value& key = body.map.items[i];
    if (!key.is(Value::Kind::kText)) {
      return refuse(expected(std::string(body.name) + ": key", "string", key));
    }
    if (std::find(known.begin(), known.end(), key.bytes) == known.end()) {
      return refuse(std::string(body.name) + ": unknown key " + quoted_key(key.bytes));
    }
  }
  return {};
}

Result<std::string_view> read_string(const Body& body, std::string_view key) {
  const Value* value = body.find(key);
  if (value == nullptr) return std::string_view();
  if (!is_string(*value)) return refuse(expected(body.place(key), "string", *value));
  return value->bytes;
}

Result<bool> read_bool(const Body& body, std::string_view key) {
  const Value* value = body.find(key);
  if (value == nullptr) return false;
  if (!value->is(Value::Kind::kBoolean)) return refuse(expected(body.place(key), "bool", *value));
  return value->boolean;
}

Result<std::uint64_t> read_number(const Body& body, std::string_view key) {
  const Value* value = body.find(key);
  if (value == nullptr) return std::uint64_t{0};
  if (value->is(Value::Kind::kNegative)) return refuse(body.place(key) + ": negative");
  if (!value->is(Value::Kind::kUnsigned)) {
    return refuse(expected(body.place(key), "integer", *value));
  }
  return value->unsigned_number;
}

Result<std::vector<std::string>> read_strings(const Body& body, std::string_view key) {
  std::vector<std::string> strings;
  const Value* list = body.find(key);
  if (list == nullptr) return strings;
  if (!list->is(Value::Kind::kArray)) return refuse(expected(body.place(key), "array", *list));
  for (const Value& item : list->items) {
    if (!is_string(item)) {
      const std::string index = "[" + std::to_string(strings.size()) + "]";
      return refuse(expected(body.place(key) + index, "string", item));
    }
    strings.emplace_back(item.bytes);
  }
  return strings;
}

bool holds_nul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

Result<void> check_argv(const std::vector<std::string>& argv) {
  for (std::size_t i = 0; i < argv.size(); ++i) {
    if (holds_nul(argv[i])) {
      return refuse("exec_start.argv[" + std::to_string(i) + "]: holds a NUL");
    }
  }
  return {};
}

// Security: a name that holds '=' would set a variable of another name, past the policy's
// env_allow.
Result<void> check_variable(const Value& name, const Value& value) {
  if (!is_string(name)) return refuse(expected("exec_start.env: name", "string", name));
  const std::string place = "exec_start.env: " + quoted_key(name.bytes);
  if (name.bytes.empty()) return refuse(place + ": the name is empty");
  if (name.bytes.find('=') != std::string_view::npos) return refuse(place + ": the name holds '='");
  if (!is_string(value)) return refuse(expected(place, "string", value));
  if (holds_nul(name.bytes) || holds_nul(value.bytes)) return refuse(place + ": holds a NUL");
  return {};
}

Result<std::map<std::string, std::string>> read_env(const Body& body) {
  std::map<std::string, std::string> env;
  const Value* map = body.find("env");
  if (map == nullptr) return env;
  if (!map->is(Value::Kind::kMap)) return refuse(expected(body.place("env"), "map", *map));
  for (std::size_t i = 0; i + 1 < map->items.size(); i += 2) {
    const Value& name = map->items[i];
    const Value& value = map->items[i + 1];
    LOOM_TRY_VOID(check_variable(name, value));
    // The same name once as str and once as bin is two keys to msgpack and one variable to a
    // process.
    if (!env.emplace(name.bytes, value.bytes).second) {
      return refuse("exec_start.env: " + quoted_key(name.bytes) + ": named twice");
    }
  }
  return env;
}

Result<void> check_envelope(const Body& envelope) {
  LOOM_TRY_VOID(check_keys(envelope, {"v", "id", "kind", "body"}));
  for (const std::string_view key : {"v", "id", "kind", "body"}) {
    if (envelope.find(key) == nullptr) {
      return refuse("frame: missing key " + quoted_key(key));
    }
  }
  LOOM_TRY(const std::uint64_t version, read_number(envelope, "v"));
  if (version != kEnvelopeVersion) {
    return refuse("frame.v: unsupported version " + std::to_string(version));
  }
  return {};
}

// A negative id is a 64-bit pattern that the peer's language could only write with a sign.
Result<std::uint64_t> read_id(const Body& envelope) {
  const Value* id = envelope.find("id");
  if (id != nullptr && id->is(Value::Kind::kNegative))
    return static_cast<std::uint64_t>(id->negative_number);
  return read_number(envelope, "id");
}

}  // namespace

Result<Frame> decode_frame(Bytes payload) {
  Frame frame;
  frame.payload = std::move(payload);
  LOOM_TRY(Value tree, parse_value_keeping_unusable(frame.payload));
  const Body envelope{tree, "frame"};
  LOOM_TRY_VOID(check_envelope(envelope));
  LOOM_TRY(frame.id, read_id(envelope));
  LOOM_TRY(frame.kind, read_string(envelope, "kind"));
  if (frame.kind.empty()) return refuse("frame.kind: empty");
  for (std::size_t i = 0; i < tree.items.size(); i += 2) {
    if (tree.items[i].bytes == "body") frame.body = std::move(tree.items[i + 1]);
  }
  return frame;
}

Result<Hello> decode_hello(const Value& map) {
  const Body body{map, "hello"};
  LOOM_TRY_VOID(check_keys(body, {"proto", "peer", "features"}));
  Hello hello;
  LOOM_TRY(hello.proto, read_number(body, "proto"));
  LOOM_TRY(hello.peer, read_string(body, "peer"));
  LOOM_TRY(hello.features, read_strings(body, "features"));
  return hello;
}

Result<ExecStart> decode_exec_start(const Value& map) {
  const Body body{map, "exec_start"};
  LOOM_TRY_VOID(check_keys(body, {"argv", "env", "cwd", "token", "policy", "limits"}));
  ExecStart start;
  LOOM_TRY(start.argv, read_strings(body, "argv"));
  LOOM_TRY_VOID(check_argv(start.argv));
  LOOM_TRY(start.env, read_env(body));
  LOOM_TRY(start.cwd, read_string(body, "cwd"));
  LOOM_TRY(const std::string_view token, read_string(body, "token"));
  start.token = as_bytes(token);
  start.policy = body.find("policy");
  return start;
}

Result<ExecStdin> decode_exec_stdin(const Value& map) {
  const Body body{map, "exec_stdin"};
  LOOM_TRY_VOID(check_keys(body, {"data", "eof"}));
  ExecStdin input;
  LOOM_TRY(const std::string_view data, read_string(body, "data"));
  input.data = as_bytes(data);
  LOOM_TRY(input.eof, read_bool(body, "eof"));
  return input;
}

Result<void> decode_shutdown(const Value& body) { return check_keys({body, "shutdown"}, {}); }

}  // namespace loom
