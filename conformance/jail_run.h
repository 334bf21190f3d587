#pragma once

#include <loom/policy.h>
#include <loom/result.h>

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "check.h"
#include "clause_words.h"
#include "place.h"

namespace loom::conformance {

// One run through the real helper.
struct RunSpec {
  Policy policy{};
  std::vector<std::string> command{};      // argv[0] included
  std::string directory{};                 // of the command; empty: the first writable root
  std::vector<std::string> options{};      // further ones of `loom-exec run`
  std::vector<int> inherited{};            // descriptors the helper is started with besides
  std::vector<std::string> environment{};  // of the helper, besides PATH
  // Called again and again while it runs, with what it printed and the helper's pid.
  std::function<void(const std::string& out, pid_t helper)> meanwhile{};
  std::chrono::seconds patience{30};
};

// What came of it.
struct JailRun {
  bool reported = false;  // there is a report: the helper got that far
  bool refused = false;   // refused before the start: nothing ran
  bool timed_out = false;
  int status = 0;  // the helper's, as a shell has it
  std::string out{};
  std::string err{};
  std::vector<std::string> entries{};  // the report's
  std::string outcome{};               // its class
  std::string detail{};
  int code = 0;
  std::chrono::milliseconds took{};
  std::vector<std::string> orphans{};  // processes that the helper left behind

  // The probe's answer to OP:ARGUMENT; -1000 when it gave none.
  [[nodiscard]] int answer(const std::string& op) const;
  // What follows " = " in that line; empty when there is none.
  [[nodiscard]] std::string text(const std::string& op) const;
  [[nodiscard]] bool tried(const std::string& op) const { return answer(op) != -1000; }
  // All arguments of such lines, from hex.
  [[nodiscard]] std::vector<std::string> shown(const std::string& op) const;
};

// A place with the probe in its workspace.
struct Ground {
  const Subject& subject;
  std::unique_ptr<Place> place;

  [[nodiscard]] static std::unique_ptr<Ground> make(const Subject& subject, Judgement& judgement);
  // The probe with these operations, under `policy`.
  [[nodiscard]] RunSpec spec(const Policy& policy, std::vector<std::string> operations) const;
  // Runs it. A run that the suite's own side spoils is unjudged, and then reported is false.
  [[nodiscard]] JailRun run(const RunSpec& spec, Judgement& judgement) const;
  [[nodiscard]] std::string probe() const { return place->at("work/conformance-probe"); }
};

// The three words for one denial: it held; or the report names it as not held; or the report claims
// a layer that should have held it (a claim that this kernel does not keep); or it hides it (a
// breach).
struct Denial {
  std::string what{};  // "the masked file work/.env was read"
  Words names{};       // how a report names it as not held
  Words claims{};      // tags that claim it
};
void judge_denial(const JailRun& run, bool held, const Denial& denial, Judgement& judgement);

// false, having said so, when the run says nothing about jails: refused by name, or not finished.
[[nodiscard]] bool ran(const JailRun& run, const char* what, Judgement& judgement);

}  // namespace loom::conformance
