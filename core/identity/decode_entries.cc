#include "identity/decode_entries.h"

#include <loom/utf8.h>

#include <nlohmann/json.hpp>
#include <utility>

namespace loom {
namespace {

using Json = nlohmann::json;

// Keys and values of all entries together may have 65,536 bytes. No string is longer decoded than
// written, so the limit of the text holds that one as well.
constexpr std::size_t kMaxKeyAndValueBytes = 65'536;
static_assert(kMaxEntriesBytes <= kMaxKeyAndValueBytes);

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // which the library would skip

// Takes the text event by event and stops at the first one that has no place in an array of pairs.
class EntryReader final : public nlohmann::json_sax<Json> {
 public:
  bool start_array(std::size_t /*size*/) override {
    if (depth_ == kPairDepth) return false;
    ++depth_;
    in_pair_ = 0;
    return true;
  }

  bool end_array() override {
    const bool whole = depth_ != kPairDepth || in_pair_ == 2;
    --depth_;
    return whole;
  }

  bool string(std::string& text) override {
    if (depth_ != kPairDepth || in_pair_ == 2) return false;
    return in_pair_++ == 0 ? take_key(text) : take_value(text);
  }

  bool null() override { return false; }
  bool boolean(bool /*value*/) override { return false; }
  bool number_integer(number_integer_t /*value*/) override { return false; }
  bool number_unsigned(number_unsigned_t /*value*/) override { return false; }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return false; }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return false; }
  bool key(string_t& /*text*/) override { return false; }
  bool end_object() override { return false; }
  bool parse_error(std::size_t /*place*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& /*error*/) override {
    return false;
  }

  [[nodiscard]] IdentityRefusal refusal() const noexcept { return refusal_; }
  [[nodiscard]] GitIdentity take_identity() { return std::move(identity_); }

 private:
  static constexpr int kPairDepth = 2;

  bool take_key(std::string_view text) {
    if (text == "user.name") {
      field_ = &identity_.name;
    } else if (text == "user.email") {
      field_ = &identity_.email;
    } else {
      refusal_ = IdentityRefusal::kEntryKey;
      return false;
    }
    return true;
  }

  bool take_value(std::string& text) {
    if (text.find('\0') != std::string::npos) {
      refusal_ = IdentityRefusal::kEntryNul;
      return false;
    }
    *field_ = std::move(text);
    return true;
  }

  int depth_ = 0;
  int in_pair_ = 0;  // strings read of the pair in work
  std::optional<std::string>* field_ = nullptr;
  GitIdentity identity_;
  IdentityRefusal refusal_ = IdentityRefusal::kEntriesForm;
};

}  // namespace

IdentityResult<GitIdentity> decode_entries(std::string_view json) {
  if (json.size() > kMaxEntriesBytes) return tl::unexpected(IdentityRefusal::kEntriesTooLong);
  if (!is_utf8(json)) return tl::unexpected(IdentityRefusal::kEntriesNotUtf8);
  // The library takes a NUL for the end of the text.
  if (json.starts_with(kByteOrderMark) || json.find('\0') != std::string_view::npos) {
    return tl::unexpected(IdentityRefusal::kEntriesForm);
  }
  EntryReader reader;
  if (!Json::sax_parse(json.begin(), json.end(), &reader)) {
    return tl::unexpected(reader.refusal());
  }
  return reader.take_identity();
}

}  // namespace loom
