#pragma once
// Shared by the commands on applications: the option --db, messages, progress.

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "applications/environment.h"
#include "cli/messages.h"

namespace respike::cli {

/// The option --db, given before or after the command.
struct DatabaseOption {
  std::string path;
  /// Whether neither --db nor RESPIKE_DB names a database.
  bool is_default() const;
  bool exists() const;
  /// The path of the database, which may not exist yet.
  std::filesystem::path place() const;
  /// The path of the database. Throws Error when there is no database, so that a mistyped name does
  /// not make one.
  std::filesystem::path database() const;
};

/// The environment of an existing database; opened for reading if the database cannot be written.
Environment open_environment(const DatabaseOption& database);

/// What to do when there is no database. Only `register` makes one.
enum class Absent { refuse, make };

/// Opens the environment, runs `action` with a progress bar, clears the bar, and prints notes and
/// warnings, also when the action fails. Callers print results afterwards.
void with_environment(const DatabaseOption& database,
                      const std::function<void(Environment&)>& action,
                      Absent absent = Absent::refuse);

Json json_of(const FaultRow& fault);

/// --half-life and --older-weight: how counts of the database are added up.
std::vector<CLI::Option*> add_profile_options(CLI::App& command, ProfileOptions& use);

/// Read when a command runs: the parser fills the option after commands were added.
using SharedDatabase = std::shared_ptr<const DatabaseOption>;
void add_setup_commands(CLI::App& app, const SharedDatabase& database);
/// `words`: the words after "--".
void add_report_fault_command(CLI::App& app, const SharedDatabase& database,
                              const std::vector<std::string>& words);
void add_forgetting_commands(CLI::App& app, const SharedDatabase& database);
void add_making_commands(CLI::App& app, const SharedDatabase& database);
/// profile export.
void add_profile_export_command(CLI::App& app, const SharedDatabase& database);
void add_manager_command(CLI::App& app, const SharedDatabase& database);
/// compare, which also compares files, and check.
void add_compare_commands(CLI::App& app, const SharedDatabase& database,
                          const std::vector<std::string>& words);
/// attend, which only Respike calls.
void add_attend_command(CLI::App& app, const SharedDatabase& database);
/// `words`: the words after "--".
void add_exec_command(CLI::App& app, const SharedDatabase& database,
                      const std::vector<std::string>& words);
/// `words`: the words after `session` and its options.
void add_session_command(CLI::App& app, const SharedDatabase& database,
                         const std::vector<std::string>& words);
/// `words`: the words after `run NAME`.
void add_run_command(CLI::App& app, const SharedDatabase& database,
                     const std::vector<std::string>& words);

}  // namespace respike::cli
