#pragma once

#include "guard/freeze.h"
#include "guard/landing.h"
#include "law/subject.h"

namespace loom::guard {

// What the law is asked about a landing: the inside of a directory, or a file, which is anything
// else and an absent name too. Knows every identity that the walk held in its hands.
[[nodiscard]] law::Subject subject_of(const Landing& landing);

// The same for a path of a policy.
[[nodiscard]] law::Subject subject_of(const Frozen& frozen);

}  // namespace loom::guard
