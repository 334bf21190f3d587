#pragma once

#include <loom/facts.h>
#include <loom/result.h>
#include <loom/unique_fd.h>

namespace loom::guard {

// Opens a real path once more after it was judged: O_PATH, close-on-exec, no link on the way and
// none at the end. Never blocks: nothing is opened but the name.
//
// Fails with kDenied, in words that begin with "redirected: " and name the path, when a link is on
// the way now, when nothing is there now, or when it is another object than `frozen`; with kSystem
// when the kernel refuses for another reason.
[[nodiscard]] Result<UniqueFd> reopen(const AbsolutePath& real, const FileIdentity& frozen);

}  // namespace loom::guard
