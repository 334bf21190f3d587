#include "app/run_options.h"

#include <loom/check.h>
#include <loom/utf8.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <string_view>
#include <utility>

#include "guard/freeze.h"
#include "policy/decode_policy.h"

namespace loom::app {
namespace {

constexpr int kUsageError = 2;

// What a command may see of the caller's environment without being told.
constexpr std::array<std::string_view, 16> kDefaultVariables = {
    "PATH",     "HOME",        "LANG",    "LANGUAGE",        "LC_ALL", "LC_COLLATE",
    "LC_CTYPE", "LC_MESSAGES", "LC_TIME", "LC_NUMERIC",      "TERM",   "COLORTERM",
    "NO_COLOR", "TZ",          "COLUMNS", "LOOM_SCRATCH_DIR"};

// Decimal digits and nothing else: the parser itself would wrap "-1" and read "010" as octal.
CLI::Validator whole_number() {
  return CLI::Validator(
      [](std::string& text) {
        std::uint64_t number = 0;
        const char* const end = text.data() + text.size();
        const auto parsed = std::from_chars(text.data(), end, number);
        if (parsed.ec != std::errc() || parsed.ptr != end) return text + " is not a whole number";
        text = std::to_string(number);
        return std::string();
      },
      "NUMBER");
}

void add_policy_options(CLI::App& app, RunOptions& options) {
  const auto own = "Policy";
  app.add_option("--workspace", options.workspace,
                 "Directory the command may write (default: the current directory)")
      ->group(own);
  app.add_option("--read", options.read, "Path the command may read")->group(own);
  app.add_option("--write", options.write, "Path the command may write")->group(own);
  app.add_option("--protect", options.protect,
                 "Path whose contents are hidden, whatever else is granted")
      ->group(own);
  app.add_option("--mount", options.mounts, "PATH[:ro|:rw] shown as it is, also inside the scratch")
      ->group(own);
  app.add_option("--network", options.network, "off or full (default: off)")
      ->check(CLI::IsMember({"off", "full"}))
      ->group(own);
  app.add_option("--cpu-seconds", options.limits.cpu_s, "CPU time of a process")
      ->transform(whole_number())
      ->group(own);
  app.add_option("--wall-seconds", options.limits.wall_s, "Time until the command is stopped")
      ->transform(whole_number())
      ->group(own);
  app.add_option("--memory-bytes", options.limits.mem_bytes, "Memory of all processes together")
      ->transform(whole_number())
      ->group(own);
  app.add_option("--pids", options.limits.pids, "Processes and threads")
      ->transform(whole_number())
      ->group(own);
  app.add_option("--file-bytes", options.limits.fsize_bytes, "Largest file to write")
      ->transform(whole_number())
      ->group(own);
  app.add_option("--output-bytes", options.limits.output_bytes, "Output passed on, per stream")
      ->transform(whole_number())
      ->group(own);
}

// Words that become enumerators once the parser has checked them.
struct TypedWords {
  std::string demand = "platform";
  std::string report = "human";
  std::string unix_sockets = "allow";
};

void take_words(const TypedWords& typed, RunOptions& options) {
  options.demand = typed.demand == "full"       ? Demand::kFull
                   : typed.demand == "platform" ? Demand::kPlatform
                                                : Demand::kBestEffort;
  options.report = typed.report == "json"   ? ReportForm::kJson
                   : typed.report == "none" ? ReportForm::kNone
                                            : ReportForm::kHuman;
  options.deny_unix_sockets = typed.unix_sockets == "deny";
}

void add_other_options(CLI::App& app, RunOptions& options, TypedWords& typed) {
  app.add_option("--env", options.env, "NAME or NAME=VALUE that the command sees");
  app.add_option("--cwd", options.cwd, "Directory the command starts in");
  app.add_option("--backend", options.backend, "Backend, by name or absolute path");
  app.add_option("--keep-caps", options.keep_capabilities, "Capabilities to keep, CAP_X,CAP_Y")
      ->delimiter(',');
  app.add_option("--unix-sockets", typed.unix_sockets,
                 "allow (default), or deny: of AF_UNIX, only connected pairs can be made")
      ->check(CLI::IsMember({"allow", "deny"}));
  app.add_option("--cgroup-base", options.cgroup_base,
                 "Delegated control group for --memory-bytes and --pids (or LOOM_CGROUP_BASE)");
  app.add_option("--demand", typed.demand,
                 "What must hold: best-effort, platform (default) or full")
      ->check(CLI::IsMember({"best-effort", "platform", "full"}));
}

void add_run_options(CLI::App& app, RunOptions& options, TypedWords& typed) {
  app.add_option("--report", typed.report, "human (default), json or none")
      ->check(CLI::IsMember({"human", "json", "none"}));
  app.add_option("--report-file", options.report_file, "Where the report goes (default: stderr)");
}

void add_plan_options(CLI::App& app, RunOptions& options) {
  app.add_flag("--filter", options.show_filter,
               "Print which system calls would be refused, and nothing else; needs no command");
}

void add_why_options(CLI::App& app, RunOptions& options) {
  // Or an option would take the question's words for further values of its own.
  for (CLI::Option* option : app.get_options()) {
    if (option->get_expected_max() > 1) option->allow_extra_args(false);
  }
  app.add_flag("--json", options.json, "Answer with one line of JSON");
  app.add_option("--requests", options.requests_file,
                 "File (- is standard input) with questions, each field ended by a NUL byte: an "
                 "operation, a path, and for rename the new path; answers are lines of JSON");
  app.add_option("question", options.question,
                 "read|list|write|create|remove|rename|execute PATH [TO]");
}

struct Subcommand {
  std::string_view name;
  const char* description;
  const char* usage;
};
constexpr std::array<Subcommand, 3> kSubcommands = {{
    {"run", "Runs a command in a jail and says what held: loom-exec run [options] -- COMMAND…",
     "no command: loom-exec run [options] -- COMMAND…"},
    {"plan", "Prints what a run would do: loom-exec plan [options] -- COMMAND…",
     "no command: loom-exec plan [options] -- COMMAND…"},
    {"why",
     "Says whether a command could do something, and what decides: loom-exec why [options] "
     "OPERATION PATH [TO]",
     "no question: loom-exec why [options] OPERATION PATH [TO]"},
}};

// Whether the words after the options are enough to go on.
bool is_complete(std::string_view subcommand, const RunOptions& options) {
  if (subcommand != "why") return !options.command.empty() || options.show_filter;
  return options.question.empty() != options.requests_file.empty();
}

// A usage error explained, or help given; the exit status for either.
int explain(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return app.exit(error);
  std::fprintf(stderr, "loom-exec: %s\nRun with --help for more information.\n", error.what());
  return kUsageError;
}

// Splits the words at the first "--": options before it, the command behind it.
std::vector<std::string> split_command(int argc, const char* const* argv, RunOptions& options) {
  std::vector<std::string> words(argv, argv + argc);
  const auto mark = std::find(words.begin(), words.end(), "--");
  if (mark != words.end()) options.command.assign(mark + 1, words.end());
  words.erase(mark, words.end());
  return words;
}

Result<AbsolutePath> absolute(const std::string& text, const Caller& caller) {
  if (text.empty()) return fail(ErrorCode::kInvalidRequest, "an empty path names nothing");
  return AbsolutePath::parse(text.front() == '/' ? text : caller.directory + "/" + text);
}

Result<std::vector<AbsolutePath>> absolute_all(const std::vector<std::string>& texts,
                                               const Caller& caller) {
  std::vector<AbsolutePath> paths;
  for (const std::string& text : texts) {
    LOOM_TRY(AbsolutePath path, absolute(text, caller));
    paths.push_back(std::move(path));
  }
  return paths;
}

Result<ExplicitMount> mount_of(std::string_view text, const Caller& caller) {
  const bool writable = text.ends_with(":rw");
  if (writable || text.ends_with(":ro")) text.remove_suffix(3);
  LOOM_TRY(AbsolutePath path, absolute(std::string(text), caller));
  return ExplicitMount{.path = std::move(path), .writable = writable, .required = true};
}

std::string variable_name(const std::string& text) { return text.substr(0, text.find('=')); }

std::vector<std::string> allowed_variables(const RunOptions& options) {
  std::vector<std::string> names(kDefaultVariables.begin(), kDefaultVariables.end());
  for (const std::string& text : options.env) names.push_back(variable_name(text));
  return names;
}

}  // namespace

ParsedOptions parse_run_options(const char* subcommand, int argc, const char* const* argv) {
  ParsedOptions parsed;
  const auto known = std::find_if(kSubcommands.begin(), kSubcommands.end(),
                                  [&](const Subcommand& each) { return each.name == subcommand; });
  LOOM_CHECK(known != kSubcommands.end());
  CLI::App app(known->description, std::string("loom-exec ") + subcommand);
  RunOptions& options = parsed.options;
  add_policy_options(app, options);
  app.add_option("--policy", options.policy_file,
                 "Policy document (msgpack or JSON) instead of options");
  TypedWords typed;
  add_other_options(app, options, typed);
  if (known->name == "run") add_run_options(app, options, typed);
  if (known->name == "plan") add_plan_options(app, options);
  if (known->name == "why") add_why_options(app, options);
  CLI::Option* policy = app.get_option("--policy");
  for (const CLI::Option* other : app.get_options()) {
    if (other->get_group() == "Policy") policy->excludes(app.get_option(other->get_name()));
  }
  std::vector<std::string> words = split_command(argc, argv, options);
  std::reverse(words.begin(), words.end());
  try {
    app.parse(std::move(words));
  } catch (const CLI::ParseError& error) {
    parsed.exit_status = explain(app, error);
    return parsed;
  }
  take_words(typed, options);
  // What is behind the mark is meant as it is, even if it looks like an option.
  if (known->name == "why")
    options.question.insert(options.question.end(), options.command.begin(), options.command.end());
  if (!is_complete(known->name, options)) {
    std::fprintf(stderr, "loom-exec: %s\n", known->usage);
    parsed.exit_status = kUsageError;
  }
  return parsed;
}

void resolve_parent_steps(RunOptions& options, const std::string& directory) {
  const auto resolve = [&](std::string& text) {
    const std::filesystem::path path(text);
    if (std::find(path.begin(), path.end(), "..") == path.end()) return;
    const auto real = guard::real_path((std::filesystem::path(directory) / path).string());
    if (real) text = real->str();
  };
  resolve(options.workspace);
  resolve(options.cwd);
  for (auto* list : {&options.read, &options.write, &options.protect}) {
    for (std::string& text : *list) resolve(text);
  }
  for (std::string& text : options.mounts) {
    const bool has_access = text.ends_with(":rw") || text.ends_with(":ro");
    std::string access = has_access ? text.substr(text.size() - 3) : "";
    text.resize(text.size() - access.size());
    resolve(text);
    text += access;
  }
}

Result<Policy> policy_of(const RunOptions& options, const Caller& caller) {
  Policy policy;
  LOOM_TRY(const AbsolutePath workspace,
           absolute(options.workspace.empty() ? caller.directory : options.workspace, caller));
  if (workspace.is_root()) {
    return fail(ErrorCode::kDenied,
                "the workspace would be the whole system; name a directory with --workspace");
  }
  LOOM_TRY(policy.writable_roots, absolute_all(options.write, caller));
  policy.writable_roots.insert(policy.writable_roots.begin(), workspace);
  LOOM_TRY(policy.readable_roots, absolute_all(options.read, caller));
  LOOM_TRY(policy.protected_paths, absolute_all(options.protect, caller));
  for (const std::string& text : options.mounts) {
    LOOM_TRY(ExplicitMount mount, mount_of(text, caller));
    policy.mounts.push_back(std::move(mount));
  }
  policy.network.mode = options.network == "full" ? NetworkMode::kFull : NetworkMode::kOff;
  policy.limits = options.limits;
  policy.env_allow = allowed_variables(options);
  // Through the document: options get no right that a document would be refused.
  return decode_policy(encode_policy(policy));
}

Result<std::map<std::string, std::string>> requested_environment(const RunOptions& options,
                                                                 const Caller& caller,
                                                                 const Policy& policy,
                                                                 bool has_scratch) {
  std::map<std::string, std::string> requested;
  for (const std::string& name : policy.env_allow) {
    const auto own = caller.environment.find(name);
    if (own != caller.environment.end() && name != "HOME") requested[name] = own->second;
  }
  if (has_scratch) {
    requested["HOME"] = policy.scratch.is_tmpfs() ? "/tmp" : policy.scratch.host_path->str();
  }
  for (const std::string& text : options.env) {
    const std::string name = variable_name(text);
    if (name.empty())
      return fail(ErrorCode::kInvalidRequest, "--env \"" + escaped(text) + "\": no name");
    if (std::find(policy.env_allow.begin(), policy.env_allow.end(), name) ==
        policy.env_allow.end()) {
      return fail(ErrorCode::kDenied, "--env " + escaped(name) + ": the policy does not allow it");
    }
    if (name.size() < text.size()) {
      requested[name] = text.substr(name.size() + 1);
    } else if (const auto own = caller.environment.find(name); own != caller.environment.end()) {
      requested[name] = own->second;
    } else {
      requested.erase(name);
    }
  }
  return requested;
}

bool chooses_home(const RunOptions& options) {
  return std::any_of(options.env.begin(), options.env.end(),
                     [](const std::string& text) { return variable_name(text) == "HOME"; });
}

Result<std::string> directory_of(const RunOptions& options, const Caller& caller,
                                 const Policy& policy) {
  if (!options.cwd.empty()) {
    LOOM_TRY(const AbsolutePath path, absolute(options.cwd, caller));
    return path.str();
  }
  LOOM_TRY(const AbsolutePath here, AbsolutePath::parse(caller.directory));
  for (const AbsolutePath& root : policy.writable_roots) {
    if (here.is_within(root)) return here.str();
  }
  return policy.writable_roots.empty() ? std::string() : policy.writable_roots.front().str();
}

}  // namespace loom::app
