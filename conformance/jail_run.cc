#include "jail_run.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "child_process.h"
#include "policy/decode_policy.h"

namespace loom::conformance {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPause{10};
constexpr int kNoAnswer = -1'000;

std::string from_hex(std::string_view hex) {
  std::string text;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    text += static_cast<char>(std::stoi(std::string(hex.substr(i, 2)), nullptr, 16));
  }
  return text;
}

// Lines "OP:ARGUMENT = ANSWER" of which the left side begins with `op`.
template <class Act>
void for_lines(const std::string& out, const std::string& op, Act act) {
  for (std::size_t at = 0; at < out.size();) {
    const std::size_t end = std::min(out.find('\n', at), out.size());
    const std::string_view line(out.data() + at, end - at);
    const std::size_t mark = line.find(" = ");
    if (mark != std::string_view::npos && line.starts_with(op)) {
      act(line.substr(0, mark), line.substr(mark + 3));
    }
    at = end + 1;
  }
}

std::vector<std::string> helper_environment(const RunSpec& spec) {
  const char* path = std::getenv("PATH");
  std::vector<std::string> variables = {std::string("PATH=") +
                                        (path != nullptr ? path : "/usr/bin:/bin")};
  variables.insert(variables.end(), spec.environment.begin(), spec.environment.end());
  return variables;
}

std::vector<std::string> helper_argv(const Ground& ground, const RunSpec& spec) {
  std::vector<std::string> argv = {
      ground.subject.helper,
      "run",
      "--backend",
      ground.subject.backend,
      "--policy",
      ground.place->at("policy"),
      "--demand",
      "best-effort",
      "--report",
      "json",
      "--report-file",
      ground.place->at("report"),
      "--cwd",
      spec.directory.empty() ? spec.policy.writable_roots.front().str() : spec.directory};
  argv.insert(argv.end(), spec.options.begin(), spec.options.end());
  argv.emplace_back("--");
  argv.insert(argv.end(), spec.command.begin(), spec.command.end());
  return argv;
}

void read_report(const std::string& text, JailRun& run) {
  const auto report = nlohmann::json::parse(text, nullptr, false);
  if (!report.is_object()) return;
  run.reported = true;
  run.code = report.value("code", 0);
  run.entries = report.value("enforcement", std::vector<std::string>());
  if (!report.contains("outcome")) return;
  const auto& outcome = report["outcome"];
  run.outcome = outcome.value("class", "");
  run.detail = outcome.value("detail", "");
  run.refused = outcome.value("first_cause", "") == "refused before the start";
}

// Waits for the helper, and calls `meanwhile` on the way.
Ending watch(pid_t helper, const RunSpec& spec, int out) {
  const auto deadline = Clock::now() + spec.patience;
  Ending ending;
  while (::waitpid(helper, &ending.status, WNOHANG) == 0) {
    if (Clock::now() > deadline) {
      ending.timed_out = true;
      ::kill(helper, SIGKILL);
      ::waitpid(helper, &ending.status, 0);
      break;
    }
    if (spec.meanwhile) spec.meanwhile(read_whole(out), helper);
    std::this_thread::sleep_for(kPause);
  }
  return ending;
}

// Whoever lost its parent in the run is our child by now. The last of a jail, and the helper's
// caretaker, may need a moment.
std::vector<std::string> left_behind() {
  const auto deadline = Clock::now() + std::chrono::seconds(6);
  for (;;) {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    const auto children = own_children();
    if (children.empty() || Clock::now() > deadline) {
      std::vector<std::string> names;
      for (const auto& [pid, name] : children) names.push_back(name + " " + std::to_string(pid));
      end_children();
      return names;
    }
    std::this_thread::sleep_for(kPause);
  }
}

