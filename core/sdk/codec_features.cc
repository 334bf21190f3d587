#include <loom/codec.h>

#include "fields_facts.h"
#include "fields_policy.h"

namespace loom::archive {

template <>
struct Enumerators<ExecSupport> {
  static constexpr ExecSupport kFirst = ExecSupport::kNone;
  static constexpr ExecSupport kLast = ExecSupport::kRendered;
};
template <>
struct Enumerators<PathRole> {
  static constexpr PathRole kFirst = PathRole::kSystemRoot;
  static constexpr PathRole kLast = PathRole::kPiece;
};
template <>
struct Enumerators<ProbePhase> {
  static constexpr ProbePhase kFirst = ProbePhase::kBeforeHello;
  static constexpr ProbePhase kLast = ProbePhase::kBeforePlan;
};

template <>
struct Fields<AbsentFeature> {
  static void visit(auto& archive, auto& value) {
    archive("tag", value.tag);
    archive("reason", value.reason);
  }
};

template <>
struct Fields<Features> {
  static void visit(auto& archive, auto& value) {
    archive("tags", value.tags);
    archive("absent", value.absent);
    archive("degraded", value.degraded);
    archive("refusal", value.refusal);
    archive("exec", value.exec);
    archive("can_warm", value.can_warm);
  }
};

template <>
struct Fields<SurveyRequest> {
  static void visit(auto& archive, auto& value) {
    archive("policy", value.policy);
    archive("facts", value.facts);
  }
};

template <>
struct Blank<SurveyPath> {
  static SurveyPath make() { return {.path = AbsolutePath::root()}; }
};
template <>
struct Fields<SurveyPath> {
  static void visit(auto& archive, auto& value) {
    archive("path", value.path);
    archive("role", value.role);
  }
};

template <>
struct Blank<PrivateScratch> {
  static PrivateScratch make() { return {.parent = AbsolutePath::root()}; }
};
template <>
struct Fields<PrivateScratch> {
  static void visit(auto& archive, auto& value) {
    archive("parent", value.parent);
    archive("prefix", value.prefix);
  }
};

template <>
struct Fields<Survey> {
  static void visit(auto& archive, auto& value) {
    archive("paths", value.paths);
    archive("needs_mounts", value.needs_mounts);
    archive("search_excluded", value.search_excluded);
    archive("scratch_dir", value.scratch_dir);
    archive("private_scratch", value.private_scratch);
  }
};

template <>
struct Fields<Pieces> {
  static void visit(auto& archive, auto& value) {
    archive("launcher", value.launcher);
    archive("stage2", value.stage2);
  }
};

template <>
struct Fields<ProbeRequest> {
  static void visit(auto& archive, auto& value) {
    archive("phase", value.phase);
    archive("facts", value.facts);
  }
};

}  // namespace loom::archive

namespace loom {

LOOM_DEFINE_CODEC_(Features, features, "features")
LOOM_DEFINE_CODEC_(SurveyRequest, survey_request, "survey request")
LOOM_DEFINE_CODEC_(Survey, survey, "survey")
LOOM_DEFINE_CODEC_(Pieces, pieces, "pieces")
LOOM_DEFINE_CODEC_(ProbeRequest, probe_request, "probe request")

}  // namespace loom
