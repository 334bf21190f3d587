#include "profile_reader.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "law/name_key.h"
#include "profile_forms.h"

namespace loom::seatbelt::test {
namespace {

// What kind of filter an operation takes, besides none.
enum class Takes { kNothing, kPath, kName, kSocket, kProcess };

struct OperationWord {
  std::string_view word;
  std::vector<Operation> operations;
  bool family;
  Takes takes;
  bool may_be_bare;  // without a filter
};

const std::vector<OperationWord>& operation_words() {
  using enum Operation;
  static const std::vector<OperationWord> kWords = {
      {"file-read*", {kReadData, kReadMetadata, kReadXattr}, true, Takes::kPath, false},
      {"file-read-metadata", {kReadMetadata}, false, Takes::kPath, false},
      {"file-write*",
       {kWriteData, kWriteCreate, kWriteUnlink, kWriteMode},
       true,
       Takes::kPath,
       false},
      {"file-write-data", {kWriteData}, false, Takes::kPath, false},
      {"file-write-create", {kWriteCreate}, false, Takes::kPath, false},
      {"file-write-unlink", {kWriteUnlink}, false, Takes::kPath, false},
      {"process-exec", {kExec}, false, Takes::kPath, true},
      {"process-fork", {kFork}, false, Takes::kNothing, true},
      {"signal", {kSignal}, false, Takes::kProcess, false},
      {"process-info*", {kProcessInfo}, false, Takes::kProcess, false},
      {"sysctl-read", {kSysctlRead}, false, Takes::kNothing, true},
      {"sysctl-write", {kSysctlWrite}, false, Takes::kName, false},
      {"iokit-open", {kIokitOpen}, false, Takes::kName, false},
      {"ipc-posix-sem", {kPosixSemaphore}, false, Takes::kNothing, true},
      {"mach-lookup", {kMachLookup}, false, Takes::kName, false},
      {"system-socket", {kSystemSocket}, false, Takes::kSocket, false},
      {"network-bind", {kNetworkBind}, false, Takes::kSocket, true},
      {"network-inbound", {kNetworkInbound}, false, Takes::kSocket, true},
      {"network-outbound", {kNetworkOutbound}, false, Takes::kSocket, true},
  };
  return kWords;
}

const OperationWord* operation_of(const Form& form) {
  const auto& words = operation_words();
  const auto found = std::find_if(words.begin(), words.end(), [&](const OperationWord& each) {
    return form.is_word(each.word);
  });
  return found == words.end() ? nullptr : &*found;
}

std::string in_words(const Form& form) {
  switch (form.kind) {
    case Form::Kind::kWord:
      return form.text;
    case Form::Kind::kText:
      return '"' + form.text + '"';
    case Form::Kind::kRegex:
      return "#\"" + form.text + '"';
    case Form::Kind::kList:
      break;
  }
  std::string text = "(";
  for (const Form& item : form.items) text += (text.size() > 1 ? " " : "") + in_words(item);
  return text + ')';
}

tl::unexpected<Error> refuse(const Form& form, const std::string& why) {
  return fail(ErrorCode::kInvalidRequest,
              "line " + std::to_string(form.line) + ": " + in_words(form) + ": " + why);
}

// `(WORD ARGUMENT)`: the argument, if the form is one.
const Form* argument_of(const Form& form, std::string_view word) {
  return form.is_call(word) && form.items.size() == 2 ? &form.items[1] : nullptr;
}

// So that a text is found by a view of it.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};
using Known = std::unordered_map<std::string, std::string, TextHash, std::equal_to<>>;

const std::string& key_of(std::string_view name) {
  static Known known;
  const auto found = known.find(name);
  return found != known.end() ? found->second
                              : known.emplace(name, law::name_key(name)).first->second;
}

// The name that `/NAME$` stands for; nothing for any other expression. Every character that means
// something must be escaped.
std::optional<std::string> name_in_regex(std::string_view regex) {
  constexpr std::string_view kMeaning = "\\^$.|?*+()[]{}/";
  if (regex.size() < 3 || regex.front() != '/' || regex.back() != '$') return std::nullopt;
  regex = regex.substr(1, regex.size() - 2);
  std::string name;
  for (std::size_t i = 0; i < regex.size(); ++i) {
    const bool escaped = regex[i] == '\\';
    if (escaped && ++i == regex.size()) return std::nullopt;
    const bool means = kMeaning.find(regex[i]) != std::string_view::npos;
    if (means != escaped || regex[i] == '/') return std::nullopt;
    name += regex[i];
  }
  return name;
}

// The constants that a text may name; every other path comes by a definition.
bool is_constant_path(std::string_view path) {
  static const std::set<std::string_view> kPaths = {"/",
                                                    "/etc",
                                                    "/tmp",
                                                    "/var",
                                                    "/dev/null",
                                                    "/System",
                                                    "/System/Volumes",
                                                    "/System/Volumes/Preboot/Cryptexes",
                                                    "/usr",
                                                    "/bin",
                                                    "/sbin",
                                                    "/Library",
                                                    "/private/etc",
                                                    "/private/var/db",
                                                    "/dev",
                                                    "/opt/homebrew",
                                                    "/private/var/select",
                                                    "/Library/Apple/usr"};
  return kPaths.contains(path);
}

class ProfileReader {
 public:
  explicit ProfileReader(const Definitions& definitions) : definitions_(&definitions) {}

