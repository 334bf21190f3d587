#pragma once

#include <loom/absolute_path.h>
#include <loom/facts.h>
#include <loom/unique_fd.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "guard/exec_spines.h"
#include "guard/guard.h"
#include "law/rule.h"
#include "law/table.h"

namespace loom::guard {

// Looks for files with an excluded bare name, so that only the directories that lead to one have to
// be listed for it. Reads names and kinds, and looks at no file.
class NameSearch {
 public:
  // Asked after each directory, with how many names it holds; a refusal ends the search.
  using Toll = std::function<Judged<void>(std::size_t names, const AbsolutePath& root)>;

  NameSearch(const law::Table& table, Toll toll);

  // Goes through everything beneath a directory (any handle of it, borrowed). Refuses with
  // `resource`, and as the toll does.
  [[nodiscard]] Judged<void> look_beneath(const law::Subject& root, int handle);

  // Whether an excluded name was found beneath, or may be there: what cannot be looked through, or
  // leads back to where the search came from, counts.
  [[nodiscard]] bool leads_to_one(const FileIdentity& directory) const {
    return leading_.contains(directory);
  }

 private:
  struct Level {
    UniqueFd handle;
    FileIdentity identity{};
    std::vector<std::string> directories{};  // to go
    bool leads = false;
  };

  [[nodiscard]] Judged<void> enter_next();
  [[nodiscard]] Judged<void> enter(int handle, const FileIdentity& identity);
  [[nodiscard]] Judged<void> read(Level& level) const;
  [[nodiscard]] bool is_excluded(const std::string& name) const;
  void leave();

  std::vector<law::Exclusion> names_;
  Toll toll_;
  AbsolutePath root_ = AbsolutePath::root();  // of the search that runs, for messages
  std::vector<Level> levels_;
  Identities leading_;
};

}  // namespace loom::guard
