#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <loom/codec.h>
#include <loom/export_backend.h>
#include <loom/table_backend.h>

#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

namespace loom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

class RecordingHost final : public HostServices {
 public:
  void log(LogLevel level, std::string_view utf8) override {
    logged.emplace_back(level, std::string(utf8));
  }
  Result<TrialResult> try_launch(const LaunchSpec& launch, std::uint32_t deadline_ms) override {
    launches.push_back(launch);
    return TrialResult{.code = static_cast<std::int32_t>(deadline_ms), .output = "tried"};
  }
  Result<std::int32_t> spawn(const LaunchSpec& launch) override {
    launches.push_back(launch);
    objects_given.push_back(&launch);
    if (refuse_spawn) return fail(ErrorCode::kSystem, "fork: too many processes", 11);
    return 4711;
  }
  Result<ExecObject> next_exec_object() override {
    if (refuse_object) return fail(ErrorCode::kDenied, "exec_table_too_large: many");
    if (objects == 0) return ExecObject{.handle = -1, .listed = 9, .support = 2};
    return ExecObject{.handle = static_cast<std::int32_t>(7 * objects--), .directory = true};
  }
  Result<std::vector<std::int32_t>> children(std::int32_t pid) override {
    return std::vector<std::int32_t>{pid + 1, pid + 2};
  }

  std::vector<std::pair<LogLevel, std::string>> logged{};
  std::vector<LaunchSpec> launches{};
  std::vector<const LaunchSpec*> objects_given{};
  bool refuse_spawn = false;
  bool refuse_object = false;
  std::size_t objects = 0;
};

// Answers every verb with something recognisable.
class EchoBackend : public JailBackend {
 public:
  explicit EchoBackend(HostServices& host) : host_(host) {}

  Result<Features> features(const HostFacts& facts) const override {
    return Features{.tags = {facts.os}};
  }
  Result<Survey> survey(const SurveyRequest& request) const override {
    return Survey{.search_excluded = request.policy.writable_roots};
  }
  Result<Pieces> pieces() const override { return Pieces{.launcher = "echo"}; }
  Result<Bytes> probe(const ProbeRequest& request) override {
    LOOM_TRY(const TrialResult trial, host_.try_launch({.argv = {"true"}}, 250));
    host_.log(LogLevel::kWarning, "probed\n");
    Bytes answer = request.facts.backend;
    answer.push_back(static_cast<std::byte>(trial.code));
    return answer;
  }
  Result<JailPlan> plan(const PlanRequest& request) const override {
    return fail(ErrorCode::kDenied, "mounts: \"" + request.nonce + "\" (Permission denied)");
  }
  Result<LaunchSpec> render(const JailPlan& plan) const override {
    return LaunchSpec{.argv = plan.canonical_argv};
  }
  Result<Audit> audit(const JailPlan& plan) const override { return Audit{.always = plan.notes}; }
  Result<StartResult> start(const LaunchSpec& launch) override {
    StartResult result;
    while (launch.wants_exec_rules) {
      LOOM_TRY(const ExecObject object, host_.next_exec_object());
      result.exec_entry += " " + std::to_string(object.handle) + (object.directory ? "/" : "");
      if (object.handle >= 0) continue;
      result.exec_rules = static_cast<std::int32_t>(object.listed + object.support);
      break;
    }
    LOOM_TRY(const std::int32_t pid, host_.spawn(launch));
    result.entries = {std::to_string(pid)};
    return result;
  }
  Result<void> observe(const TargetsRequest& snapshot) override {
    if (snapshot.launched) return fail(ErrorCode::kUnsupported, "observe: not this one");
    return {};
  }
  Result<Targets> targets(const TargetsRequest& request) override {
    LOOM_TRY(const auto pids, host_.children(request.child));
    Targets targets{.whole_group = false};
    for (const std::int32_t pid : pids) targets.processes.push_back({.pid = pid});
    return targets;
  }
  void finish() override { host_.log(LogLevel::kInfo, "finished"); }