  Result<std::vector<Rule>> read(const std::vector<Form>& forms) {
    LOOM_TRY_VOID(expect(forms, 0, "(version 1)"));
    LOOM_TRY_VOID(expect(forms, 1, "(deny default)"));
    std::vector<Rule> rules;
    for (std::size_t i = 2; i < forms.size(); ++i) {
      LOOM_TRY(Rule rule, read_rule(forms[i]));
      rules.push_back(std::move(rule));
    }
    for (const auto& [name, value] : *definitions_) {
      if (!used_.contains(name)) {
        return fail(ErrorCode::kInvalidRequest, "nothing uses the definition " + name);
      }
    }
    return rules;
  }

 private:
  static Result<void> expect(const std::vector<Form>& forms, std::size_t at,
                             std::string_view words) {
    if (at < forms.size() && in_words(forms[at]) == words) return {};
    return fail(ErrorCode::kInvalidRequest,
                "form " + std::to_string(at + 1) + " is not " + std::string(words));
  }

  Result<Rule> read_rule(const Form& form) {
    if (!form.is_call("allow") && !form.is_call("deny")) return refuse(form, "no rule");
    const OperationWord* const word = form.items.size() < 2 ? nullptr : operation_of(form.items[1]);
    if (word == nullptr) return refuse(form, "unknown operation");
    Rule rule{.allows = form.is_call("allow"),
              .operations = word->operations,
              .family = word->family,
              .line = form.line};
    if (form.items.size() > 3) return refuse(form, "more than one filter");
    if (form.items.size() == 3) {
      LOOM_TRY(rule.filter, read_filter(form.items[2], *word));
    } else if (!word->may_be_bare) {
      return refuse(form, "this operation needs a filter");
    }
    return rule;
  }

  Result<Filter> read_filter(const Form& form, const OperationWord& word) {
    if (form.is_call("require-all")) return read_all(form, word);
    switch (word.takes) {
      case Takes::kPath:
        return read_file_filter(form);
      case Takes::kName:
        return read_name_filter(form, word);
      case Takes::kSocket:
        return read_socket_filter(form, word);
      case Takes::kProcess:
        if (in_words(form) == "(target same-sandbox)") {
          return Filter{.kind = Filter::Kind::kSameSandbox};
        }
        break;
      case Takes::kNothing:
        break;
    }
    return refuse(form, "unknown filter of " + std::string(word.word));
  }

  Result<Filter> read_all(const Form& form, const OperationWord& word) {
    Filter all{.kind = Filter::Kind::kAll};
    for (std::size_t i = 1; i < form.items.size(); ++i) {
      if (form.items[i].is_call("require-all")) return refuse(form, "nested require-all");
      LOOM_TRY(Filter part, read_filter(form.items[i], word));
      all.parts.push_back(std::move(part));
    }
    if (all.parts.size() < 2) return refuse(form, "require-all of fewer than two");
    return all;
  }

