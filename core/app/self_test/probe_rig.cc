#include "app/self_test/probe_rig.h"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>

#include "app/execution.h"
#include "app/prepare_run.h"
#include "app/scratch_removals.h"

namespace loom::app {
namespace {

tl::unexpected<Error> not_started(Error error) {
  error.message = "spawn: " + error.message;
  return tl::unexpected(std::move(error));
}

void append(std::string& text, ByteView data) {
  for (const std::byte byte : data) text.push_back(static_cast<char>(byte));
}

}  // namespace

std::vector<std::string> shell_command(std::string script, std::vector<std::string> arguments) {
  std::vector<std::string> argv = {"/bin/sh", "-c", std::move(script), "sh"};
  std::move(arguments.begin(), arguments.end(), std::back_inserter(argv));
  return argv;
}

Result<ProbeRun> ProbeRig::try_run(ProbeJob job) {
  const auto begin = std::chrono::steady_clock::now();
  auto prepared = prepare_run(session_, {.argv = std::move(job.argv),
                                         .environment = std::move(job.environment),
                                         .cwd = "/",
                                         .policy = std::move(job.policy),
                                         .exec = {},
                                         .id = ++runs_});
  if (!prepared) return not_started(std::move(prepared).error().error);

  ProbeRun run;
  std::optional<ExecResult> result;
  ExecutionEvents events{.on_output =
                             [&](Stream stream, ByteView data, std::uint64_t, bool) {
                               append(stream == Stream::kStdout ? run.out : run.err, data);
                               if (job.on_output) job.on_output(run.out);
                             },
                         .on_stdin_room = [] {},
                         .on_exit = [&](ExecResult ended) { result = std::move(ended); }};
  host::EventLoop loop;
  auto execution = Execution::start(loop, session_, std::move(*prepared), std::move(events));
  if (!execution) return not_started(std::move(execution).error().error);
  static_cast<void>((*execution)->offer_stdin({}, true));
  loop.watch(stop_.fd(), POLLIN, [](short) {});
  while (!result && !stop_.came()) LOOM_TRY_VOID(loop.run_once());
  if (!result) return fail(ErrorCode::kSystem, "interrupted");
  run.result = std::move(*result);
  run.settled = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - begin);
  host::ControlGroupRemovals removals(loop);
  if (auto group = (*execution)->take_group()) removals.add(std::move(*group));
  ScratchRemovals scratches(loop, session_);
  if (auto scratch = (*execution)->take_scratch()) scratches.add(std::move(*scratch));
  while (!removals.empty() || !scratches.joined()) LOOM_TRY_VOID(loop.run_once());
  return run;
}

Result<ProbeRun> ProbeRig::run(ProbeJob job) {
  LOOM_TRY(ProbeRun run, try_run(std::move(job)));
  LOOM_TRY_VOID(require_payload_ran(run));
  return run;
}

Result<ProbeRun> ProbeRig::shell(Policy policy, std::string script,
                                 std::vector<std::string> arguments) {
  return run({.policy = std::move(policy),
              .argv = shell_command(std::move(script), std::move(arguments))});
}

Result<ProbeDirectory> ProbeRig::make_directory() const {
  if (!base_) return tl::unexpected(base_.error());
  return ProbeDirectory::make(*base_);
}

bool ProbeRig::has(std::string_view tag) const {
  const auto& tags = session_.features().tags;
  return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

std::string ProbeRig::why_without(std::string_view tag) const {
  const auto& absent = session_.features().absent;
  const auto found = std::find_if(absent.begin(), absent.end(),
                                  [&](const AbsentFeature& each) { return each.tag == tag; });
  const std::string name = std::string(tag) + ": ";
  if (found == absent.end() || found->reason.empty()) {
    return name + "this backend has no such layer here";
  }
  return found->reason.starts_with(name) ? found->reason : name + found->reason;
}

ProbeVerdict ProbeRig::without(std::string_view tag) const { return skipped(why_without(tag)); }

}  // namespace loom::app
