#include "app/question.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace loom::app {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

using namespace std::string_literals;

// The questions of a stream that came in pieces of `size` bytes; the error's message at its end.
std::pair<std::vector<Question>, std::string> read_all(const std::string& stream,
                                                       std::size_t size = 1) {
  QuestionReader reader;
  std::vector<Question> asked;
  const auto ask = [&](const Question& question) { asked.push_back(question); };
  for (std::size_t at = 0; at < stream.size(); at += size) {
    const auto taken = reader.feed(std::string_view(stream).substr(at, size), ask);
    if (!taken) return {asked, taken.error().message};
  }
  const auto finished = reader.finish();
  return {asked, finished ? "" : finished.error().message};
}

TEST(QuestionTest, EachOperationTakesItsPathsAndNoMore) {
  for (const std::string op : {"read", "list", "write", "create", "remove", "execute"}) {
    const auto question = parse_question({op, "/x"});
    ASSERT_TRUE(question) << question.error().message;
    EXPECT_EQ(question_kind_name(question->kind), op);
    EXPECT_EQ(question->path, "/x");
    EXPECT_FALSE(parse_question({op}));
    EXPECT_FALSE(parse_question({op, "/x", "/y"}));
  }
  const auto rename = parse_question({"rename", "/x", "/y"});
  ASSERT_TRUE(rename);
  EXPECT_EQ(*rename, (Question{.kind = QuestionKind::kRename, .path = "/x", .to = "/y"}));
  EXPECT_FALSE(parse_question({"rename", "/x"}));
  EXPECT_FALSE(parse_question({}));
  EXPECT_THAT(parse_question({"open", "/x"}).error().message, HasSubstr("\"open\""));
}

TEST(QuestionTest, AStreamIsTheSameInWhateverPiecesItComes) {
  const std::string stream = "read\0/a\nb\0rename\0/x\0/y\0list\0\0"s;
  for (const std::size_t size : {std::size_t{1}, std::size_t{3}, std::size_t{7}, stream.size()}) {
    const auto [asked, error] = read_all(stream, size);
    EXPECT_THAT(asked,
                ElementsAre(Question{.kind = QuestionKind::kRead, .path = "/a\nb"},
                            Question{.kind = QuestionKind::kRename, .path = "/x", .to = "/y"},
                            Question{.kind = QuestionKind::kList, .path = ""}));
    EXPECT_EQ(error, "");
  }
  EXPECT_THAT(read_all("").first, IsEmpty());
  EXPECT_EQ(read_all("").second, "");
}

TEST(QuestionTest, AFaultNamesTheRequestAndWhatCameBeforeIsAsked) {
  const auto [asked, error] = read_all("read\0/a\0open\0/b\0"s);
  EXPECT_EQ(asked.size(), 1U);
  EXPECT_THAT(error, testing::AllOf(HasSubstr("request 2"), HasSubstr("open")));

  for (const std::string& cut : {"read"s, "read\0"s, "read\0/a"s, "rename\0/a\0"s}) {
    EXPECT_THAT(read_all(cut).second, HasSubstr("request 1 has no end"));
  }
}

TEST(QuestionTest, APathHasACeiling) {
  const std::string longest(kMaxQuestionBytes, 'p');
  EXPECT_EQ(read_all("read\0"s + longest + "\0"s, 1000).second, "");
  EXPECT_THAT(read_all("read\0"s + longest + "p\0"s, 1000).second, HasSubstr("longer than 4096"));
  EXPECT_THAT(read_all(longest + "p", 10'000).second, HasSubstr("longer than 4096"));
}

TEST(QuestionTest, TheNumberOfRequestsHasACeiling) {
  const std::string one = "list\0/\0"s;
  std::string thousand;
  for (int i = 0; i < 1000; ++i) thousand += one;
  QuestionReader reader;
  std::size_t asked = 0;
  const auto ask = [&](const Question&) { ++asked; };
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(reader.feed(thousand, ask));
  EXPECT_EQ(asked, kMaxQuestions);
  EXPECT_TRUE(reader.finish());
  const auto more = reader.feed(one, ask);
  ASSERT_FALSE(more);
  EXPECT_THAT(more.error().message, HasSubstr("more than 1000000"));
  EXPECT_EQ(asked, kMaxQuestions);
}

}  // namespace
}  // namespace loom::app