  Result<Filter> read_file_filter(const Form& form) {
    if (const Form* const path = argument_of(form, "literal")) {
      return read_path(Filter::Kind::kLiteral, *path);
    }
    if (const Form* const path = argument_of(form, "subpath")) {
      return read_path(Filter::Kind::kSubpath, *path);
    }
    if (const Form* const type = argument_of(form, "vnode-type")) return read_vnode(*type);
    if (const Form* const regex = argument_of(form, "regex")) return read_regex(*regex);
    return refuse(form, "unknown filter of paths");
  }

  Result<Filter> read_path(Filter::Kind kind, const Form& form) {
    if (form.kind == Form::Kind::kText) {
      if (!is_constant_path(form.text)) return refuse(form, "no constant of ours");
      return Filter{.kind = kind, .folded = folded_path(form.text)};
    }
    const Form* const name = argument_of(form, "param");
    if (name == nullptr || name->kind != Form::Kind::kText) return refuse(form, "no path");
    const auto found = definitions_->find(name->text);
    if (found == definitions_->end()) return refuse(form, "undefined");
    used_.insert(name->text);
    if (found->second.empty() || found->second.front() != '/') {
      return refuse(form, "its definition is no absolute path");
    }
    return Filter{.kind = kind, .folded = folded_path(found->second)};
  }

  static Result<Filter> read_vnode(const Form& form) {
    if (form.is_word("DIRECTORY")) {
      return Filter{.kind = Filter::Kind::kVnode, .vnode = Vnode::kDirectory};
    }
    if (form.is_word("CHARACTER-DEVICE")) {
      return Filter{.kind = Filter::Kind::kVnode, .vnode = Vnode::kCharacterDevice};
    }
    return refuse(form, "unknown kind of object");
  }

  static Result<Filter> read_regex(const Form& form) {
    const auto name =
        form.kind == Form::Kind::kRegex ? name_in_regex(form.text) : std::optional<std::string>();
    if (!name) return refuse(form, "not an escaped name between '/' and '$'");
    return Filter{.kind = Filter::Kind::kLastName, .folded = key_of(*name)};
  }

  static Result<Filter> read_name_filter(const Form& form, const OperationWord& word) {
    const std::string_view filter = word.word == "mach-lookup"    ? "global-name"
                                    : word.word == "sysctl-write" ? "sysctl-name"
                                                                  : "iokit-registry-entry-class";
    const Form* const name = argument_of(form, filter);
    if (name == nullptr || name->kind != Form::Kind::kText) return refuse(form, "unknown filter");
    return Filter{.kind = Filter::Kind::kName, .name = name->text};
  }

  static Result<Filter> read_socket_filter(const Form& form, const OperationWord& word) {
    const std::string_view due = word.word == "system-socket"  ? "(socket-domain AF_UNIX)"
                                 : word.word == "network-bind" ? "(local unix-socket)"
                                                               : "(remote unix-socket)";
    if (in_words(form) != due) return refuse(form, "unknown filter of sockets");
    return Filter{.kind = Filter::Kind::kUnixSocket};
  }

