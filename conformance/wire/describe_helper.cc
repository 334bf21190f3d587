#include "../results.h"
#include "session.h"

namespace loom::conformance {
namespace {

Result<void> tell(const Session& session) {
  LOOM_TRY(const auto talk, Conversation::start(session.subject, {.policy = pack(session.policy)}));
  LOOM_TRY(const Frame hello, talk->receive(kHelloPatience));
  if (hello.kind != "hello") return {};  // hello.first says so
  session.judgement.remark("name=" + hello.body["peer"].get<std::string>());
  session.judgement.remark("proto=" + hello.body["proto"].dump());
  std::string list;
  for (const std::string& feature : texts_of(hello.body["features"])) {
    list += (list.empty() ? "" : ", ") + feature;
  }
  session.judgement.remark("features=" + list);
  return {};
}

}  // namespace

void tell_of_helper(const Subject& subject, Judgement& judgement) {
  std::string words;
  for (const std::string& word : subject.helper_arguments) words += " " + word;
  if (!words.empty()) judgement.remark("started with=" + words.substr(1));
  judge_session(subject, judgement, tell);
}

}  // namespace loom::conformance
