#include "guard/forwarding.h"

#include "guard/walk.h"

namespace loom::guard {
namespace {

bool is_there(const std::string& name, LeafMode leaf) {
  const auto landed = walk(name, {.leaf = leaf});
  return landed && landed->exists();
}

std::string developer_directory(const ForwardingPrograms& forwarding) {
  const bool chosen = is_there(forwarding.developer_choice, LeafMode::kAsNamed);
  return chosen ? forwarding.developer_choice : forwarding.developer_default;
}

}  // namespace

std::vector<std::string> forwarding_targets(const ForwardingPrograms& forwarding,
                                            const AbsolutePath& program) {
  std::vector<std::string> targets;
  if (program.str() == forwarding.shell) {
    if (is_there(forwarding.shell_choice, LeafMode::kResolve)) {
      targets.push_back(forwarding.shell_choice);
    }
    return targets;
  }
  if (program.is_root() || program.parent().str() != forwarding.stubs) return targets;
  const std::string developer = developer_directory(forwarding);
  for (const std::string& directory : forwarding.tool_directories) {
    std::string tool = developer + '/' + directory + '/' + std::string(program.name());
    if (is_there(tool, LeafMode::kResolve)) targets.push_back(std::move(tool));
  }
  return targets;
}

}  // namespace loom::guard
