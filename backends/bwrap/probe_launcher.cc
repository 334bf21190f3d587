#include "probe_launcher.h"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "launcher_options.h"
#include "survey.h"

namespace loom::bwrap {
namespace {

constexpr std::uint32_t kDeadlineMs = 10'000;
constexpr std::int32_t kStage2Refused = 126;
constexpr std::string_view kStage2Words = "loom-exec[stage2]: ";
constexpr std::string_view kOwnWords = "bwrap: ";

constexpr int kOptionsNumber = 10;
constexpr int kStage2Number = 11;
// High, as in a policy with many mounts.
constexpr int kSourceNumber = 60;
// What is mounted, to see that mounting works: one small thing that is always there. A bind of "/"
// would touch every mount of the machine, a dead one included, and no run does that.
constexpr std::string_view kSource = "/dev/null";
constexpr std::string_view kPlace = "/null";

// What a launch can do without, each in its own way (guard 5.2).
using Part = std::string LauncherFacts::*;
constexpr std::array<Part, 8> kParts = {
    &LauncherFacts::no_handles,    &LauncherFacts::no_pids,        &LauncherFacts::no_cgroup,
    &LauncherFacts::no_devices,    &LauncherFacts::no_network,     &LauncherFacts::no_cover,
    &LauncherFacts::no_userns_ban, &LauncherFacts::no_closed_masks};
// Of the host, and never in a jail: shows whether the cover covers.
constexpr std::string_view kCovered = "/etc";
constexpr std::string_view kUncovered = "/covered";
constexpr std::string_view kBehindCover = "/behind";
constexpr std::string_view kLed = "/led";
constexpr std::string_view kClosed = "/closed";

LauncherFacts everything() {
  LauncherFacts facts;
  facts.tried = true;
  facts.by_handle = true;
  return facts;
}

void leave_out(LauncherFacts& facts, Part part, std::string why) {
  if (part == &LauncherFacts::no_handles) facts.by_handle = false;
  facts.*part = std::move(why);
}

LauncherFacts with_only(std::optional<Part> kept) {
  LauncherFacts facts = everything();
  for (const Part part : kParts) {
    if (part != kept) leave_out(facts, part, "not tried");
  }
  return facts;
}

LauncherFacts broken(std::string_view words) {
  LauncherFacts facts;
  facts.tried = true;
  facts.broken.append("bubblewrap builds no jail here: ").append(words);
  return facts;
}

bool holds(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

std::string_view line_starting(std::string_view text, std::string_view start) {
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (text.starts_with(start)) return text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return {};
}

// Which part bubblewrap's words are about. Only a guess, tried before anything is made of it.
std::optional<Part> guess(std::string_view words) {
  static constexpr std::array<std::pair<std::string_view, Part>, 15> kHints = {
      {{"ro-bind-fd", &LauncherFacts::no_handles},
       {"../oldroot", &LauncherFacts::no_cover},
       {"loom-exec-sources", &LauncherFacts::no_cover},
       {kBehindCover, &LauncherFacts::no_cover},
       {kUncovered, &LauncherFacts::no_cover},
       {"loom-exec-places", &LauncherFacts::no_cover},
       {kLed, &LauncherFacts::no_cover},
       {kClosed, &LauncherFacts::no_closed_masks},
       {"userns", &LauncherFacts::no_userns_ban},
       {"user_namespaces", &LauncherFacts::no_userns_ban},
       {"unshare user ns", &LauncherFacts::no_userns_ban},
       {"mount proc", &LauncherFacts::no_pids},
       {"loopback", &LauncherFacts::no_network},
       {"devpts", &LauncherFacts::no_devices},
       {"/dev", &LauncherFacts::no_devices}}};
  for (const auto& [hint, part] : kHints) {
    if (holds(words, hint)) return part;
  }
  return std::nullopt;
}

// Zero when there is nothing; the host then refuses to lend it, and says what is missing.
FileIdentity identity_of(std::string_view path) {
  struct stat about {};
  if (::lstat(std::string(path).c_str(), &about) != 0) return {};
  return {.device = about.st_dev, .inode = about.st_ino};
}

enum class Verdict : std::uint8_t { kRan, kSaidWhy, kMute };

struct Answer {
  Verdict verdict = Verdict::kMute;
  std::string words;  // kSaidWhy: bubblewrap's own, without its name
};

tl::unexpected<Error> untried(const Error& error) {
  return fail(error.code,
              "whether bubblewrap builds a jail here could not be tried: " + error.message,
              error.sys_errno);
}

tl::unexpected<Error> unknown(const std::string& why) {
  return fail(ErrorCode::kSystem,
              "whether bubblewrap builds a jail here is not known yet (" + why + "): try again");
}

class Trials {
 public:
  Trials(HostServices& host, const std::function<Surroundings()>& look)
      : host_(&host), look_(&look), source_(identity_of(kSource)) {}

  [[nodiscard]] Result<LauncherFacts> judge() {
    LOOM_TRY(const Answer first, attempt(everything()));
    if (first.verdict == Verdict::kRan) return everything();
    if (first.verdict == Verdict::kMute) return unbelieved();
    LOOM_TRY(LauncherFacts found, find_out(first.words));
    // What fails once on a busy machine must not be left out for good.
    LOOM_TRY(const Answer again, attempt(everything()));
    if (again.verdict == Verdict::kRan) return everything();
    explain(found);
    return found;
  }

 private:
  // Everything is assumed to work, and every run shows that it does not.
  static LauncherFacts unbelieved() {
    LauncherFacts facts = everything();
    leave_out(facts, &LauncherFacts::no_handles, "not tried: the launcher does not say what fails");
    return facts;
  }

  [[nodiscard]] Result<LauncherFacts> find_out(const std::string& words) {
    if (const auto guessed = guess(words)) {
      LauncherFacts less = everything();
      leave_out(less, *guessed, words);
      LOOM_TRY(const Answer answer, attempt(less));
      if (answer.verdict == Verdict::kRan) return less;
    }
    LOOM_TRY(const Answer least, attempt(with_only(std::nullopt)));
    if (least.verdict == Verdict::kSaidWhy) return broken(least.words);
    if (least.verdict == Verdict::kMute) return unbelieved();
    return try_each();
  }

  [[nodiscard]] Result<LauncherFacts> try_each() {
    LauncherFacts found = everything();
    for (const Part part : kParts) {
      LOOM_TRY(const Answer answer, attempt(with_only(part)));
      if (answer.verdict == Verdict::kMute) return unbelieved();
      if (answer.verdict == Verdict::kSaidWhy) leave_out(found, part, answer.words);
    }
    LOOM_TRY(const Answer together, attempt(found));
    if (together.verdict == Verdict::kMute) return unbelieved();
    return together.verdict == Verdict::kRan ? found : broken(together.words);
  }

  [[nodiscard]] Result<Answer> attempt(const LauncherFacts& facts) {
    auto tried = host_->try_launch(trial_launch(facts, source_), kDeadlineMs);
    // The kernel does not execute such a file: every run will meet that, and name it.
    if (!tried && tried.error().code == ErrorCode::kUnsupported) return Answer{};
    if (!tried) return untried(tried.error());
    if (tried->timed_out) return unknown("it did not end within ten seconds");
    const std::string_view output = tried->output;
    if (tried->code == kStage2Refused && !line_starting(output, kStage2Words).empty()) {
      return Answer{.verdict = Verdict::kRan, .words = {}};
    }
    const std::string_view line = line_starting(output, kOwnWords);
    if (line.empty()) return Answer{};
    std::string words(line.substr(kOwnWords.size()));
    if (may_pass(words)) return unknown(words);
    return Answer{.verdict = Verdict::kSaidWhy, .words = std::move(words)};
  }

  // Whether the same may work in a moment. bubblewrap's environment is empty, so its errno texts
  // are the C locale's.
  [[nodiscard]] bool may_pass(std::string_view words) {
    static constexpr std::array<std::string_view, 4> kShortages = {
        "Resource temporarily unavailable", "Cannot allocate memory", "Too many open files",
        "Interrupted system call"};
    for (const std::string_view shortage : kShortages) {
      if (holds(words, shortage)) return true;
    }
    const bool no_space = holds(words, "ENOSPC") || holds(words, "No space left on device");
    return no_space && !surroundings().forbids_namespaces;
  }

  // Adds the usual cause where the words fit it; a reason that names no cause helps nobody.
  void explain(LauncherFacts& facts) {
    const auto add = [](std::string& reason, std::string_view cause) {
      reason.append("; ").append(cause);
    };
    const bool refused =
        holds(facts.broken, "Permission denied") || holds(facts.broken, "Operation not permitted");
    if (refused && surroundings().restricts_namespaces) {
      add(facts.broken,
          "the sysctl kernel.apparmor_restrict_unprivileged_userns is 1, and what helps is an "
          "AppArmor profile that lets bwrap make user namespaces (/etc/apparmor.d/bwrap)");
    } else if (refused && holds(facts.broken, "make / slave")) {
      add(facts.broken,
          "a Landlock domain or a system-call filter around this program that forbids mounts is "
          "the usual cause: it is inside a sandbox already");
    }
    if (holds(facts.no_pids, "mount proc")) {
      add(facts.no_pids, "a container runtime that masks parts of /proc is the usual cause");
    }
    if (holds(facts.no_devices, "devpts") || holds(facts.no_devices, "/dev")) {
      add(facts.no_devices, "a container runtime that restricts /dev is the usual cause");
    }
    if (holds(facts.no_handles, "Unknown option")) {
      facts.no_handles =
          "too old: bubblewrap does not know --ro-bind-fd (" + facts.no_handles + ")";
    }
  }

  const Surroundings& surroundings() {
    if (!seen_) seen_ = (*look_)();
    return *seen_;
  }

  HostServices* host_;
  const std::function<Surroundings()>* look_;
  std::optional<Surroundings> seen_;
  FileIdentity source_;
};

// The cover, and what fails without it: a bind of something that must be out of reach by then makes
// a link impossible, and one of what was laid aside is needed. Then a mount on what a link leads
// to; without it there is nothing to remount.
std::vector<std::string> cover_words() {
  const auto cover = cover_options();
  std::vector<std::string> words(cover.begin(), cover.end());
  words.insert(words.end(), {"--ro-bind-try", std::string(kCovered), std::string(kUncovered)});
  words.insert(words.end(), {"--symlink", "/", std::string(kUncovered)});
  words.insert(words.end(), {"--ro-bind-try", std::string(kAsideNull), std::string(kBehindCover)});
  words.insert(words.end(), {"--remount-ro", std::string(kBehindCover)});
  const LedPlace led = led_place(known_path(kLed), 0);
  words.insert(words.end(), {"--dir", std::string(kLed), "--symlink", led.target, led.place});
  words.insert(words.end(), {"--tmpfs", led.place, "--remount-ro", std::string(kLed)});
  return words;
}

template <class Words>
void append_words(Bytes& options, const Words& words) {
  for (const std::string_view word : words) {
    const ByteView bytes = as_bytes(word);
    options.insert(options.end(), bytes.begin(), bytes.end());
    options.push_back(std::byte{0});
  }
}

}  // namespace

LaunchSpec trial_launch(const LauncherFacts& facts, const FileIdentity& source) {
  const std::string number = std::to_string(kSourceNumber);
  LaunchSpec launch;
  launch.image = ImageKind::kLauncher;
  launch.argv = {"bwrap", "--args", std::to_string(kOptionsNumber),
                 "/proc/self/fd/" + std::to_string(kStage2Number)};
  launch.handles.push_back({.role = LentHandle::Role::kStage2, .child_number = kStage2Number});
  Bytes options;
  append_words(options, namespace_options(
                            facts, {.cuts_network = facts.no_network.empty(), .hardened = true}));
  if (facts.by_handle) {
    append_words(options, std::array<std::string_view, 3>{"--ro-bind-fd", number, kPlace});
    launch.handles.push_back({.role = LentHandle::Role::kSource,
                              .child_number = kSourceNumber,
                              .path = known_path(kSource),
                              .identity = source});
  } else {
    append_words(options, std::array<std::string_view, 3>{"--ro-bind", kSource, kPlace});
  }
  append_words(options, device_options(facts));
  append_words(options, proc_options(facts));
  if (facts.no_cover.empty()) append_words(options, cover_words());
  if (facts.no_closed_masks.empty()) append_words(options, closed_mask_options(kClosed));
  append_words(options, close_root_options());
  launch.memory_files.push_back(
      {.role = "launcher options", .child_number = kOptionsNumber, .bytes = std::move(options)});
  return launch;
}

Result<LauncherFacts> probe_launcher(HostServices& host,
                                     const std::function<Surroundings()>& look) {
  return Trials(host, look).judge();
}

}  // namespace loom::bwrap
