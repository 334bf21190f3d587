#include <loom/check.h>
#include <loom/utf8.h>
#include <loom/value.h>

#include <cstring>
#include <limits>
#include <msgpack.hpp>

namespace loom {
namespace {

// What the packer writes into.
class Appender {
 public:
  explicit Appender(Bytes& out) : out_(out) {}
  void write(const char* data, std::size_t size) {
    // Called for every byte or two; insert would ask far more questions.
    if (size == 0) return;  // with a null pointer, possibly
    const std::size_t before = out_.size();
    out_.resize(before + size);
    std::memcpy(out_.data() + before, data, size);
  }

 private:
  Bytes& out_;
};

// msgpack counts in 32 bits; everything we write stays far below by its own ceiling.
std::uint32_t count32(std::size_t count) {
  LOOM_CHECK(count <= std::numeric_limits<std::uint32_t>::max());
  return static_cast<std::uint32_t>(count);
}

template <class Pack>
void pack_into(Bytes& out, Pack pack) {
  Appender appender(out);
  msgpack::packer<Appender> packer(appender);
  pack(packer);
}

}  // namespace

void ValueWriter::nil() {
  pack_into(out_, [](auto& packer) { packer.pack_nil(); });
}

void ValueWriter::boolean(bool value) {
  pack_into(out_, [value](auto& packer) { value ? packer.pack_true() : packer.pack_false(); });
}

void ValueWriter::number(std::uint64_t value) {
  pack_into(out_, [value](auto& packer) { packer.pack_uint64(value); });
}

void ValueWriter::signed_number(std::int64_t value) {
  pack_into(out_, [value](auto& packer) { packer.pack_int64(value); });
}

void ValueWriter::text(std::string_view utf8) {
  pack_into(out_, [utf8](auto& packer) {
    packer.pack_str(count32(utf8.size()));
    packer.pack_str_body(utf8.data(), count32(utf8.size()));
  });
}

void ValueWriter::binary_header(std::size_t size) {
  pack_into(out_, [size](auto& packer) { packer.pack_bin(count32(size)); });
}

void ValueWriter::binary(ByteView bytes) {
  pack_into(out_, [text = as_text(bytes)](auto& packer) {
    packer.pack_bin(count32(text.size()));
    packer.pack_bin_body(text.data(), count32(text.size()));
  });
}

void ValueWriter::name(std::string_view bytes) {
  if (is_utf8(bytes)) {
    text(bytes);
  } else {
    binary(as_bytes(bytes));
  }
}

void ValueWriter::array(std::size_t count) {
  pack_into(out_, [count](auto& packer) { packer.pack_array(count32(count)); });
}

void ValueWriter::map(std::size_t count) {
  pack_into(out_, [count](auto& packer) { packer.pack_map(count32(count)); });
}

void ValueWriter::encoded(ByteView value) { out_.insert(out_.end(), value.begin(), value.end()); }

}  // namespace loom
