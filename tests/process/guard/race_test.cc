#include <gtest/gtest.h>
#include <stdio.h>

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "guard/publish.h"
#include "guard/reopen.h"
#include "guard/walk.h"
#include "guard_support.h"

namespace loom::guard {
namespace {

// Does something over and over while it lives.
class Adversary {
 public:
  explicit Adversary(std::function<void()> act)
      : thread_([this, act = std::move(act)] {
          for (; !stopped_; ++times_) act();
        }) {}
  ~Adversary() {
    stopped_ = true;
    thread_.join();
  }
  Adversary(const Adversary&) = delete;
  Adversary& operator=(const Adversary&) = delete;
  Adversary(Adversary&&) = delete;
  Adversary& operator=(Adversary&&) = delete;

  [[nodiscard]] int times() const { return times_; }

 private:
  std::atomic<bool> stopped_ = false;
  std::atomic<int> times_ = 0;
  std::thread thread_;  // last: it uses the others
};

class RaceTest : public ::testing::Test {
 protected:
  static constexpr int kEnough = 50;  // of every outcome that shows that the race took place

  void exchange(const std::string& one, const std::string& other) const {
    ::renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, other.c_str(), RENAME_EXCHANGE);
  }
  // What a policy that lets /w be written says of a landing.
  [[nodiscard]] bool is_admitted(const Landing& landing) const {
    return landing.real().is_within(path(tree_.at("/w")));
  }
  // Tries against an adversary that acts at least so many times, and until both outcomes were seen
  // often enough; a busy machine may take a while to let the two meet. Counts what came of it.
  struct Race {
    int times;  // the adversary acts, at least
    std::array<const char*, 2> wanted;
    std::function<void()> act;
    std::function<std::string()> attempt;
  };
  static std::map<std::string, int> run(const Race& race) {
    std::map<std::string, int> outcomes;
    const auto is_enough = [&] {
      return outcomes[race.wanted[0]] >= kEnough && outcomes[race.wanted[1]] >= kEnough;
    };
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    const Adversary adversary(race.act);
    while ((adversary.times() < race.times || !is_enough()) &&
           std::chrono::steady_clock::now() < deadline) {
      ++outcomes[race.attempt()];
    }
    for (const char* each : race.wanted) EXPECT_GE(outcomes[each], kEnough) << each;
    for (const auto& [outcome, count] : outcomes) RecordProperty(outcome, count);
    RecordProperty("acted", adversary.times());
    return outcomes;
  }