 protected:
  HostServices& host_;
};

constexpr loom_backend_v1 kEcho = exported::make_table<EchoBackend>("echo", "1.0");

class TableBackendTest : public ::testing::Test {
 protected:
  std::unique_ptr<JailBackend> make(const loom_backend_v1& table) {
    auto backend = make_table_backend(table, host_);
    EXPECT_TRUE(backend) << (backend ? "" : backend.error().message);
    return backend ? *std::move(backend) : nullptr;
  }

  RecordingHost host_;
};

TEST_F(TableBackendTest, EveryVerbArrivesWithItsInputAndComesBackWithItsAnswer) {
  const auto backend = make(kEcho);
  const AbsolutePath root = AbsolutePath::root();

  EXPECT_THAT(backend->features({.os = "plan9"})->tags, ElementsAre("plan9"));
  EXPECT_THAT(backend->survey({.policy = {.writable_roots = {root}}})->search_excluded,
              ElementsAre(root));
  EXPECT_EQ(backend->pieces()->launcher, "echo");
  EXPECT_EQ(*backend->probe({.facts = {.backend = {std::byte{7}}}}),
            (Bytes{std::byte{7}, std::byte{250}}));
  EXPECT_THAT(backend->render({.canonical_argv = {"a", "\xFF"}})->argv, ElementsAre("a", "\xFF"));
  EXPECT_THAT(backend->audit({.notes = {"skip:jail: none"}})->always,
              ElementsAre("skip:jail: none"));
  EXPECT_THAT(backend->start({.argv = {"cmd"}})->entries, ElementsAre("4711"));
  EXPECT_TRUE(backend->observe({}));
  EXPECT_THAT(backend->targets({.child = 40})->processes,
              ElementsAre(ProcessRow{.pid = 41}, ProcessRow{.pid = 42}));
  backend->finish();

  ASSERT_EQ(host_.launches.size(), 2u);
  EXPECT_THAT(host_.launches[0].argv, ElementsAre("true"));
  EXPECT_THAT(host_.launches[1].argv, ElementsAre("cmd"));
  EXPECT_THAT(host_.logged, ElementsAre(std::pair(LogLevel::kWarning, std::string("probed\\x0a")),
                                        std::pair(LogLevel::kInfo, std::string("finished"))));
}

// Spawns an equal launch, and then one that render never gave.
class CopyingBackend final : public EchoBackend {
 public:
  using EchoBackend::EchoBackend;
  Result<StartResult> start(const LaunchSpec& launch) override {
    LaunchSpec copy = launch;
    LOOM_TRY_VOID(host_.spawn(copy));
    copy.argv.emplace_back("more");
    LOOM_TRY_VOID(host_.spawn(copy));
    return StartResult{};
  }
};
constexpr loom_backend_v1 kCopying = exported::make_table<CopyingBackend>("copying", "1.0");

TEST_F(TableBackendTest, WhatABackendSpawnsIsWhatItSpawnsAndNotWhatItWasGiven) {
  const LaunchSpec launch{.argv = {"cmd"}, .commit = Bytes(9)};
  ASSERT_TRUE(make(kEcho)->start(launch));
  ASSERT_TRUE(make(kCopying)->start(launch));
  LaunchSpec more = launch;
  more.argv.emplace_back("more");
  EXPECT_THAT(host_.launches, ElementsAre(launch, launch, more));
  // The first two cost no reading of what the host has itself.
  EXPECT_THAT(host_.objects_given, ElementsAre(&launch, &launch, testing::Ne(&launch)));
}

// Notes what each start came with.
std::vector<LaunchSpec> noted;
class NotingBackend final : public EchoBackend {
 public:
  using EchoBackend::EchoBackend;
  Result<StartResult> start(const LaunchSpec& launch) override {
    noted.push_back(launch);
    return EchoBackend::start(launch);
  }
};
constexpr loom_backend_v1 kNoting = exported::make_table<NotingBackend>("noting", "1.0");

