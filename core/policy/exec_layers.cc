#include "policy/exec_layers.h"

#include <algorithm>

namespace loom {
namespace {

void add(ExecInForce& sum, const Policy& policy, std::size_t layer) {
  sum.version = std::max(sum.version, policy.version);
  if (!policy.exec) return;
  sum.layers.push_back({.layer = layer, .table = *policy.exec});
  sum.system_support = sum.system_support && policy.exec->system_support;
  sum.memfd_noexec = sum.memfd_noexec || policy.exec->memfd_noexec;
  sum.required = sum.required || policy.exec->required;
}

}  // namespace

ExecInForce exec_in_force(const Policy& base, const Policy* inline_policy) {
  ExecInForce sum;
  add(sum, base, 0);
  if (inline_policy != nullptr) add(sum, *inline_policy, 1);
  return sum;
}

}  // namespace loom
