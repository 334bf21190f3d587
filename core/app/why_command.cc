#include "app/why_command.h"

#include <fcntl.h>
#include <loom/unique_fd.h>
#include <loom/utf8.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "app/answer.h"
#include "app/exec_grounds.h"
#include "app/gather_facts.h"
#include "app/person_run.h"
#include "app/run_command.h"
#include "host/errno_text.h"

namespace loom::app {
namespace {

constexpr int kRefused = 1;
constexpr int kUsageError = 2;
constexpr std::size_t kReadChunk = 65'536;

// Everything that a question is answered from.
struct Grounds {
  PersonGrounds person;
  std::string directory;  // where the command would start
  JailPlan plan;
  std::optional<guard::Snapshot> snapshot;
  std::vector<MountFact> mounts;
  guard::ShownView shown;
};

// The environment's PATH, as far as the policy lets the command have one.
Result<std::string> requested_path(const RunOptions& options, const PersonGrounds& person) {
  LOOM_TRY(const auto environment,
           requested_environment(options, person.caller, person.policy, /*has_scratch=*/false));
  const auto path = environment.find("PATH");
  return path == environment.end() ? std::string() : path->second;
}

// Whether a search path matters: for a program, and for the bare names of an exec table, which say
// what the jail shows. Looking at each of its directories costs as much as the answer.
bool needs_search(const Policy& policy, const std::optional<Question>& question) {
  if (!question || question->kind == QuestionKind::kExecute) return true;
  const auto is_name = [](const ExecEntry& entry) { return entry.kind == ExecEntryKind::kName; };
  return policy.exec &&
         (std::any_of(policy.exec->allow.begin(), policy.exec->allow.end(), is_name) ||
          std::any_of(policy.exec->deny.begin(), policy.exec->deny.end(), is_name));
}

// Without a view there is nothing to judge by, and every answer would be a refusal.
tl::unexpected<Error> no_view(const Session& session) {
  std::string reason = "this backend makes none";
  for (const AbsentFeature& absent : session.features().absent) {
    if (absent.tag == "bwrap") reason = absent.reason;
  }
  return fail(ErrorCode::kUnsupported, "no file tree can be made for a command here: " + reason);
}

// Plans with what the kernel offers, without trying the launcher: a fallback of the launcher
// changes no path's answer, and trying it would cost more than all the rest.
Result<std::unique_ptr<Grounds>> prepare(RunOptions options,
                                         const std::optional<Question>& question,
                                         spdlog::logger& log) {
  auto grounds = std::make_unique<Grounds>();
  LOOM_TRY(grounds->person, open_for_person(options, Purpose::kAsk, log));
  Session& session = *grounds->person.session;
  const Policy& policy = grounds->person.policy;
  LOOM_TRY(grounds->directory, directory_of(options, grounds->person.caller, policy));
  LOOM_TRY(const Survey* const survey, session.survey(policy));
  const ExecInForce exec = exec_in_force(policy, nullptr);
  LOOM_TRY(const std::vector<MountFact> mounts, mounts_to_freeze_by(session, *survey, {}, exec));
  const guard::FreezeGrounds freezing{.floor = floor_of(*survey), .mounts = &mounts};
  guard::SearchPath search;
  if (needs_search(policy, question)) {
    LOOM_TRY(const std::string path, requested_path(options, grounds->person));
    search = search_path_of(path, session.options().search_path, *survey, freezing);
  }
  grounds->snapshot = guard::Snapshot::take(policy, exec, search, 0, freezing);
  PlanRequest request{.policy = policy,
                      .command = {.argv = {"true"}, .cwd = grounds->directory},
                      .deny_unix_sockets = options.deny_unix_sockets,
                      .keep_capabilities = options.keep_capabilities,
                      .nonce = session.next_nonce()};
  LOOM_TRY(const auto facts, gather_facts(session, *survey));
  request.facts = *facts;
  if (policy.version > 2) request.exec = grounds->snapshot->rules();
  LOOM_TRY(grounds->plan, session.backend().plan(request));
  LOOM_TRY(grounds->mounts, mounts_that_matter(session, *grounds->snapshot));
  if (grounds->plan.view.empty()) return no_view(session);
  grounds->shown = shown_view_of(grounds->plan, *survey, request.facts, grounds->mounts);
  return grounds;
}

int explain(int status, const std::string& message) {
  std::fprintf(stderr, "loom-exec: %s\n", printable(message).c_str());
  return status;
}

bool put(const std::string& text) {
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
}

int output_lost() { return explain(kNotSetUp, "standard output: " + host::errno_text(errno)); }

Result<UniqueFd> open_requests(const std::string& file) {
  if (file == "-") return UniqueFd(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  UniqueFd opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (opened) return opened;
  const int error = errno;
  return fail(ErrorCode::kSystem, "--requests " + escaped(file) + ": " + host::errno_text(error),
              error);
}

// Whoever asks one question after the other reads each answer before the next is waited for.
int answer_all(Answerer& answerer, int requests) {
  QuestionReader reader;
  bool written = true;
  const auto ask = [&](const Question& question) {
    written = put(json_answer(answerer.answer(question))) && written;
  };
  std::array<char, kReadChunk> buffer;
  for (;;) {
    if (std::fflush(stdout) != 0 || !written) return output_lost();
    const ssize_t got = ::read(requests, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return explain(kUsageError, "--requests: " + host::errno_text(errno));
    const Result<void> taken =
        got == 0 ? reader.finish()
                 : reader.feed({buffer.data(), static_cast<std::size_t>(got)}, ask);
    if (!taken) {
      std::fflush(stdout);
      return explain(kUsageError, "--requests: " + taken.error().message);
    }
    if (got == 0) return 0;
  }
}

}  // namespace

int why_command(int argc, const char* const* argv, spdlog::logger& log) {
  ParsedOptions parsed = parse_run_options("why", argc, argv);
  if (parsed.exit_status) return *parsed.exit_status;
  const RunOptions& options = parsed.options;
  std::optional<Question> question;
  UniqueFd requests;
  if (options.requests_file.empty()) {
    auto asked = parse_question(options.question);
    if (!asked) return explain(kUsageError, asked.error().message);
    question = std::move(*asked);
  } else {
    auto opened = open_requests(options.requests_file);
    if (!opened) return explain(kUsageError, opened.error().message);
    requests = std::move(*opened);
  }
  const auto grounds = prepare(options, question, log);
  if (!grounds) return explain(kNotSetUp, grounds.error().message);
  const guard::Guard guard(*(*grounds)->snapshot, (*grounds)->shown,
                           (*grounds)->person.session->pins());
  Answerer answerer(guard, (*grounds)->directory);
  if (!question) return answer_all(answerer, requests.get());
  const Answer answer = answerer.answer(*question);
  const bool written = put(options.json ? json_answer(answer) : human_answer(answer));
  if (!written || std::fflush(stdout) != 0) return output_lost();
  return answer.admitted() ? 0 : kRefused;
}

}  // namespace loom::app
