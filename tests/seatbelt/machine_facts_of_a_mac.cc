// The helper of the seatbelt suite believes that it runs on a Mac: what differs there in judging a
// report is then as it is there.
#include <unistd.h>

#include "host/installation.h"

namespace loom::host {

HostFacts machine_facts() {
  HostFacts facts;
  facts.os = "darwin";
  facts.machine = "arm64";
  facts.uid = ::getuid();
  facts.gid = ::getgid();
  return facts;
}

}  // namespace loom::host