Result<JailRun> run_helper(const Ground& ground, const RunSpec& spec) {
  LOOM_TRY_VOID(ground.place->write("policy", as_text(encode_policy(spec.policy))));
  std::error_code ignored;
  fs::remove(ground.place->at("report"), ignored);
  LOOM_TRY(const UniqueFd out, make_memory_file("out"));
  LOOM_TRY(const UniqueFd err, make_memory_file("err"));
  const auto began = Clock::now();
  LOOM_TRY(const pid_t helper, start_program({.argv = helper_argv(ground, spec),
                                              .environment = helper_environment(spec),
                                              .directory = ground.place->at("work"),
                                              .inherited = spec.inherited,
                                              .out = out.get(),
                                              .err = err.get()}));
  const Ending ending = watch(helper, spec, out.get());
  JailRun run;
  run.took = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - began);
  run.timed_out = ending.timed_out;
  run.status =
      WIFEXITED(ending.status) ? WEXITSTATUS(ending.status) : 128 + WTERMSIG(ending.status);
  run.orphans = left_behind();
  run.out = read_whole(out.get());
  run.err = read_whole(err.get());
  read_report(ground.place->contents("report"), run);
  return run;
}

}  // namespace

int JailRun::answer(const std::string& op) const {
  const std::string value = text(op);
  return value.empty() ? kNoAnswer : std::atoi(value.c_str());
}

std::string JailRun::text(const std::string& op) const {
  std::string found;
  for_lines(out, op, [&](std::string_view left, std::string_view right) {
    if (left == op && found.empty()) found = right;
  });
  return found;
}

std::vector<std::string> JailRun::shown(const std::string& op) const {
  std::vector<std::string> list;
  for_lines(out, op + ":", [&](std::string_view left, std::string_view) {
    list.push_back(from_hex(left.substr(op.size() + 1)));
  });
  return list;
}

std::unique_ptr<Ground> Ground::make(const Subject& subject, Judgement& judgement) {
  auto place = Place::make();
  if (!place) {
    judgement.unjudged(place.error().message);
    return nullptr;
  }
  auto ground = std::unique_ptr<Ground>(new Ground{.subject = subject, .place = std::move(*place)});
  std::error_code error;
  fs::copy_file(subject.probe, ground->probe(), error);
  if (!error && ::access(subject.helper.c_str(), X_OK) == 0) return ground;
  judgement.unjudged(error ? "copy " + subject.probe + ": " + error.message()
                           : "there is no helper at " + subject.helper);
  return nullptr;
}

RunSpec Ground::spec(const Policy& policy, std::vector<std::string> operations) const {
  RunSpec spec;
  spec.policy = policy;
  spec.command = {probe()};
  spec.command.insert(spec.command.end(), operations.begin(), operations.end());
  return spec;
}

JailRun Ground::run(const RunSpec& spec, Judgement& judgement) const {
  judgement.step("a run through the helper", true);
  auto done = run_helper(*this, spec);
  judgement.step("after a run");
  if (!done) {
    judgement.unjudged(done.error().message);
    return {};
  }
  if (!done->reported) {
    judgement.breach("the helper ended without a report, status " + std::to_string(done->status) +
                     (done->timed_out ? ", killed after its deadline" : "") + ": " +
                     done->err.substr(0, 300));
  }
  return std::move(*done);
}

void judge_denial(const JailRun& run, bool held, const Denial& denial, Judgement& judgement) {
  if (held) return;
  const std::string named = entry_that_names(run.entries, denial.names);
  const std::string claim = entry_that_claims(run.entries, denial.claims);
  if (!named.empty()) {
    judgement.remark(denial.what + "; the report says so: " + named);
  } else if (!claim.empty()) {
    judgement.unheld(denial.what + ", though the report claims " + claim);
  } else {
    judgement.breach(denial.what + ", and the report does not name it");
  }
}

bool ran(const JailRun& run, const char* what, Judgement& judgement) {
  if (!run.reported) return false;
  if (run.refused) {
    judgement.remark(std::string(what) + " is refused by name: " + run.detail);
    return false;
  }
  if (run.outcome != "setup") return true;
  judgement.breach(std::string(what) + ": the jail did not come about: " + run.detail);
  return false;
}

}  // namespace loom::conformance
