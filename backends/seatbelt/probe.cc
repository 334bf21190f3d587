#include "probe.h"

#include <loom/utf8.h>

#include <string>
#include <utility>

#include "machine.h"
#include "platform.h"
#include "user_directories.h"

namespace loom::seatbelt {
namespace {

constexpr std::uint32_t kTrialMs = 10'000;
// The launcher's status when the kernel refuses the profile (EX_OSERR of sysexits.h).
constexpr std::int32_t kProfileRefused = 71;
constexpr std::size_t kMaxWords = 256;

MachineFacts look_around() {
  MachineFacts facts;
  for (std::string& directory : query_user_directories()) {
    if (directory.starts_with('/')) facts.user_directories.push_back(std::move(directory));
  }
  return facts;
}

LaunchSpec trial_launch() {
  LaunchSpec launch;
  launch.image = ImageKind::kLauncher;
  launch.argv = {std::string(kLauncher), "-p", "(version 1)\n(allow default)\n", "--",
                 "/usr/bin/true"};
  return launch;
}

std::string words_of(const TrialResult& trial) {
  std::string_view text = trial.output;
  while (text.ends_with('\n')) text.remove_suffix(1);
  return text.empty() ? "no words" : printable(text, kMaxWords);
}

Result<Bytes> try_a_profile(const ProbeRequest& request, HostServices& host) {
  LOOM_TRY(MachineFacts facts, decode_machine_facts(request.facts.backend));
  if (!request.facts.launcher.present) return request.facts.backend;
  LOOM_TRY(const TrialResult trial, host.try_launch(trial_launch(), kTrialMs));
  if (trial.timed_out || (trial.code != 0 && trial.code != kProfileRefused)) {
    const std::string end =
        trial.timed_out ? "did not end" : "ended with status " + std::to_string(trial.code);
    return fail(ErrorCode::kSystem,
                std::string(kLauncher) + " " + end + " when it was tried: " + words_of(trial));
  }
  facts.already_profiled = trial.code == 0 ? std::string() : words_of(trial);
  return encode(facts);
}

}  // namespace

Result<Bytes> probe(const ProbeRequest& request, HostServices& host) {
  if (request.phase == ProbePhase::kBeforeHello) return encode(look_around());
  return try_a_profile(request, host);
}

}  // namespace loom::seatbelt
