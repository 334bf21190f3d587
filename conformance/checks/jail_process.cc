#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "../jail_run.h"
#include "../loopback.h"

namespace loom::conformance {
namespace {

void judge_runs(const Subject& subject, Judgement& judgement) {
  const auto ground = Ground::make(subject, judgement);
  if (!ground) return;
  const JailRun run =
      ground->run(ground->spec(plain_policy(*ground->place), {"pid", "exit:42"}), judgement);
  if (run.reported && run.refused) {
    return judgement.unjudged("this backend starts nothing on this machine: " + run.detail);
  }
  if (!ran(run, "a plain policy", judgement)) return;
  if (!run.tried("pid:")) judgement.breach("what the command printed did not arrive");
  if (run.status != 42) {
    judgement.breach("a command that ends with 42 is reported as " + std::to_string(run.status));
  }
  if (run.entries.empty())
    judgement.breach("the report is empty: it neither claims nor names anything");
}

void judge_command(const Subject& subject, Judgement& judgement) {
  const auto ground = Ground::make(subject, judgement);
  if (!ground) return;
  const std::vector<std::string> words = {"",         "two words", "-x", "caf\xC3\xA9",
                                          "\xFF\xFE", "$HOME"};
  RunSpec spec = ground->spec(plain_policy(*ground->place), {"cwd", "environment", "words"});
  spec.command.insert(spec.command.end(), words.begin(), words.end());
  spec.directory = ground->place->at("work/notes");
  spec.options = {"--env", "CONFORMANCE_A=a=b c"};
  spec.environment = {"CONFORMANCE_HIDDEN=1", "LD_LIBRARY_PATH=/nonexistent"};
  const JailRun run = ground->run(spec, judgement);
  if (!ran(run, "a plain policy", judgement)) return;
  if (run.shown("word") != words) {
    judgement.breach("the command did not get its words as they were given");
  }
  const auto cwd = run.shown("cwd");
  if (cwd.size() != 1 || cwd.front() != spec.directory) {
    judgement.breach("the command started in " + (cwd.empty() ? "no directory" : cwd.front()) +
                     " and not in " + spec.directory);
  }
  const auto variables = run.shown("variable");
  const auto has = [&variables](const std::string& wanted) {
    return std::find(variables.begin(), variables.end(), wanted) != variables.end();
  };
  if (!has("CONFORMANCE_A=a=b c")) judgement.breach("a variable that is allowed did not arrive");
  for (const std::string& variable : variables) {
    const bool known = variable.starts_with("PATH=") || variable.starts_with("CONFORMANCE_A=");
    if (!known) judgement.breach("the command sees a variable that nobody allowed: " + variable);
  }
}

void judge_descriptors(const Subject& subject, Judgement& judgement) {
  const auto ground = Ground::make(subject, judgement);
  if (!ground) return;
  const std::string secret = ground->place->at("elsewhere/hidden");
  const int kept = ::open(secret.c_str(), O_RDONLY);
  if (kept < 0) return judgement.unjudged("open " + secret);
  RunSpec spec = ground->spec(plain_policy(*ground->place), {"descriptors"});
  spec.inherited = {kept};
  const JailRun run = ground->run(spec, judgement);
  if (!ran(run, "a plain policy", judgement)) return;
  if (!run.tried("descriptor:1")) {
    return judgement.breach("positive control: the command's standard output is not open");
  }
  for (int number = 3; number < 1'024; ++number) {
    const std::string line = "descriptor:" + std::to_string(number);
    if (!run.tried(line)) continue;
    judgement.breach("the command has descriptor " + std::to_string(number) +
                     " open: " + run.text(line));
  }
}

void judge_network(const Subject& subject, Judgement& judgement) {
  const auto ground = Ground::make(subject, judgement);
  const auto listener = listen_on_loopback();
  if (!ground) return;
  if (!listener) return judgement.unjudged(listener.error().message);
  const std::string op = "connect:" + listener->port;
  Policy policy = plain_policy(*ground->place);
  policy.network.mode = NetworkMode::kFull;
  const JailRun open = ground->run(ground->spec(policy, {op}), judgement);
  if (!ran(open, "network full", judgement)) return;
  if (open.answer(op) != 0) {
    return judgement.breach(
        "positive control: with network full, connecting to the loopback ends "
        "with errno " +
        std::to_string(open.answer(op)));
  }
  for (const NetworkMode mode : {NetworkMode::kOff, NetworkMode::kProxy}) {
    policy.network.mode = mode;
    const bool proxy = mode == NetworkMode::kProxy;
    if (proxy) {
      policy.network.allow = {"example.org"};
      policy.network.proxy = "127.0.0.1:3128";
    }
    const JailRun cut = ground->run(ground->spec(policy, {op, "inet:"}), judgement);
    const char* const what = proxy ? "network proxy" : "network off";
    if (!ran(cut, what, judgement)) continue;
    judge_denial(cut, cut.tried(op) && cut.answer(op) != 0,
                 {std::string("under ") + what + " the command connected to the host",
                  words::kNetwork,
                  {"seccomp-net", "seatbelt-net", "bwrap"}},
                 judgement);
    if (proxy && entry_that_names(cut.entries, words::kProxy).empty()) {
      judgement.breach(
          "a proxy and its list are asked for, and the report does not say that they "
          "are not enforced");
    }
  }
}

void judge_unix_sockets(const Subject& subject, Judgement& judgement) {
  const auto ground = Ground::make(subject, judgement);
  if (!ground) return;
  RunSpec spec = ground->spec(plain_policy(*ground->place), {"pid", "unix"});
  const JailRun open = ground->run(spec, judgement);
  spec.options = {"--unix-sockets", "deny"};
  const JailRun denied = ground->run(spec, judgement);
  if (!ran(open, "a plain policy", judgement) || !ran(denied, "--unix-sockets deny", judgement)) {
    return;
  }
  if (open.answer("unix:") != 0) {
    return judgement.breach("positive control: a UNIX socket cannot be made where it is allowed");
  }
  judge_denial(
      denied, denied.answer("unix:") != 0,
      {"a UNIX socket was made under --unix-sockets deny", {"unix", "jail"}, {"unix-sockets"}},
      judgement);
}

void judge_limits(const Subject& subject, Judgement& judgement) {
  const auto ground = Ground::make(subject, judgement);
  if (!ground) return;
  const std::string file = ground->place->at("work/large");
  Policy policy = plain_policy(*ground->place);
  const JailRun open = ground->run(ground->spec(policy, {"fill:" + file}), judgement);
  policy.limits.fsize_bytes = 16 * 4'096;
  policy.limits.cpu_s = 77;
  const JailRun limited = ground->run(ground->spec(policy, {"limits", "fill:" + file}), judgement);
  if (!ran(open, "a plain policy", judgement) || !ran(limited, "a policy with limits", judgement)) {
    return;
  }
  if (open.answer("fill:" + file) != 256) {
    return judgement.breach("positive control: a file of 1 MiB cannot be written without a limit");
  }
  judge_denial(limited, limited.answer("fill:" + file) == 16,
               {"a file grew to " + std::to_string(limited.answer("fill:" + file)) +
                    " blocks under a limit of 16",
                words::kFileSize,
                {"rlimit-fsize"}},
               judgement);
  judge_denial(limited, limited.answer("limit:cpu") == 77,
               {"the CPU-time limit is " + limited.text("limit:cpu") + " and not 77",
                words::kCpu,
                {"rlimit-cpu"}},
               judgement);
}

void judge_orphans(const Subject& subject, Judgement& judgement) {
  const auto ground = Ground::make(subject, judgement);
  if (!ground) return;
  const Place& place = *ground->place;
  const JailRun run = ground->run(
      ground->spec(plain_policy(place), {"daemon:" + place.at("work/beat"), "sleep:10"}),
      judgement);
  if (!ran(run, "a plain policy", judgement)) return;
  if (place.contents("work/beat").empty()) {
    return judgement.breach("positive control: the background process never ran");
  }
  for (const std::string& orphan : run.orphans) {
    // The kernel keeps 15 bytes of a name.
    const bool of_command = orphan.starts_with("conformance-pro");
    judge_denial(run, false,
                 {"a process is left behind after the run: " + orphan,
                  of_command ? words::kProcessesEnd : Words{},
                  {}},
                 judgement);
  }
}

// Asks the helper to stop once the command says that it is ready, and runs.
JailRun cancelled_run(const Ground& ground, const std::string& operation, Judgement& judgement) {
  RunSpec spec = ground.spec(plain_policy(*ground.place), {operation});
  bool asked = false;
  spec.meanwhile = [&asked](const std::string& out, pid_t helper) {
    if (asked || out.find("ready:") == std::string::npos) return;
    asked = true;
    ::kill(helper, SIGTERM);
  };
  return ground.run(spec, judgement);
}

void judge_cancel(const Subject& subject, Judgement& judgement) {
  const auto ground = Ground::make(subject, judgement);
  if (!ground) return;
  const Place& place = *ground->place;
  const JailRun polite = cancelled_run(*ground, "honour:" + place.at("work/term"), judgement);
  if (!ran(polite, "a plain policy", judgement)) return;
  if (polite.out.find("ready:") == std::string::npos) {
    return judgement.breach("positive control: the command never got ready");
  }
  if (place.contents("work/term") != "term") {
    judgement.breach("a command that handles SIGTERM never got it; the run ended " +
                     polite.outcome + " after " + std::to_string(polite.took.count()) + " ms");
  }
  // Who is not gone in half a minute, far beyond the grace, has no report.
  const JailRun stubborn = cancelled_run(*ground, "ignore:" + place.at("work/beat"), judgement);
  if (!stubborn.reported) return;
  const std::size_t beats = place.contents("work/beat").size();
  ::usleep(400'000);
  if (place.contents("work/beat").size() != beats) {
    judgement.breach("a cancelled command goes on");
  }
}

void judge_output(const Subject& subject, Judgement& judgement) {
  const auto ground = Ground::make(subject, judgement);
  if (!ground) return;
  constexpr int kLines = 8'000;
  constexpr std::string_view kLast = "the very last line\n";
  const JailRun run = ground->run(
      ground->spec(plain_policy(*ground->place), {"flood:" + std::to_string(kLines)}), judgement);
  if (!ran(run, "a plain policy", judgement)) return;
  const std::size_t due = std::size_t{kLines} * 52 + kLast.size();
  if (!run.out.ends_with(kLast) || run.out.size() != due) {
    judgement.breach(std::to_string(run.out.size()) + " of " + std::to_string(due) +
                     " bytes of output arrived, the last of them \"" +
                     run.out.substr(run.out.size() - std::min<std::size_t>(run.out.size(), 40)) +
                     "\"");
  }
}

void judge_outcomes(const Subject& subject, Judgement& judgement) {
  const auto ground = Ground::make(subject, judgement);
  if (!ground) return;
  const Place& place = *ground->place;
  RunSpec spec = ground->spec(plain_policy(place), {"exit:125"});
  const JailRun by_itself = ground->run(spec, judgement);
  if (!ran(by_itself, "a plain policy", judgement)) return;
  if (by_itself.outcome != "exited") {
    judgement.breach("a command that ends with 125 is told as " + by_itself.outcome);
  }
  spec.command = {place.at("work/no-such-program")};
  const JailRun absent = ground->run(spec, judgement);
  if (absent.reported && (absent.outcome != "exec" || absent.status != 127)) {
    judgement.breach("a program that is not there is told as " + absent.outcome + ", status " +
                     std::to_string(absent.status));
  }
  spec.command = {place.at("work/kept")};
  const JailRun no_program = ground->run(spec, judgement);
  if (no_program.reported && (no_program.outcome != "exec" || no_program.status != 126)) {
    judgement.breach("a file that is no program is told as " + no_program.outcome + ", status " +
                     std::to_string(no_program.status));
  }
  spec = ground->spec(plain_policy(place), {"pid"});
  spec.directory = place.at("work/no-such-directory");
  const JailRun nowhere = ground->run(spec, judgement);
  if (nowhere.reported && nowhere.tried("pid:")) {
    judgement.breach("with a working directory that is not there, the command ran");
  }
  if (nowhere.reported && nowhere.outcome == "exited") {
    judgement.breach("a working directory that is not there is told as the command's own end");
  }
}

}  // namespace

std::vector<Check> jail_process_checks() {
  return {
      {"jail.runs", "A plain policy runs a command, and its output and status arrive.", judge_runs,
       60},
      {"jail.command-exact", "The command gets its words, variables and directory, and no others.",
       judge_command, 60},
      {"jail.descriptors", "The command has descriptors 0, 1 and 2 and no other.",
       judge_descriptors, 60},
      {"jail.network",
       "A network that is cut reaches nothing; with network full the same call does.",
       judge_network, 120},
      {"jail.unix-sockets", "Denied UNIX sockets cannot be made, or the report names them.",
       judge_unix_sockets, 90},
      {"jail.limits", "Limits of file size and CPU time are in force, or named.", judge_limits, 90},
      {"jail.orphans", "When the run has ended, nothing of it is left.", judge_orphans, 90},
      {"jail.cancel", "A cancel reaches the command, and whoever ignores it is gone in time.",
       judge_cancel, 120},
      {"jail.output", "What the command printed last arrives.", judge_output, 60},
      {"jail.outcomes", "Not starting, failing inside and failing by itself are told apart.",
       judge_outcomes, 120},
  };
}

}  // namespace loom::conformance
