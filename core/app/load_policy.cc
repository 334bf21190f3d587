#include "app/load_policy.h"

#include <fcntl.h>
#include <loom/unique_fd.h>
#include <loom/utf8.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "host/errno_text.h"
#include "host/memory_file.h"
#include "policy/decode_policy.h"

namespace loom::app {
namespace {

using Json = nlohmann::json;

// Refuses what the library would quietly accept: the second of two equal keys. Throws, as its
// callers do.
class DuplicateKeys {
 public:
  bool operator()(int /*depth*/, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) open_.emplace_back();
    if (event == Json::parse_event_t::object_end) open_.pop_back();
    if (event == Json::parse_event_t::key &&
        !open_.back().insert(parsed.get<std::string>()).second) {
      duplicate_ = parsed.get<std::string>();
    }
    return true;
  }
  [[nodiscard]] const std::string& found() const { return duplicate_; }

 private:
  std::vector<std::set<std::string>> open_;
  std::string duplicate_;
};

Result<Bytes> json_to_msgpack(std::string_view text) try {
  DuplicateKeys keys;
  const Json document = Json::parse(text, std::ref(keys));
  if (!keys.found().empty()) {
    return fail(ErrorCode::kInvalidRequest, "key \"" + escaped(keys.found()) + "\" stands twice");
  }
  const std::vector<std::uint8_t> packed = Json::to_msgpack(document);
  const ByteView bytes = std::as_bytes(std::span(packed));
  return Bytes(bytes.begin(), bytes.end());
} catch (const std::exception& error) {
  return fail(ErrorCode::kInvalidRequest, "not JSON: " + escaped(error.what()));
}

bool looks_like_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && text[first] == '{';
}

}  // namespace

Result<Policy> load_policy(const std::string& file) {
  const UniqueFd fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) {
    const int error = errno;
    return fail(ErrorCode::kSystem, "--policy " + escaped(file) + ": " + host::errno_text(error),
                error);
  }
  LOOM_TRY(Bytes bytes, host::read_all(fd.get(), kMaxBasePolicyBytes, "policy file"));
  if (looks_like_json(as_text(bytes))) {
    auto packed = json_to_msgpack(as_text(bytes));
    if (!packed) {
      return fail(ErrorCode::kInvalidRequest,
                  "--policy " + escaped(file) + ": " + packed.error().message);
    }
    bytes = std::move(*packed);
  }
  return decode_policy(bytes);
}

}  // namespace loom::app
