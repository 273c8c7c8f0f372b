#pragma once
// What the commands on applications share.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/messages.h"
#include "environment/environment.h"

namespace respike::cli {

/// --db, wherever it stands.
struct DatabaseOption {
  std::string path;
  /// Whether neither --db nor RESPIKE_DB names one.
  bool is_default() const;
  bool exists() const;
  /// Where it is, or is to be.
  std::filesystem::path place() const;
  /// The same, of one that is there: a mistyped name makes no database. Throws Error.
  std::filesystem::path database() const;
};

/// Only registering makes a database.
enum class Absent { refuse, make };

/// Opens the environment, runs `action` with a progress bar, and prints its notes and warnings,
/// also when it fails. Results are printed after it, on a clean line.
void with_environment(const DatabaseOption& database,
                      const std::function<void(Environment&)>& action,
                      Absent absent = Absent::refuse);

/// "1 run"; a tenth is the smallest part of one that is shown.
std::string runs_text(double runs);
/// "3 runs of older builds, confidence 0.95".
std::string carried_text(double runs, double confidence);

/// What the commands share is known when one of them runs.
using SharedDatabase = std::shared_ptr<const DatabaseOption>;
void add_setup_commands(CLI::App& app, const SharedDatabase& database);
void add_forgetting_commands(CLI::App& app, const SharedDatabase& database);
void add_making_commands(CLI::App& app, const SharedDatabase& database);
void add_run_command(CLI::App& app, const SharedDatabase& database,
                     const std::vector<std::string>& words);

}  // namespace respike::cli
