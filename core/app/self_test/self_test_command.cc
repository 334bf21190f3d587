#include "app/self_test/self_test_command.h"

#include <loom/utf8.h>
#include <sys/stat.h>

#include <array>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/self_test/gates.h"
#include "app/self_test/probe_base.h"
#include "app/self_test/probe_table.h"
#include "app/self_test/reachable_helper.h"
#include "app/self_test/report_text.h"
#include "app/server_flags.h"
#include "host/installation.h"

namespace loom::app {
namespace {

constexpr int kNotRun = 1;

int give_up(const Error& error) {
  std::fprintf(stderr, "loom-exec: self-test: %s\n", printable(error.message).c_str());
  return kNotRun;
}

// Everything on stdout goes through here: a line is there as soon as it is known.
void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// 0, or the exit status of a usage error that has been explained.
int parse_flags(int argc, const char* const* argv, SessionOptions& options) {
  for (int i = 0; i < argc; ++i) {
    const std::string_view word = argv[i];
    const std::string quoted_word = "\"" + escaped(word, 256) + "\"";
    const bool known = word == "--backend" || word == "--cgroup-base";
    if (!known) return usage_error("unknown argument " + quoted_word);
    if (i + 1 == argc) return usage_error(quoted_word + " needs a value");
    (word == "--backend" ? options.backend : options.cgroup_base) = argv[++i];
  }
  return 0;
}

// `path` with its links followed, or as it is where that is not possible.
Result<AbsolutePath> real_path(const std::string& path) {
  std::array<char, PATH_MAX> buffer;
  const char* real = ::realpath(path.c_str(), buffer.data());
  return AbsolutePath::parse(real == nullptr ? path : real);
}

Result<std::vector<AbsolutePath>> system_roots(Session& session) {
  LOOM_TRY_VOID(session.finish_probing());
  LOOM_TRY(const Survey* const survey, session.survey(Policy()));
  std::vector<AbsolutePath> roots;
  for (const SurveyPath& each : survey->paths) {
    if (each.role != PathRole::kSystemRoot) continue;
    LOOM_TRY(AbsolutePath real, real_path(each.path.str()));
    roots.push_back(std::move(real));
  }
  return roots;
}

bool is_directory(const char* path) {
  struct stat info {};
  return ::stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

Result<AbsolutePath> find_base(Session& session) {
  const std::string wanted = variable("TMPDIR");
  const bool usable = wanted.starts_with('/') && is_directory(wanted.c_str());
  LOOM_TRY(AbsolutePath temporary, real_path(usable ? wanted : "/tmp"));
  LOOM_TRY(std::vector<AbsolutePath> roots, system_roots(session));
  BaseCandidates candidates{.os = session.facts().os,
                            .temporary = std::move(temporary),
                            .var_tmp = std::nullopt,
                            .system_roots = std::move(roots)};
  if (is_directory("/var/tmp")) {
    LOOM_TRY(candidates.var_tmp, real_path("/var/tmp"));
  }
  return choose_probe_base(candidates);
}

// Runs nothing much in a jail that grants nothing. Where that does not come about, a plain process
// asks the kernel for what a launcher needs.
std::optional<NotRun> try_nested_gate(ProbeRig& rig) {
  static constexpr const char* kHere = "launched";
  const Policy policy = [] {
    Policy nothing = base_policy(AbsolutePath::root());
    nothing.writable_roots.clear();
    return nothing;
  }();
  LaunchTrial trial;
  trial.launcher_installed = rig.session().facts().launcher.present;
  const auto run = rig.run({.policy = policy, .argv = shell_command("echo launched", {})});
  if (!run) {
    trial.problem = run.error().message;
  } else {
    const std::string jail(rig.jail().file_system);
    trial.jailed = is_claimed(run->result.enforcement, jail) && has_line(run->out, kHere);
    if (!trial.jailed) trial.problem = find_entry(run->result.enforcement, "skip:" + jail);
  }
  if (trial.jailed || !trial.launcher_installed) return std::nullopt;
  if (rig.on_darwin()) {
    trial.already_profiled = says_already_profiled(trial.problem);
    return nested_gate(trial);
  }
  const auto asked = rig.unjailed({.argv = {rig.executable().str(), "--probe-namespace"}});
  trial.namespaces = asked ? parse_namespace_token(asked->out) : NamespaceAnswer::kRefusedOtherwise;
  return nested_gate(trial);
}

std::optional<NotRun> try_root_gate(ProbeRig& rig) {
  auto base = find_base(rig.session());
  if (!base) {
    rig.set_base(tl::unexpected(std::move(base).error()));
    return std::nullopt;
  }
  rig.set_base(*base);
  const auto directory = rig.make_directory();
  return root_gate(directory ? 0 : directory.error().sys_errno, base->str());
}

NamedVerdict run_probe(const Probe& probe, ProbeRig& rig) {
  auto verdict = probe.run(rig);
  if (verdict) return {.name = probe.name, .verdict = std::move(*verdict)};
  return {.name = probe.name, .verdict = failed(std::move(verdict).error().message)};
}

int run_probes(ProbeRig& rig) {
  // Without a copy the probes that need one fail, and say what bubblewrap says.
  const auto copy = make_helper_reachable(rig);
  std::vector<NamedVerdict> verdicts;
  for (const Probe& probe : probe_table(rig.session().facts().os)) {
    NamedVerdict verdict = run_probe(probe, rig);
    if (rig.stop().came()) break;
    print(render_verdict(verdict));
    verdicts.push_back(std::move(verdict));
  }
  const bool interrupted = rig.stop().came();
  print(render_summary(verdicts, interrupted));
  return exit_status(verdicts, interrupted);
}

int refuse_to_run(const NotRun& gate) {
  print(render_not_run(gate));
  return kNotRun;
}

int run_self_test(ProbeRig& rig) {
  Session& session = rig.session();
  // The features are then those that the runs will have. Where it cannot be known now, the probes
  // say so themselves.
  static_cast<void>(session.finish_probing().has_value());
  print(render_heading(session.features().tags));
  if (const auto gate = platform_gate(session.facts().os, !rig.has("platform-unsupported"))) {
    return refuse_to_run(*gate);
  }
  if (const auto gate = try_nested_gate(rig)) return refuse_to_run(*gate);
  if (const auto gate = try_root_gate(rig)) return refuse_to_run(*gate);
  return run_probes(rig);
}

}  // namespace

int self_test_command(int argc, const char* const* argv, spdlog::logger& log) {
  SessionOptions options;
  if (const int status = parse_flags(argc, argv, options); status != 0) return status;
  options.search_path = variable("PATH");
  options.cgroup_base = configured_cgroup_base(options.cgroup_base, variable(kCgroupBaseVariable));

  const auto installation = host::find_installation();
  if (!installation) return give_up(installation.error());
  auto executable = AbsolutePath::parse(installation->executable);
  if (!executable) return give_up(executable.error());
  auto session = Session::open(*installation, std::move(options), log);
  if (!session) return give_up(session.error());
  auto stop = StopSignals::open();
  if (!stop) return give_up(stop.error());
  ProbeRig rig(**session, std::move(*stop), std::move(*executable));
  const int status = run_self_test(rig);
  if (std::ferror(stdout) == 0) return status;
  std::fputs("loom-exec: self-test: the output could not be written\n", stderr);
  return kNotRun;
}

}  // namespace loom::app
