#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <exception>

#include "check.h"
#include "child_process.h"

namespace loom::conformance {
namespace {

constexpr std::size_t kMaxShownOutput = 400;

// What the check's process prints belongs to the record, not to the results.
void redirect(int output) {
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::dup2(nothing, 0);
  ::dup2(output, 1);
  ::dup2(output, 2);
}

int judge(const Check& check, const Subject& subject, int record, int output) {
  redirect(output);
  adopt_orphans();
  Judgement judgement(record);
  judgement.step("begin");
  try {
    check.judge(subject, judgement);
  } catch (const std::exception& thrown) {
    judgement.unjudged(std::string("the check itself threw: ") + thrown.what());
  }
  judgement.done();
  end_children();
  return 0;
}

Finding why_not_done(const Record& record, const Ending& ending, const std::string& printed) {
  const Blame blame = record.in_backend ? Blame::kContract : Blame::kUnjudged;
  std::string text = "the process that ran the check ";
  text += ending.timed_out ? ending.text() : "ended: " + ending.text();
  text += ", during: " + record.step;
  if (!printed.empty()) text += "; it had printed: " + printed.substr(0, kMaxShownOutput);
  return {.blame = blame, .text = text};
}

Finding failed(const Error& error) { return {.blame = Blame::kUnjudged, .text = error.message}; }

}  // namespace

Verdict run_check(const Check& check, const Subject& subject) {
  const auto record = make_memory_file("record");
  const auto output = make_memory_file("output");
  if (!record || !output) return {.findings = {failed((record ? output : record).error())}};
  const auto child =
      fork_child([&] { return judge(check, subject, record->get(), output->get()); });
  if (!child) return {.findings = {failed(child.error())}};
  const Ending ending = await_end(*child, std::chrono::seconds(check.deadline_s));
  end_children();
  Record read = parse_record(read_whole(record->get()));
  if (!read.done) {
    read.verdict.findings.push_back(why_not_done(read, ending, read_whole(output->get())));
  }
  return std::move(read.verdict);
}

}  // namespace loom::conformance
