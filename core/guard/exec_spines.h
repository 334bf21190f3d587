#pragma once

#include <loom/facts.h>
#include <loom/plan.h>

#include <cstddef>
#include <functional>
#include <unordered_set>
#include <vector>

#include "guard/guard.h"
#include "law/kernel_table.h"
#include "law/rule.h"
#include "law/subject.h"

namespace loom::guard {

struct IdentityHash {
  [[nodiscard]] std::size_t operator()(const FileIdentity& identity) const noexcept {
    return std::hash<std::uint64_t>()(identity.inode * 0x9e3779b97f4a7c15U ^ identity.device);
  }
};
using Identities = std::unordered_set<FileIdentity, IdentityHash>;

// What decides whether a directory may be told to the kernel whole: the ways from the root down to
// what is excluded. All by identity but `places`, since a directory can have several names.
struct ExecSpines {
  std::vector<law::Exclusion> places{};  // exclusions of files and directories, absent ones too
  Identities above{};                    // directories above one of them
  Identities above_alias{};    // those above a further name that mounts give to what is excluded
  bool has_names = false;      // an exclusion of a bare name
  Identities written{};        // directories that the command can write
  Identities above_written{};  // these, and those above whatever it can write
};

// The exclusions that lie somewhere, in a table.
[[nodiscard]] std::vector<law::Exclusion> exclusions_with_a_place(const law::KernelTable& table);

// Opens mount points, only those of file systems that an excluded path leads through. A view's
// region that cannot be reached is no place where the command writes. Refuses with `resource`.
[[nodiscard]] Judged<ExecSpines> make_spines(const law::KernelTable& table,
                                             const std::vector<MountOperation>& view,
                                             const std::vector<MountFact>& mounts);

// The four reasons to list a directory instead, each for itself (guard 4.5). `directory` is the
// inside of one.
//
// An excluded name lies beneath, under whatever spelling, whether something is there or not.
[[nodiscard]] bool leads_to_an_excluded_name(const ExecSpines& spines,
                                             const law::Subject& directory) noexcept;
// It is a directory above an excluded one under any of its names.
[[nodiscard]] bool is_above_an_exclusion(const ExecSpines& spines,
                                         const law::Subject& directory) noexcept;
// A mount beneath shows an excluded directory, or one above, once more.
[[nodiscard]] bool leads_to_an_alias(const ExecSpines& spines,
                                     const law::Subject& directory) noexcept;
// A bare name is excluded, and the command can write neither in nor above: where it can, the same
// bytes get another name, and listing would keep it from running what it builds.
[[nodiscard]] bool must_look_for_names(const ExecSpines& spines,
                                       const law::Subject& directory) noexcept;

// Whether the kernel is to let the file run, or whatever is in the directory: the table's evidence,
// which is the guard's too.
[[nodiscard]] bool admits_file(const law::KernelTable& table, const law::Subject& file) noexcept;
[[nodiscard]] bool admits_inside(const law::KernelTable& table,
                                 const law::Subject& directory) noexcept;

}  // namespace loom::guard
