#pragma once

#include <loom/backend.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/last_look.h"
#include "app/launch_child.h"
#include "app/planned_launch.h"
#include "app/run_channels.h"
#include "guard/exec_objects.h"
#include "guard/linker_names.h"
#include "host/caretaker.h"
#include "host/control_group.h"
#include "host/control_group_base.h"
#include "host/installation.h"
#include "host/memory_file.h"
#include "host/name_watch.h"
#include "host/own_limits.h"
#include "host/own_mounts.h"
#include "host/pinned_program.h"
#include "report/denial.h"

namespace spdlog {
class logger;
}

namespace loom::app {

// What the operator's command line decides for the life of the helper.
struct SessionOptions {
  std::string backend;                  // a name, an absolute path, or empty for the platform's own
  std::string search_path;              // the helper's PATH: where the launcher is looked for
  std::vector<AbsolutePath> untrusted;  // regions a command may write: no launcher comes from there
  Demand demand = Demand::kBestEffort;
  std::vector<std::string> keep_capabilities;
  bool deny_unix_sockets = false;  // --unix-sockets deny
  std::string cgroup_base;      // --cgroup-base or LOOM_CGROUP_BASE; empty: the helper's own group
  bool may_need_groups = true;  // false: it is known that no run will have a ceiling
  // No second run will need to know whether the launcher changed after the first.
  bool runs_once = false;
  // No command is started, and soon this process ends: nobody gets to rewrite the backend's file.
  bool starts_nothing = false;
};

// The operator's base for control groups in the environment, where no flag names one.
inline constexpr const char* kCgroupBaseVariable = "LOOM_CGROUP_BASE";

// The flag's value unless it is empty, else the variable's without the white space around it.
[[nodiscard]] std::string configured_cgroup_base(std::string_view flag, std::string_view variable);

inline constexpr std::size_t kMaxWrittenBefore = 1'024;

// The host regions a command under `policy` may write: no program that the helper runs comes from
// there.
[[nodiscard]] std::vector<AbsolutePath> writable_regions(const Policy& policy);

struct StartedRun {
  host::SpawnedChild child;
  std::vector<std::string> entries;         // what the backend claims besides
  std::optional<host::ControlGroup> group;  // holds the ceilings, when the child is in it
  std::string no_group;                     // why it is not, when ceilings were asked for
  std::vector<std::string> extras;          // what the host claims of the programs it started
  UniqueFd exec_rules;                      // goes with the commit; none: there are no exec rules
  std::string exec_entry;                   // what is claimed once they are in force
};

// One loaded backend with the programs it needs and what this machine offers it. Also the backend's
// host: the only place from which it can start anything, and only the launch that render gave.
class Session final : public HostServices {
 public:
  // Loads, pins, probes. Fails when the backend cannot be loaded or breaks its contract. A platform
  // that refuses to serve is no failure here: features().refusal says so.
  [[nodiscard]] static Result<std::unique_ptr<Session>> open(const host::Installation& installation,
                                                             SessionOptions options,
                                                             spdlog::logger& log);
  ~Session() override;

  [[nodiscard]] JailBackend& backend() noexcept { return *backend_; }
  [[nodiscard]] const SessionOptions& options() const noexcept { return options_; }
  // What the hello says; after finish_probing, what was then found to be true.
  [[nodiscard]] const Features& features() const noexcept { return features_; }
  // Without paths; those belong to one run.
  [[nodiscard]] const HostFacts& facts() const noexcept { return facts_; }
  // The programs that the helper itself runs: nothing is done for a command that would change them.
  [[nodiscard]] std::vector<FileIdentity> pins() const;
  // What the base policy, and each policy that a run of this helper had, let a command write: what
  // lies there may have been put there for the next run.
  [[nodiscard]] const std::vector<AbsolutePath>& written_before() const noexcept {
    return written_before_;
  }
  // Beyond kMaxWrittenBefore regions, everything counts as one.
  void remember_written(const Policy& policy);
  // The system's linkers, remembered between launches.
  [[nodiscard]] guard::LinkerNames& linkers() noexcept { return linkers_; }
  // A name no other run of this helper has.
  [[nodiscard]] std::string next_nonce();

  // Before the first plan: what takes a launch to find out, the sealed copy of stage 2, and what
  // the pinned programs contain. Once; later calls do nothing. After an error (the launcher could
  // not be tried just now) the next call tries again, and until one succeeds no run is planned.
  [[nodiscard]] Result<void> finish_probing();

  // The backend's survey for `policy`. Pure, so what it said about the same policy last time holds;
  // nearly every run of a broker comes with one and the same. Valid until the next call. After
  // finish_probing.
  [[nodiscard]] Result<const Survey*> survey(const Policy& policy);

