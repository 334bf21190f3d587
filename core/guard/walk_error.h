#pragma once

#include <loom/absolute_path.h>
#include <loom/result.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace loom::guard {

// Why a walk did not land, or why an effect on its landing did not happen. None of them is a
// verdict: they say nothing about what a policy would have answered.
enum class WalkFailure : std::uint8_t {
  kBadPath,        // empty, relative, with a NUL, over 4,095 bytes; or "/" where a parent is needed
  kTooLong,        // a component over 255 bytes
  kTooDeep,        // more than 256 directories at once
  kMissing,        // a directory on the way, or the object an effect needs, is not there
  kNotADirectory,  // what is walked through, or what must be one, is none
  kIsADirectory,
  kSearchDenied,   // a directory that may not be searched
  kTooManyLinks,   // more than 40, or too much text in them
  kLinkRefused,    // a link where none may be
  kLinkUntrusted,  // somebody else's link in a sticky directory that others write
  kMagicLink,      // a link of procfs, whose text is not where the kernel goes
  kPseudoFs,       // it lies on procfs
  kNotRegular,     // a device, FIFO, socket or link where a file is needed
  kRaced,          // the name led to another object than the judged one, at every try
  kResource,       // out of descriptors or memory; sys_errno says which
  kSystem,         // the kernel refused the effect itself; sys_errno says why
};

// The reason as records spell it: "bad_path".
[[nodiscard]] std::string_view walk_failure_name(WalkFailure failure) noexcept;

// A reason with the place where it arose.
struct WalkError {
  WalkFailure reason = WalkFailure::kSystem;
  std::string place{};  // the path as far as it was walked, and the component in work
  int sys_errno = 0;    // what the kernel says in such a case, where it has a word for it

  friend bool operator==(const WalkError&, const WalkError&) = default;
};

template <class T>
using WalkResult = tl::expected<T, WalkError>;

// "<what>: <the kernel's words, or the reason's name>". kSystem where the machine is to blame, else
// kDenied.
[[nodiscard]] Error to_error(const WalkError& error, const std::string& what);

}  // namespace loom::guard
