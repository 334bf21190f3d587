#include "host/windows/job_process.h"

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "host/windows/system_text.h"

// mingw-w64 10 does not have it; the number is part of the interface since Windows 10.
#ifndef PROC_THREAD_ATTRIBUTE_JOB_LIST
#define PROC_THREAD_ATTRIBUTE_JOB_LIST ProcThreadAttributeValue(13, FALSE, TRUE, FALSE)
#endif

namespace loom::windows {
namespace {

// The list of what a new process gets besides (UpdateProcThreadAttribute keeps pointers, so both
// values live in here).
class Attributes {
 public:
  Attributes(HANDLE job, const std::array<HANDLE, 3>& handles) : job_(job), handles_(handles) {
    SIZE_T bytes = 0;
    ::InitializeProcThreadAttributeList(nullptr, kCount, 0, &bytes);
    storage_.resize(bytes);
    const auto list = reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(storage_.data());
    if (::InitializeProcThreadAttributeList(list, kCount, 0, &bytes) == 0) return;
    list_ = list;
    complete_ = add(PROC_THREAD_ATTRIBUTE_HANDLE_LIST, handles_.data(), sizeof handles_) &&
                add(PROC_THREAD_ATTRIBUTE_JOB_LIST, &job_, sizeof job_);
  }
  Attributes(const Attributes&) = delete;
  Attributes& operator=(const Attributes&) = delete;
  ~Attributes() {
    if (list_ != nullptr) ::DeleteProcThreadAttributeList(list_);
  }

  // Null when the list could not be made.
  [[nodiscard]] LPPROC_THREAD_ATTRIBUTE_LIST get() const noexcept {
    return complete_ ? list_ : nullptr;
  }

 private:
  static constexpr DWORD kCount = 2;
  [[nodiscard]] bool add(DWORD_PTR attribute, void* value, std::size_t bytes) const {
    return ::UpdateProcThreadAttribute(list_, 0, attribute, value, bytes, nullptr, nullptr) != 0;
  }

  HANDLE job_;
  std::array<HANDLE, 3> handles_;
  std::vector<std::byte> storage_;
  LPPROC_THREAD_ATTRIBUTE_LIST list_ = nullptr;
  bool complete_ = false;
};

Result<UniqueHandle> make_job() {
  UniqueHandle job(::CreateJobObjectW(nullptr, nullptr));
  if (!job) return system_failure("job object", ::GetLastError());
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
  // The second: a program that crashes ends, instead of asking somebody what to do.
  limits.BasicLimitInformation.LimitFlags =
      JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION;
  if (::SetInformationJobObject(job.get(), JobObjectExtendedLimitInformation, &limits,
                                sizeof limits) == 0) {
    return system_failure("job object, limits", ::GetLastError());
  }
  return job;
}

// Only what can be inherited may stand in a list of handles.
bool let_inherit(const std::array<HANDLE, 3>& handles) {
  for (const HANDLE each : handles) {
    if (::SetHandleInformation(each, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT) == 0) return false;
  }
  return true;
}

}  // namespace

Result<JobProcess> JobProcess::start(const ProcessRequest& request) {
  LOOM_TRY(UniqueHandle job, make_job());
  const std::array<HANDLE, 3> handles = {request.in, request.out, request.err};
  const Attributes attributes(job.get(), handles);
  if (attributes.get() == nullptr || !let_inherit(handles)) {
    return system_failure("attributes of the process", ::GetLastError());
  }
  STARTUPINFOEXW startup{};
  startup.StartupInfo.cb = sizeof startup;
  startup.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
  startup.StartupInfo.hStdInput = request.in;
  startup.StartupInfo.hStdOutput = request.out;
  startup.StartupInfo.hStdError = request.err;
  startup.lpAttributeList = attributes.get();
  // A console of its own, without a window: the command cannot reach ours.
  constexpr DWORD kFlags = CREATE_SUSPENDED | CREATE_UNICODE_ENVIRONMENT |
                           EXTENDED_STARTUPINFO_PRESENT | CREATE_NO_WINDOW;
  std::wstring command_line = request.command_line;  // the call may write into it
  std::wstring environment = request.environment;
  PROCESS_INFORMATION started{};
  if (::CreateProcessW(request.image.c_str(), command_line.data(), nullptr, nullptr, TRUE, kFlags,
                       environment.data(), request.directory.c_str(), &startup.StartupInfo,
                       &started) == 0) {
    return system_failure("start of the program", ::GetLastError());
  }
  UniqueHandle process(started.hProcess);
  const UniqueHandle thread(started.hThread);
  BOOL in_job = FALSE;
  const bool contained =
      ::IsProcessInJob(process.get(), job.get(), &in_job) != 0 && in_job != FALSE;
  if (!contained || ::ResumeThread(thread.get()) == static_cast<DWORD>(-1)) {
    const DWORD error = ::GetLastError();
    ::TerminateProcess(process.get(), kKilledCode);
    return system_failure("job object of the process", error);
  }
  return JobProcess(std::move(job), std::move(process), started.dwProcessId);
}

void JobProcess::end_tree() const noexcept { ::TerminateJobObject(job_.get(), kKilledCode); }

std::uint32_t JobProcess::count() const noexcept {
  JOBOBJECT_BASIC_ACCOUNTING_INFORMATION use{};
  if (::QueryInformationJobObject(job_.get(), JobObjectBasicAccountingInformation, &use, sizeof use,
                                  nullptr) == 0) {
    return 0;
  }
  return use.ActiveProcesses;
}

Result<std::uint32_t> JobProcess::exit_code() const {
  DWORD code = 0;
  if (::GetExitCodeProcess(process_.get(), &code) == 0) {
    return system_failure("exit code", ::GetLastError());
  }
  return std::uint32_t{code};
}

}  // namespace loom::windows
