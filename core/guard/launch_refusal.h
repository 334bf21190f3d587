#pragma once

#include <loom/absolute_path.h>
#include <loom/utf8.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "guard/system_error.h"
#include "guard/walk_error.h"
#include "report/denial.h"

namespace loom::guard {

// Why a launch is refused, before its program is asked about. `asked` is left to the caller.
[[nodiscard]] inline tl::unexpected<Denial> refuse_launch(std::string reason, std::string_view why,
                                                          std::optional<AbsolutePath> real = {}) {
  Denial denial{.source = "launch", .op = "launch", .reason = std::move(reason)};
  if (real) denial.real = real->str();
  denial.text = denial.reason + ": " + std::string(why);
  return tl::unexpected(std::move(denial));
}

// "redirected: <path> <what has become of it>".
[[nodiscard]] inline tl::unexpected<Denial> refuse_redirected(const AbsolutePath& path,
                                                              std::string_view what) {
  return refuse_launch("redirected", escaped(path.str()) + ' ' + std::string(what), path);
}

// A walk that did not get to the path of a plan.
[[nodiscard]] inline tl::unexpected<Denial> refuse_walk(const WalkError& error,
                                                        const AbsolutePath& path) {
  if (error.reason == WalkFailure::kLinkRefused) {
    return refuse_redirected(path, "is reached through a link now");
  }
  auto refused = refuse_launch(
      std::string(walk_failure_name(error.reason)),
      escaped(path.str()) + (error.sys_errno != 0 ? ": " + errno_words(error.sys_errno) : ""),
      path);
  if (error.sys_errno != 0) refused.value().error = error.sys_errno;
  return refused;
}

// Nothing was left to open it with.
[[nodiscard]] inline tl::unexpected<Denial> refuse_resource(int error, const AbsolutePath& at) {
  return refuse_walk({.reason = WalkFailure::kResource, .place = at.str(), .sys_errno = error}, at);
}

}  // namespace loom::guard
