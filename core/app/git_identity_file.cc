#include "app/git_identity_file.h"

#include <sys/types.h>

#include <cstddef>
#include <utility>

#include "guard/publish.h"
#include "guard/walk.h"
#include "host/random_name.h"

namespace loom::app {
namespace {

constexpr mode_t kMode = 0600;
constexpr std::size_t kRandomBytes = 16;

IdentityRefusal why_not_reached(guard::WalkFailure reason) noexcept {
  switch (reason) {
    case guard::WalkFailure::kMissing:
      return IdentityRefusal::kHomeMissing;
    case guard::WalkFailure::kNotADirectory:
    case guard::WalkFailure::kLinkRefused:
      return IdentityRefusal::kHomeThroughLink;
    case guard::WalkFailure::kBadPath:
    case guard::WalkFailure::kTooLong:
    case guard::WalkFailure::kTooDeep:
    case guard::WalkFailure::kIsADirectory:
    case guard::WalkFailure::kSearchDenied:
    case guard::WalkFailure::kTooManyLinks:
    case guard::WalkFailure::kLinkUntrusted:
    case guard::WalkFailure::kMagicLink:
    case guard::WalkFailure::kPseudoFs:
    case guard::WalkFailure::kNotRegular:
    case guard::WalkFailure::kRaced:
    case guard::WalkFailure::kResource:
    case guard::WalkFailure::kSystem:
      return IdentityRefusal::kHomeUnusable;
  }
  return IdentityRefusal::kHomeUnusable;
}

IdentityRefusal why_not_published(guard::PublishStep step) noexcept {
  switch (step) {
    case guard::PublishStep::kName:
    case guard::PublishStep::kCreate:
      return IdentityRefusal::kCreate;
    case guard::PublishStep::kWrite:
      return IdentityRefusal::kWrite;
    case guard::PublishStep::kTarget:
    case guard::PublishStep::kReplace:
      return IdentityRefusal::kReplace;
  }
  return IdentityRefusal::kReplace;
}

}  // namespace

IdentityResult<guard::Landing> walk_to_file(const AbsolutePath& file) {
  auto landing = guard::walk(
      file.str(),
      {.leaf = guard::LeafMode::kAsNamed, .refuse_links = true, .enter_automounts = false});
  if (!landing) return tl::unexpected(why_not_reached(landing.error().reason));
  return *std::move(landing);
}

IdentityResult<void> replace_file(const guard::Landing& file, const std::string& temporary,
                                  std::string_view content) {
  const auto done = guard::publish_through(
      file, temporary, {.content = content, .mode = kMode, .replace_any_name = true});
  if (!done) return tl::unexpected(why_not_published(done.error().step));
  return {};
}

IdentityResult<std::string> make_temporary_name() {
  const auto hex = host::random_hex(kRandomBytes);
  if (!hex) return tl::unexpected(IdentityRefusal::kRandomness);
  return ".gitconfig-" + *hex;
}

}  // namespace loom::app
