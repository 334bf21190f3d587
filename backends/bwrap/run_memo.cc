#include "run_memo.h"

#include <loom/value.h>

#include <utility>

#include "value_reading.h"

namespace loom::bwrap {
namespace {

constexpr std::uint64_t kVersion = 1;
constexpr std::size_t kFields = 25;
constexpr std::size_t kSubjectFields = 7;
constexpr std::size_t kLinkFields = 2;
constexpr std::size_t kMovedFields = 2;

void write(ValueWriter& out, std::string_view text) { out.binary(as_bytes(text)); }

// An absent limit travels as an empty list.
void write(ValueWriter& out, const std::optional<std::uint64_t>& limit) {
  out.array(limit ? 1 : 0);
  if (limit) out.number(*limit);
}

void write(ValueWriter& out, const std::vector<std::uint64_t>& numbers) {
  out.array(numbers.size());
  for (const std::uint64_t number : numbers) out.number(number);
}

void write(ValueWriter& out, const std::vector<std::string>& texts) {
  out.array(texts.size());
  for (const std::string& text : texts) write(out, std::string_view(text));
}

void write(ValueWriter& out, const std::vector<Subject>& subjects) {
  out.array(subjects.size());
  for (const Subject& subject : subjects) {
    out.array(kSubjectFields);
    out.number(static_cast<std::uint64_t>(subject.role));
    out.boolean(subject.writable);
    out.boolean(subject.present);
    write(out, std::string_view(subject.written.str()));
    write(out, std::string_view(subject.real.str()));
    out.number(subject.identity.device);
    out.number(subject.identity.inode);
  }
}

void write(ValueWriter& out, const std::vector<HostLink>& links) {
  out.array(links.size());
  for (const HostLink& link : links) {
    out.array(kLinkFields);
    write(out, std::string_view(link.place.str()));
    write(out, std::string_view(link.target));
  }
}

void write(ValueWriter& out, const std::vector<MovedSource>& moved) {
  out.array(moved.size());
  for (const MovedSource& source : moved) {
    out.array(kMovedFields);
    out.number(source.index);
    write(out, std::string_view(source.real.str()));
  }
}

// Reads a list, each element with `read`, which says whether it could.
template <class T, class Read>
bool read_list(const Value& list, std::vector<T>& into, Read read) {
  into.reserve(list.items.size());
  for (const Value& item : list.items) {
    if (!read(item, into)) return false;
  }
  return true;
}

bool read_number(const Value& item, std::vector<std::uint64_t>& into) {
  into.push_back(item.unsigned_number);
  return item.is(Value::Kind::kUnsigned);
}

bool read_text(const Value& item, std::vector<std::string>& into) {
  into.emplace_back(item.bytes);
  return item.is(Value::Kind::kBinary);
}

bool read_limit(const Value& list, std::optional<std::uint64_t>& into) {
  std::vector<std::uint64_t> numbers;
  if (!read_list(list, numbers, read_number) || numbers.size() > 1) return false;
  if (!numbers.empty()) into = numbers.front();
  return true;
}

bool read_subject(const Value& item, std::vector<Subject>& into) {
  TupleReader in(item, kSubjectFields);
  const std::uint64_t role = in.number();
  if (role > static_cast<std::uint64_t>(PathRole::kScratch)) return false;
  const bool writable = in.boolean();
  const bool present = in.boolean();
  AbsolutePath written = in.path();
  AbsolutePath real = in.path();
  const std::uint64_t device = in.number();
  const std::uint64_t inode = in.number();
  into.push_back({.role = static_cast<PathRole>(role),
                  .writable = writable,
                  .present = present,
                  .written = std::move(written),
                  .real = std::move(real),
                  .identity = {.device = device, .inode = inode}});
  return in.ok();
}

bool read_link(const Value& item, std::vector<HostLink>& into) {
  TupleReader in(item, kLinkFields);
  AbsolutePath place = in.path();
  std::string target = in.text();
  into.push_back({.place = std::move(place), .target = std::move(target)});
  return in.ok();
}

bool read_moved(const Value& item, std::vector<MovedSource>& into) {
  TupleReader in(item, kMovedFields);
  const std::uint64_t index = in.number();
  into.push_back({.index = index, .real = in.path()});
  return in.ok();
}

bool read_network(std::uint64_t number, NetworkMode& mode) {
  mode = static_cast<NetworkMode>(number);
  return number <= static_cast<std::uint64_t>(NetworkMode::kFull);
}

bool read_memo(TupleReader& in, RunMemo& memo) {
  bool ok = in.number() == kVersion;
  memo.jailed = in.boolean();
  memo.launcher_reason = in.text();
  ok = read_network(in.number(), memo.network) && ok;
  ok = read_limit(in.list(), memo.cpu_s) && ok;
  ok = read_limit(in.list(), memo.fsize_bytes) && ok;
  ok = read_limit(in.list(), memo.ceilings.memory_bytes) && ok;
  ok = read_limit(in.list(), memo.ceilings.pids) && ok;
  ok = read_list(in.list(), memo.keep_caps, read_number) && ok;
  const auto kernel = decode_kernel_facts(as_bytes(in.text()));
  if (kernel) memo.kernel = *kernel;
  memo.deny_unix_sockets = in.boolean();
  ok = read_limit(in.list(), memo.descriptor_limit) && ok;
  memo.machine = in.text();
  memo.scratch_is_tmpfs = in.boolean();
  ok = read_list(in.list(), memo.subjects, read_subject) && ok;
  ok = read_list(in.list(), memo.dropped, read_number) && ok;
  ok = read_list(in.list(), memo.moved, read_moved) && ok;
  ok = read_list(in.list(), memo.links, read_link) && ok;
  ok = read_list(in.list(), memo.link_remarks, read_text) && ok;
  memo.hardened = in.boolean();
  memo.confines_programs = in.boolean();
  memo.seals_memory = in.boolean();
  memo.leads = in.boolean();
  memo.linked_masks = in.number();
  const std::string commit = in.text();
  const ByteView commit_bytes = as_bytes(commit);
  memo.commit.assign(commit_bytes.begin(), commit_bytes.end());
  return ok && kernel && in.ok();
}

}  // namespace

Bytes encode(const RunMemo& memo) {
  ValueWriter out;
  out.array(kFields);
  out.number(kVersion);
  out.boolean(memo.jailed);
  write(out, std::string_view(memo.launcher_reason));
  out.number(static_cast<std::uint64_t>(memo.network));
  write(out, memo.cpu_s);
  write(out, memo.fsize_bytes);
  write(out, memo.ceilings.memory_bytes);
  write(out, memo.ceilings.pids);
  write(out, memo.keep_caps);
  out.binary(encode(memo.kernel));
  out.boolean(memo.deny_unix_sockets);
  write(out, memo.descriptor_limit);
  write(out, std::string_view(memo.machine));
  out.boolean(memo.scratch_is_tmpfs);
  write(out, memo.subjects);
  write(out, memo.dropped);
  write(out, memo.moved);
  write(out, memo.links);
  write(out, memo.link_remarks);
  out.boolean(memo.hardened);
  out.boolean(memo.confines_programs);
  out.boolean(memo.seals_memory);
  out.boolean(memo.leads);
  out.number(memo.linked_masks);
  out.binary(memo.commit);
  return out.take();
}

Result<RunMemo> decode_run_memo(ByteView bytes) {
  LOOM_TRY(const Value value, parse_value(bytes));
  TupleReader in(value, kFields);
  RunMemo memo;
  if (!read_memo(in, memo)) {
    return fail(ErrorCode::kInvalidRequest, "plan.backend: not what this backend's plan returned");
  }
  return memo;
}

}  // namespace loom::bwrap
