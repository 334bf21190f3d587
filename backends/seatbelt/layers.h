#pragma once

#include <loom/plan.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "resolve.h"

namespace loom::seatbelt {

// A rule about writing whose place in the profile matters, since the last match wins.
struct WriteRule {
  // What the profile calls the region by.
  enum class Name : std::uint8_t { kReadableRoot, kWritableRoot, kMount, kConstant };

  bool allow = false;
  Name name = Name::kWritableRoot;
  std::size_t index = 0;  // in that list; kConstant: in kSystemView
  AbsolutePath region;
};

// What a mount adds, in the order of the mounts. A region of ours beneath a mount has only `write`.
struct MountRules {
  bool is_mount = true;
  std::size_t index = 0;           // in Layers::mounts
  std::vector<WriteRule> write{};  // none or one
};

// How the regions of a policy lie over one another: what profile, counts and view are made of.
//
// Among roots and scratch the deepest region decides whether something can be written, at one place
// the writable one. Which place lies in which is decided as the rules of a profile do: by folded
// names (spellings.h). Where a policy has one place under two spellings, writable and not, the
// denial holds. Mounts are laid over those. Our own writable regions, which the policy cannot
// know, are laid over a mount that they lie beneath.
struct Layers {
  std::vector<AbsolutePath> readable_roots{};  // READABLE_ROOT_, in byte order
  std::vector<AbsolutePath> writable_roots{};  // WRITABLE_ROOT_, in byte order
  std::vector<MountPlace> mounts{};            // MOUNT_, by folded names; those that are there
  // After the roots: what is read-only within a writable region, and what is writable in that.
  std::vector<WriteRule> corrections{};
  std::vector<MountRules> mount_rules{};
  std::vector<AbsolutePath> denied{};   // regions of all denying rules
  std::vector<AbsolutePath> written{};  // writable roots and mounts, in byte order
  std::vector<MountOperation> view{};   // without exec table and masks, in order
  // How many operations of the view come first that hide the host, or are beneath those: what an
  // exec table shows is laid on them.
  std::size_t ground = 0;

  [[nodiscard]] bool shows_whole_host() const noexcept {
    return !readable_roots.empty() && readable_roots.front().is_root();
  }
};

[[nodiscard]] Layers lay(const ResolvedPolicy& policy);

}  // namespace loom::seatbelt
