#pragma once

#include <loom/bytes.h>

// What must hold for any bytes at all. Each aborts (LOOM_CHECK) when it does not; shared by the
// fuzz targets and by mutation_test, which every build has.
namespace loom::fuzz {

// Cutting the bytes into chunks never changes the frames, the error or whether the stream may end.
void check_frame_reader(ByteView bytes);
// A payload is refused in valid UTF-8, or every body decoder reads it without harm; a hello
// survives being encoded.
void check_message(ByteView bytes);
// A policy that decodes encodes canonically to an equal policy; a refusal starts with "policy: ".
void check_policy(ByteView bytes);
// The first byte selects JailPlan, LaunchSpec or PlanRequest; what decodes encodes to an equal
// value.
void check_value_codec(ByteView bytes);
// The first byte selects the inner report, a control message or a commit document; likewise.
void check_stage2_report(ByteView bytes);

// Whether the bytes are accepted by what the check reads: a seed that is not teaches a fuzzer
// little.
[[nodiscard]] bool frame_reader_accepts(ByteView bytes);
[[nodiscard]] bool message_accepts(ByteView bytes);
[[nodiscard]] bool policy_accepts(ByteView bytes);
[[nodiscard]] bool value_codec_accepts(ByteView bytes);
[[nodiscard]] bool stage2_report_accepts(ByteView bytes);

}  // namespace loom::fuzz
