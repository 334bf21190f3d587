#include "boundary.h"

#include <loom/utf8.h>

#include <algorithm>
#include <string>

namespace loom::boundary {
namespace {

constexpr auto kLastStatus = static_cast<loom_status>(ErrorCode::kSystem) + 1;

tl::unexpected<Error> broken(std::string_view where, std::string_view what) {
  return fail(ErrorCode::kBackend, std::string(where) + ": " + std::string(what));
}

}  // namespace

void Collector::append(void* ctx, const std::uint8_t* data, std::size_t size) noexcept {
  auto& self = *static_cast<Collector*>(ctx);
  if (size == 0) return;
  const std::size_t room = self.ceiling_ - self.bytes_.size();
  if (data == nullptr || size > room) self.broken_ = true;
  if (data == nullptr) return;
  const auto* first = reinterpret_cast<const std::byte*>(data);
  self.bytes_.insert(self.bytes_.end(), first, first + std::min(size, room));
}

ByteView bytes_of(loom_view view) noexcept {
  if (view.size == 0) return {};
  return {reinterpret_cast<const std::byte*>(view.data), view.size};
}

loom_view view_of(ByteView bytes) noexcept {
  return {.data = reinterpret_cast<const std::uint8_t*>(bytes.data()), .size = bytes.size()};
}

void append_to(const loom_sink* sink, ByteView bytes) noexcept {
  if (sink == nullptr) return;
  const loom_view view = view_of(bytes);
  sink->append(sink->ctx, view.data, view.size);
}

loom_status report(const Error& failure, const loom_sink* error) noexcept {
  // Cut here, or a long message would count as a broken contract.
  append_to(error, as_bytes(std::string_view(failure.message).substr(0, kMaxErrorBytes)));
  return static_cast<loom_status>(failure.code) + 1;
}

loom_status report_thrown(std::string_view where, std::string_view what,
                          const loom_sink* error) noexcept {
  // No allocation: what was thrown may be bad_alloc.
  constexpr std::string_view kVerb = " threw: ";
  append_to(error, as_bytes(where));
  append_to(error, as_bytes(kVerb));
  append_to(error, as_bytes(what.substr(0, kMaxErrorBytes - where.size() - kVerb.size())));
  return static_cast<loom_status>(ErrorCode::kBackend) + 1;
}

Result<void> outcome_of(std::string_view where, loom_status status, const Collector& out,
                        const Collector& error) {
  if (status < 0 || status > kLastStatus) {
    return broken(where, "status " + std::to_string(status) + " is out of range");
  }
  if (error.broken()) return broken(where, "the error text is longer than 4 KiB");
  if (status != 0) {
    std::string text = printable(as_text(error.bytes()), kMaxErrorBytes);
    if (text.empty()) text = std::string(where) + ": no reason given";
    return fail(static_cast<ErrorCode>(status - 1), std::move(text));
  }
  if (out.broken()) return broken(where, "the answer is longer than its ceiling");
  return {};
}

tl::unexpected<Error> broken_answer(std::string_view where, const Error& found) {
  return broken(where, "unreadable answer: " + found.message);
}

}  // namespace loom::boundary
