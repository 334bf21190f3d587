#include <dirent.h>
#include <sys/wait.h>

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "../../child_process.h"
#include "../session.h"

namespace loom::conformance {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<std::string> names_in(const std::string& directory) {
  std::vector<std::string> names;
  DIR* const stream = ::opendir(directory.c_str());
  if (stream == nullptr) return names;
  while (const dirent* const entry = ::readdir(stream)) {
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  ::closedir(stream);
  return names;
}

// The processes whose environment or arguments hold the mark; ours do not.
std::set<std::string> marked(const std::string& mark) {
  std::set<std::string> found;
  for (const std::string& pid : names_in("/proc")) {
    if (pid.find_first_not_of("0123456789") != std::string::npos) continue;
    std::ifstream file("/proc/" + pid + "/cmdline", std::ios::binary);
    std::ostringstream words;
    words << file.rdbuf();
    if (words.str().find(mark) != std::string::npos) found.insert(pid);
  }
  return found;
}

// Says up, and leaves behind what does not want to go: in the background, in a session of its own.
Json stubborn(const std::string& mark, const std::string& last) {
  return start_of({"/bin/sh", "-c",
                   "trap '' TERM HUP INT; for i in 1 2; do (while :; do sleep 1; done) & done; "
                   "echo up; " +
                       last,
                   mark});
}

bool gone(const std::string& mark, Millis patience) {
  const auto deadline = Clock::now() + patience;
  while (!marked(mark).empty()) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(Millis(20));
  }
  return true;
}

std::string mark_of(const Session& session) { return session.place->at("mark"); }

// Orphans became our children when they lost their parent. The last of them may need a moment.
Result<void> no_orphans(Millis patience) {
  const auto deadline = Clock::now() + patience;
  for (;;) {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    const auto children = own_children();
    if (children.empty()) return {};
    if (Clock::now() > deadline) {
      return demand(false, "a process is left: " + children.front().second);
    }
    std::this_thread::sleep_for(Millis(20));
  }
}

Result<void> judge_processes(const Session& session) {
  const std::string mark = mark_of(session);
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(const Run ended, talk->execute(stubborn(mark, "exit 3")));
  LOOM_TRY_VOID(came_to(ended, 3, "up\n"));
  LOOM_TRY_VOID(demand(gone(mark, Millis(3'000)), "processes outlive a run that ended by itself"));
  LOOM_TRY(Run run, running(*talk, stubborn(mark, "wait; wait")));
  LOOM_TRY_VOID(
      demand(!marked(mark).empty(), "positive control: the command's processes are not seen"));
  LOOM_TRY_VOID(talk->cancel(run));
  LOOM_TRY_VOID(ends_cancelled(*talk, run, kCancelPatience));
  LOOM_TRY_VOID(demand(gone(mark, Millis(3'000)), "processes outlive a run that was cancelled"));
  LOOM_TRY_VOID(talk->shut_down());
  return no_orphans(Millis(5'000));
}

Result<void> judge_killed(const Session& session) {
  const std::string mark = mark_of(session);
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(const Run run, running(*talk, stubborn(mark, "wait; wait")));
  LOOM_TRY_VOID(
      demand(!marked(mark).empty(), "positive control: the command's processes are not seen"));
  talk->kill_helper();
  const bool taken_along = gone(mark, Millis(5'000));
  if (taken_along || !talk->lists("bwrap")) {
    if (!talk->lists("bwrap"))
      session.judgement.remark("bwrap is not listed, and with it no promise");
    return {};
  }
  return demand(false, "bwrap is listed, and a killed helper's jail lives on");
}

Result<void> judge_gone_broker(const Session& session) {
  const std::string mark = mark_of(session);
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(const Run run,
           running(*talk, stubborn(mark, "while :; do echo more; sleep 0.05; done")));
  talk->close_output();
  talk->close_input();
  const Ending ending = await_end(talk->pid(), kPatience);
  LOOM_TRY_VOID(demand(!ending.timed_out, "a helper whose broker is gone does not end"));
  return demand(gone(mark, Millis(5'000)), "the jail lives on when its broker is gone");
}

Result<void> judge_descriptors(const Session& session) {
  const auto open_now = [](const Conversation& talk) {
    return names_in("/proc/" + std::to_string(talk.pid()) + "/fd").size();
  };
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY_VOID(still_runs(*talk));
  LOOM_TRY_VOID(talk->heartbeat());
  std::this_thread::sleep_for(Millis(300));
  const std::size_t before = open_now(*talk);
  if (before == 0)
    return fail(ErrorCode::kSystem, "this system does not show the helper's descriptors");
  for (int round = 0; round < 15; ++round) LOOM_TRY_VOID(still_runs(*talk));
  LOOM_TRY_VOID(
      refuses(*talk, "exec_start", with(shell("true"), "cwd", "relative"), "spawn_failed"));
  std::this_thread::sleep_for(Millis(300));
  const std::size_t after = open_now(*talk);
  return demand(after <= before, "after 15 runs more the helper has " + std::to_string(after) +
                                     " descriptors open, and had " + std::to_string(before));
}

Result<void> judge_files(const Session& session) {
  const Json policy =
      with(session.policy, "protected",
           Json::array({session.place->at("work/.env"), session.place->at("work/.git"),
                        session.place->at("work/absent")}));
  const std::string before = session.place->listing();
  LOOM_TRY(const auto talk, session.open());
  const Json start = with(shell("echo x > \"$HOME_X/new\" 2>/dev/null; exit 3"), "policy", policy);
  for (int round = 0; round < 3; ++round) {
    LOOM_TRY(const Run run, talk->execute(start));
    LOOM_TRY_VOID(came_to(run, 3, ""));
  }
  LOOM_TRY_VOID(
      refuses(*talk, "exec_start", with(shell("true"), "cwd", "relative"), "spawn_failed"));
  LOOM_TRY_VOID(talk->shut_down());
  return demand(session.place->listing() == before,
                "names are left on the host, or gone: " + session.place->listing());
}

}  // namespace

std::vector<Check> remains_checks() {
  return {
      {"clean.processes", "Nothing of a run outlives it, whether it ended or was stopped.",
       judged<judge_processes>},
      {"clean.killed", "A helper that lists bwrap takes its jail with it when it is killed.",
       judged<judge_killed>},
      {"clean.gone-broker", "A helper whose broker is gone ends, and its jail with it.",
       judged<judge_gone_broker>},
      {"clean.descriptors", "A helper keeps no descriptor of its runs.", judged<judge_descriptors>},
      {"clean.files", "A run leaves no name on the host that its command did not make.",
       judged<judge_files>},
  };
}

}  // namespace loom::conformance
