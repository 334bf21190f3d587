#include "guard/admission.h"

#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "guard/denial_of.h"
#include "guard/exec_denial.h"
#include "guard/file_system.h"
#include "guard/program_file.h"
#include "guard/program_search.h"
#include "guard/support.h"
#include "guard/system_error.h"

namespace loom::guard {
namespace {

// A program as far as the file alone tells.
struct Inspected {
  ProgramFile file{};
  std::vector<std::string> notes{};
};

// What no_new_privs takes away.
std::vector<std::string> void_privileges(const Landing& program, int file) {
  std::vector<std::string> notes;
  const std::string name = quoted(program.real().str());
  const auto about = program.status();
  const bool group = about && (about->st_mode & S_ISGID) != 0 && (about->st_mode & S_IXGRP) != 0;
  if (about && ((about->st_mode & S_ISUID) != 0 || group)) {
    notes.push_back("the set-id bits of " + name + " are void in a jail");
  }
  if (file >= 0 && has_file_capabilities(file)) {
    notes.push_back("the file capabilities of " + name + " are void in a jail");
  }
  return notes;
}

tl::unexpected<Denial> not_executable(std::string_view argv0, const Landing& program,
                                      const std::string& why, int error) {
  return tl::unexpected(exec_denial({.reason = "not_executable",
                                     .asked = argv0,
                                     .real = &program.real(),
                                     .why = quoted(program.real().str()) + ' ' + why,
                                     .error = error}));
}

// A file that may be executed and not read. Where nothing restricts, the kernel can be left to
// find out what it is.
Judged<Inspected> inspect_unreadable(const Guard& guard, std::string_view argv0,
                                     const Landing& program) {
  if (guard.snapshot().exec().is_restrictive()) {
    auto denial = not_executable(argv0, program,
                                 "may be executed but not read by this user, so that nobody can "
                                 "tell what it needs to start",
                                 EACCES);
    denial.value().hint = "let this user read the file";
    return denial;
  }
  Inspected inspected{.file = {.format = ProgramFormat::kBinary},
                      .notes = void_privileges(program, -1)};
  inspected.notes.push_back(quoted(program.real().str()) +
                            " cannot be read by this user; what it needs to start was not checked");
  return inspected;
}

Judged<Inspected> inspect(const Guard& guard, std::string_view argv0, Landing& program) {
  const auto file = program.read();
  if (!file && file.error().sys_errno == EACCES) return inspect_unreadable(guard, argv0, program);
  if (!file) {
    return tl::unexpected(
        denial_of({.operation = law::Operation::kExecute, .path = argv0, .real = &program.real()},
                  file.error()));
  }
  auto parsed = read_program(file->get(), guard.programs());
  if (!parsed) {
    return not_executable(argv0, program,
                          "cannot be read: " + errno_words(parsed.error().sys_errno),
                          parsed.error().sys_errno);
  }
  if (parsed->format == ProgramFormat::kUnknown) {
    return not_executable(argv0, program, parsed->why, ENOEXEC);
  }
  return Inspected{.file = std::move(*parsed), .notes = void_privileges(program, file->get())};
}

// The program that would run, judged but for what it needs besides itself.
struct Candidate {
  Landing program;
  ProgramFile file;
  std::vector<std::string> notes;
};

Judged<Candidate> find_candidate(const Guard& guard, std::string_view argv0, std::string_view cwd) {
  LOOM_TRY(Landing program, find_program(guard, argv0, cwd));
  LOOM_TRY(Inspected inspected, inspect(guard, argv0, program));
  if (auto refusal = guard.refusal_of(law::Operation::kExecute, argv0, program)) {
    return tl::unexpected(*std::move(refusal));
  }
  return Candidate{.program = std::move(program),
                   .file = std::move(inspected.file),
                   .notes = std::move(inspected.notes)};
}

}  // namespace

Admitted::Admitted(AdmittedProgram program, law::KernelTable table, std::vector<std::string> notes)
    : program_(std::move(program)), table_(std::move(table)), notes_(std::move(notes)) {}

Judged<Admitted> admit(const Guard& guard, std::string_view argv0, std::string_view cwd,
                       LinkerNames& linkers) {
  LOOM_TRY(Candidate candidate, find_candidate(guard, argv0, cwd));
  const auto& [program, file, notes] = candidate;
  LOOM_TRY(const auto support, find_support(guard, argv0, program, file, linkers));
  const Snapshot& snapshot = guard.snapshot();
  return Admitted({.real = program.real(), .identity = program.identity()},
                  law::KernelTable(snapshot.exec(), support, snapshot.protected_paths()),
                  std::move(candidate.notes));
}

Judged<RunnableProgram> judge_program(const Guard& guard, std::string_view argv0,
                                      std::string_view cwd, LinkerNames& linkers) {
  LOOM_TRY(Candidate candidate, find_candidate(guard, argv0, cwd));
  LOOM_TRY_VOID(require_support(guard, argv0, candidate.program, candidate.file, linkers));
  return RunnableProgram{.real = candidate.program.real(), .notes = std::move(candidate.notes)};
}

Judged<Admitted> admit(const Guard& guard, std::string_view argv0, std::string_view cwd) {
  LinkerNames linkers;
  return admit(guard, argv0, cwd, linkers);
}

}  // namespace loom::guard
