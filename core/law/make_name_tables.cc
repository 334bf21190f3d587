// Reads the Unicode Character Database and writes the source of kNameTables (name_tables.h):
//
//   loom_make_name_tables UnicodeData.txt SpecialCasing.txt CaseFolding.txt name_tables.cc
//
// Runs while the project is built. Anything it does not understand is an error and ends the build.

#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <limits>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

using CodePoints = std::vector<char32_t>;
using Mappings = std::map<char32_t, CodePoints>;

struct Database {
  std::string version;
  Mappings uppercase;
  Mappings casefold;
  Mappings decomposition;
  std::map<char32_t, unsigned> combining;
};

constexpr char32_t kFirstHangul = 0xAC00;
constexpr char32_t kLastHangul = 0xD7A3;

[[noreturn]] void give_up(const std::string& message) {
  std::cerr << "make_name_tables: " << message << '\n';
  std::exit(1);
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

std::uint32_t number(std::string_view text, int base) {
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size() || value > 0x10FFFF) {
    give_up("not a number: '" + std::string(text) + "'");
  }
  return value;
}

CodePoints code_points(std::string_view text) {
  CodePoints points;
  for (text = trimmed(text); !text.empty(); text = trimmed(text)) {
    const std::string_view word = text.substr(0, text.find(' '));
    points.push_back(number(word, 16));
    text.remove_prefix(word.size());
  }
  return points;
}

// The fields of a line, without its comment.
std::vector<std::string_view> fields_of(std::string_view line) {
  line = line.substr(0, line.find('#'));
  std::vector<std::string_view> fields;
  while (true) {
    const std::size_t end = line.find(';');
    fields.push_back(trimmed(line.substr(0, end)));
    if (end == std::string_view::npos) return fields;
    line.remove_prefix(end + 1);
  }
}

// Calls `take` with the fields of each line that has any; returns the first line.
template <class Take>
std::string read_lines(const std::string& path, std::size_t least_fields, Take take) {
  std::ifstream file(path);
  std::string first;
  std::string line;
  for (std::size_t count = 0; std::getline(file, line); ++count) {
    if (count == 0) first = line;
    const auto fields = fields_of(line);
    if (fields.size() == 1 && fields[0].empty()) continue;
    if (fields.size() < least_fields) give_up("too few fields: " + line);
    take(fields);
  }
  if (first.empty() || !file.eof()) give_up("cannot read " + path);
  return first;
}

void read_unicode_data(const std::string& path, Database& database) {
  read_lines(path, 15, [&](const std::vector<std::string_view>& fields) {
    const char32_t point = number(fields[0], 16);
    if (const auto value = number(fields[3], 10); value != 0) database.combining[point] = value;
    // A decomposition with a <tag> is one of compatibility: full-width letters stay apart.
    if (!fields[5].empty() && fields[5].front() != '<') {
      database.decomposition[point] = code_points(fields[5]);
    }
    if (!fields[12].empty()) database.uppercase[point] = code_points(fields[12]);
  });
}

// "# SpecialCasing-15.0.0.txt" of the given name.
std::string version_in(const std::string& line, const std::string& name) {
  const std::string before = "# " + name + '-';
  const std::size_t end = line.rfind(".txt");
  if (line.rfind(before, 0) != 0 || end == std::string::npos) give_up("no version in: " + line);
  return line.substr(before.size(), end - before.size());
}

std::string read_special_casing(const std::string& path, Database& database) {
  const std::string first = read_lines(path, 5, [&](const std::vector<std::string_view>& fields) {
    // A fifth field is a condition: a language, or a place in the word.
    if (!fields[4].empty()) return;
    database.uppercase[number(fields[0], 16)] = code_points(fields[3]);
  });
  return version_in(first, "SpecialCasing");
}

