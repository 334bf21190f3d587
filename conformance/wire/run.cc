#include "run.h"

#include <loom/utf8.h>

namespace loom::conformance {
namespace {

constexpr std::size_t kMaxOutputBytes = 512U << 20U;

tl::unexpected<Error> refuse(const std::string& why) { return fail(ErrorCode::kBackend, why); }

Result<void> take_chunk(Run& run, const Json& body) {
  const bool first = body["stream"].get_ref<const std::string&>() == "stdout";
  const std::string name = first ? "stdout" : "stderr";
  std::string& stream = first ? run.out : run.err;
  bool& cut = first ? run.out_cut : run.err_cut;
  if (cut) return refuse(name + " speaks after its end was cut off");
  stream += bytes_of(body["data"]);
  ++run.chunks;
  cut = body["truncated"].get<bool>();
  if (body["bytes"] != stream.size()) {
    return refuse(name + " says " + body["bytes"].dump() + " bytes so far, and sent " +
                  std::to_string(stream.size()));
  }
  if (stream.size() > kMaxOutputBytes) return refuse(name + " does not end");
  return {};
}

Result<void> take_exit(Run& run, const Json& body) {
  const auto agrees = [&body](const std::string& name, const std::string& stream, bool cut) {
    return body[name + "_bytes"] == stream.size() && body[name + "_truncated"] == cut;
  };
  run.exit = body;
  if (agrees("stdout", run.out, run.out_cut) && agrees("stderr", run.err, run.err_cut)) return {};
  return refuse("the exit frame counts otherwise than the chunks: " + run.text());
}

}  // namespace

std::uint64_t Run::count(const char* key) const {
  return exit ? (*exit)[key].get<std::uint64_t>() : 0;
}

bool Run::flag(const char* key) const { return exit && (*exit)[key].get<bool>(); }

std::vector<std::string> Run::entries() const {
  return exit ? texts_of((*exit)["enforcement"]) : std::vector<std::string>();
}

std::string Run::text() const {
  if (error) return "refused: " + (*error)["code"].dump() + " " + (*error)["msg"].dump();
  if (!exit) return "not ended, stdout \"" + escaped(out, 200) + "\"";
  Json numbers = *exit;
  numbers.erase("enforcement");
  return numbers.dump() + ", stdout \"" + escaped(out, 200) + "\", stderr \"" + escaped(err, 200) +
         "\"";
}

Result<void> Run::take(const Frame& frame) {
  if (settled()) return refuse("after the end of its execution: " + frame.text());
  if (frame.kind == "exec_out") return take_chunk(*this, frame.body);
  if (frame.kind == "exec_exit") return take_exit(*this, frame.body);
  if (frame.kind != "error") return refuse("under the id of an execution: " + frame.text());
  if (chunks > 0)
    return refuse("an error under the id of an execution that had begun: " + frame.text());
  error = frame.body;
  return {};
}

}  // namespace loom::conformance
