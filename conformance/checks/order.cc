#include <loom/view_replay.h>

#include <algorithm>
#include <array>

#include "../clause_words.h"
#include "../scene.h"

namespace loom::conformance {
namespace {

bool is_mask(const MountOperation& operation) {
  return operation.mount_class == MountClass::kProtected;
}

// What a later operation does to an earlier mask: it lies inside it, or covers it.
bool reopens(const MountOperation& later, const MountOperation& mask) {
  return is_host_backed(later.mount_class) &&
         (later.region.is_within(mask.region) || mask.region.is_within(later.region));
}

bool says_so(const Audit& audit, const MountOperation& mask) {
  return std::any_of(audit.widened.begin(), audit.widened.end(), [&mask](const std::string& text) {
    return text.find(mask.region.str()) != std::string::npos;
  });
}

void judge_masks_last(const Subject& subject, Judgement& judgement) {
  int masks = 0;
  decide_all(subject, judgement, [&](const Decision& decision) {
    if (!decision.plan) return;
    const auto& view = decision.plan->view;
    for (std::size_t i = 0; i < view.size(); ++i) {
      if (!is_mask(view[i])) continue;
      ++masks;
      for (std::size_t j = i + 1; j < view.size(); ++j) {
        if (!reopens(view[j], view[i]) || says_so(decision.audit, view[i])) continue;
        judgement.breach(decision.name + ": " + std::string(mount_class_name(view[j].mount_class)) +
                         " at " + view[j].region.str() + " comes after the mask of " +
                         view[i].region.str() + " and reopens it");
      }
    }
  });
  judgement.remark(std::to_string(masks) + " masks in all views");
}

// The names that a policy may be about, and some next to them.
std::vector<AbsolutePath> places_to_ask(const Place& place) {
  constexpr std::array<const char*, 18> kInside = {"",
                                                   "work",
                                                   "work/kept",
                                                   "work/notes/inner",
                                                   "work/.env",
                                                   "work/.git",
                                                   "work/.git/config",
                                                   "work/absent",
                                                   "more/file",
                                                   "read/file",
                                                   "read/secret",
                                                   "read/deep/file",
                                                   "elsewhere/hidden",
                                                   "mounted/ro/file",
                                                   "mounted/rw/file",
                                                   "scratch/file",
                                                   "scratch",
                                                   "elsewhere"};
  std::vector<AbsolutePath> places;
  for (const char* inside : kInside) places.push_back(place.path(inside));
  return places;
}

int access_of(const MountOperation* operation) {
  if (operation == nullptr || !is_host_backed(operation->mount_class)) return 0;
  return is_host_writable(operation->mount_class) ? 2 : 1;
}

// Whatever is protected besides, no name is more open than before.
void judge_protecting(const Subject& subject, Judgement& judgement) {
  const auto scene = Scene::open(subject, judgement);
  if (!scene) return;
  for (const NamedPolicy& named : policies_for(scene->place(), kSeed + 2, 20)) {
    for (const char* inside : {"work/kept", "more/file", "read/file"}) {
      Policy more = named.policy;
      more.protected_paths.push_back(scene->place().path(inside));
      const auto one = scene->question(named.policy);
      const auto other = scene->question(more);
      if (!one || !other) continue;
      const auto before = scene->backend().plan(*one);
      const auto after = scene->backend().plan(*other);
      if (!before || !after) continue;
      const ViewReplay open(before->view);
      const ViewReplay closed(after->view);
      for (const AbsolutePath& path : places_to_ask(scene->place())) {
        if (access_of(closed.effective(path)) <= access_of(open.effective(path))) continue;
        judgement.breach("\"" + named.name + "\": protecting " + inside + " besides opens " +
                         path.str());
      }
    }
  }
}

// An audit is about the view that the plan shows: its own words must fit it.
void judge_audit_counts(const Subject& subject, Judgement& judgement) {
  decide_all(subject, judgement, [&](const Decision& decision) {
    if (!decision.plan || decision.plan->view.empty()) return;
    const std::string entry = entry_that_claims(decision.audit.when_witnessed, words::kFilesClaims);
    if (entry.empty()) {
      return judgement.breach(decision.name +
                              ": there is a view, and the audit counts nothing of it");
    }
    const ViewReplay replay(decision.plan->view);
    std::size_t masks = 0;
    for (const AbsolutePath& path : decision.request.policy.protected_paths) {
      const PathFact* const fact = decision.request.facts.find(path);
      const auto* operation = replay.effective(fact != nullptr ? fact->real : path);
      const bool hidden = operation != nullptr && is_masked(operation->mount_class) &&
                          !is_writable(operation->mount_class);
      if (hidden) ++masks;
    }
    if (entry.find(",mask=" + std::to_string(masks) + ",") == std::string::npos) {
      judgement.breach(decision.name + ": the view hides " + std::to_string(masks) +
                       " protected paths, and the audit says " + entry);
    }
  });
}

bool is_skip(const std::string& entry) { return entry.starts_with("skip:"); }

// What is published without a witness claims nothing.
void judge_claims(const Subject& subject, Judgement& judgement) {
  decide_all(subject, judgement, [&](const Decision& decision) {
    if (!decision.plan) return;
    const auto expect_skips = [&](const std::vector<std::string>& entries, const char* where) {
      for (const std::string& entry : entries) {
        if (!is_skip(entry)) {
          judgement.breach(decision.name + ": " + where + " claims \"" + entry +
                           "\", which nothing inside the jail has witnessed");
        }
      }
    };
    expect_skips(decision.audit.always, "every report");
    expect_skips(decision.audit.when_silent, "a report without a witness");
    if (!decision.audit.expects_witness && !decision.audit.when_witnessed.empty()) {
      judgement.breach(decision.name + ": no witness is expected, and entries wait for one");
    }
    const bool inner = !decision.launch || decision.launch->report_number >= 0;
    if (decision.audit.expects_witness != inner && decision.launch) {
      judgement.breach(decision.name + ": a witness is " +
                       (inner ? "not expected, and the launch has an inner stage"
                              : "expected, and the launch has no inner stage"));
    }
    for (const std::string& text : decision.audit.widened) {
      if (!text.starts_with("mounts: ")) {
        judgement.breach(decision.name +
                         ": a widened path does not begin with \"mounts: \": " + text);
      }
    }
  });
}

}  // namespace

std::vector<Check> order_checks() {
  return {
      {"order.masks-last", "No grant comes after a mask and reopens it, unless the audit says so.",
       judge_masks_last, 180},
      {"order.protecting-opens-nothing", "A further protected path makes no name more open.",
       judge_protecting, 180},
      {"audit.fits-the-view", "The audit's count of masks is what a replay of the view gives.",
       judge_audit_counts, 180},
      {"audit.claims-need-a-witness",
       "What is published when the inner stage was silent, or always, are skips and nothing else.",
       judge_claims, 180},
  };
}

}  // namespace loom::conformance
