#include <array>
#include <string>
#include <utility>

#include "host/load_backend.h"

namespace loom::host {
namespace {

struct Slot {
  const char* name;
  bool filled;
};

auto slots_of(const loom_backend_v1& table) {
  return std::array{
      Slot{"create", table.create != nullptr},     Slot{"destroy", table.destroy != nullptr},
      Slot{"features", table.features != nullptr}, Slot{"survey", table.survey != nullptr},
      Slot{"pieces", table.pieces != nullptr},     Slot{"probe", table.probe != nullptr},
      Slot{"plan", table.plan != nullptr},         Slot{"render", table.render != nullptr},
      Slot{"audit", table.audit != nullptr},       Slot{"start", table.start != nullptr},
      Slot{"observe", table.observe != nullptr},   Slot{"targets", table.targets != nullptr},
      Slot{"finish", table.finish != nullptr}};
}

tl::unexpected<Error> bad_table(std::string what) {
  return fail(ErrorCode::kBackend, "table: " + std::move(what));
}

bool is_text(const char* name) { return name != nullptr && *name != '\0'; }

}  // namespace

Result<void> check_table(const loom_backend_v1* table) {
  if (table == nullptr) return bad_table("the entry returned none");
  if (table->magic != LOOM_BACKEND_MAGIC) return bad_table("wrong magic");
  if (table->abi != LOOM_BACKEND_ABI) {
    return bad_table("ABI " + std::to_string(table->abi) + ", this helper speaks " +
                     std::to_string(LOOM_BACKEND_ABI));
  }
  if (table->struct_size < sizeof(loom_backend_v1)) {
    return bad_table(std::to_string(table->struct_size) + " bytes, at least " +
                     std::to_string(sizeof(loom_backend_v1)) + " are due");
  }
  if (!is_text(table->name) || !is_text(table->version) || !is_text(table->build_tag)) {
    return bad_table("name, version or build tag is missing");
  }
  for (const Slot& slot : slots_of(*table)) {
    if (!slot.filled) {
      return bad_table("slot " + std::string(slot.name) + " is empty (built with " +
                       table->build_tag + ")");
    }
  }
  return {};
}

}  // namespace loom::host
