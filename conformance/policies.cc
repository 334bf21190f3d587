#include <random>

#include "policy/decode_policy.h"
#include "scene.h"

namespace loom::conformance {
namespace {

// One policy a clause: whatever else holds, exactly this is asked for besides the plain workspace.
std::vector<NamedPolicy> one_a_clause(const Place& place) {
  std::vector<NamedPolicy> list;
  const auto add = [&](const char* name) -> Policy& {
    return list.emplace_back(NamedPolicy{.name = name, .policy = plain_policy(place)}).policy;
  };
  add("a plain workspace");
  add("a masked file").protected_paths = {place.path("work/.env")};
  add("a masked directory").protected_paths = {place.path("work/.git")};
  add("an absent protected path").protected_paths = {place.path("work/absent")};
  add("a protected path that nothing grants").protected_paths = {place.path("elsewhere/hidden")};
  Policy& masked_reading = add("a mask in a readable root");
  masked_reading.readable_roots = {place.path("read")};
  masked_reading.protected_paths = {place.path("read/secret")};
  add("two workspaces").writable_roots.push_back(place.path("more"));
  add("a readable root").readable_roots = {place.path("read")};
  Policy& within = add("a readable root inside the workspace");
  within.readable_roots = {place.path("work/notes")};
  add("network full").network.mode = NetworkMode::kFull;
  add("network proxy").network = {
      .mode = NetworkMode::kProxy, .allow = {"example.org"}, .proxy = "127.0.0.1:3128"};
  add("a CPU-time limit").limits.cpu_s = 7;
  add("a file-size limit").limits.fsize_bytes = 65'536;
  add("a memory limit").limits.mem_bytes = 64u << 20;
  add("a process limit").limits.pids = 32;
  add("a scratch of the host's").scratch = {.host_path = place.path("scratch"),
                                            .written = place.at("scratch")};
  add("a read-only mount").mounts = {{.path = place.path("mounted/ro"), .writable = false}};
  add("a read-write mount").mounts = {{.path = place.path("mounted/rw"), .writable = true}};
  add("an absent optional mount").mounts = {{.path = place.path("mounted/none")}};
  return list;
}

class Drawer {
 public:
  Drawer(const Place& place, std::uint32_t seed) : place_(place), random_(seed) {}

  [[nodiscard]] Policy draw() {
    Policy policy = plain_policy(place_);
    take(policy.writable_roots, {"more", "read/deep"});
    take(policy.readable_roots, {"read", "work/notes", "elsewhere"});
    take(policy.protected_paths,
         {"work/.env", "work/.git", "work/absent", "read/secret", "more/file"});
    policy.network.mode = static_cast<NetworkMode>(random_() % 3);
    if (policy.network.mode == NetworkMode::kProxy) {
      policy.network.allow = {"example.org"};
      policy.network.proxy = "127.0.0.1:3128";
    }
    if (coin()) policy.limits.cpu_s = 1 + random_() % 100;
    if (coin()) policy.limits.fsize_bytes = 4'096 * (1 + random_() % 100);
    if (coin()) policy.limits.mem_bytes = (1 + random_() % 64) << 20;
    if (coin()) policy.limits.pids = 8 + random_() % 64;
    if (coin()) {
      policy.scratch = {.host_path = place_.path("scratch"), .written = place_.at("scratch")};
    }
    for (const char* inside : {"mounted/ro", "mounted/rw"}) {
      if (coin()) policy.mounts.push_back({.path = place_.path(inside), .writable = coin()});
    }
    return policy;
  }

 private:
  [[nodiscard]] bool coin() { return random_() % 2 == 0; }
  void take(std::vector<AbsolutePath>& list, std::initializer_list<const char*> from) {
    for (const char* inside : from) {
      if (coin()) list.push_back(place_.path(inside));
    }
  }

  const Place& place_;
  std::mt19937 random_;
};

}  // namespace

std::vector<NamedPolicy> policies_for(const Place& place, std::uint32_t seed, int random) {
  std::vector<NamedPolicy> list = one_a_clause(place);
  Drawer drawer(place, seed);
  for (int drawn = 1; drawn <= random;) {
    const Policy policy = drawer.draw();
    // The document's own rules are the helper's to keep; a backend never sees what breaks them.
    if (!decode_policy(encode_policy(policy))) continue;
    list.push_back({.name = "drawn policy " + std::to_string(drawn), .policy = policy});
    ++drawn;
  }
  return list;
}

}  // namespace loom::conformance
