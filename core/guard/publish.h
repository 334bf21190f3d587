#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "guard/landing.h"
#include "guard/walk_error.h"

namespace loom::guard {

struct Publication {
  std::string_view content;  // borrowed for the call
  // Low nine bits; set-id never. nullopt: those of the file that is replaced, or 0600.
  std::optional<mode_t> mode{};
  // Whether a link, FIFO, socket or device is replaced as a name too. Nothing of it is opened.
  bool replace_any_name = false;
  bool durable = false;  // the name too survives a power cut; the content does in any case
  // Asked about the sibling's real path before it is made; none: every name will do.
  std::function<bool(const AbsolutePath&)> admits{};
  std::string_view suffix = ".tmp";  // of the sibling's name
};

enum class PublishStep : std::uint8_t {
  kTarget,   // what stands there may not be replaced
  kName,     // no sibling's name: no random bytes, or `admits` said no (EACCES)
  kCreate,   // the sibling
  kWrite,    // its content and mode, to the disk
  kReplace,  // the rename, or the directory to the disk
};

struct PublishError {
  PublishStep step = PublishStep::kTarget;
  WalkError error{};
};
using PublishResult = tl::expected<void, PublishError>;

// Puts a file in the place of `target`, whole or not at all: writes a sibling and renames it. What
// was there is never opened, and a hard link to it keeps the old content. The sibling is gone after
// every failure; directories are never made. The sibling's name: "." and 16 random letters and
// digits and the suffix.
[[nodiscard]] PublishResult publish(const Landing& target, const Publication& publication);

// The same through a sibling of this name, which must be free.
[[nodiscard]] PublishResult publish_through(const Landing& target, const std::string& sibling,
                                            const Publication& publication);

}  // namespace loom::guard
