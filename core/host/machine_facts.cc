#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "host/installation.h"

namespace loom::host {

HostFacts machine_facts() {
  HostFacts facts;
  utsname name{};
  if (::uname(&name) == 0) {
    facts.os = name.sysname;
    std::transform(facts.os.begin(), facts.os.end(), facts.os.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    facts.machine = name.machine;
  }
  facts.uid = ::getuid();
  facts.gid = ::getgid();
  return facts;
}

}  // namespace loom::host
