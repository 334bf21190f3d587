#include <filesystem>

#include "../../jail_run.h"
#include "../../loopback.h"
#include "../session.h"

namespace loom::conformance {
namespace {

namespace fs = std::filesystem;

const Words kViewClaims = {"bwrap", "mounts", "seatbelt-fs", "seatbelt", "landlock"};
const Words kNetworkClaims = {"bwrap", "seccomp-net", "seatbelt-net", "seatbelt"};

// Whether the command could read the file; the same command's control must.
std::string try_read(const std::string& name, const std::string& file) {
  return "cat " + file + " >/dev/null 2>&1 && echo " + name + "; ";
}

bool says(const Run& run, const std::string& word) {
  return ("\n" + run.out).find("\n" + word + "\n") != std::string::npos;
}

void deny(const Session& session, const Run& run, bool held, const Denial& denial) {
  JailRun seen;
  seen.entries = run.entries();
  judge_denial(seen, held, denial, session.judgement);
}

Result<void> judge_masks(const Session& session) {
  const Place& place = *session.place;
  const Json policy =
      with(with(session.policy, "readable_roots", Json::array({place.at("read")})), "protected",
           Json::array({place.at("work/.env"), place.at("work/.git"), place.at("read/secret")}));
  const std::string script =
      try_read("kept", place.at("work/kept")) + try_read("file", place.at("read/file")) +
      try_read("env", place.at("work/.env")) + try_read("git", place.at("work/.git/config")) +
      try_read("secret", place.at("read/secret")) + "exit 0";
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(const Run run, talk->execute(with(shell(script), "policy", policy)));
  LOOM_TRY_VOID(
      demand(run.exit && says(run, "kept") && says(run, "file"),
             "positive control: the neighbours of masked names were not read: " + run.text()));
  for (const char* const name : {"env", "git", "secret"}) {
    deny(session, run, !says(run, name),
         {std::string("a protected file was read: ") + name, words::kProtected, kViewClaims});
  }
  return {};
}

Result<void> judge_writes(const Session& session) {
  const Place& place = *session.place;
  const Json policy = with(session.policy, "readable_roots", Json::array({place.at("read")}));
  const std::string script = "echo x > " + place.at("work/made") + "; echo x > " +
                             place.at("read/made") + "; echo x > " + place.at("more/made") +
                             "; exit 0";
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(const Run run, talk->execute(with(shell(script), "policy", policy)));
  LOOM_TRY_VOID(demand(run.exit && place.has("work/made"),
                       "positive control: nothing was made in the workspace: " + run.text()));
  deny(session, run, !place.has("read/made"),
       {"a file was made in a readable root", words::kReadable, kViewClaims});
  deny(session, run, !place.has("more/made"),
       {"a file was made where no root is", words::kWritable, kViewClaims});
  return {};
}

Result<void> judge_outside(const Session& session) {
  const Place& place = *session.place;
  const std::string script = try_read("kept", place.at("work/kept")) +
                             try_read("hidden", place.at("elsewhere/hidden")) + "exit 0";
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(const Run run, talk->execute(shell(script)));
  LOOM_TRY_VOID(demand(run.exit && says(run, "kept"),
                       "positive control: the workspace was not read: " + run.text()));
  deny(session, run, !says(run, "hidden"),
       {"a file outside every root was read", words::kView, kViewClaims});
  return {};
}

// With the suite's own probe, since a shell makes no sockets.
Result<void> judge_network(const Session& session) {
  const Place& place = *session.place;
  std::error_code error;
  fs::copy_file(session.subject.probe, place.at("work/probe"), error);
  if (error) return fail(ErrorCode::kSystem, "copy the probe: " + error.message());
  LOOM_TRY(const TcpListener listener, listen_on_loopback());
  const std::string op = "connect:" + listener.port;
  const Json start = start_of({place.at("work/probe"), op});
  const auto answer_of = [&](const Run& run) {
    JailRun seen;
    seen.out = run.out;
    return seen.answer(op);
  };
  LOOM_TRY(const auto talk, session.open());
  const Json full = with(session.policy, "network", {{"mode", "full"}});
  LOOM_TRY(const Run open, talk->execute(with(start, "policy", full)));
  LOOM_TRY_VOID(demand(answer_of(open) == 0,
                       "positive control: under network full nothing was reached: " + open.text()));
  LOOM_TRY(const Run cut, talk->execute(start));
  LOOM_TRY_VOID(demand(cut.exit.has_value(), cut.text()));
  deny(session, cut, answer_of(cut) != 0,
       {"under network off a listener of this machine was reached", words::kNetwork,
        kNetworkClaims});
  return {};
}

}  // namespace

std::vector<Check> wire_jail_checks() {
  return {
      {"jail.masks", "A protected path is not read, or the report names it.", judged<judge_masks>},
      {"jail.writes", "Nothing is written outside the writable roots, or the report names it.",
       judged<judge_writes>},
      {"jail.outside", "What no root names is not seen, or the report names it.",
       judged<judge_outside>},
      {"jail.network", "Network off reaches nobody, or the report names it.",
       judged<judge_network>},
  };
}

}  // namespace loom::conformance
