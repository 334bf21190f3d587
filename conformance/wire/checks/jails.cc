#include "../../loopback.h"
#include "../in_jail.h"

namespace loom::conformance {
namespace {

const Words kNetworkClaims = {"bwrap", "seccomp-net", "seatbelt-net", "seatbelt"};

// Whether the command could read the file; the same command's control must.
std::string try_read(const std::string& name, const std::string& file) {
  return "cat " + file + " >/dev/null 2>&1 && echo " + name + "; ";
}

bool says(const Run& run, const std::string& word) {
  return ("\n" + run.out).find("\n" + word + "\n") != std::string::npos;
}

// The run of a script that reads what is protected and what lies beside it, or nothing where such a
// policy is refused.
Result<std::optional<Run>> read_protected(const Session& session, Conversation& talk,
                                          const std::vector<std::string>& masked) {
  const Place& place = *session.place;
  std::string script =
      try_read("kept", place.at("work/kept")) + try_read("file", place.at("read/file"));
  Json paths = Json::array();
  Words names = {"protected"};
  for (const std::string& path : masked) {
    paths.push_back(path);
    names.emplace_back(path);
    script += try_read(path, path);
    script += try_read(path, path + "/config");  // of a directory
  }
  const Json policy = with(with(session.policy, "readable_roots", Json::array({place.at("read")})),
                           "protected", paths);
  LOOM_TRY(auto run,
           unless_refused(session, talk, with(shell(script + "exit 0"), "policy", policy), names));
  if (!run) return run;
  LOOM_TRY_VOID(
      demand(run->exit && says(*run, "kept") && says(*run, "file"),
             "positive control: the neighbours of masked names were not read: " + run->text()));
  return run;
}

Result<void> judge_masks(const Session& session) {
  const Place& place = *session.place;
  const std::vector<std::string> inside = {place.at("work/.env"), place.at("work/.git"),
                                           place.at("read/secret")};
  // Rules that only add rights can hold no mask inside of a grant.
  const std::vector<std::string> elsewhere = {place.at("elsewhere/hidden")};
  LOOM_TRY(const auto talk, session.open());
  for (const std::vector<std::string>& masked : {inside, elsewhere}) {
    LOOM_TRY(const auto run, read_protected(session, *talk, masked));
    if (!run) continue;
    for (const std::string& path : masked) {
      deny(session, *run, !says(*run, path),
           {"a protected file was read: " + path, words::kProtected, kWireViewClaims});
    }
    return {};
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
       {"a file was made in a readable root", words::kReadable, kWireViewClaims});
  deny(session, run, !place.has("more/made"),
       {"a file was made where no root is", words::kWritable, kWireViewClaims});
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
       {"a file outside every root was read", words::kView, kWireViewClaims});
  return {};
}

// With the suite's own probe, since a shell makes no sockets.
Result<void> judge_network(const Session& session) {
  LOOM_TRY(const std::string probe, bring_probe(session));
  LOOM_TRY(const TcpListener listener, listen_on_loopback());
  const std::string op = "connect:" + listener.port;
  const Json start = probe_start(probe, {op});
  const auto answer_of = [&](const Run& run) { return seen_by(run).answer(op); };
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
