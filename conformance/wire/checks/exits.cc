#include <loom/utf8.h>

#include <algorithm>
#include <set>

#include "../session.h"

namespace loom::conformance {
namespace {

Result<void> judge_codes(const Session& session) {
  LOOM_TRY(const auto talk, session.open());
  for (const std::uint64_t code : {0U, 1U, 3U, 42U, 124U, 128U, 143U, 255U}) {
    LOOM_TRY(const Run run, talk->execute(shell("exit " + std::to_string(code))));
    LOOM_TRY_VOID(came_to(run, code, ""));
    LOOM_TRY_VOID(
        demand(run.count("signal") == 0 && !run.flag("cancelled") && !run.flag("timed_out"),
               "it ended by itself: " + run.text()));
  }
  return {};
}

Result<void> judge_signals(const Session& session) {
  LOOM_TRY(const auto talk, session.open());
  for (const std::uint64_t number : {9U, 11U, 15U}) {
    LOOM_TRY(const Run run, talk->execute(shell("kill -" + std::to_string(number) + " $$")));
    LOOM_TRY_VOID(came_to(run, 128 + number, ""));
    const bool sound = run.count("signal") == 0 || run.count("signal") == number;
    LOOM_TRY_VOID(demand(
        sound && !run.flag("cancelled"),
        "a command that died of signal " + std::to_string(number) + " is told as: " + run.text()));
  }
  return {};
}

// With a policy of version 2 the jail is there before the program is looked for.
Result<void> judge_not_found(const Session& session) {
  const std::string plain = session.place->at("work/kept");
  LOOM_TRY(const auto talk, session.open());
  for (const std::string& program :
       {std::string("/no/such/program"), std::string("no-such-program"), plain}) {
    LOOM_TRY(const Run run, talk->execute(start_of({program})));
    LOOM_TRY_VOID(came_to(run, 126, ""));
    // The word comes from inside a jail; where there is none nobody has one.
    LOOM_TRY_VOID(
        demand(!run.err.empty() || run.flag("degraded"), "stderr does not say why: " + run.text()));
    LOOM_TRY_VOID(demand(!run.entries().empty(), "there is no report: " + run.text()));
  }
  LOOM_TRY(const Run cwd,
           talk->execute(with(shell("echo ran"), "cwd", session.place->at("work/absent"))));
  LOOM_TRY_VOID(named("a directory that is not there", came_to(cwd, 126, "")));
  return still_runs(*talk);
}

Result<void> judge_clock(const Session& session) {
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(const Run run, talk->execute(shell("sleep 0.4")));
  LOOM_TRY_VOID(came_to(run, 0, ""));
  const auto told = run.count("wall_ms");
  const auto seen = static_cast<std::uint64_t>(run.took.count());
  return demand(told >= 400 && told <= seen + 1,
                "wall_ms is " + std::to_string(told) +
                    " of a command that slept 400 ms and was over after " + std::to_string(seen));
}

// tag ": " reason, as the grammar of reports has it.
bool is_skip(std::string_view entry) {
  entry.remove_prefix(5);
  const std::size_t colon = entry.find(": ");
  if (colon == std::string_view::npos || colon == 0 || colon + 2 == entry.size()) return false;
  return entry.substr(0, colon).find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") ==
         std::string_view::npos;
}

Result<void> judge_entry(const std::string& entry) {
  if (entry.empty() || printable(entry, entry.size() + 1) != entry) {
    return demand(false, "an entry that is no line of text: " + escaped(entry));
  }
  return demand(!entry.starts_with("skip:") || is_skip(entry),
                "a skip without tag or reason: " + entry);
}

bool claims(const std::vector<std::string>& entries, std::string_view words) {
  return std::any_of(entries.begin(), entries.end(),
                     [words](const std::string& entry) { return entry.starts_with(words); });
}

Result<void> judge_entries(const Run& run) {
  const auto entries = run.entries();
  for (const std::string& entry : entries) LOOM_TRY_VOID(judge_entry(entry));
  const std::set<std::string> distinct(entries.begin(), entries.end());
  LOOM_TRY_VOID(demand(distinct.size() == entries.size(), "an entry stands twice"));
  const bool jailed = claims(entries, "bwrap") || claims(entries, "seatbelt");
  LOOM_TRY_VOID(demand(jailed != run.flag("degraded"),
                       "degraded is " + std::string(run.flag("degraded") ? "true" : "false") +
                           ", and the report claims " + (jailed ? "the jail" : "no jail")));
  return demand(jailed || claims(entries, "skip:"),
                "neither a jail nor the want of one is reported");
}

Result<void> judge_report(const Session& session) {
  const Json limits = limited(limited(session.policy, "cpu_s", 20), "fsize_bytes", 1'000'000);
  const Json proxy = {{"mode", "proxy"}, {"allow", Json::array({"*"})}, {"proxy", "127.0.0.1:9"}};
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(const auto granted,
           first_granted(session, *talk, shell("true"),
                         {with(limits, "network", proxy), limits, session.policy},
                         {"proxy", "cpu", "fsize"}));
  LOOM_TRY_VOID(demand(granted.has_value(), "a plain policy is refused"));
  LOOM_TRY_VOID(came_to(granted->run, 0, ""));
  LOOM_TRY_VOID(judge_entries(granted->run));
  if (granted->policy != 0) return {};
  // What is asked for is claimed, or named as not held; silence is neither.
  const auto entries = granted->run.entries();
  return demand(claims(entries, "skip:network-proxy: ") || claims(entries, "skip:jail: "),
                "the list of a proxy is not enforced by anybody, and the report does not say so");
}

Result<void> has_class(Conversation& talk, const Json& start, const std::string& due) {
  LOOM_TRY(const Run run, talk.execute(start));
  LOOM_TRY_VOID(demand(run.exit.has_value(), run.text()));
  const Json& outcome = (*run.exit)["outcome"];
  for (const char* const key : {"class", "detail", "first_cause"}) {
    const bool text = outcome.contains(key) && outcome[key].is_string();
    LOOM_TRY_VOID(demand(text, std::string(key) + " is not there, or no text: " + outcome.dump()));
  }
  LOOM_TRY_VOID(demand(outcome.size() == 3, "a key more in " + outcome.dump()));
  return demand(outcome["class"] == due, due + " was due, and came: " + outcome.dump());
}

Result<void> judge_outcome(const Session& session) {
  LOOM_TRY(const auto talk, session.open({std::string(kOutcome)}));
  if (!talk->lists(kOutcome)) {
    session.judgement.remark("exec-outcome-v1 is not listed");
    return {};
  }
  const Json wall = limited(session.policy, "wall_s", 1);
  const Json absent = with(shell("true"), "cwd", session.place->at("work/absent"));
  LOOM_TRY_VOID(named("exit 3", has_class(*talk, shell("exit 3"), "exited")));
  LOOM_TRY_VOID(named("no program", has_class(*talk, start_of({"/no/such/program"}), "exec")));
  LOOM_TRY_VOID(named("no directory", has_class(*talk, absent, "setup")));
  LOOM_TRY_VOID(named("the wall clock",
                      has_class(*talk, with(shell("sleep 60"), "policy", wall), "timeout")));
  LOOM_TRY(Run run, running(*talk, shell(kWaits)));
  LOOM_TRY_VOID(talk->cancel(run));
  LOOM_TRY_VOID(ends_cancelled(*talk, run));
  return demand((*run.exit)["outcome"]["class"] == "cancelled",
                "cancelled was due, and came: " + run.text());
}

Result<void> judge_denial_record(const Session& session) {
  static constexpr const char* kKeys[] = {
      "v",          "source", "op",        "asked",      "real",  "reason", "evidence", "rule",
      "overridden", "others", "needed_by", "stopped_at", "errno", "limit",  "hint",     "text"};
  LOOM_TRY(const auto talk, session.open({std::string(kDenial)}));
  if (!talk->lists(kDenial) || !talk->lists("policy-v3")) {
    session.judgement.remark("denial-v1, or policy-v3, is not listed");
    return {};
  }
  const Json policy = with(with(session.policy, "v", 3), "exec", nullptr);
  const Json start = with(start_of({"/no/such/program"}), "policy", policy);
  LOOM_TRY(const Run run, talk->execute(start));
  LOOM_TRY_VOID(demand(run.error && (*run.error)["code"] == "spawn_failed",
                       "spawn_failed was due, and came: " + run.text()));
  LOOM_TRY_VOID(demand(run.error->contains("denial"), "there is no record: " + run.error->dump()));
  const Json& record = (*run.error)["denial"];
  std::size_t at = 0;
  for (const auto& [key, value] : record.items()) {
    LOOM_TRY_VOID(demand(at < std::size(kKeys) && key == kKeys[at], "a key out of place: " + key));
    ++at;
  }
  LOOM_TRY_VOID(demand(at == std::size(kKeys), "of sixteen keys came " + std::to_string(at)));
  LOOM_TRY_VOID(
      demand(bytes_of(record["asked"]) == "/no/such/program" && record["asked"].is_binary(),
             "asked is not the word that was sent"));
  // Where there is no jail, that is refused first.
  const std::string due = talk->lists("degraded") ? "confinement_unavailable" : "not_found";
  const std::string reason = bytes_of(record["reason"]);
  LOOM_TRY_VOID(demand(reason == due || reason == "not_found", "the reason is " + reason));
  return demand(
      record["text"] == (*run.error)["msg"] && bytes_of(record["text"]).starts_with(reason),
      "the text of the error and of the record, which begins with the reason, are not one");
}

}  // namespace

std::vector<Check> exit_checks() {
  return {
      {"exit.codes", "A command's exit status is told as it was.", judged<judge_codes>},
      {"exit.signals", "A command that died of a signal is told as 128 and its number.",
       judged<judge_signals>},
      {"exit.not-found",
       "A program or directory that is not there is status 126, with a word on stderr and a whole "
       "report.",
       judged<judge_not_found>},
      {"exit.clock", "wall_ms is what the command took.", judged<judge_clock>},
      {"exit.report",
       "The report has the grammar of reports, names what is not held, and fits the flag degraded.",
       judged<judge_report>},
      {"exit.outcome", "The outcome tells apart how a command ended, or why it never ran.",
       judged<judge_outcome>},
      {"exit.denial", "The record of a refusal is whole, and says what its error says.",
       judged<judge_denial_record>},
  };
}

}  // namespace loom::conformance
