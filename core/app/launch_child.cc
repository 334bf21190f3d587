#include "app/launch_child.h"

#include <fcntl.h>
#include <loom/utf8.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <utility>

#include "guard/reopen.h"
#include "host/errno_text.h"
#include "host/memory_file.h"

namespace loom::app {
namespace {

// Empty for the command, which is looked up.
Image image_of(const LaunchSpec& launch, const ImageHandles& images) {
  switch (launch.image) {
    case ImageKind::kLauncher:
      return images.launcher;
    case ImageKind::kStage2:
      return images.stage2;
    case ImageKind::kCommand:
      return {};
  }
  return {};
}

int resource_number(ChildLimit::Resource resource) {
  switch (resource) {
    case ChildLimit::Resource::kCpuSeconds:
      return RLIMIT_CPU;
    case ChildLimit::Resource::kFileSize:
      return RLIMIT_FSIZE;
  }
  return -1;
}

Result<void> add_memory_files(const LaunchSpec& launch, host::MemoryFiles& files,
                              std::vector<UniqueFd>& owned, std::vector<host::FdMove>& moves) {
  for (const MemoryFile& file : launch.memory_files) {
    LOOM_TRY(UniqueFd memory, files.lend("loom", file.bytes));
    moves.push_back({.from = memory.get(), .to = file.child_number});
    owned.push_back(std::move(memory));
  }
  return {};
}

// One more than the highest number that the child sees: a handle that is opened there need not be
// moved out of the way once more before the fork.
int first_free_number(const LaunchSpec& launch) {
  int highest = std::max({2, launch.stdin_number, launch.report_number, launch.control_number});
  for (const MemoryFile& file : launch.memory_files) {
    highest = std::max(highest, file.child_number);
  }
  for (const LentHandle& handle : launch.handles) highest = std::max(highest, handle.child_number);
  return highest + 1;
}

// In the child every source lies above the numbers that they get there, beside what else was moved
// out of the way.
Result<void> check_descriptors(const LaunchSpec& launch) {
  const bool any = std::any_of(
      launch.handles.begin(), launch.handles.end(),
      [](const LentHandle& handle) { return handle.role == LentHandle::Role::kSource; });
  struct rlimit limit {};
  if (!any || ::getrlimit(RLIMIT_NOFILE, &limit) != 0) return {};
  constexpr rlim_t kOthers = 16;
  const rlim_t wanted =
      static_cast<rlim_t>(first_free_number(launch)) + launch.handles.size() + kOthers;
  if (wanted <= limit.rlim_cur) return {};
  return fail(ErrorCode::kSystem, "the policy needs " + std::to_string(launch.handles.size()) +
                                      " mounts, each with a descriptor of its own, and that is "
                                      "more than the limit of " +
                                      std::to_string(limit.rlim_cur) + " open files allows");
}

// `low` keeps the few free numbers below occupied, so that the next handle lies high at once.
Result<UniqueFd> open_source(const LentHandle& source, int first_free, std::vector<UniqueFd>& low) {
  LOOM_TRY(UniqueFd handle, guard::reopen(source.path, source.identity));
  if (handle.get() >= first_free) return handle;
  low.push_back(std::move(handle));
  UniqueFd high(::fcntl(low.back().get(), F_DUPFD_CLOEXEC, first_free));
  if (high) return high;
  const int error = errno;
  return fail(ErrorCode::kSystem,
              "open " + escaped(source.path.str()) + ": " + host::errno_text(error), error);
}

Result<void> add_handles(const LaunchSpec& launch, const ImageHandles& images,
                         std::vector<UniqueFd>& owned, std::vector<host::FdMove>& moves) {
  LOOM_TRY_VOID(check_descriptors(launch));
  const int first_free = first_free_number(launch);
  std::vector<UniqueFd> low;
  for (const LentHandle& handle : launch.handles) {
    if (handle.role == LentHandle::Role::kSource) {
      LOOM_TRY(UniqueFd source, open_source(handle, first_free, low));
      moves.push_back({.from = source.get(), .to = handle.child_number});
      owned.push_back(std::move(source));
      continue;
    }
    if (images.stage2.handle < 0)
      return fail(ErrorCode::kBackend, "launch lends a stage 2 that is not there");
    moves.push_back({.from = images.stage2.handle, .to = handle.child_number});
  }
  return {};
}

void add_streams(const LaunchSpec& launch, const ChildStreams& streams,
                 std::vector<host::FdMove>& moves) {
  moves.push_back({.from = streams.in, .to = launch.stdin_number});
  if (launch.stdin_number != 0) moves.push_back({.from = streams.nothing, .to = 0});
  moves.push_back({.from = streams.out, .to = 1});
  moves.push_back({.from = streams.err, .to = 2});
  if (launch.report_number >= 0) {
    moves.push_back({.from = streams.report, .to = launch.report_number});
  }
  if (launch.control_number >= 0) {
    moves.push_back({.from = streams.control, .to = launch.control_number});
  }
}

}  // namespace

std::vector<std::string> command_candidates(const std::string& program, const std::string& cwd,
                                            const std::vector<std::string>& environment) {
  if (program.find('/') != std::string::npos) {
    return {program.front() == '/' ? program : cwd + "/" + program};
  }
  std::vector<std::string> candidates;
  for (const std::string& variable : environment) {
    if (!std::string_view(variable).starts_with("PATH=")) continue;
    std::string_view rest = std::string_view(variable).substr(5);
    while (!rest.empty()) {
      const std::string_view entry = rest.substr(0, rest.find(':'));
      rest.remove_prefix(entry.size() == rest.size() ? rest.size() : entry.size() + 1);
      if (entry.starts_with('/')) candidates.push_back(std::string(entry) + "/" + program);
    }
  }
  return candidates;
}

Result<host::SpawnedChild> launch_child(const LaunchSpec& launch, const ChildStreams& streams,
                                        const ImageHandles& images, host::MemoryFiles& files,
                                        std::function<void(pid_t)> while_held) {
  host::SpawnRequest request;
  request.while_held = std::move(while_held);
  const Image image = image_of(launch, images);
  request.image_fd = image.handle;
  if (!image.path.empty()) request.candidates = {image.path};
  request.argv = launch.argv;
  request.environment = launch.environment;
  request.directory = launch.cwd;
  // Elsewhere what the child leaves would be the command's.
  if (launch.image == ImageKind::kLauncher) request.signals = images.signals;
  request.die_with_parent = launch.image != ImageKind::kLauncher;
  request.caretaker = streams.caretaker;
  request.run = streams.run;
  if (launch.argv.empty()) return fail(ErrorCode::kBackend, "launch has no argv");
  if (launch.image == ImageKind::kCommand) {
    request.candidates = command_candidates(launch.argv.front(), launch.cwd, launch.environment);
    request.limits = images.given_back;
  } else if (!image.is_there()) {
    return fail(ErrorCode::kBackend, "launch names a program that is not there");
  }
  std::vector<UniqueFd> owned;
  LOOM_TRY_VOID(add_memory_files(launch, files, owned, request.moves));
  LOOM_TRY_VOID(add_handles(launch, images, owned, request.moves));
  add_streams(launch, streams, request.moves);
  for (const ChildLimit& limit : launch.child_limits) {
    request.limits.push_back(
        {.resource = resource_number(limit.resource), .soft = limit.soft, .hard = limit.hard});
  }
  return host::spawn(request);
}

}  // namespace loom::app
