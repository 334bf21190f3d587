#pragma once

#include <loom/result.h>

#include <cstdint>
#include <string>

#include "host/windows/unique_handle.h"

namespace loom::windows {

// What a process that was ended from outside says it ended with: what a shell shows for SIGKILL.
inline constexpr std::uint32_t kKilledCode = 137;

// Everything a new process gets. The handles are borrowed for the call; they and nothing else are
// inherited.
struct ProcessRequest {
  std::wstring image;         // the file, by its full path; nothing is searched
  std::wstring command_line;  // join_command_line
  std::wstring environment;   // make_environment_block
  std::wstring directory;     // exists
  HANDLE in = nullptr;
  HANDLE out = nullptr;
  HANDLE err = nullptr;
};

// A process in a job object of its own, with everything it starts: nothing of the tree can leave
// the job, and when the last handle of the job is closed, which happens at the latest when the
// helper ends in whatever way, the system ends the tree.
class JobProcess {
 public:
  // The process was in the job before it ran an instruction. `sys_errno` of the error tells whether
  // the file (ENOENT, EACCES, ENOEXEC) or the machine is to blame.
  [[nodiscard]] static Result<JobProcess> start(const ProcessRequest& request);

  JobProcess(JobProcess&&) noexcept = default;
  JobProcess& operator=(JobProcess&&) noexcept = default;
  ~JobProcess() = default;

  [[nodiscard]] HANDLE process() const noexcept { return process_.get(); }
  [[nodiscard]] std::uint32_t id() const noexcept { return id_; }
  // Ends every process of the tree, at once; they learn nothing of it.
  void end_tree() const noexcept;
  // How many processes of the tree there still are; 0 when that cannot be learned.
  [[nodiscard]] std::uint32_t count() const noexcept;
  // Only once `process` is signalled.
  [[nodiscard]] Result<std::uint32_t> exit_code() const;

 private:
  JobProcess(UniqueHandle job, UniqueHandle process, std::uint32_t id)
      : job_(std::move(job)), process_(std::move(process)), id_(id) {}
  UniqueHandle job_;
  UniqueHandle process_;
  std::uint32_t id_ = 0;
};

}  // namespace loom::windows
