#include <loom/codec.h>

#include "fields_facts.h"

namespace loom {

LOOM_DEFINE_CODEC_(HostFacts, host_facts, "host facts")

}  // namespace loom
