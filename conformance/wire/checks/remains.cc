#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <thread>

#include "../../child_process.h"
#include "../in_jail.h"

namespace loom::conformance {
namespace {

namespace fs = std::filesystem;
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

std::string mark_of(const Session& session) { return session.place->at("mark"); }

constexpr const char* kForever = "while :; do sleep 1; done";

// Says up, and leaves behind what does not want to go: in the background.
Json stubborn(const Session& session, const std::string& last) {
  return start_of({"/bin/sh", "-c",
                   "trap '' TERM HUP INT; (" + std::string(kForever) + ") & echo up; " + last,
                   mark_of(session)});
}

// The same, and another one in a session of its own, which is there before up is said.
Json runaway(const Session& session, const std::string& last) {
  const std::string away = session.place->at("work/away");
  const std::string apart = "rm -f " + away + "; setsid /bin/sh -c '>" + away + "; " + kForever +
                            "' " + mark_of(session) + " & until [ -e " + away +
                            " ]; do sleep 0.05; done; ";
  return start_of(
      {"/bin/sh", "-c",
       "trap '' TERM HUP INT; (" + std::string(kForever) + ") & " + apart + "echo up; " + last,
       mark_of(session)});
}

bool gone(const std::string& mark, Millis patience) {
  const auto deadline = Clock::now() + patience;
  while (!marked(mark).empty()) {
    if (Clock::now() > deadline) return false;
    std::this_thread::sleep_for(Millis(20));
  }
  return true;
}

// Nothing of the run is left; or what is left is named, and ended now.
Result<void> judge_left(const Session& session, const Run& run, const char* what) {
  const bool held = gone(mark_of(session), kAnswerPatience);
  deny(session, run, held, {std::string("processes outlive ") + what, words::kProcessesEnd, {}});
  if (held) return {};
  for (const std::string& pid : marked(mark_of(session))) ::kill(std::stoi(pid), SIGKILL);
  return demand(gone(mark_of(session), kAnswerPatience), "processes of a run cannot be killed");
}

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
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(const Run ended, talk->execute(runaway(session, "exit 3")));
  LOOM_TRY_VOID(came_to(ended, 3, "up\n"));
  LOOM_TRY_VOID(judge_left(session, ended, "a run that ended by itself"));
  LOOM_TRY(Run run, running(*talk, runaway(session, "wait; wait")));
  LOOM_TRY_VOID(demand(!marked(mark_of(session)).empty(),
                       "positive control: the command's processes are not seen"));
  LOOM_TRY_VOID(talk->cancel(run));
  LOOM_TRY_VOID(ends_cancelled(*talk, run, kCancelPatience));
  LOOM_TRY_VOID(judge_left(session, run, "a run that was cancelled"));
  LOOM_TRY_VOID(talk->shut_down());
  return no_orphans(kAnswerPatience);
}

Result<void> judge_killed(const Session& session) {
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(const Run run, running(*talk, runaway(session, "wait; wait")));
  LOOM_TRY_VOID(demand(!marked(mark_of(session)).empty(),
                       "positive control: the command's processes are not seen"));
  talk->kill_helper();
  if (!talk->lists("bwrap")) {
    session.judgement.remark("bwrap is not listed, and with it no promise");
    return {};
  }
  return demand(gone(mark_of(session), kAnswerPatience),
                "bwrap is listed, and a killed helper's jail lives on");
}

// Nobody hears what became of a session of its own, so only who lists bwrap has to end one.
Result<void> judge_gone_broker(const Session& session) {
  const std::string last = "while :; do echo more; sleep 0.05; done";
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(const Run run,
           running(*talk, talk->lists("bwrap") ? runaway(session, last) : stubborn(session, last)));
  talk->close_output();
  talk->close_input();
  const Ending ending = await_end(talk->pid(), kPatience);
  LOOM_TRY_VOID(demand(!ending.timed_out, "a helper whose broker is gone does not end"));
  return demand(gone(mark_of(session), kAnswerPatience),
                "the jail lives on when its broker is gone");
}

// What a helper has ready for the next run, it has at one moment and not at another: the most it
// had after some runs is what it may have after many more.
Result<void> judge_descriptors(const Session& session) {
  LOOM_TRY(const auto talk, session.open());
  const auto open_now = [&] {
    return names_in("/proc/" + std::to_string(talk->pid()) + "/fd").size();
  };
  std::size_t most = 0;
  for (int round = 0; round < 5; ++round) {
    LOOM_TRY_VOID(still_runs(*talk));
    std::this_thread::sleep_for(Millis(100));
    most = std::max(most, open_now());
  }
  if (most == 0) {
    return fail(ErrorCode::kSystem, "this system does not show the helper's descriptors");
  }
  for (int round = 0; round < 15; ++round) LOOM_TRY_VOID(still_runs(*talk));
  LOOM_TRY_VOID(
      refuses(*talk, "exec_start", with(shell("true"), "cwd", "relative"), "spawn_failed"));
  const auto deadline = Clock::now() + kAnswerPatience;
  while (open_now() > most && Clock::now() < deadline) std::this_thread::sleep_for(Millis(20));
  const std::size_t after = open_now();
  return demand(after <= most, "after 15 runs more the helper has " + std::to_string(after) +
                                   " descriptors open, and had " + std::to_string(most));
}

// Names on the host with the mark in them, where helpers and commands put what they need for a
// while. The place itself is compared as a whole.
std::vector<std::string> names_elsewhere(const std::string& mark, const std::string& place) {
  constexpr int kDepth = 3;
  std::vector<std::string> found;
  std::error_code error;
  for (const char* const root : {"/", "/tmp", "/var/tmp", "/dev/shm", "/run"}) {
    const bool flat = root == std::string_view("/");
    fs::recursive_directory_iterator at(root, fs::directory_options::skip_permission_denied, error);
    for (; at != fs::recursive_directory_iterator(); at.increment(error)) {
      if (flat || at.depth() >= kDepth || at->path() == place) at.disable_recursion_pending();
      if (at->path() == place) continue;
      if (at->path().filename().string().find(mark) != std::string::npos) {
        found.push_back(at->path().string());
      }
    }
  }
  return found;
}

// Three runs under a policy with masks, absent ones too, or with some that nothing grants where
// such a one is refused.
Result<std::optional<Run>> run_under_masks(const Session& session, Conversation& talk,
                                           const std::vector<std::string>& masked,
                                           const std::string& script) {
  Json paths = Json::array();
  Words names = {"protected"};
  for (const std::string& path : masked) {
    paths.push_back(path);
    names.emplace_back(path);
  }
  Json policy = with(session.policy, "protected", paths);
  policy = with(policy, "env_allow", Json::array({"LOOM_SCRATCH_DIR", "PATH"}));
  std::optional<Run> last;
  for (int round = 0; round < 3; ++round) {
    LOOM_TRY(last, unless_refused(session, talk, with(shell(script), "policy", policy), names));
    if (!last) return last;
    LOOM_TRY_VOID(came_to(*last, 3, ""));
  }
  return last;
}

Result<void> judge_files(const Session& session) {
  const Place& place = *session.place;
  const std::string mark = fs::path(place.at("")).filename().string();
  const std::string script =
      "echo x > \"${LOOM_SCRATCH_DIR:-/tmp}/" + mark + "-made\" 2>/dev/null; exit 3";
  const std::string before = place.listing();
  LOOM_TRY(const auto talk, session.open());
  LOOM_TRY(auto run,
           run_under_masks(session, *talk,
                           {place.at("work/.env"), place.at("work/.git"), place.at("work/absent")},
                           script));
  if (!run) {
    LOOM_TRY(run,
             run_under_masks(session, *talk,
                             {place.at("elsewhere/hidden"), place.at("elsewhere/absent")}, script));
  }
  LOOM_TRY_VOID(
      refuses(*talk, "exec_start", with(shell("true"), "cwd", "relative"), "spawn_failed"));
  LOOM_TRY_VOID(talk->shut_down());
  LOOM_TRY_VOID(
      demand(place.listing() == before, "names are left on the host, or gone: " + place.listing()));
  for (const std::string& name : names_elsewhere(mark, place.at(""))) {
    // What the command made is the host's where the scratch is.
    const Words names = name.ends_with("-made") ? words::kScratch : Words{};
    if (run) deny(session, *run, false, {"a name is left on the host: " + name, names, {}});
    std::error_code ignored;
    fs::remove(name, ignored);
  }
  return {};
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