// One with an inner stage, which is kept for the next start, unless it is too large.
LaunchSpec inner(std::string word, std::size_t commit_bytes) {
  return {.argv = {"cmd", std::move(word)},
          .report_number = 3,
          .control_number = 4,
          .commit = Bytes(commit_bytes)};
}

TEST_F(TableBackendTest, WhatACommandIsToldStaysWithTheHost) {
  noted.clear();
  const LaunchSpec one = inner("one", 9);
  const LaunchSpec next = inner("one", 5);
  const LaunchSpec other = inner("other", 5);
  const LaunchSpec bare{.argv = {"cmd"}, .commit = Bytes(9)};
  const auto backend = make(kNoting);

  for (const LaunchSpec* launch : {&one, &next, &other, &bare, &one}) {
    ASSERT_TRUE(backend->start(*launch));
  }

  EXPECT_THAT(noted, ElementsAre(inner("one", 0), inner("one", 0), inner("other", 0),
                                 LaunchSpec{.argv = {"cmd"}}, inner("one", 0)));
  EXPECT_THAT(host_.objects_given, ElementsAre(&one, &next, &other, &bare, &one));
}

TEST_F(TableBackendTest, ALaunchTooLargeToKeepStartsAsOften) {
  noted.clear();
  const LaunchSpec large = inner(std::string(2u << 20, 'x'), 9);
  const LaunchSpec small = inner("small", 9);
  const auto backend = make(kNoting);

  for (const LaunchSpec* launch : {&small, &large, &large, &small, &small}) {
    ASSERT_TRUE(backend->start(*launch));
  }

  EXPECT_THAT(host_.launches, ElementsAre(small, large, large, small, small));
  ASSERT_EQ(noted.size(), 5u);
  EXPECT_EQ(noted[1].argv, large.argv);
  EXPECT_EQ(noted[3].argv, small.argv);
}

TEST_F(TableBackendTest, ARefusalKeepsItsCodeAndItsWords) {
  const auto backend = make(kEcho);

  const auto plan = backend->plan({.nonce = "/srv"});
  const auto observed = backend->observe({.launched = true});

  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::kDenied);
  EXPECT_EQ(plan.error().message, "mounts: \"/srv\" (Permission denied)");
  ASSERT_FALSE(observed);
  EXPECT_EQ(observed.error().code, ErrorCode::kUnsupported);
}

TEST_F(TableBackendTest, AServiceThatFailsFailsTheVerbInTheHostsWords) {
  host_.refuse_spawn = true;

  const auto started = make(kEcho)->start({});

  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, ErrorCode::kSystem);
  EXPECT_EQ(started.error().message, "fork: too many processes");
}

TEST_F(TableBackendTest, TheObjectsOfAnExecTableComeOneByOne) {
  host_.objects = 2;

  const auto started = make(kEcho)->start({.wants_exec_rules = true});

  ASSERT_TRUE(started) << started.error().message;
  EXPECT_EQ(started->exec_entry, " 14/ 7/ -1");
  EXPECT_EQ(started->exec_rules, 11);
}

TEST_F(TableBackendTest, ATableThatTheHostRefusesFailsTheStartInTheHostsWords) {
  host_.refuse_object = true;

  const auto started = make(kEcho)->start({.wants_exec_rules = true});

  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, ErrorCode::kDenied);
  EXPECT_EQ(started.error().message, "exec_table_too_large: many");
  EXPECT_THAT(host_.launches, ::testing::IsEmpty());
}

