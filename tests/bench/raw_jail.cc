#include "tests/bench/raw_jail.h"

#include <fcntl.h>
#include <loom/check.h>

#include <filesystem>
#include <utility>

#include "app/log.h"
#include "app/prepare_run.h"
#include "app/session.h"
#include "host/memory_file.h"

namespace loom::bench {
namespace {

// Above every number that a launch gives its descriptors.
constexpr int kAboveAll = 4'000;
// The plan's document is lent at this number, the options at the other.
constexpr int kDocumentNumber = 3;
constexpr int kOptionsNumber = 10;

// What bubblewrap gets for this policy from the helper: options, and sources by handle.
LaunchSpec executed_launch(const Setup& setup) {
  auto log = app::make_log();
  const auto installation = host::find_installation();
  LOOM_CHECK(installation.has_value());
  host::Installation beside = *installation;
  const auto root = std::filesystem::path(setup.helper).parent_path().parent_path();
  beside.backend_directory = root / "lib/loom-exec/backends";
  beside.libexec_directory = root / "libexec/loom-exec";
  app::SessionOptions options;
  options.search_path = "/usr/bin:/bin";
  auto session = app::Session::open(beside, std::move(options), log);
  LOOM_CHECK(session.has_value());
  const auto run = app::prepare_run(**session, {.argv = {"/usr/bin/true"},
                                                .environment = {},
                                                .cwd = setup.workspace,
                                                .policy = setup.policy});
  LOOM_CHECK(run.has_value());
  return run->launch;
}

// The sources, opened once: a yardstick has no names to look up.
std::vector<UniqueFd> open_sources(const LaunchSpec& launch, std::vector<LentFd>& lent) {
  std::vector<UniqueFd> sources;
  for (const LentHandle& handle : launch.handles) {
    if (handle.role != LentHandle::Role::kSource) continue;
    const UniqueFd low(::open(handle.path.str().c_str(), O_PATH | O_CLOEXEC));
    sources.emplace_back(::fcntl(low.get(), F_DUPFD_CLOEXEC, kAboveAll));
    LOOM_CHECK(sources.back() && handle.child_number < kAboveAll);
    lent.push_back({.fd = sources.back().get(), .number = handle.child_number});
  }
  return sources;
}

}  // namespace

RawJail::RawJail(const Setup& setup)
    : launch_(executed_launch(setup)), sources_(open_sources(launch_, lent_)) {
  for (const MemoryFile& file : launch_.memory_files) {
    if (file.child_number != kDocumentNumber) options_ = &file;
  }
  LOOM_CHECK(options_ != nullptr);
}

void RawJail::run() const {
  auto file = host::make_memory_file("options", options_->bytes);
  LOOM_CHECK(file.has_value());
  const UniqueFd high(::fcntl(file->get(), F_DUPFD_CLOEXEC, kAboveAll));
  std::vector<LentFd> all = lent_;
  all.push_back({.fd = high.get(), .number = kOptionsNumber});
  const ChildProcess child = start_child(
      {.argv = {"/usr/bin/bwrap", "--args", std::to_string(kOptionsNumber), "/usr/bin/true"},
       .lent = std::move(all)});
  LOOM_CHECK(wait_for(child) == 0);
}

}  // namespace loom::bench
