#pragma once
// What may stand at the cursor: for the completions of shells.

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "cli/description.h"

namespace respike::cli {

struct Completions {
  bool files = false;                                      // file names may stand there as well
  std::vector<std::pair<std::string, std::string>> words;  // and the meaning of each, which may be
                                                           // empty
};

/// Names that the database or files know.
struct NameSource {
  std::function<std::vector<std::string>()> applications;
  std::function<std::vector<std::string>(const std::string& application)> images;
  std::function<std::vector<std::string>(const std::string& file)> procedures;
};

/// Words that may replace the last word of `typed`, which are the words after `respike`: all that
/// start with that word, which may be empty.
Completions complete(const CommandDescription& root, const std::vector<std::string>& typed,
                     const NameSource& names);

}  // namespace respike::cli
