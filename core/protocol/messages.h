#pragma once

#include <loom/bytes.h>
#include <loom/result.h>
#include <loom/value.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/denial.h"
#include "report/exec_result.h"

namespace loom {

inline constexpr std::uint64_t kEnvelopeVersion = 1;
inline constexpr std::uint64_t kProtocolNumber = 3;  // hello's proto; strict equality (D1)
inline constexpr std::size_t kMaxOutputChunk = 32'768;
inline constexpr std::string_view kOutcomeFeature = "exec-outcome-v1";
inline constexpr std::string_view kDenialFeature = "denial-v1";

// One received frame: the envelope taken apart, the body still a tree. Owns its bytes; the tree
// borrows from them, so a Frame moves but does not copy.
struct Frame {
  Bytes payload;
  std::uint64_t id = 0;
  std::string kind;  // as sent; may hold any bytes
  Value body;
  Frame() = default;
  Frame(Frame&&) noexcept = default;
  Frame& operator=(Frame&&) noexcept = default;
  Frame(const Frame&) = delete;
  Frame& operator=(const Frame&) = delete;
};

// Takes the envelope apart (docs/wire.md 2). Fails with kInvalidRequest for whatever makes a frame
// malformed: not a map, an unknown, duplicate or missing key, a wrong version, a nil body, bytes
// behind it.
[[nodiscard]] Result<Frame> decode_frame(Bytes payload);

struct Hello {
  std::uint64_t proto = 0;
  std::string peer;
  std::vector<std::string> features;
  friend bool operator==(const Hello&, const Hello&) = default;
};

struct ExecStart {
  std::vector<std::string> argv;
  std::map<std::string, std::string> env;
  std::string cwd;
  ByteView token;                 // borrowed from the frame
  const Value* policy = nullptr;  // borrowed from the frame; null: the base policy
};

struct ExecStdin {
  ByteView data;  // borrowed from the frame
  bool eof = false;
};

// Each refuses unknown keys, duplicate keys and wrong types by name; nil counts as empty for lists,
// maps, strings, bin, bool and numbers, and so does a missing key (the kind's own checks come
// after). str and bin are both taken where either is due, and text is bytes, not checked for UTF-8.
//
// decode_exec_start also refuses what no process could be given: a NUL in argv or env, an
// environment name that is empty or holds '='. A NUL in cwd is left to the start of the run
// (spawn_failed, D19).
[[nodiscard]] Result<Hello> decode_hello(const Value& body);
[[nodiscard]] Result<ExecStart> decode_exec_start(
    const Value& body);  // argv and token not yet judged
[[nodiscard]] Result<ExecStdin> decode_exec_stdin(const Value& body);
[[nodiscard]] Result<void> decode_shutdown(const Value& body);  // a map without entries

enum class Stream : std::uint8_t { kStdout, kStderr };

enum class WireError : std::uint8_t {
  kMalformedFrame,
  kProtoMismatch,
  kBadPolicy,
  kBusy,
  kNoExec,
  kSpawnFailed,
  kUnknownKind,
};
[[nodiscard]] std::string_view wire_error_code(WireError error) noexcept;  // "malformed_frame", …

// Whole frames, prefix included. Text is sanitised; smallest encodings throughout. No frame is
// larger than kMaxFrameBytes: an error's text is cut at kMaxErrorText bytes, an enforcement list
// that is too long is cut and ends with a "skip:" entry that says so, so that no demand is met by
// what was left out.
inline constexpr std::size_t kMaxErrorText = 16'384;
inline constexpr std::size_t kMaxEnforcementBytes = 8'388'608;
[[nodiscard]] Bytes encode_hello_frame(std::uint64_t id, const Hello& hello);
[[nodiscard]] Bytes encode_exec_out_frame(std::uint64_t id, Stream stream, ByteView data,
                                          std::uint64_t total_bytes, bool truncated);
// The same frame around data that is not copied into it: head, `data_bytes` bytes, tail.
struct SplitFrame {
  Bytes head;
  Bytes tail;
};
[[nodiscard]] SplitFrame split_exec_out_frame(std::uint64_t id, Stream stream,
                                              std::size_t data_bytes, std::uint64_t total_bytes,
                                              bool truncated);
// `with_outcome`: both hellos listed kOutcomeFeature.
[[nodiscard]] Bytes encode_exec_exit_frame(std::uint64_t id, const ExecResult& result,
                                           bool with_outcome);
[[nodiscard]] Bytes encode_heartbeat_frame(std::uint64_t id);
// `denial`: the record of a refused start, where there is one and both hellos listed
// kDenialFeature; null otherwise, and then the body has two keys and not three.
[[nodiscard]] Bytes encode_error_frame(std::uint64_t id, WireError code, std::string_view message,
                                       const Denial* denial = nullptr);

}  // namespace loom
