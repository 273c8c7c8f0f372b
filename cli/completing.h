#pragma once
// What may stand where the cursor is: for the completions of shells.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cli/description.h"

namespace respike::cli {

struct Completions {
  bool files = false;                                      // names of files may stand there, too
  std::vector<std::pair<std::string, std::string>> words;  // and what each is; may be empty
};

/// Names that the database or files know.
struct NameSource {
  std::function<std::vector<std::string>()> applications;
  std::function<std::vector<std::string>(const std::string& application)> images;
  std::function<std::vector<std::string>(const std::string& file)> procedures;
};

/// What may stand in the place of the last word of `typed`, the words behind `respike`: what starts
/// with that word, which may be empty.
Completions complete(const CommandDescription& root, const std::vector<std::string>& typed,
                     const NameSource& names);

}  // namespace respike::cli
