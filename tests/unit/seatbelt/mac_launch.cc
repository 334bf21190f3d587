#include "mac_launch.h"

#include <gtest/gtest.h>
#include <loom/check.h>

#include <utility>

#include "backends/seatbelt/audit.h"
#include "backends/seatbelt/machine.h"
#include "backends/seatbelt/plan.h"
#include "backends/seatbelt/render.h"
#include "backends/seatbelt/survey.h"

namespace loom::seatbelt::test {
namespace {

bool uses(const std::string& text, const std::string& definition) {
  return text.find("(param \"" + definition + "\")") != std::string::npos;
}

}  // namespace

ModelTree mac_tree(const PolicyCase& one) {
  ModelTree tree;
  tree.file("/usr/bin/tool").file("/usr/lib/ld.so").file("/bin/sh").directory("/sbin");
  tree.directory("/System/Library").directory("/Library/Apple/usr").directory("/opt/homebrew");
  tree.file("/System/Volumes/Data/own/f").file("/System/Volumes/Preboot/Cryptexes/OS/cache");
  tree.link("/tmp", "private/tmp").link("/var", "private/var").link("/etc", "private/etc");
  tree.file("/private/etc/hosts").directory(kPrivateScratch).file("/private/var/db/x");
  tree.directory("/private/var/select").device("/dev/null").file("/opt/t/f");
  tree.directory("/private/var/folders/u/T").directory("/private/var/folders/u/C");
  tree.file(kStage2).link(kStage2Link, "stage2");
  place_entries(tree, one);
  if (one.any_case) tree.finds_any_case();
  return tree;
}

MacLaunch::MacLaunch(const PolicyCase& one, const Mutation& mutation)
    : tree_(mac_tree(one)), exec_(freeze(one.policy, tree_, {"/bin/sh"})) {
  MachineFacts machine;
  for (const char* const directory : kUserDirectories) {
    machine.user_directories.emplace_back(directory);
  }
  HostFacts facts = bare_facts("darwin", "/usr/bin/sandbox-exec", kStage2Link, encode(machine));
  const auto surveyed = survey({.policy = one.policy, .facts = facts});
  LOOM_CHECK(surveyed.has_value());
  facts.paths = tree_.facts(surveyed->paths);
  facts.directories = tree_.directories(facts.paths);
  PlanRequest request = request_for(one.policy, exec_, std::move(facts));
  if (surveyed->private_scratch)
    request.private_scratch = AbsolutePath::parse(kPrivateScratch).value();
  auto planned = plan(request);
  if (!planned) {
    refusal_ = planned.error().message;
    return;
  }
  read_profile(*planned, mutation);
  const auto audited = audit(*planned);
  LOOM_CHECK(audited.has_value());
  widened_ = audited->widened;
  view_ = std::move(planned->view);
  replay_ = std::make_unique<ViewReplay>(view_);
}

void MacLaunch::read_profile(const JailPlan& plan, const Mutation& mutation) {
  const auto launch = render(plan);
  LOOM_CHECK(launch.has_value());
  auto call = read_call(*launch);
  ASSERT_TRUE(call.has_value()) << call.error().message;
  call_ = *std::move(call);
  if (mutation) {
    if (auto changed = mutation(call_.profile, call_.definitions)) {
      call_.profile = *std::move(changed);
      std::erase_if(call_.definitions,
                    [this](const auto& each) { return !uses(call_.profile, each.first); });
      mutated_ = true;
    }
  }
  auto profile = Profile::parse(call_.profile, call_.definitions);
  ASSERT_TRUE(profile.has_value()) << profile.error().message << '\n' << call_.profile;
  profile_ = *std::move(profile);
}

bool MacLaunch::may(Deed deed, const std::string& path) const {
  switch (deed) {
    case Deed::kRead:
      return jail().reads(path);
    case Deed::kWrite:
      return jail().writes(path);
    case Deed::kCreate:
      return jail().creates(path);
    case Deed::kMove:
      return path != "/" && jail().renames(path, path + ".moved");
    case Deed::kRun:
      return jail().runs(path);
  }
  return false;
}

}  // namespace loom::seatbelt::test