TEST_F(TableBackendTest, AHostileMessageIsCutAndPrintable) {
  const auto plan = make(kEcho)->plan({.nonce = "\x1B[2J" + std::string(100'000, 'x')});

  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::kDenied);
  EXPECT_LE(plan.error().message.size(), 4096u);
  EXPECT_THAT(plan.error().message, StartsWith("mounts: \"\\x1b[2J"));
}

class NotAnException {};

// Throws from everything, in turn what is a std::exception and what is not.
class ThrowingBackend final : public EchoBackend {
 public:
  using EchoBackend::EchoBackend;
  Result<Features> features(const HostFacts&) const override { throw std::runtime_error("boo"); }
  Result<Survey> survey(const SurveyRequest&) const override { throw NotAnException(); }
  Result<Pieces> pieces() const override { throw std::bad_alloc(); }
  Result<Bytes> probe(const ProbeRequest&) override { throw std::runtime_error("boo"); }
  Result<JailPlan> plan(const PlanRequest&) const override { throw 42; }
  Result<LaunchSpec> render(const JailPlan&) const override { throw std::runtime_error("boo"); }
  Result<Audit> audit(const JailPlan&) const override { throw NotAnException(); }
  Result<StartResult> start(const LaunchSpec&) override { throw std::runtime_error("boo"); }
  Result<void> observe(const TargetsRequest&) override { throw std::runtime_error("boo"); }
  Result<Targets> targets(const TargetsRequest&) override { throw NotAnException(); }
  void finish() override { throw NotAnException(); }
};

constexpr loom_backend_v1 kThrowing = exported::make_table<ThrowingBackend>("throwing", "1.0");

TEST_F(TableBackendTest, WhatAVerbThrowsIsTheBackendsErrorNamingTheVerb) {
  const auto backend = make(kThrowing);
  const auto expect_thrown = [](std::string_view verb, const Error& error) {
    SCOPED_TRACE(verb);
    EXPECT_EQ(error.code, ErrorCode::kBackend);
    EXPECT_THAT(error.message, StartsWith(std::string(verb) + " threw: "));
  };

  expect_thrown("features", backend->features({}).error());
  expect_thrown("survey", backend->survey({}).error());
  expect_thrown("pieces", backend->pieces().error());
  expect_thrown("probe", backend->probe({}).error());
  expect_thrown("plan", backend->plan({}).error());
  expect_thrown("render", backend->render({}).error());
  expect_thrown("audit", backend->audit({}).error());
  expect_thrown("start", backend->start({}).error());
  expect_thrown("observe", backend->observe({}).error());
  expect_thrown("targets", backend->targets({}).error());
  backend->finish();
  EXPECT_THAT(host_.logged, ElementsAre(std::pair(LogLevel::kError, std::string("finish threw"))));
}

class UnbornBackend final : public EchoBackend {
 public:
  explicit UnbornBackend(HostServices& host) : EchoBackend(host) {
    throw std::runtime_error("no such machine");
  }
};

TEST_F(TableBackendTest, AConstructorThatThrowsIsARefusal) {
  static constexpr loom_backend_v1 kTable = exported::make_table<UnbornBackend>("unborn", "1.0");

  const auto backend = make_table_backend(kTable, host_);

  ASSERT_FALSE(backend);
  EXPECT_EQ(backend.error().code, ErrorCode::kBackend);
  EXPECT_EQ(backend.error().message, "create threw: no such machine");
}

TEST_F(TableBackendTest, InputThatIsNoValueIsRefusedByTheThunk) {
  std::string text;
  const loom_sink sink{
      .ctx = &text, .append = [](void* ctx, const std::uint8_t* data, std::size_t size) noexcept {
        static_cast<std::string*>(ctx)->append(reinterpret_cast<const char*>(data), size);
      }};
  const std::uint8_t garbage[] = {0x93, 0xC1};

  // The input is judged before self is touched.
  const loom_status status = kEcho.features(nullptr, {garbage, sizeof(garbage)}, &sink, &sink);

  EXPECT_EQ(status, static_cast<loom_status>(ErrorCode::kInvalidRequest) + 1);
  EXPECT_THAT(text, HasSubstr("decode"));
}

// A table whose `pieces` does what a C++ backend never would.
using Misbehave = loom_status (*)(const loom_sink* out, const loom_sink* error) noexcept;
Misbehave g_misbehave = nullptr;

loom_backend_v1 misbehaving_table() {
  loom_backend_v1 table = kEcho;
  table.pieces = [](void*, loom_view, const loom_sink* out, const loom_sink* error) noexcept {
    return g_misbehave(out, error);
  };
  return table;
}

void append(const loom_sink* sink, std::string_view text) {
  sink->append(sink->ctx, reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

void append_times(const loom_sink* sink, std::string_view text, std::size_t times) {
  for (; times > 0; --times) append(sink, text);
}

TEST_F(TableBackendTest, EachBreachOfTheContractIsTheBackendsError) {
  static const std::string kBlock(1 << 20, 'x');
  const struct {
    const char* name;
    Misbehave act;
    const char* message;
  } kCases[] = {
      {"negative status", [](auto*, auto*) noexcept -> loom_status { return -1; },
       "pieces: status -1 is out of range"},
      {"status past the last code", [](auto*, auto*) noexcept -> loom_status { return 6; },
       "pieces: status 6 is out of range"},
      {"no answer", [](auto*, auto*) noexcept -> loom_status { return 0; },
       "pieces: unreadable answer: decode msgpack: empty"},
      {"an answer that is no value",
       [](auto* out, auto*) noexcept -> loom_status {
         append(out, "\xC1");
         return 0;
       },
       "pieces: unreadable answer: decode msgpack: a byte that starts no value"},
      {"answers forever",
       [](auto* out, auto*) noexcept -> loom_status {
         append_times(out, kBlock, 40);
         return 0;
       },
       "pieces: the answer is longer than its ceiling"},
      {"bytes from nowhere",
       [](auto* out, auto*) noexcept -> loom_status {
         out->append(out->ctx, nullptr, 10);
         return 0;
       },
       "pieces: the answer is longer than its ceiling"},
      {"complains forever",
       [](auto*, auto* error) noexcept -> loom_status {
         append_times(error, kBlock, 40);
         return 2;
       },
       "pieces: the error text is longer than 4 KiB"},
  };
  const loom_backend_v1 table = misbehaving_table();
  const auto backend = make(table);
  for (const auto& [name, act, message] : kCases) {
    SCOPED_TRACE(name);
    g_misbehave = act;

    const auto pieces = backend->pieces();

    ASSERT_FALSE(pieces);
    EXPECT_EQ(pieces.error().code, ErrorCode::kBackend);
    EXPECT_EQ(pieces.error().message, message);
  }
}

TEST_F(TableBackendTest, ARefusalWithoutAWordNamesAtLeastTheVerb) {
  const loom_backend_v1 table = misbehaving_table();
  const auto backend = make(table);
  g_misbehave = [](const loom_sink*, const loom_sink*) noexcept -> loom_status { return 3; };

  const auto pieces = backend->pieces();

  ASSERT_FALSE(pieces);
  EXPECT_EQ(pieces.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(pieces.error().message, "pieces: no reason given");
}

TEST_F(TableBackendTest, AnAnswerUpToTheCeilingIsTaken) {
  loom_backend_v1 table = kEcho;
  table.probe = [](void*, loom_view, const loom_sink* out, const loom_sink*) noexcept {
    static const std::string kBlock(1 << 20, 'x');
    append_times(out, kBlock, 16);
    return loom_status{0};
  };
  const auto backend = make(table);

  const auto probed = backend->probe({});

  ASSERT_TRUE(probed);
  EXPECT_EQ(probed->size(), std::size_t{16} << 20);
}

TEST_F(TableBackendTest, AHostTableThatIsTooShortIsRefusedByThePlugin) {
  loom_host_v1 short_table{};
  short_table.struct_size = 16;
  std::string text;
  const loom_sink sink{
      .ctx = &text, .append = [](void* ctx, const std::uint8_t* data, std::size_t size) noexcept {
        static_cast<std::string*>(ctx)->append(reinterpret_cast<const char*>(data), size);
      }};

  EXPECT_EQ(kEcho.create(&short_table, &sink), nullptr);
  EXPECT_THAT(text, HasSubstr("too short"));
}

}  // namespace
}  // namespace loom