std::string read_case_folding(const std::string& path, Database& database) {
  const std::string first = read_lines(path, 4, [&](const std::vector<std::string_view>& fields) {
    if (fields[1] == "C" || fields[1] == "F") {
      database.casefold[number(fields[0], 16)] = code_points(fields[2]);
    } else if (fields[1] != "S" && fields[1] != "T") {
      give_up(path + ": unknown status " + std::string(fields[1]));
    }
  });
  return version_in(first, "CaseFolding");
}

// Drops what maps to itself.
void drop_identities(Mappings& mappings) {
  for (auto entry = mappings.begin(); entry != mappings.end();) {
    const bool same = entry->second == CodePoints{entry->first};
    entry = same ? mappings.erase(entry) : std::next(entry);
  }
}

void append_decomposed(const Mappings& direct, char32_t point, CodePoints& out) {
  const auto found = direct.find(point);
  if (found == direct.end()) {
    out.push_back(point);
    return;
  }
  for (const char32_t part : found->second) append_decomposed(direct, part, out);
}

// The file's decompositions are one step each; the table's go to the end.
void decompose_to_the_end(Mappings& decomposition) {
  Mappings full;
  for (const auto& [point, unused] : decomposition) {
    append_decomposed(decomposition, point, full[point]);
  }
  decomposition = std::move(full);
}

Database read_database(const std::string& unicode_data, const std::string& special_casing,
                       const std::string& case_folding) {
  Database database;
  read_unicode_data(unicode_data, database);
  database.version = read_special_casing(special_casing, database);
  if (const std::string other = read_case_folding(case_folding, database);
      other != database.version) {
    give_up("two versions of Unicode: " + database.version + " and " + other);
  }
  drop_identities(database.uppercase);
  decompose_to_the_end(database.decomposition);
  return database;
}

// Writes `mappings` as an array and their targets behind those that are there.
void write_mappings(std::ostream& out, const char* name, const Mappings& mappings,
                    CodePoints& targets) {
  out << "constexpr NameMapping " << name << "[] = {\n";
  for (const auto& [from, to] : mappings) {
    if (from >= kFirstHangul && from <= kLastHangul) give_up("Hangul is computed");
    if (targets.size() + to.size() > std::numeric_limits<std::uint16_t>::max()) {
      give_up("more targets than an index reaches");
    }
    out << "{0x" << std::hex << std::uint32_t{from} << std::dec << ", " << targets.size() << ", "
        << to.size() << "},\n";
    targets.insert(targets.end(), to.begin(), to.end());
  }
  out << "};\n";
}

void write_tables(std::ostream& out, const Database& database) {
  CodePoints targets;
  out << "// Made by make_name_tables.cc from Unicode " << database.version << ".\n"
      << "#include \"law/name_tables.h\"\n\n"
      << "// NOLINTBEGIN\n"
      << "namespace loom::law {\n"
      << "namespace {\n";
  write_mappings(out, "kUppercase", database.uppercase, targets);
  write_mappings(out, "kCasefold", database.casefold, targets);
  write_mappings(out, "kDecomposition", database.decomposition, targets);
  out << "constexpr CombiningClass kCombining[] = {\n" << std::hex;
  for (const auto& [mark, value] : database.combining) {
    out << "{0x" << std::uint32_t{mark} << ", 0x" << value << "},\n";
  }
  out << "};\n"
      << "constexpr char32_t kTargets[] = {\n";
  for (const char32_t target : targets) out << "0x" << std::uint32_t{target} << ",\n";
  out << "};\n"
      << "}  // namespace\n\n"
      << "const NameTables kNameTables = {\"" << database.version
      << "\", kUppercase, kCasefold, kDecomposition, kCombining, kTargets};\n\n"
      << "}  // namespace loom::law\n"
      << "// NOLINTEND\n";
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  if (arguments.size() != 4) give_up("expected three files of the database and one to write");
  const Database database = read_database(arguments[0], arguments[1], arguments[2]);
  std::ofstream out(arguments[3]);
  write_tables(out, database);
  out.close();
  if (!out) give_up("cannot write " + arguments[3]);
  return 0;
}
