#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "law/judge.h"
#include "law/kernel_table.h"
#include "law/name_key.h"
#include "law/table.h"
#include "tests/property/property_seed.h"

namespace loom::law {
namespace {

using test::Dice;
using test::kPropertyRounds;
using test::property_seed;
using test::replay_hint;

constexpr int kTablePairs = 20'000;
constexpr int kSubjects = 8;

// Few names, and many spellings of them, so that rules and subjects meet.
constexpr auto kNames = std::to_array<std::string_view>(
    {"a", "A", "b", "caf\u00E9", "cafe\u0301", "\u00DF", "ss", "sh", "\xFF"});

AbsolutePath random_path(Dice& dice) {
  std::string text;
  for (std::size_t depth = dice.below(4); depth > 0; --depth) {
    text += '/';
    text += kNames[dice.below(std::size(kNames))];
  }
  return text.empty() ? AbsolutePath::root() : AbsolutePath::parse(text).value();
}

// Never the root, which is a directory.
AbsolutePath random_file(Dice& dice) {
  AbsolutePath file = random_path(dice);
  while (file.is_root()) file = random_path(dice);
  return file;
}

FileIdentity random_identity(Dice& dice) { return {.device = 1, .inode = dice.below(12)}; }

std::vector<FileIdentity> random_identities(Dice& dice) {
  std::vector<FileIdentity> identities(dice.below(3));
  for (FileIdentity& identity : identities) identity = random_identity(dice);
  return identities;
}

std::optional<FileIdentity> random_object(Dice& dice) {
  return dice.chance(3) ? std::optional(random_identity(dice)) : std::nullopt;
}

Subject random_subject(Dice& dice) {
  Passage passage{.passed = random_identities(dice), .parent = random_object(dice)};
  if (dice.chance(3)) {
    passage.directory = random_object(dice);
    return Subject::inside(random_path(dice), std::move(passage));
  }
  return Subject::file(random_file(dice), std::move(passage));
}

// The entry `index` of a list; its number also says which it is.
Origin random_origin(Dice& dice, std::size_t index) {
  return {.layer = dice.below(3), .index = index};
}

Allowance random_allowance(Dice& dice, std::size_t index = 0) {
  const Origin origin = random_origin(dice, index);
  if (dice.chance(8)) return Allowance::any(origin);
  return dice.chance(3) ? Allowance::file(random_file(dice), origin)
                        : Allowance::directory(random_path(dice), origin);
}

Exclusion random_exclusion(Dice& dice, std::size_t index = 0) {
  const Origin origin = random_origin(dice, index);
  if (dice.chance(4)) return Exclusion::name(kNames[dice.below(std::size(kNames))], origin);
  const bool is_file = dice.chance(2);
  Place place{.real = is_file ? random_file(dice) : random_path(dice),
              .directory = random_object(dice),
              .parent = random_object(dice),
              .above = random_identities(dice)};
  return is_file ? Exclusion::file(std::move(place), origin)
                 : Exclusion::directory(std::move(place), origin);
}

std::vector<Exclusion> random_exclusions(Dice& dice, std::size_t bound) {
  std::vector<Exclusion> rules;
  for (std::size_t i = dice.below(bound); i > 0; --i) rules.push_back(random_exclusion(dice, i));
  return rules;
}

Table random_table(Dice& dice) {
  std::vector<Allowance> allowances;
  for (std::size_t i = dice.below(5); i > 0; --i) allowances.push_back(random_allowance(dice, i));
  return {std::move(allowances), random_exclusions(dice, 3)};
}

Table with(const Table& table, const Allowance& rule) { return extend(table, Table({rule}, {})); }
Table with(const Table& table, const Exclusion& rule) { return extend(table, Table({}, {rule})); }

// Subjects at random, and those at which the representation of a table could go wrong: where its
// own rules are.
std::vector<Subject> subjects_near(Dice& dice, std::initializer_list<const Table*> tables) {
  std::vector<Subject> subjects;
  subjects.reserve(kSubjects);
  for (int i = 0; i < kSubjects; ++i) subjects.push_back(random_subject(dice));
  for (const Table* const table : tables) {
    for (const Allowance& rule : table->allowances()) subjects.push_back(rule.own_subject());
    for (const Exclusion& rule : table->exclusions()) {
      if (!rule.place()) continue;
      subjects.push_back(Subject::inside(rule.place()->real));
      if (!rule.place()->real.is_root()) subjects.push_back(Subject::file(rule.place()->real));
    }
  }
  return subjects;
}

// Calls `round` with one source of choices until a round fails.
template <class Round>
void for_rounds(int rounds, Round round) {
  const std::uint32_t seed = property_seed();
  Dice dice(seed);
  for (int i = 0; i < rounds && !::testing::Test::HasFatalFailure(); ++i) {
    SCOPED_TRACE(replay_hint(seed, i));
    round(dice);
  }
}

void expect_same(const Table& one, const Table& other, const std::vector<Subject>& subjects) {
  for (const Subject& subject : subjects) {
    ASSERT_EQ(evidence_name(one.evidence(subject)), evidence_name(other.evidence(subject)))
        << (subject.is_file() ? "file " : "inside ")
        << ::testing::PrintToString(subject.real().str());
  }
}

// --- the operators on evidence, exhaustively
// --------------------------------------------------------

constexpr std::array<Evidence, 4> kEvidence = {
    Evidence{}, {.allowed = true}, {.excluded = true}, {.allowed = true, .excluded = true}};

using Operator = Evidence (*)(Evidence, Evidence);
constexpr std::array<Operator, 2> kOperators = {restrict, extend};

bool admits_less(Evidence a, Evidence b) {
  return a.allowed <= b.allowed && a.excluded >= b.excluded;
}
bool says_less(Evidence a, Evidence b) {
  return a.allowed <= b.allowed && a.excluded <= b.excluded;
}

// Calls `check` with every three of the four values.
template <class Check>
void for_triples(Check check) {
  for (const Evidence a : kEvidence) {
    for (const Evidence b : kEvidence) {
      for (const Evidence c : kEvidence) check(a, b, c);
    }
  }
}

TEST(EvidencePropertyTest, BothOperatorsAreCommutative) {
  for_triples([](Evidence a, Evidence b, Evidence /*c*/) {
    for (const Operator op : kOperators) EXPECT_EQ(op(a, b), op(b, a));
  });
}

TEST(EvidencePropertyTest, BothOperatorsAreAssociative) {
  for_triples([](Evidence a, Evidence b, Evidence c) {
    for (const Operator op : kOperators) EXPECT_EQ(op(a, op(b, c)), op(op(a, b), c));
  });
}

TEST(EvidencePropertyTest, BothOperatorsAreIdempotent) {
  for (const Evidence a : kEvidence) {
    for (const Operator op : kOperators) EXPECT_EQ(op(a, a), a);
  }
}

TEST(EvidencePropertyTest, EachOperatorDistributesOverTheOther) {
  for_triples([](Evidence a, Evidence b, Evidence c) {
    EXPECT_EQ(restrict(a, extend(b, c)), extend(restrict(a, b), restrict(a, c)));
    EXPECT_EQ(extend(a, restrict(b, c)), restrict(extend(a, b), extend(a, c)));
  });
}

TEST(EvidencePropertyTest, BothOperatorsAreMonotoneInBothOrders) {
  for_triples([](Evidence a, Evidence b, Evidence c) {
    for (const Operator op : kOperators) {
      EXPECT_TRUE(!admits_less(a, b) || admits_less(op(a, c), op(b, c)));
      EXPECT_TRUE(!says_less(a, b) || says_less(op(a, c), op(b, c)));
    }
  });
}

TEST(EvidencePropertyTest, RestrictIsTheMostThatAdmitsLessAndExtendTheLeastThatSaysMore) {
  for_triples([](Evidence a, Evidence b, Evidence c) {
    EXPECT_TRUE(admits_less(restrict(a, b), a));
    EXPECT_TRUE(says_less(a, extend(a, b)));
    EXPECT_TRUE(!(admits_less(c, a) && admits_less(c, b)) || admits_less(c, restrict(a, b)));
    EXPECT_TRUE(!(says_less(a, c) && says_less(b, c)) || says_less(extend(a, b), c));
  });
}

TEST(EvidencePropertyTest, EachOperatorHasItsIdentityAndNeitherAbsorbsTheOther) {
  const Evidence none{};
  const Evidence against{.excluded = true};
  for (const Evidence a : kEvidence) {
    EXPECT_EQ(restrict(a, {.allowed = true}), a);
    EXPECT_EQ(extend(a, none), a);
  }
  EXPECT_NE(restrict(none, extend(none, against)), none);
  EXPECT_NE(extend(none, restrict(none, against)), none);
}

TEST(EvidencePropertyTest, TwoLayersAdmitExactlyWhatBothAdmit) {
  for_triples([](Evidence a, Evidence b, Evidence /*c*/) {
    EXPECT_EQ(a.admits(), a == Evidence{.allowed = true});
    EXPECT_EQ(refusal_of(a) == std::nullopt, a.admits());
    EXPECT_EQ(restrict(a, b).admits(), a.admits() && b.admits());
  });
}

// --- the same on tables, which are their representation
// ----------------------------------------------

// guard 9.1: 20
TEST(LawPropertyTest, ATableOfTwoSaysOnEverySubjectWhatTheOperatorSays) {
  std::map<std::string_view, int> met;
  for_rounds(kTablePairs, [&](Dice& dice) {
    const Table a = random_table(dice);
    const Table b = random_table(dice);
    const Table restricted = restrict(a, b);
    const Table extended = extend(a, b);

    for (const Subject& subject : subjects_near(dice, {&a, &b})) {
      const Evidence of_a = a.evidence(subject);
      const Evidence of_b = b.evidence(subject);
      ++met[evidence_name(restricted.evidence(subject))];
      ASSERT_EQ(restricted.evidence(subject), restrict(of_a, of_b));
      ASSERT_EQ(extended.evidence(subject), extend(of_a, of_b));
    }
  });
  // Otherwise the generator tests one side only.
  for (const Evidence& evidence : kEvidence)
    EXPECT_GT(met[evidence_name(evidence)], kTablePairs / 4);
}

TEST(LawPropertyTest, TablesKeepTheLawsOfTheOperators) {
  for_rounds(kPropertyRounds, [](Dice& dice) {
    const Table a = random_table(dice);
    const Table b = random_table(dice);
    const Table c = random_table(dice);
    const auto subjects = subjects_near(dice, {&a, &b, &c});

    expect_same(restrict(a, b), restrict(b, a), subjects);
    expect_same(extend(a, b), extend(b, a), subjects);
    expect_same(restrict(a, restrict(b, c)), restrict(restrict(a, b), c), subjects);
    expect_same(extend(a, extend(b, c)), extend(extend(a, b), c), subjects);
    expect_same(restrict(a, a), a, subjects);
    expect_same(extend(a, a), a, subjects);
    expect_same(restrict(a, extend(b, c)), extend(restrict(a, b), restrict(a, c)), subjects);
    expect_same(extend(a, restrict(b, c)), restrict(extend(a, b), extend(a, c)), subjects);
    expect_same(restrict(a, Table::no_opinion()), a, subjects);
    expect_same(extend(a, Table()), a, subjects);
  });
}

TEST(LawPropertyTest, AddingAnExclusionNeverAdmitsAndAddingAnAllowanceNeverRefuses) {
  int taken = 0;
  int given = 0;
  for_rounds(kPropertyRounds, [&](Dice& dice) {
    const Table before = random_table(dice);
    const Table layer = dice.chance(2) ? Table::no_opinion() : random_table(dice);
    const Table more = restrict(with(before, random_allowance(dice)), layer);
    const Table less = restrict(with(before, random_exclusion(dice)), layer);
    const Table now = restrict(before, layer);

    for (const Subject& subject : subjects_near(dice, {&before, &layer})) {
      const bool admitted = judge(now, subject).admitted();
      ASSERT_TRUE(admitted || !judge(less, subject).admitted());
      ASSERT_TRUE(!admitted || judge(more, subject).admitted());
      taken += admitted && !judge(less, subject).admitted() ? 1 : 0;
      given += !admitted && judge(more, subject).admitted() ? 1 : 0;
    }
  });
  EXPECT_GT(taken, kPropertyRounds / 20);
  EXPECT_GT(given, kPropertyRounds / 20);
}

bool all_admit(const std::vector<Table>& layers, const Subject& subject) {
  return std::all_of(layers.begin(), layers.end(),
                     [&](const Table& layer) { return judge(layer, subject).admitted(); });
}

TEST(LawPropertyTest, ABaseTableIsACeiling) {
  int kept = 0;
  int lost = 0;
  for_rounds(kPropertyRounds, [&](Dice& dice) {
    std::vector<Table> layers = {random_table(dice)};
    for (std::size_t count = dice.below(3); count > 0; --count) {
      layers.push_back(random_table(dice));
    }
    const Table folded = in_force(layers);

    for (const Subject& subject : subjects_near(dice, {&layers.front()})) {
      const bool admitted = judge(folded, subject).admitted();
      ASSERT_EQ(admitted, all_admit(layers, subject));
      kept += admitted ? 1 : 0;
      lost += !admitted && judge(layers.front(), subject).admitted() ? 1 : 0;
    }
  });
  EXPECT_GT(kept, kPropertyRounds / 20);
  EXPECT_GT(lost, kPropertyRounds / 20);
}

template <class Item>
bool has(const std::vector<Item>& items, const Item& item) {
  return std::find(items.begin(), items.end(), item) != items.end();
}

bool excludes_nothing_new(const Table& both, const Table& a, const Table& b) {
  return std::all_of(both.exclusions().begin(), both.exclusions().end(),
                     [&](const Exclusion& rule) {
                       return has(a.exclusions(), rule) || has(b.exclusions(), rule);
                     });
}

TEST(LawPropertyTest, SilenceIsNeverWrittenDownAsAnExclusion) {
  for_rounds(kPropertyRounds, [](Dice& dice) {
    const Table a = random_table(dice);
    const Table b = random_table(dice);

    ASSERT_TRUE(excludes_nothing_new(restrict(a, b), a, b));
    ASSERT_TRUE(excludes_nothing_new(extend(a, b), a, b));
  });
}

TEST(LawPropertyTest, TheOrderOfRulesDecidesNothing) {
  for_rounds(kPropertyRounds, [](Dice& dice) {
    const Table table = random_table(dice);
    auto allowances = table.allowances();
    auto exclusions = table.exclusions();
    std::reverse(allowances.begin(), allowances.end());
    std::reverse(exclusions.begin(), exclusions.end());
    const Table other(allowances, exclusions);

    for (const Subject& subject : subjects_near(dice, {&table})) {
      ASSERT_EQ(judge(table, subject), judge(other, subject));
    }
  });
}

// Whether `named` is one of `rules`, and that one holds.
template <class Rule>
bool is_one_that_holds(const std::optional<DecidingRule>& named, const std::vector<Rule>& rules,
                       const Subject& subject) {
  return std::any_of(rules.begin(), rules.end(), [&](const Rule& rule) {
    return named && rule.origin() == named->origin && rule.scope() == named->scope &&
           rule.holds(subject);
  });
}

TEST(LawPropertyTest, TheNamedRulesAreRulesOfTheTableThatHold) {
  for_rounds(kPropertyRounds, [](Dice& dice) {
    const Table table = random_table(dice);
    for (const Subject& subject : subjects_near(dice, {&table})) {
      const Verdict verdict = judge(table, subject);
      const bool excluded = is_one_that_holds(verdict.rule, table.exclusions(), subject);
      const bool allowed = is_one_that_holds(excluded ? verdict.overridden : verdict.rule,
                                             table.allowances(), subject);

      ASSERT_EQ(excluded, verdict.evidence.excluded);
      ASSERT_EQ(allowed, verdict.evidence.allowed);
      ASSERT_EQ(verdict.overridden.has_value(), allowed && excluded);
      ASSERT_EQ(verdict.admitted(), allowed && !excluded);
    }
  });
}

std::vector<Subject> random_support(Dice& dice) {
  std::vector<Subject> support;
  for (std::size_t count = dice.below(4); count > 0; --count) {
    support.push_back(Subject::file(random_file(dice)));
  }
  return support;
}

bool is_support(const KernelTable& kernel, const Subject& subject) {
  return subject.is_file() && has(kernel.support(), subject.real());
}

bool is_dropped(const KernelTable& kernel, const Subject& file) {
  return std::any_of(kernel.dropped().begin(), kernel.dropped().end(),
                     [&](const DroppedSupport& lost) { return lost.file == file.real(); });
}

TEST(LawPropertyTest, SupportGivesTheKernelNothingElseAndNothingThatIsExcluded) {
  int joined = 0;
  int dropped = 0;
  for_rounds(kPropertyRounds, [&](Dice& dice) {
    const Table table = random_table(dice);
    const Table hidden({}, random_exclusions(dice, 3));
    const std::vector<Subject> support = random_support(dice);
    const KernelTable kernel(table, support, hidden.exclusions());

    for (const Subject& subject : subjects_near(dice, {&table})) {
      const Evidence evidence = kernel.evidence(subject);
      ASSERT_EQ(evidence.excluded, table.excludes(subject));
      ASSERT_EQ(evidence.allowed, table.allows(subject) || is_support(kernel, subject));
    }
    for (const Subject& file : support) {
      const bool out = table.excludes(file) || hidden.excludes(file);
      ASSERT_EQ(is_dropped(kernel, file), out);
      ASSERT_EQ(is_support(kernel, file), !out && !table.allows(file));
    }
    joined += kernel.support().empty() ? 0 : 1;
    dropped += kernel.dropped().empty() ? 0 : 1;
  });
  EXPECT_GT(joined, kPropertyRounds / 20);
  EXPECT_GT(dropped, kPropertyRounds / 20);
}

// --- names
// -------------------------------------------------------------------------------------------

TEST(NamePropertyTest, WithinAsStoredIsWithinFoldedAndFoldedWithinIsTransitive) {
  int folded_only = 0;
  for_rounds(kTablePairs, [&](Dice& dice) {
    const AbsolutePath a = random_path(dice);
    const AbsolutePath b = random_path(dice);
    const AbsolutePath c = random_path(dice);
    const auto within = [](const AbsolutePath& one, const AbsolutePath& other) {
      return FoldedPath(one).is_within(FoldedPath(other));
    };

    ASSERT_TRUE(within(a, a));
    ASSERT_TRUE(!a.is_within(b) || within(a, b));
    ASSERT_TRUE(!(within(a, b) && within(b, c)) || within(a, c));
    folded_only += within(a, b) && !a.is_within(b) ? 1 : 0;
  });
  EXPECT_GT(folded_only, kTablePairs / 100);
}

// What folding has a rule of its own for.
constexpr auto kPieces =
    std::to_array<std::string_view>({"a", "I", "\u0131", "\u0345", "\u0301", "\u0323", "\u03B1",
                                     "\u1FB4", "\uAC01", "\u00DF", "\xFF", "."});

TEST(NamePropertyTest, AKeyIsItsOwnKeyAndStaysOneComponent) {
  for_rounds(kTablePairs, [&](Dice& dice) {
    std::string name = "x";
    for (std::size_t count = dice.below(6); count > 0; --count) {
      name += kPieces[dice.below(std::size(kPieces))];
    }

    const std::string key = name_key(name);
    ASSERT_EQ(name_key(key), key) << ::testing::PrintToString(name);
    ASSERT_EQ(key.find('/'), std::string::npos);
  });
}

}  // namespace
}  // namespace loom::law
