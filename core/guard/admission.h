#pragma once

#include <loom/plan.h>

#include <string>
#include <string_view>
#include <vector>

#include "guard/guard.h"
#include "guard/linker_names.h"
#include "law/kernel_table.h"

namespace loom::guard {

// The only value that a launch of a version-3 policy takes: a program that was judged, with
// everything that it needs to start. Made by admit() alone.
class Admitted {
 public:
  [[nodiscard]] const AdmittedProgram& program() const noexcept { return program_; }
  // What the kernel is told: the snapshot's table and the support of this program.
  [[nodiscard]] const law::KernelTable& kernel_table() const noexcept { return table_; }
  // What a person should know, one sentence each: set-id bits that are void, for one.
  [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }

 private:
  friend Judged<Admitted> admit(const Guard& guard, std::string_view argv0, std::string_view cwd,
                                LinkerNames& linkers);
  Admitted(AdmittedProgram program, law::KernelTable table, std::vector<std::string> notes);

  AdmittedProgram program_;
  law::KernelTable table_;
  std::vector<std::string> notes_;
};

// Finds argv[0] (with a '/' in it: against `cwd`, else along the snapshot's search path), judges
// the file that would run, its interpreters and its linker (docs/guard.md, "Admission"). `cwd` is
// absolute or empty for "/". `linkers` only saves time: one for all launches of a helper.
//
// not_found and not_executable are said before any rule is asked, and under every policy.
[[nodiscard]] Judged<Admitted> admit(const Guard& guard, std::string_view argv0,
                                     std::string_view cwd, LinkerNames& linkers);
// The same verdict on what nobody is going to launch, without the kernel's table, and so without
// listing the system's linkers unless one of them decides.
struct RunnableProgram {
  AbsolutePath real;
  std::vector<std::string> notes{};  // as Admitted::notes
};
[[nodiscard]] Judged<RunnableProgram> judge_program(const Guard& guard, std::string_view argv0,
                                                    std::string_view cwd, LinkerNames& linkers);

// The same, listing the system's linkers once more.
[[nodiscard]] Judged<Admitted> admit(const Guard& guard, std::string_view argv0,
                                     std::string_view cwd);

}  // namespace loom::guard
