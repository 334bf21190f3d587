// Writes values in another encoding than the one there is.
#include "liar.h"

namespace loom::liars::sloppy_encoding {

// The version as a uint8 of two bytes: sound msgpack, and not the smallest.
loom_status features(void* self, loom_view in, const loom_sink* out,
                     const loom_sink* error) noexcept {
  struct Longer {
    const loom_sink* out;
    static void append(void* ctx, const std::uint8_t* data, std::size_t size) noexcept {
      const loom_sink* to = static_cast<Longer*>(ctx)->out;
      const std::uint8_t version[] = {data[0], 0xA1, 'v', 0xCC, data[3]};
      to->append(to->ctx, version, sizeof version);
      to->append(to->ctx, data + 4, size - 4);
    }
  } longer{out};
  const loom_sink through{.ctx = &longer, .append = &Longer::append};
  return exported::features(self, in, &through, error);
}

void change(loom_backend_v1& table) { table.features = &features; }

}  // namespace loom::liars::sloppy_encoding

LOOM_LIAR_TABLE(sloppy_encoding, loom::liars::sloppy_encoding::change);