  // What was planned last, and how the launch looked.
  [[nodiscard]] PlannedLaunches& planned_launches() noexcept { return planned_launches_; }

  // What was found on the host when it was looked at last.
  [[nodiscard]] LastLook& last_look() noexcept { return last_look_; }

  // For whoever watches names: they outlive every run.
  [[nodiscard]] host::NameQueues& name_queues() noexcept { return name_queues_; }

  // Whether this kernel says how a process ended that is not our child; known once it has.
  [[nodiscard]] bool kernel_tells_ends() const noexcept { return kernel_tells_ends_; }
  void learn_that_kernel_tells_ends() noexcept { kernel_tells_ends_ = true; }

  // Those of the next run, which is `launch`.
  [[nodiscard]] Result<RunChannels> take_channels(const LaunchSpec& launch);
  // While nobody waits: makes them ahead, and opens what else the next run is likely to need. What
  // fails here fails again when a run needs it.
  void get_ready();

  // The mounts of the host, as they are now. Valid until the next call.
  [[nodiscard]] Result<const host::ReachableMounts*> mounts() { return own_mounts_.now(); }
  // As OwnMounts::readings, of the last mounts().
  [[nodiscard]] std::uint64_t mount_readings() const noexcept { return own_mounts_.readings(); }

  // Has the backend start `launch`, connected to `streams`. `id` names its control group. `exec`:
  // what the launch's exec rules are made of; null: it wants none. A record comes with refusals
  // that have one ("pin_changed": a program that it runs was rewritten since the helper started).
  [[nodiscard]] Admission<StartedRun> start(const LaunchSpec& launch, const ChildStreams& streams,
                                            std::uint64_t id, guard::ExecObjects* exec = nullptr);

  // Whether the programs that `launch` becomes are those that were pinned, and what the host claims
  // of them then. start does the same.
  [[nodiscard]] Result<std::vector<std::string>> check_pins(const LaunchSpec& launch);

  // The helper's caretaker, alive: forked when it is first asked for, and anew after it was killed.
  [[nodiscard]] Result<host::Caretaker*> caretaker();
  // Has it make and hold these names; none: it only keeps the run.
  [[nodiscard]] Result<host::MadeNames> make_names(const std::vector<host::WantedName>& names);

  // Where runs get their control groups; the path is empty when facts().ceilings says why not.
  [[nodiscard]] const host::ControlGroupBase& control_groups() const noexcept { return groups_; }

  void log(LogLevel level, std::string_view utf8) override;
  Result<TrialResult> try_launch(const LaunchSpec& launch, std::uint32_t deadline_ms) override;
  Result<std::int32_t> spawn(const LaunchSpec& launch) override;
  Result<ExecObject> next_exec_object() override;
  Result<std::vector<std::int32_t>> children(std::int32_t pid) override;

 private:
  struct PendingStart {
    const LaunchSpec* launch;
    const ChildStreams* streams;
    std::uint64_t id;
    guard::ExecObjects* exec;
    std::optional<host::SpawnedChild> child;
    std::optional<host::ControlGroup> group;
    std::string no_group;
  };
  Session(SessionOptions options, spdlog::logger& log)
      : options_(std::move(options)), log_(log), written_before_(options_.untrusted) {}
  [[nodiscard]] Result<void> load(const host::Installation& installation);
  [[nodiscard]] Result<void> pin_pieces(const host::Installation& installation);
  [[nodiscard]] ImageHandles images();
  void enter_group(PendingStart& pending, pid_t child) const;

  SessionOptions options_;
  spdlog::logger& log_;
  host::PinnedProgram launcher_;
  host::PinnedProgram stage2_;
  host::ControlGroupBase groups_;
  host::OwnLimits limits_;
  std::optional<host::SignalSet> signals_;  // once anything was started
  HostFacts facts_;
  Features features_;
  std::optional<Policy> surveyed_;  // the policy that survey_ answers
  Survey survey_;
  PlannedLaunches planned_launches_;
  LastLook last_look_;
  host::NameQueues name_queues_;
  host::MemoryFiles memory_files_;       // of the last launch
  std::optional<RunChannels> channels_;  // of the next one
  std::shared_ptr<host::Caretaker> caretaker_;
  guard::LinkerNames linkers_;
  std::vector<AbsolutePath> written_before_;
  host::OwnMounts own_mounts_;
  std::optional<Denial> exec_denial_;  // why next_exec_object refused, until start returns
  PendingStart* pending_ = nullptr;    // set only while the backend's start runs
  bool probing_launches_ = false;      // true only while probe(kBeforePlan) runs
  bool probed_ = false;
  bool stage2_sealed_ = false;
  bool kernel_tells_ends_ = false;
  std::uint64_t runs_ = 0;
  std::unique_ptr<JailBackend> backend_;  // last: it borrows this host
};

}  // namespace loom::app