  Tree tree_;
};

// guard 9.7: 126
TEST_F(RaceTest, ADirectoryThatFlipsToALinkNeverLetsAByteOut) {
  tree_.directory("/w/d");
  tree_.file("/w/d/f", "");
  tree_.file("/o/f", "theirs");
  tree_.link(tree_.at("/o"), "/w/link");
  const std::string directory = tree_.at("/w/d");
  const std::string link = tree_.at("/w/link");
  const auto write_once = [&]() -> std::string {
    auto landing = walk(directory + "/f");
    if (!landing) return reason(landing);
    if (!is_admitted(*landing)) return "not admitted";
    const auto file = landing->write(WriteMode::kTruncate);
    if (!file) return reason(file);
    write_to(*file, "ours");
    return "written";
  };
  const auto make_or_remove = [&] {
    auto fresh = walk(directory + "/new");
    if (!fresh || !is_admitted(*fresh)) return;
    if (fresh->exists()) {
      static_cast<void>(fresh->remove().has_value());
    } else {
      static_cast<void>(fresh->create(0644).has_value());
    }
  };

  run({.times = 100'000,
       .wanted = {"written", "not admitted"},
       .act = [&] { exchange(directory, link); },
       .attempt =
           [&] {
             make_or_remove();
             return write_once();
           }});

  EXPECT_EQ(tree_.text("/o/f"), "theirs");
  EXPECT_EQ(tree_.names("/o"), (std::set<std::string>{"f"}));
}

// guard 9.7: 127
TEST_F(RaceTest, ALeafThatFlipsToALinkNeverLetsAProtectedFileBeWritten) {
  tree_.file("/w/f", "");
  tree_.file("/o/secret", "secret");
  tree_.link(tree_.at("/o/secret"), "/w/link");
  const std::string file = tree_.at("/w/f");
  const std::string link = tree_.at("/w/link");

  const auto outcomes = run({.times = 100'000,
                             .wanted = {"written", "not admitted"},
                             .act = [&] { exchange(file, link); },
                             .attempt = [&]() -> std::string {
                               auto landing = walk(file);
                               if (!landing) return reason(landing);
                               if (!is_admitted(*landing)) return "not admitted";
                               const auto opened = landing->write(WriteMode::kTruncate);
                               if (!opened) return reason(opened);
                               write_to(*opened, "ours");
                               return "written";
                             }});

  EXPECT_EQ(tree_.text("/o/secret"), "secret");
  for (const auto& [outcome, count] : outcomes) {
    EXPECT_TRUE(outcome == "written" || outcome == "not admitted" || outcome == "raced") << outcome;
  }
}

// guard 9.7: 127
TEST_F(RaceTest, ALeafThatFlipsToALinkNeverLetsAProtectedFileBeRead) {
  tree_.file("/w/f", "ours");
  tree_.file("/o/secret", "secret");
  tree_.link(tree_.at("/o/secret"), "/w/link");
  const std::string file = tree_.at("/w/f");
  const std::string link = tree_.at("/w/link");

  const auto outcomes = run({.times = 50'000,
                             .wanted = {"ours", "not admitted"},
                             .act = [&] { exchange(file, link); },
                             .attempt = [&]() -> std::string {
                               auto landing = walk(file);
                               if (!landing) return reason(landing);
                               if (!is_admitted(*landing)) return "not admitted";
                               const auto opened = landing->read();
                               return opened ? content_of(*opened) : reason(opened);
                             }});

  EXPECT_EQ(outcomes.count("secret"), 0u);
}

TEST_F(RaceTest, ALeafThatFlipsToAFifoNeverMakesAnybodyWait) {
  tree_.file("/w/f", "ours");
  tree_.fifo("/w/fifo");
  const std::string file = tree_.at("/w/f");
  const std::string fifo = tree_.at("/w/fifo");
  const Deadline deadline(100);

  run({.times = 50'000,
       .wanted = {"landed", "not_regular"},
       .act = [&] { exchange(file, fifo); },
       .attempt = [&]() -> std::string {
         auto landing = walk(file);
         if (!landing) return reason(landing);
         const auto written = landing->write(WriteMode::kAppend);
         return written ? reason(landing->read()) : reason(written);
       }});
}

// guard 9.7: 128
TEST_F(RaceTest, ADanglingLinkThatComesAndGoesNeverHasItsTargetMade) {
  const std::string target = tree_.at("/w/c");
  const std::string outside = tree_.at("/o/m");

  run({.times = 20'000,
       .wanted = {"published", "link_refused"},
       .act =
           [&] {
             ::unlink(target.c_str());
             static_cast<void>(::symlink(outside.c_str(), target.c_str()));
           },
       .attempt = [&]() -> std::string {
         auto named = walk(target, {.leaf = LeafMode::kRefuseLink});
         if (!named) return reason(named);
         const bool published = publish(*named, {.content = "ours"}).has_value();
         auto followed = walk(target);
         if (followed && is_admitted(*followed) && !followed->exists()) {
           static_cast<void>(followed->create(0644).has_value());
         }
         return published ? "published" : "not published";
       }});

  EXPECT_TRUE(tree_.names("/o").empty());
  for (const std::string& name : tree_.names("/w")) EXPECT_EQ(name, "c");
}

// guard 9.7: 129, the half of it that is the walk's
TEST_F(RaceTest, ReopeningAPathThatFlipsGivesTheFrozenObjectOrNothing) {
  tree_.directory("/w/d");
  tree_.file("/w/d/f");
  tree_.file("/o/f", "theirs");
  tree_.link(tree_.at("/o"), "/w/link");
  const std::string directory = tree_.at("/w/d");
  const std::string link = tree_.at("/w/link");
  const FileIdentity frozen = tree_.identity("/w/d/f");
  const AbsolutePath file = path(directory + "/f");

  const auto outcomes = run({.times = 50'000,
                             .wanted = {"frozen", "redirected"},
                             .act = [&] { exchange(directory, link); },
                             .attempt = [&]() -> std::string {
                               const auto opened = reopen(file, frozen);
                               if (!opened) return opened.error().message.substr(0, 10);
                               struct stat about {};
                               EXPECT_EQ(::fstat(opened->get(), &about), 0);
                               return about.st_ino == frozen.inode ? "frozen" : "another object";
                             }});

  EXPECT_EQ(outcomes.size(), 2u);
}

}  // namespace
}  // namespace loom::guard
