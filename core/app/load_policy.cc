#include "app/load_policy.h"

#include <fcntl.h>
#include <loom/unique_fd.h>
#include <loom/utf8.h>
#include <loom/value.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "host/errno_text.h"
#include "host/memory_file.h"
#include "policy/decode_policy.h"

namespace loom::app {
namespace {

using Json = nlohmann::json;

// Remembers what the library would quietly accept, the second of two equal keys, and what would
// lose its name on the way, a fraction.
class JsonFaults {
 public:
  bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
    // What follows the parser walks the tree recursively.
    if (depth > static_cast<int>(kMaxValueNesting)) {
      note("nested too deeply");
      return false;
    }
    if (event == Json::parse_event_t::object_start) open_.emplace_back();
    if (event == Json::parse_event_t::object_end) open_.pop_back();
    if (event == Json::parse_event_t::key &&
        !open_.back().insert(parsed.get<std::string>()).second) {
      note("key \"" + escaped(parsed.get<std::string>()) + "\" stands twice");
    }
    if (event == Json::parse_event_t::key) key_ = parsed.get<std::string>();
    if (event == Json::parse_event_t::value && parsed.is_number_float()) {
      note("key \"" + escaped(key_) + "\": expected integer, found a fraction");
    }
    return true;
  }
  // Empty when there was none; else the first.
  [[nodiscard]] const std::string& found() const { return fault_; }

 private:
  void note(std::string fault) {
    if (fault_.empty()) fault_ = std::move(fault);
  }
  std::vector<std::set<std::string>> open_;
  std::string key_;
  std::string fault_;
};

Result<Bytes> json_to_msgpack(std::string_view text) try {
  JsonFaults faults;
  const Json document = Json::parse(text, std::ref(faults));
  if (!faults.found().empty()) return fail(ErrorCode::kInvalidRequest, faults.found());
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
