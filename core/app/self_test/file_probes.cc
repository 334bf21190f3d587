#include "app/self_test/file_probes.h"

#include <array>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/self_test/file_verdicts.h"
#include "app/self_test/probe_base.h"

namespace loom::app {
namespace {

// $1: the probe directory. Nothing is redirected to /dev/null: a payload must not end early where
// that is refused.
constexpr const char* kOutsideWrite = R"sh(
if (echo WRITTEN >"$1/outside/victim"); then echo WROTE; fi
if (echo WRITTEN >"$1/inside/allowed"); then echo ALLOWED-OK; fi
)sh";

constexpr const char* kInnerName = "loom-probe-private-key";

constexpr const char* kAttackMasks = R"sh(
if (echo WRITTEN >"$1/allowed"); then echo ALLOWED-OK; fi
cat "$1/open"
cat "$1/secret.env"
cat "$1/secrets.d/$2"
ls -a "$1/secrets.d"
if (echo OVERWRITTEN >"$1/secret.env"); then echo WROTE; fi
if (echo OVERWRITTEN >"$1/secrets.d/$2"); then echo WROTE; fi
if rm -f "$1/secret.env"; then echo REMOVED; fi
)sh";

// $1: the writable root; the rest is read.
constexpr const char* kReadAll = R"sh(
if (echo WRITTEN >"$1/allowed"); then echo ALLOWED-OK; fi
shift
for file in "$@"; do cat "$file"; done
)sh";

constexpr std::array<const char*, 4> kStateFiles = {
    "state/owner.token", "state/catalogue.db", "state/daemon.lock", "state/sessions/1.session"};

// A marker of its own in each file.
Result<std::vector<std::string>> write_markers(const ProbeDirectory& directory,
                                               std::span<const char* const> files) {
  std::vector<std::string> markers;
  for (const char* file : files) {
    auto marker = make_marker("state");
    if (!marker) return tl::unexpected(std::move(marker).error());
    if (auto written = directory.write(file, *marker + "\n"); !written) {
      return tl::unexpected(std::move(written).error());
    }
    markers.push_back(std::move(*marker));
  }
  return markers;
}

}  // namespace

Result<ProbeVerdict> probe_outside_write(ProbeRig& rig) {
  const std::string_view jail = rig.jail().file_system;
  if (!rig.has(jail) && !rig.has("landlock")) {
    return skipped(rig.why_without(jail) + "; " + rig.why_without("landlock"));
  }
  LOOM_TRY(const ProbeDirectory directory, rig.make_directory());
  LOOM_TRY_VOID(directory.add_directories({"outside", "inside"}));
  // Who may not write there anyway would be a poor witness.
  LOOM_TRY_VOID(directory.write("outside/writable-without-a-jail", "yes\n"));
  LOOM_TRY(ProbeRun run,
           rig.shell(base_policy(directory.at("inside")), kOutsideWrite, {directory.path().str()}));
  return judge_outside_write({.run = std::move(run),
                              .victim_exists = directory.has("outside/victim"),
                              .allowed_arrived = directory.read("inside/allowed") == "WRITTEN\n"});
}

Result<ProbeVerdict> probe_masks(ProbeRig& rig) {
  if (!rig.has(rig.jail().file_system)) return rig.without(rig.jail().file_system);
  LOOM_TRY(const ProbeDirectory directory, rig.make_directory());
  const std::string inner = std::string("secrets.d/") + kInnerName;
  LOOM_TRY(const std::string file_marker, make_marker("file"));
  LOOM_TRY(const std::string inner_marker, make_marker("inner"));
  LOOM_TRY(const std::string open_marker, make_marker("open"));
  LOOM_TRY_VOID(directory.write("secret.env", file_marker));
  LOOM_TRY_VOID(directory.add_directories({"secrets.d"}));
  LOOM_TRY_VOID(directory.write(inner, inner_marker));
  LOOM_TRY_VOID(directory.write("open", open_marker));
  Policy policy = base_policy(directory.path());
  policy.protected_paths = {directory.at("secret.env"), directory.at("secrets.d")};
  LOOM_TRY(ProbeRun run, rig.shell(policy, kAttackMasks, {directory.path().str(), kInnerName}));
  return judge_masks({.run = std::move(run),
                      .file_marker = file_marker,
                      .inner_marker = inner_marker,
                      .inner_name = kInnerName,
                      .open_marker = open_marker,
                      .file_changed = directory.read("secret.env") != file_marker,
                      .inner_changed = directory.read(inner) != inner_marker});
}

Result<ProbeVerdict> probe_state_root(ProbeRig& rig) {
  if (!rig.has(rig.jail().file_system)) return rig.without(rig.jail().file_system);
  LOOM_TRY(const ProbeDirectory directory, rig.make_directory());
  LOOM_TRY_VOID(directory.add_directories({"work", "state", "state/sessions"}));
  RevealEvidence seen;
  LOOM_TRY(seen.secrets, write_markers(directory, kStateFiles));
  LOOM_TRY(seen.open, write_markers(directory, std::array{"state/open"}));
  std::vector<std::string> words = {directory.at("work").str(), directory.at("state/open").str()};
  for (const char* file : kStateFiles) words.push_back(directory.at(file).str());

  Policy policy = base_policy(directory.at("work"));
  policy.readable_roots = {directory.at("state")};
  LOOM_TRY(seen.control, rig.shell(policy, kReadAll, words));
  for (const char* name : {"owner.token", "catalogue.db", "daemon.lock", "sessions"}) {
    policy.protected_paths.push_back(directory.at(std::string("state/") + name));
  }
  LOOM_TRY(seen.test, rig.shell(policy, kReadAll, words));
  return judge_reveal(seen);
}

Result<ProbeVerdict> probe_unnamed_path(ProbeRig& rig) {
  if (!rig.has(rig.jail().file_system)) return rig.without(rig.jail().file_system);
  LOOM_TRY(const ProbeDirectory directory, rig.make_directory());
  LOOM_TRY_VOID(directory.add_directories({"work"}));
  LOOM_TRY(const std::string marker, make_marker("neighbour"));
  LOOM_TRY_VOID(directory.write("neighbour", marker + "\n"));
  const std::vector<std::string> words = {directory.at("work").str(),
                                          directory.at("neighbour").str()};
  RevealEvidence seen;
  seen.secrets = {marker};
  Policy policy = base_policy(directory.at("work"));
  policy.readable_roots = {directory.at("neighbour")};
  LOOM_TRY(seen.control, rig.shell(policy, kReadAll, words));
  policy.readable_roots.clear();
  LOOM_TRY(seen.test, rig.shell(policy, kReadAll, words));
  return judge_reveal(seen);
}

}  // namespace loom::app
