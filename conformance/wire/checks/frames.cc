#include <loom/utf8.h>

#include <array>
#include <thread>

#include "../session.h"

namespace loom::conformance {
namespace {

using namespace std::string_literals;

constexpr Millis kShort{5'000};

struct Case {
  const char* name;
  std::string bytes;
};

// --- bytes that are written down here, and made by no encoder ---

struct Reply {
  std::string question;
  std::vector<std::string> answers;  // any of these
};

// The id in its smallest form, and in the nine bytes that older helpers use for every id.
Reply heartbeat_of(const std::string& id, const std::string& wide) {
  const auto spelled = [](const std::string& number) {
    return "\x84\xa1v\x01\xa2id"s + number + "\xa4kind\xa9heartbeat\xa4"s + "body\x80"s;
  };
  return {.question = spelled(id), .answers = {spelled(id), spelled(wide)}};
}

Reply unknown_kind() {
  const auto spelled = [](const std::string& number, const std::string& body) {
    return "\x84\xa1v\x01\xa2id"s + number + "\xa4kind\xa5" + "error\xa4"s + "body\x82"s + body;
  };
  const std::string code = "\xa4"s + "code\xacunknown_kind"s;
  const std::string text = "\xa3msg\xa3xyz"s;
  const std::string wide = "\xcf\0\0\0\0\0\0\0\x07"s;
  return {.question = "\x84\xa1v\x01\xa2id\x07\xa4kind\xa3xyz\xa4"s + "body\x80"s,
          .answers = {spelled("\x07", code + text), spelled("\x07", text + code),
                      spelled(wide, code + text), spelled(wide, text + code)}};
}

Result<void> judge_golden(const Session& session) {
  const Reply replies[] = {heartbeat_of("\x05"s, "\xcf\0\0\0\0\0\0\0\x05"s),
                           heartbeat_of("\xcc\x80"s, "\xcf\0\0\0\0\0\0\0\x80"s),
                           heartbeat_of("\xcd\x01\x2c"s, "\xcf\0\0\0\0\0\0\x01\x2c"s),
                           heartbeat_of("\xce\0\x01\0\0"s, "\xcf\0\0\0\0\0\x01\0\0"s),
                           heartbeat_of("\xcf\xff\xff\xff\xff\xff\xff\xff\xff"s,
                                        "\xcf\xff\xff\xff\xff\xff\xff\xff\xff"s),
                           unknown_kind()};
  LOOM_TRY(const auto talk, session.open());
  for (const Reply& reply : replies) {
    LOOM_TRY_VOID(talk->send_bytes(frame_of(reply.question)));
    LOOM_TRY(const Frame frame, talk->receive());
    bool found = false;
    for (const std::string& answer : reply.answers) found = found || frame.payload == answer;
    LOOM_TRY_VOID(demand(found, "to " + escaped(reply.question) + " came " +
                                    escaped(frame.payload) + ", and due was " +
                                    escaped(reply.answers.front())));
  }
  return {};
}

// --- what the helper sends ---

// Older helpers write nil for a list that has nothing in it, and every broker reads that.
Result<void> look_for_nil(const Session& session) {
  LOOM_TRY(const auto talk, Conversation::start(session.subject, {.policy = pack(session.policy)}));
  LOOM_TRY(const Frame hello, talk->receive(kHelloPatience));
  LOOM_TRY_VOID(talk->send(talk->next_id(), "hello",
                           {{"proto", kProto}, {"peer", "broker"}, {"features", Json::array()}}));
  LOOM_TRY(const Run run, talk->begin(shell("true")));
  LOOM_TRY(const Frame ended, talk->expect("exec_exit", run.id));
  const auto writes_nil = [](const Frame& frame, const char* list) {
    const auto sent = unpack(frame.payload);
    return sent && sent->value.at("body").at(list).is_null();
  };
  if (writes_nil(hello, "features") || writes_nil(ended, "enforcement")) {
    session.judgement.remark("an empty list is sent as nil, as older helpers do");
  }
  return {};
}

Result<void> judge_encoding(const Session& session) {
  LOOM_TRY(const auto talk, session.open({std::string(kOutcome), std::string(kDenial)}));
  LOOM_TRY(const Run quick, talk->execute(shell("echo out; echo err >&2; exit 3")));
  LOOM_TRY(const Run large, talk->execute(shell("head -c 100000 /dev/zero; exit 200")));
  LOOM_TRY_VOID(came_to(large, 200, std::string(100'000, '\0')));
  LOOM_TRY_VOID(
      refuses(*talk, "exec_start", with(shell("true"), "cwd", "relative"), "spawn_failed"));
  LOOM_TRY_VOID(refuses(*talk, "no_such_kind", Json::object(), "unknown_kind"));
  LOOM_TRY_VOID(refuses(*talk, std::string(300, 'k'), Json::object(), "unknown_kind"));
  LOOM_TRY_VOID(talk->shut_down());
  for (const std::string& oddity : talk->oddities()) session.judgement.breach(oddity);
  if (talk->wide_counts() > 0) {
    session.judgement.remark("ids and counts are sent in nine bytes each, as older helpers do");
  }
  return look_for_nil(session);
}

Result<void> judge_frames_only(const Session& session) {
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(const Run run, talk->execute(shell("echo out; echo err >&2; exit 3")));
  LOOM_TRY_VOID(came_to(run, 3, "out\n"));
  LOOM_TRY_VOID(refuses(*talk, "no_such_kind", Json::object(), "unknown_kind"));
  LOOM_TRY_VOID(
      refuses(*talk, "exec_start", with(shell("true"), "cwd", "relative"), "spawn_failed"));
  LOOM_TRY_VOID(still_runs(*talk));
  return talk->shut_down();
}

// --- what the helper is sent ---

std::string good(const Json& id = 5) {
  return pack({{"v", 1}, {"id", id}, {"kind", "heartbeat"}, {"body", Json::object()}});
}

std::string changed(const char* key, const Json& value) {
  Json map = {{"v", 1}, {"id", 5}, {"kind", "heartbeat"}, {"body", Json::object()}};
  map[key] = value;
  return pack(map);
}

std::string lacking(const char* key) {
  Json map = {{"v", 1}, {"id", 5}, {"kind", "heartbeat"}, {"body", Json::object()}};
  map.erase(key);
  return pack(map);
}

// The good envelope around bytes that no encoder makes.
std::string around(const std::string& body) {
  std::string payload = good();
  payload.pop_back();
  return payload + body;
}

std::vector<Case> malformed_frames() {
  const std::string rest = good().substr(1);
  return {
      {"length 0", "\0\0\0\0"s},
      {"a length of all ones", "\xff\xff\xff\xff"},
      {"a number", frame_of("\x05")},
      {"nil", frame_of("\xc0")},
      {"an empty list", frame_of("\x90")},
      {"the envelope as a list", frame_of(pack(Json::array({1, 5, "heartbeat", Json::object()})))},
      {"an empty map", frame_of("\x80")},
      {"a byte that msgpack never has", frame_of("\xc1")},
      {"cut inside", frame_of(good().substr(0, good().size() - 3))},
      {"a byte behind the map", frame_of(good() + '\0')},
      {"a map behind the map", frame_of(good() + good())},
      {"a key more", frame_of(changed("more", 1))},
      {"a key that is a number", frame_of("\x85\x07\x01" + rest)},
      {"a key twice", frame_of("\x85\xa1v\x01" + rest)},
      {"v missing", frame_of(lacking("v"))},
      {"v 2", frame_of(changed("v", 2))},
      {"v as text", frame_of(changed("v", "1"))},
      {"v as a float", frame_of(changed("v", 1.0))},
      {"id as a float", frame_of(changed("id", 5.0))},
      {"id as text", frame_of(changed("id", "5"))},
      {"kind missing", frame_of(lacking("kind"))},
      {"kind empty", frame_of(changed("kind", ""))},
      {"kind as a number", frame_of(changed("kind", 5))},
      {"body missing", frame_of(lacking("body"))},
      {"body nil", frame_of(changed("body", nullptr))},
      {"nested 100,000 deep", frame_of(around(std::string(100'000, '\x91')))},
      {"a list longer than its frame", frame_of(around("\xdd\xff\xff\xff\xff"))},
      {"text longer than its frame", frame_of(around("\xdb\xff\xff\xff\xff"))},
      {"a map longer than its frame", frame_of(around("\xdf\xff\xff\xff\xff"))},
  };
}

// Also: nothing behind it is looked at.
Result<void> closes_on(const Session& session, const std::string& bytes) {
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(const std::size_t taken,
           talk->push(bytes + envelope(9, "heartbeat", Json::object()), kShort));
  static_cast<void>(taken);
  LOOM_TRY(const std::string text, talk->expect_error("malformed_frame", 0, kShort));
  return talk->expect_end(Conversation::kAnyFailure, kShort);
}

Result<void> judge_malformed(const Session& session) {
  for (const Case& one : malformed_frames()) {
    LOOM_TRY_VOID(named(one.name, closes_on(session, one.bytes)));
  }
  return {};
}

Result<void> judge_spellings(const Session& session) {
  const std::string wide =
      "\xdf\0\0\0\x04\xd9\x01v\xcf\0\0\0\0\0\0\0\x01\xda\0\x02id\xce\0\0\0\x05"s
      "\xdb\0\0\0\x04kind\xda\0\x09heartbeat\xa4"s
      "body\xde\0\0"s;
  const Case cases[] = {
      {"as a broker sends it", good()},
      {"headers wider than they need be", wide},
      {"keys in another order",
       pack({{"body", Json::object()}, {"kind", "heartbeat"}, {"id", 5}, {"v", 1}})},
      {"signed forms", "\x84\xa1v\xd0\x01\xa2id\xd3\0\0\0\0\0\0\0\x05"s + good().substr(8)},
      {"a body that nobody looks at", changed("body", {{"a", 1}})},
      {"a body nested 200 deep", around(std::string(199, '\x91') + "\x90")},
  };
  LOOM_TRY(const auto talk, session.open());
  for (const Case& one : cases) {
    LOOM_TRY_VOID(named(one.name, talk->send_bytes(frame_of(one.bytes))));
    const auto echo = talk->expect("heartbeat", 5);
    if (!echo) return named(one.name, fail(echo.error().code, echo.error().message));
  }
  return {};
}

Result<void> judge_chunking(const Session& session) {
  LOOM_TRY(const auto talk, session.open());
  for (const char byte : envelope(100, "heartbeat", Json::object())) {
    LOOM_TRY_VOID(talk->send_bytes(std::string(1, byte)));
    std::this_thread::sleep_for(Millis(5));  // so that each is a read of its own
  }
  LOOM_TRY(const Frame single, talk->expect("heartbeat", 100));
  std::string many;
  for (std::uint64_t id = 200; id < 1'200; ++id) many += envelope(id, "heartbeat", Json::object());
  LOOM_TRY_VOID(talk->send_bytes(many));
  for (std::uint64_t id = 200; id < 1'200; ++id) {
    LOOM_TRY(const Frame echo, talk->expect("heartbeat", id));
  }
  return {};
}

Result<void> judge_ceiling(const Session& session) {
  // A str body with a header of five bytes fills the payload to its bound.
  const std::string head = around("");
  const std::size_t size = kMaxPayloadBytes - head.size() - 5;
  std::string body = "\xdb";
  for (int shift = 24; shift >= 0; shift -= 8) body += static_cast<char>((size >> shift) & 0xFF);
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY_VOID(talk->send_bytes(frame_of(head + body + std::string(size, 'x'))));
  LOOM_TRY(const Frame echo, talk->expect("heartbeat", 5));
  // One more is refused by its length alone: the payload is never sent.
  LOOM_TRY_VOID(talk->send_bytes("\x01\0\0\x01"s));
  LOOM_TRY(const std::string text, talk->expect_error("malformed_frame", 0));
  return talk->expect_end(Conversation::kAnyFailure);
}

Result<void> cut_at(const Session& session, std::size_t bytes) {
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY_VOID(talk->send_bytes(frame_of(good()).substr(0, bytes)));
  talk->close_input();
  LOOM_TRY(const std::string text, talk->expect_error("malformed_frame", 0));
  return talk->expect_end(Conversation::kAnyFailure);
}

Result<void> judge_cut(const Session& session) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{3}, std::size_t{4}, std::size_t{5},
                                  frame_of(good()).size() - 1}) {
    LOOM_TRY_VOID(named("after " + std::to_string(bytes) + " bytes", cut_at(session, bytes)));
  }
  return {};
}

Result<void> judge_unknown_kinds(const Session& session) {
  static constexpr std::array<const char*, 11> kKinds = {
      "error",       "exec_out",       "exec_exit",      "cap_call", "cap_result", "hook_call",
      "hook_result", "protocol_start", "protocol_input", "Hello",    "é"};
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(Run run, running(*talk, shell("echo up; read line; echo got $line")));
  for (const std::string kind : kKinds) {
    for (const Json& body : {Json::object(), Json(7)}) {
      LOOM_TRY(const std::uint64_t id, talk->send(kind, body));
      LOOM_TRY(const std::string text, talk->expect_error("unknown_kind", id));
      LOOM_TRY_VOID(demand(text == kind, "the error's text is not the kind " + kind + ": " + text));
    }
  }
  LOOM_TRY(const std::uint64_t fed, talk->feed("text\n", true));
  static_cast<void>(fed);
  LOOM_TRY_VOID(talk->settle(run));
  return came_to(run, 0, "up\ngot text\n");
}

Result<void> judge_ids(const Session& session) {
  constexpr std::uint64_t kIds[] = {
      0, 1, 1, 0x8000'0000, 0x1'0000'0001, 0x8000'0000'0000'0000, 0xFFFF'FFFF'FFFF'FFFF};
  LOOM_TRY(const auto talk, session.open());
  for (const std::uint64_t id : kIds) {
    LOOM_TRY_VOID(talk->send(id, "heartbeat", Json::object()));
    LOOM_TRY(const Frame echo, talk->expect("heartbeat", id));
    LOOM_TRY_VOID(talk->send(id, "no_such_kind", Json::object()));
    LOOM_TRY(const std::string text, talk->expect_error("unknown_kind", id));
    Run run;
    run.id = id;
    LOOM_TRY_VOID(talk->send(id, "exec_start", shell("echo fine")));
    LOOM_TRY_VOID(talk->settle(run));
    LOOM_TRY_VOID(came_to(run, 0, "fine\n"));
  }
  return {};
}

// The conversation refuses a str that is not UTF-8.
Result<void> judge_utf8(const Session& session) {
  const std::string bad = "\xff\xfe\xc3";
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY_VOID(talk->send_bytes(
      frame_of("\x84\xa1v\x01\xa2id\x05\xa4kind\xa3" + bad + "\xa4"s + "body\x80")));
  LOOM_TRY(const Frame kind, talk->expect("error", 5));
  const Json mount = {
      {"path", binary(session.place->at("absent") + bad)}, {"access", "ro"}, {"required", true}};
  const Json policy = with(session.policy, "mounts", Json::array({mount}));
  LOOM_TRY_VOID(
      refuses(*talk, "exec_start", with(shell("true"), "policy", policy), "spawn_failed"));
  LOOM_TRY_VOID(refuses(*talk, "exec_start",
                        with(shell("true"), "policy", with(session.policy, "scratch", binary(bad))),
                        "bad_policy"));
  return still_runs(*talk);
}

}  // namespace

std::vector<Check> frame_checks() {
  return {
      {"wire.golden", "Fixed questions have fixed answers, byte for byte.", judged<judge_golden>},
      {"wire.encoding",
       "Everything is sent in the smallest encoding, with the envelope's keys in their order.",
       judged<judge_encoding>},
      {"wire.frames-only", "Standard output carries frames and nothing else, to its end.",
       judged<judge_frames_only>},
      {"wire.malformed",
       "What is no envelope is a malformed_frame under id 0, closes, and nothing behind it is "
       "handled.",
       judged<judge_malformed>},
      {"wire.spellings", "Every spelling of a well-formed frame is read.", judged<judge_spellings>},
      {"wire.chunking", "Frames have nothing to do with the sizes of reads and writes.",
       judged<judge_chunking>},
      {"wire.ceiling",
       "A payload of 16 MiB is read; a longer one is refused by its length, before it comes.",
       judged<judge_ceiling>},
      {"wire.cut", "An end of input inside a frame is a malformed frame.", judged<judge_cut>},
      {"wire.unknown-kind",
       "A kind that nobody handles is answered with its name, and neither channel nor run suffers.",
       judged<judge_unknown_kinds>},
      {"wire.ids", "Every answer has the id of its question, in all 64 bits.", judged<judge_ids>},
      {"wire.utf8", "Every str that is sent is UTF-8, whatever came in.", judged<judge_utf8>},
  };
}

}  // namespace loom::conformance
