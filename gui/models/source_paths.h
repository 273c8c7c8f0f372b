#pragma once
// Where sources are that are not at the place that debug information records.

#include <QString>
#include <QStringList>

#include <optional>
#include <vector>

namespace respike::gui {

/// Files below `from` are below `to` on this computer.
struct PathSubstitution {
  QString from, to;
  bool operator==(const PathSubstitution&) const = default;
};
using PathSubstitutions = std::vector<PathSubstitution>;

/// Where a source is, by its recorded path: there, or where the first substitution leads that leads
/// to a file. Empty: nowhere.
QString find_source(const QString& recorded, const PathSubstitutions& substitutions);

/// The substitution by which `folder` holds a source: the folder has the file itself, or below it
/// as many of the recorded folders as it can. nullopt: it does not have the file.
std::optional<PathSubstitution> substitution_for(const QString& recorded, const QString& folder);

/// Those that the user made, by the settings.
PathSubstitutions read_substitutions();
void keep_substitutions(const PathSubstitutions& substitutions);
/// Puts a substitution first; another one of the same place goes.
void add_substitution(const PathSubstitution& substitution);

}  // namespace respike::gui