  const Definitions* definitions_;
  std::set<std::string> used_;
};

// A question with its path folded once.
struct Asked {
  const Question& question;
  std::string folded;
};

std::string_view last_component(std::string_view folded) {
  return folded.empty() ? folded : folded.substr(folded.rfind('/') + 1);
}

bool is_within(std::string_view path, std::string_view above) {
  return path.substr(0, above.size()) == above &&
         (path.size() == above.size() || path[above.size()] == '/');
}

bool holds(const Filter& filter, const Asked& asked) {
  switch (filter.kind) {
    case Filter::Kind::kLiteral:
      return asked.folded == filter.folded;
    case Filter::Kind::kSubpath:
      return is_within(asked.folded, filter.folded);
    case Filter::Kind::kLastName:
      return last_component(asked.folded) == filter.folded;
    case Filter::Kind::kVnode:
      return asked.question.vnode == filter.vnode;
    case Filter::Kind::kName:
      return asked.question.name == filter.name;
    case Filter::Kind::kUnixSocket:
      return asked.question.unix_socket;
    case Filter::Kind::kSameSandbox:
      return asked.question.same_sandbox;
    case Filter::Kind::kAll:
      return std::all_of(filter.parts.begin(), filter.parts.end(),
                         [&](const Filter& part) { return holds(part, asked); });
    case Filter::Kind::kUnconditional:
      return true;
  }
  return false;
}

Result<std::string> bytes_of(const LaunchSpec& launch, const std::string& path) {
  for (const MemoryFile& file : launch.memory_files) {
    if (path == "/dev/fd/" + std::to_string(file.child_number)) {
      return std::string(as_text(file.bytes));
    }
  }
  return fail(ErrorCode::kInvalidRequest, "no memory file is " + path);
}

Result<void> add_definition(ProfileCall& call, const std::string& word) {
  const std::size_t equals = word.find('=');
  if (word.substr(0, 2) != "-D" || equals == std::string::npos || equals < 3) {
    return fail(ErrorCode::kInvalidRequest, "no definition: " + word);
  }
  const std::string name = word.substr(2, equals - 2);
  if (!call.definitions.try_emplace(name, word.substr(equals + 1)).second) {
    return fail(ErrorCode::kInvalidRequest, "defined twice: " + name);
  }
  call.order.push_back(name);
  return {};
}

}  // namespace

std::string folded_path(std::string_view path) {
  static Known known;
  if (const auto found = known.find(path); found != known.end()) return found->second;
  std::string folded;
  for (std::size_t at = 0; at < path.size();) {
    const std::size_t end = std::min(path.find('/', at), path.size());
    if (end > at) folded += '/' + key_of(path.substr(at, end - at));
    at = end + 1;
  }
  return known.emplace(path, std::move(folded)).first->second;
}

Result<Profile> Profile::parse(std::string_view text, const Definitions& definitions) {
  if (text.empty() || text.back() != '\n') {
    return fail(ErrorCode::kInvalidRequest, "the text does not end with its line");
  }
  LOOM_TRY(const std::vector<Form> forms, read_forms(text));
  Profile profile;
  LOOM_TRY(profile.rules_, ProfileReader(definitions).read(forms));
  for (std::size_t i = profile.rules_.size(); i-- > 0;) {
    for (const Operation each : profile.rules_[i].operations) profile.about_[each].push_back(i);
  }
  return profile;
}

Answer Profile::answer(const Question& question) const {
  const auto about = about_.find(question.operation);
  if (about == about_.end()) return Answer::kDenied;
  const Asked asked{.question = question, .folded = folded_path(question.path)};
  std::optional<bool> last;          // of all rules
  std::optional<bool> of_operation;  // of those that name the operation itself
  for (const std::size_t index : about->second) {
    const Rule& rule = rules_[index];
    if (last && rule.family) continue;
    if (!holds(rule.filter, asked)) continue;
    if (!last) last = rule.allows;
    if (rule.family) continue;
    of_operation = rule.allows;
    break;
  }
  const bool in_text_order = last.value_or(false);
  if (of_operation.value_or(in_text_order) != in_text_order) return Answer::kDisputed;
  return in_text_order ? Answer::kAllowed : Answer::kDenied;
}

Result<ProfileCall> read_call(const LaunchSpec& launch) {
  const std::vector<std::string>& argv = launch.argv;
  if (launch.image != ImageKind::kLauncher || argv.size() < 4 ||
      argv[0] != "/usr/bin/sandbox-exec") {
    return fail(ErrorCode::kInvalidRequest, "no call of sandbox-exec");
  }
  ProfileCall call;
  call.by_descriptor = argv[1] == "-f";
  if (!call.by_descriptor && argv[1] != "-p") {
    return fail(ErrorCode::kInvalidRequest, "unknown option " + argv[1]);
  }
  call.profile = argv[2];
  if (call.by_descriptor) {
    LOOM_TRY(call.profile, bytes_of(launch, argv[2]));
  }
  std::size_t at = 3;
  for (; at < argv.size() && argv[at] != "--"; ++at) {
    LOOM_TRY_VOID(add_definition(call, argv[at]));
  }
  if (at + 1 >= argv.size()) return fail(ErrorCode::kInvalidRequest, "no program after --");
  call.program.assign(argv.begin() + static_cast<std::ptrdiff_t>(at) + 1, argv.end());
  return call;
}

}  // namespace loom::seatbelt::test
