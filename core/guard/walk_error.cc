#include "guard/walk_error.h"

#include <loom/utf8.h>

#include "guard/system_error.h"

namespace loom::guard {

std::string_view walk_failure_name(WalkFailure failure) noexcept {
  switch (failure) {
    case WalkFailure::kBadPath:
      return "bad_path";
    case WalkFailure::kTooLong:
      return "too_long";
    case WalkFailure::kTooDeep:
      return "too_deep";
    case WalkFailure::kMissing:
      return "missing";
    case WalkFailure::kNotADirectory:
      return "not_a_directory";
    case WalkFailure::kIsADirectory:
      return "is_a_directory";
    case WalkFailure::kSearchDenied:
      return "search_denied";
    case WalkFailure::kTooManyLinks:
      return "too_many_links";
    case WalkFailure::kLinkRefused:
      return "link_refused";
    case WalkFailure::kLinkUntrusted:
      return "link_untrusted";
    case WalkFailure::kMagicLink:
      return "magic_link";
    case WalkFailure::kPseudoFs:
      return "pseudo_fs";
    case WalkFailure::kNotRegular:
      return "not_regular";
    case WalkFailure::kRaced:
      return "raced";
    case WalkFailure::kResource:
      return "resource";
    case WalkFailure::kSystem:
      return "system";
  }
  return "system";
}

Error to_error(const WalkError& error, const std::string& what) {
  const bool machine =
      error.reason == WalkFailure::kResource || error.reason == WalkFailure::kSystem;
  const std::string why = error.sys_errno != 0 ? errno_words(error.sys_errno)
                                               : std::string(walk_failure_name(error.reason));
  return Error{.code = machine ? ErrorCode::kSystem : ErrorCode::kDenied,
               .message = what + ": " + why,
               .sys_errno = error.sys_errno};
}

}  // namespace loom::guard
