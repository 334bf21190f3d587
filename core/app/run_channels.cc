#include "app/run_channels.h"

#include <fcntl.h>

#include <cerrno>
#include <utility>

#include "host/descriptors.h"
#include "host/errno_text.h"

namespace loom::app {
namespace {

Result<RunChannels::Pipe> make_pipe(bool child_reads) {
  LOOM_TRY(host::PipeEnds pipe, host::open_pipe());
  UniqueFd& ours = child_reads ? pipe.write_end : pipe.read_end;
  if (::fcntl(ours.get(), F_SETFL, O_NONBLOCK) != 0) {
    const int error = errno;
    return fail(ErrorCode::kSystem, "pipe: " + host::errno_text(error), error);
  }
  UniqueFd& childs = child_reads ? pipe.read_end : pipe.write_end;
  return RunChannels::Pipe{.ours = std::move(ours), .childs = std::move(childs)};
}

Result<UniqueFd> open_nothing() {
  UniqueFd nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (nothing) return nothing;
  const int error = errno;
  return fail(ErrorCode::kSystem, "/dev/null: " + host::errno_text(error), error);
}

}  // namespace

Result<RunChannels> RunChannels::make_streams() {
  RunChannels made;
  LOOM_TRY(made.in, make_pipe(true));
  LOOM_TRY(made.out, make_pipe(false));
  LOOM_TRY(made.err, make_pipe(false));
  return made;
}

Result<RunChannels> RunChannels::make() {
  LOOM_TRY(RunChannels made, make_streams());
  LOOM_TRY(made.report, make_pipe(false));
  LOOM_TRY(made.control, host::make_control_pair());
  LOOM_TRY(made.commit, host::begin_commit());
  LOOM_TRY(made.nothing, open_nothing());
  return made;
}

}  // namespace loom::app
