#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace loom::bwrap {

// Which of the filter's programs a run gets; the deny-set proper is in all of them.
struct FilterVariant {
  bool cuts_network = false;       // network off or proxy
  bool denies_unix = false;        // operator's --unix-sockets deny
  bool confines_programs = false;  // the policy's exec table says which programs may run
  bool seals_memory = false;       // and memory files are none (memfd "noexec")
  friend bool operator==(const FilterVariant&, const FilterVariant&) = default;
};

// What happens to a refused call.
enum class DenyAction : std::uint8_t {
  kPermission,  // fails with EPERM
  kAccess,      // fails with EACCES, as the kernel refuses it elsewhere
  kNoCall,      // fails with ENOSYS, so that libraries take the older call
  kKill,        // kills the process (SIGSYS)
};

// When a row is in force: any of its bits is one of the run's.
namespace when {
inline constexpr unsigned kAlways = 1U << 0U;
inline constexpr unsigned kNetworkCut = 1U << 1U;
inline constexpr unsigned kNetworkOpen = 1U << 2U;
inline constexpr unsigned kUnixDenied = 1U << 3U;
inline constexpr unsigned kProgramsConfined = 1U << 4U;
inline constexpr unsigned kMemorySealed = 1U << 5U;
}  // namespace when

struct DeniedCall {
  static constexpr int kByName = -1;

  std::string_view name;
  // Of a call that libseccomp 2.5 has no name for. Numbers from 424 on are the same everywhere.
  int number = kByName;
};

struct ArgumentValue {
  std::uint32_t bits;
  std::string_view name;
};

// Which values of one argument a row refuses. Only the low 32 bits are looked at, as the kernel
// does: a comparison of all 64 would be passed by setting a high one.
struct ArgumentTest {
  unsigned argument;  // counted from 0
  std::uint32_t mask;
  std::span<const ArgumentValue> values;
  bool inverted = false;  // all but the one value is refused
};

// One rule of the filter. The table is what the filter is compiled from, what
// `loom-exec plan --filter` prints and what the tests go through.
struct DenyRow {
  std::string_view id;
  std::span<const DeniedCall> calls;  // empty: every call of a foreign architecture or table
  std::optional<ArgumentTest> test;   // nullopt: refused with any arguments
  DenyAction action;
  unsigned in_force;
  std::string_view why;
};

// Where rows of one call have different tests, each refuses what it names. No call has a row
// without a test besides another one.
[[nodiscard]] std::span<const DenyRow> deny_table() noexcept;

[[nodiscard]] bool is_in_force(const DenyRow& row, const FilterVariant& variant) noexcept;

}  // namespace loom::bwrap
