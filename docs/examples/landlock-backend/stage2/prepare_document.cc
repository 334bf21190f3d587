#include "prepare_document.h"

#include <sys/mman.h>

namespace landlock::stage2 {
namespace {

constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kFields = 13;

Limit read_limit(PackedReader& in) {
  if (in.nil()) return {};
  return {.asked = true, .value = in.number()};
}

bool read_rules(PackedReader& in, PrepareDocument& prepare) {
  prepare.rule_count = in.array();
  void* const place = ::mmap(nullptr, (prepare.rule_count + 1) * sizeof(Rule),
                             PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED) return false;
  Rule* const rules = static_cast<Rule*>(place);
  bool sound = true;
  for (std::size_t i = 0; i < prepare.rule_count; ++i) {
    sound = in.array() == 4 && sound;
    rules[i].path = in.text().data;
    rules[i].access = in.number();
    rules[i].device = in.number();
    rules[i].inode = in.number();
  }
  prepare.rules = rules;
  return sound;
}

}  // namespace

bool decode_prepare(Document document, PrepareDocument& prepare) noexcept {
  PackedReader in(document.bytes, document.size);
  bool sound = in.array() == kFields;
  sound = in.number() == kVersion && sound;
  prepare.abi = static_cast<std::uint32_t>(in.number());
  prepare.handled_files = in.number();
  prepare.handled_tcp = in.number();
  prepare.scopes = in.number();
  sound = read_rules(in, prepare) && sound;
  const Text filter = in.binary();
  prepare.filter = filter.data;
  prepare.filter_bytes = filter.size;
  prepare.cuts_network = in.boolean();
  prepare.denies_unix = in.boolean();
  prepare.file_bytes = read_limit(in);
  prepare.cpu_soft = read_limit(in);
  prepare.cpu_hard = read_limit(in);
  prepare.descriptors = read_limit(in);
  return in.finish() && sound;
}

}  // namespace landlock::stage2
