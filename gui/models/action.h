#pragma once
// An action of the user, as data: a title, the work, and the command line that does the same.

#include <QString>
#include <QStringList>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "applications/environment.h"

namespace respike::gui {

struct Action {
  QString title;        // "Optimize sqlite3"
  QStringList command;  // words of the equivalent command line, `respike` first; empty: there is
                        // none
  /// Runs in the background. Returns sentences to show; throws Error when the work failed.
  std::function<QStringList(Environment&)> work;
  /// Called in the window's thread when the user cancels the running action, in addition to the
  /// effect of Environment::progress: for work that waits for another process.
  std::function<void()> stop = {};
};

/// Options of `instrument` and `optimize`.
struct MakingOptions {
  std::vector<std::string> images;       // paths; empty: all
  Counters counters = Counters::shared;  // instrument
  ProfileOptions profile;                // optimize
};

// Each is the subcommand of its name (docs/commands.md).
Action register_action(const std::vector<std::filesystem::path>& programs, const QString& name);
Action register_action(const std::filesystem::path& program, const QString& name);
Action instrument_action(const QString& name, const MakingOptions& options);
Action optimize_action(const QString& name, const MakingOptions& options);
Action mode_action(const QString& name, Mode mode);
Action collect_action();
Action export_action(const QString& name, const std::vector<std::string>& images,
                     const ExportPlace& place);
Action unregister_action(const QString& name);
Action prune_action(unsigned keep, bool dry_run);
/// Proves that the optimized image of each build runs the same code as the original. `images`:
/// paths; empty: all optimized images.
Action verify_action(const QString& name, const std::vector<std::string>& images);

/// The command lines that verify the same images as files, one after the other. Asked in the
/// background (Manager::ask).
std::vector<QStringList> verify_commands(Environment& environment, const QString& name,
                                         const std::vector<std::string>& images);

/// A command line that a POSIX shell reads as these words.
QString shell_line(const QStringList& words);

}  // namespace respike::gui
