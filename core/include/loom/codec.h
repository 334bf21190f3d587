#pragma once

#include <loom/backend.h>
#include <loom/bytes.h>
#include <loom/result.h>

namespace loom {

// The values that cross the backend boundary, as bytes.
//
// Each is one msgpack map with the key "v" (kValueVersion) and one key per field, in the order of
// the struct, smallest encodings. Decoding is strict: an unknown version, key or enumerator, a
// missing key or a wrong type is kInvalidRequest and names the key. Ignoring a restriction one does
// not know is how sandboxes leak.
inline constexpr std::uint32_t kValueVersion = 1;

#define LOOM_CODEC_(Type, name)                  \
  [[nodiscard]] Bytes encode(const Type& value); \
  [[nodiscard]] Result<Type> decode_##name(ByteView bytes)

LOOM_CODEC_(HostFacts, host_facts);
LOOM_CODEC_(Features, features);
LOOM_CODEC_(SurveyRequest, survey_request);
LOOM_CODEC_(Survey, survey);
LOOM_CODEC_(Pieces, pieces);
LOOM_CODEC_(ProbeRequest, probe_request);
LOOM_CODEC_(PlanRequest, plan_request);
LOOM_CODEC_(JailPlan, jail_plan);
LOOM_CODEC_(LaunchSpec, launch_spec);
LOOM_CODEC_(Audit, audit);
LOOM_CODEC_(StartResult, start_result);
LOOM_CODEC_(ExecObject, exec_object);
LOOM_CODEC_(TargetsRequest, targets_request);
LOOM_CODEC_(Targets, targets);
LOOM_CODEC_(TrialResult, trial_result);

#undef LOOM_CODEC_

}  // namespace loom
