#include <algorithm>

#include "report/conclude.h"
#include "report/entry_text.h"

namespace loom {
namespace {

using Tags = std::vector<std::string>;

bool contains(const Tags& tags, std::string_view tag) {
  return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

void add_once(Tags& tags, std::string_view tag) {
  if (!contains(tags, tag)) tags.emplace_back(tag);
}

bool is_darwin(std::string_view os) { return os == "darwin"; }

// The outer jail of the platform: what a degraded machine lacks by definition.
Tags outer_layers(bool darwin) {
  return darwin ? Tags{"seatbelt", "seatbelt-fs"} : Tags{"bwrap", "mounts"};
}

// docs/enforcement-tags.md 5.2, row by row.
Tags required_layers(const LayerDemand& asked, std::string_view os) {
  const Policy& policy = *asked.policy;
  const bool darwin = is_darwin(os);
  Tags layers = outer_layers(darwin);
  if (!darwin) layers.insert(layers.end(), {"landlock", "no-new-privs"});
  if (policy.network.blocks_direct()) layers.emplace_back(darwin ? "seatbelt-net" : "seccomp-net");
  if (policy.limits.mem_bytes) add_once(layers, darwin ? "rlimit-address-space" : "cgroup-v2");
  if (policy.limits.pids) add_once(layers, darwin ? "rlimit-processes" : "cgroup-v2");
  if (policy.limits.cpu_s) layers.emplace_back("rlimit-cpu");
  if (policy.limits.fsize_bytes) layers.emplace_back("rlimit-fsize");
  if (asked.exec_rules) layers.emplace_back(exec_layer(os));
  return layers;
}

// Layers that macOS cannot promise: naming them as skipped is enough there, staying silent is not.
Tags tolerated_layers(Demand demand, const Policy& policy, bool darwin) {
  Tags layers;
  if (!darwin || demand != Demand::kPlatform) return layers;
  layers.emplace_back("darwin-process-lifecycle");
  if (policy.limits.mem_bytes) layers.emplace_back("rlimit-address-space");
  if (policy.limits.pids) layers.emplace_back("rlimit-processes");
  return layers;
}

}  // namespace

std::string_view exec_layer(std::string_view os) noexcept {
  return is_darwin(os) ? "seatbelt-exec" : "exec-landlock";
}

std::vector<std::string> unmet_layers(const LayerDemand& asked, std::string_view os, bool degraded,
                                      const std::vector<std::string>& entries) {
  if (asked.demand == Demand::kBestEffort) return {};
  const bool darwin = is_darwin(os);
  Tags applied;
  Tags skipped;
  for (const std::string& entry : entries) {
    add_once(is_skip(entry) ? skipped : applied, entry_tag(entry));
  }
  const Tags tolerated = tolerated_layers(asked.demand, *asked.policy, darwin);
  Tags unmet;
  for (const std::string& layer : required_layers(asked, os)) {
    const bool lacks = degraded && contains(outer_layers(darwin), layer);
    if (!contains(tolerated, layer) && (lacks || !contains(applied, layer))) unmet.push_back(layer);
  }
  for (const std::string& layer : tolerated) {
    if (!contains(applied, layer) && !contains(skipped, layer)) add_once(unmet, layer);
  }
  for (const std::string& tag : skipped) {
    if (!contains(tolerated, tag)) add_once(unmet, tag.empty() ? "a skip without a name" : tag);
  }
  return unmet;
}

}  // namespace loom
