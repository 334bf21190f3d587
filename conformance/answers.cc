#include "answers.h"

#include <sys/wait.h>
#include <unistd.h>

#include <clocale>
#include <cstring>

#include "child_process.h"

namespace loom::conformance {
namespace {

void put_number(std::string& out, std::uint32_t number) {
  char bytes[sizeof number];
  std::memcpy(bytes, &number, sizeof number);
  out.append(bytes, sizeof number);
}

void put_text(std::string& out, std::string_view text) {
  put_number(out, static_cast<std::uint32_t>(text.size()));
  out += text;
}

// false when nothing, or not all of it, is left.
bool take_number(std::string_view& in, std::uint32_t& number) {
  if (in.size() < sizeof number) return false;
  std::memcpy(&number, in.data(), sizeof number);
  in.remove_prefix(sizeof number);
  return true;
}

bool take_text(std::string_view& in, std::string_view& text) {
  std::uint32_t size = 0;
  if (!take_number(in, size) || in.size() < size) return false;
  text = in.substr(0, size);
  in.remove_prefix(size);
  return true;
}

bool write_whole(int fd, std::string_view text) {
  return ::write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

Bytes to_bytes(std::string_view text) {
  const ByteView bytes = as_bytes(text);
  return {bytes.begin(), bytes.end()};
}

}  // namespace

Result<std::vector<Answer>> ask_another_process(const Subject& subject,
                                                const std::vector<Query>& queries) {
  std::string asked;
  for (const Query& query : queries) {
    put_number(asked, static_cast<std::uint32_t>(query.verb));
    put_text(asked, as_text(query.input));
  }
  LOOM_TRY(const UniqueFd in, make_memory_file("queries"));
  LOOM_TRY(const UniqueFd out, make_memory_file("answers"));
  if (!write_whole(in.get(), asked)) return fail(ErrorCode::kSystem, "write the queries");
  LOOM_TRY(const pid_t child,
           start_program(
               {.argv = {subject.installation.executable, kAnswerOption, std::to_string(in.get()),
                         std::to_string(out.get()), subject.backend},
                .environment = {"LC_ALL=C.UTF-8", "LANG=tr_TR.UTF-8", "TZ=Asia/Tokyo",
                                "HOME=/nonexistent", "TMPDIR=/nowhere", "PATH=/bin", "COLUMNS=20"},
                .directory = "/usr",
                .inherited = {in.get(), out.get()}}));
  const Ending ending = await_end(child, std::chrono::seconds(60));
  if (ending.text() != "exit 0") {
    return fail(ErrorCode::kSystem, "another process of this program: " + ending.text());
  }
  const std::string text = read_whole(out.get());
  std::vector<Answer> answers;
  for (std::string_view rest = text; !rest.empty();) {
    std::uint32_t status = 0;
    std::string_view answer;
    if (!take_number(rest, status) || !take_text(rest, answer)) break;
    answers.push_back({.status = static_cast<loom_status>(status), .out = to_bytes(answer)});
  }
  return answers;
}

int answer_queries(const Subject& subject, int queries, int answers) {
  std::setlocale(LC_ALL, "");
  const auto nowhere = make_memory_file("record");
  if (!nowhere) return 3;
  Judgement judgement(nowhere->get());
  const loom_backend_v1* const table = load(subject, judgement);
  if (table == nullptr) return 4;
  RecordingHost host;
  const auto backend = Instance::make(*table, host, judgement);
  if (!backend) return 5;
  const std::string text = read_whole(queries);
  for (std::string_view rest = text; !rest.empty();) {
    std::uint32_t verb = 0;
    std::string_view input;
    if (!take_number(rest, verb) || verb >= kVerbs || !take_text(rest, input)) return 6;
    const Answer answer = (*backend)->call(static_cast<Verb>(verb), as_bytes(input));
    std::string out;
    put_number(out, static_cast<std::uint32_t>(answer.status));
    put_text(out, as_text(answer.out));
    if (!write_whole(answers, out)) return 7;
  }
  return 0;
}

}  // namespace loom::conformance
