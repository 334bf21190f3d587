#include <loom/check.h>
#include <loom/utf8.h>
#include <loom/value.h>

#include <cstring>
#include <limits>
#include <msgpack.hpp>

namespace loom {
namespace {

void append(Bytes& out, const char* data, std::size_t size) {
  const auto* const bytes = reinterpret_cast<const std::byte*>(data);
  out.insert(out.end(), bytes, bytes + size);
}

// What the packer writes into, a byte or two at a time: a header, or a scalar.
class Head {
 public:
  void write(const char* data, std::size_t size) {
    LOOM_CHECK(size <= sizeof bytes_ - size_);
    std::memcpy(bytes_ + size_, data, size);
    size_ += size;
  }
  void move_to(Bytes& out) const { append(out, bytes_, size_); }
  // In one step: a launch has some hundred short words.
  void move_to(Bytes& out, std::string_view then) const {
    const std::size_t before = out.size();
    out.resize(before + size_ + then.size());
    std::memcpy(out.data() + before, bytes_, size_);
    if (!then.empty()) std::memcpy(out.data() + before + size_, then.data(), then.size());
  }

 private:
  char bytes_[16];  // msgpack's longest, a number, has 9
  std::size_t size_ = 0;
};

// msgpack counts in 32 bits; everything we write stays far below by its own ceiling.
std::uint32_t count32(std::size_t count) {
  LOOM_CHECK(count <= std::numeric_limits<std::uint32_t>::max());
  return static_cast<std::uint32_t>(count);
}

template <class Pack>
void pack_into(Bytes& out, Pack pack) {
  Head head;
  msgpack::packer<Head> packer(head);
  pack(packer);
  head.move_to(out);
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
  Head head;
  msgpack::packer<Head> packer(head);
  packer.pack_str(count32(utf8.size()));
  head.move_to(out_, utf8);
}

void ValueWriter::binary_header(std::size_t size) {
  pack_into(out_, [size](auto& packer) { packer.pack_bin(count32(size)); });
}

void ValueWriter::binary(ByteView bytes) {
  binary_header(bytes.size());
  encoded(bytes);
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
