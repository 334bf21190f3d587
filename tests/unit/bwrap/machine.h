#pragma once

#include <loom/facts.h>
#include <loom/launch.h>
#include <loom/plan.h>
#include <loom/policy.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backends/bwrap/kernel_facts.h"
#include "backends/bwrap/resolve.h"

namespace loom::bwrap::test {

[[nodiscard]] AbsolutePath path(std::string_view text);
[[nodiscard]] std::vector<AbsolutePath> paths(const std::vector<std::string>& texts);

// Which object the imagined machine has at a path; never zero, equal for equal paths.
[[nodiscard]] FileIdentity identity_of(const std::string& real);

// An imagined machine: all system roots are real directories, the kernel has every layer, and
// nothing else exists until it is declared.
class Machine {
 public:
  Machine();

  Machine& directory(const std::string& at);
  Machine& file(const std::string& at);
  Machine& other(const std::string& at);  // FIFO, socket, device
  Machine& missing(const std::string& at, int error);
  // What a helper made there for an absent protected path, or on the way to one.
  Machine& placeholder(const std::string& at);
  // A mount of the host's: `root` of the file system on `device` is shown at `point`.
  Machine& mounted(const std::string& point, const std::string& root, const std::string& device);
  // As far as the facts go, this was not looked at.
  Machine& unlooked(const std::string& at);
  Machine& by_handle();
  // `at` leads through links to `real`, which is declared as well (or missing).
  Machine& linked(const std::string& at, const std::string& real, std::vector<LinkFact> links);
  Machine& kernel(const KernelFacts& facts);
  Machine& without_launcher();
  Machine& without_stage2();
  Machine& architecture(const std::string& machine);

  // What the host would tell about this policy.
  [[nodiscard]] HostFacts facts(const Policy& policy) const;
  [[nodiscard]] ResolvedPolicy resolve(const Policy& policy) const;
  [[nodiscard]] PlanRequest request(const Policy& policy) const;

 private:
  struct Entry {
    std::string real;
    PathKind kind = PathKind::kMissing;
    int error = 0;
    std::vector<LinkFact> links;
    bool placeholder = false;
  };
  using Directories = std::set<std::string>;
  [[nodiscard]] Directories directories() const;
  [[nodiscard]] PathFact fact(const AbsolutePath& at, const Directories& directories) const;
  void add_directories(HostFacts& facts, const Directories& directories) const;

  std::map<std::string, Entry> entries_;
  std::set<std::string> unlooked_;
  HostFacts facts_;
};

// A machine that has everything `base_policy` names.
[[nodiscard]] Machine base_machine();

// Writable /work, readable /opt/tools, protected /work/.git and /work/.env, network off, tmpfs
// scratch.
[[nodiscard]] Policy base_policy();
// Nothing granted, nothing protected.
[[nodiscard]] Policy empty_policy();
[[nodiscard]] Scratch host_scratch(const std::string& at);
[[nodiscard]] ExplicitMount mount(const std::string& at, bool writable, bool required);

// The plan, which must exist.
[[nodiscard]] JailPlan plan_of(const Machine& machine, const Policy& policy);
// What that plan is rendered to, which must exist.
[[nodiscard]] LaunchSpec launch_of(const Machine& machine, const Policy& policy);
// The refusal's text, which must exist.
[[nodiscard]] std::string refusal_of(const Machine& machine, const Policy& policy);
// The canonical options of a policy that `plan` might refuse.
[[nodiscard]] std::vector<std::string> argv_of(const Machine& machine, const Policy& policy);
// The options that bubblewrap really gets.
[[nodiscard]] std::vector<std::string> executed_of(const Machine& machine, const Policy& policy);

// The same machine after the host made what a first plan asks for.
[[nodiscard]] Machine after_making(Machine machine, const Policy& policy);

// The arguments joined by single spaces, with one at either end, so that " --bind /a /a " can be
// sought.
[[nodiscard]] std::string joined(const std::vector<std::string>& argv);
[[nodiscard]] std::size_t count(const std::string& text, const std::string& part);

}  // namespace loom::bwrap::test
