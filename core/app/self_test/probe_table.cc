#include "app/self_test/probe_table.h"

#include <array>

#include "app/self_test/ceiling_probes.h"
#include "app/self_test/file_probes.h"
#include "app/self_test/hostile_probes.h"
#include "app/self_test/inherited_probes.h"
#include "app/self_test/network_probes.h"
#include "app/self_test/privilege_probes.h"
#include "app/self_test/process_probes.h"

namespace loom::app {

namespace {

struct Row {
  Probe probe;
  bool linux_only = false;
};

constexpr std::array<Row, 20> kRows = {{
    {{"write outside writable_roots denied", probe_outside_write}},
    {{"protected path masked from reads and writes", probe_masks}},
    {{"daemon state root unreachable from a session jail", probe_state_root}},
    {{"host path outside the mount plan unreadable", probe_unnamed_path}},
    {{"direct socket denied under network off", probe_direct_socket}},
    {{"env not in allowlist withheld", probe_environment}},
    {{"fork bomb capped by pids limit", probe_fork_bomb}},
    {{"output flood truncated at cap", probe_flood}},
    {{"orphaned grandchild reaped via pgroup", probe_orphan}},
    {{"observed setsid escape reaped", probe_setsid_escape}},
    {{"unvetted beam denied host write, secret, and network", probe_hostile_module}},
    {{"hostile native program denied host write, secret, and network", probe_hostile_program}},
    {{"only the loopback device under network off", probe_devices}, true},
    {{"landlock refuses what the mounts would allow", probe_landlock}, true},
    {{"file size ceiling ends the writer", probe_file_ceiling}},
    {{"memory ceiling stops the allocator", probe_memory_ceiling}, true},
    {{"no capability and no privilege gain left", probe_privileges}, true},
    {{"dangerous system calls refused", probe_refused_calls}, true},
    {{"no descriptor of the helper leaks", probe_descriptors}, true},
    {{"orphans end with their run", probe_heartbeat}},
}};

}  // namespace

std::vector<Probe> probe_table(std::string_view os) {
  std::vector<Probe> probes;
  for (const Row& row : kRows) {
    if (!row.linux_only || os == "linux") probes.push_back(row.probe);
  }
  return probes;
}

}  // namespace loom::app
