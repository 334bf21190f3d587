#include "host/enter_control_group.h"

#include <string>

#include "host/control_group_files.h"

namespace loom::host {

Result<void> enter_control_group(int directory, pid_t child) {
  return write_control_file(directory, "cgroup.procs", std::to_string(child));
}

}  // namespace loom::host
