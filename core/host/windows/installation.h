#pragma once

#include <loom/facts.h>
#include <loom/result.h>

#include <string>
#include <vector>

// Reads about the machine and the disk. Paths go in and come out as UTF-8 in Windows' spelling.
namespace loom::windows {

// Where the helper is installed, seen from its own executable: PREFIX\bin\loom-exec.exe and
// PREFIX\lib\loom-exec\backends.
struct Installation {
  std::string backend_directory;
};
[[nodiscard]] Result<Installation> find_installation();

// The file of a backend: "" is the platform's own, a name is NAME.dll of the fixed folder and never
// a way out of it, a path with a drive is itself.
[[nodiscard]] Result<std::string> backend_file(const Installation& installation,
                                               const std::string& wanted);

// Operating system and architecture; Windows has no user numbers.
[[nodiscard]] HostFacts machine_facts();

struct SystemPlaces {
  std::string drive;                     // "C:"
  std::vector<std::string> directories;  // the floor of every PATH: system32, then the one above it
};
[[nodiscard]] SystemPlaces system_places();

// A variable of the helper's own environment; empty when it is not there.
[[nodiscard]] std::string variable(const wchar_t* name);

[[nodiscard]] bool is_directory(const std::string& path);
// A file on a disk: no directory, no device.
[[nodiscard]] bool is_disk_file(const std::string& path);

// What a surveyed path is. Links are followed by whoever opens it; nothing is resolved here,
// because no backend for Windows holds anything by it.
[[nodiscard]] PathFact look_at(const AbsolutePath& path, const SystemPlaces& places);

}  // namespace loom::windows
