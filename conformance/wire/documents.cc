#include "documents.h"

namespace loom::conformance {

Json policy_for(const Place& place) {
  Json limits = Json::object();
  for (const char* const name :
       {"cpu_s", "fsize_bytes", "mem_bytes", "output_bytes", "pids", "wall_s"}) {
    limits[name] = 0;
  }
  return {{"env_allow", Json::array({"PATH"})},
          {"limits", limits},
          {"mounts", Json::array()},
          {"network", {{"mode", "off"}}},
          {"protected", Json::array()},
          {"readable_roots", Json::array()},
          {"scratch", "tmpfs"},
          {"v", 2},
          {"writable_roots", Json::array({place.at("work")})}};
}

Json limited(Json policy, const char* limit, std::uint64_t value) {
  policy["limits"][limit] = value;
  return policy;
}

Json start_of(const std::vector<std::string>& argv) {
  return {{"argv", argv},
          {"env", Json::object()},
          {"cwd", ""},
          {"token", binary(std::string(32, 't'))}};
}

Json shell(const std::string& script) { return start_of({"/bin/sh", "-c", script}); }

Json with(Json map, const char* key, const Json& value) {
  map[key] = value;
  return map;
}

Json without(Json map, const char* key) {
  map.erase(key);
  return map;
}

}  // namespace loom::conformance
