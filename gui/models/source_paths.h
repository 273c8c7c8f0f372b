#pragma once
// Finds sources that are not at the place recorded in debug information.

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

/// The place of a source: its recorded path, or the result of the first substitution that leads to
/// a file. Empty: not found.
QString find_source(const QString& recorded, const PathSubstitutions& substitutions);

/// The substitution by which `folder` holds a source: `folder` contains the file itself, or below
/// it the last recorded folders, as many as possible. nullopt: the folder does not have the file.
std::optional<PathSubstitution> substitution_for(const QString& recorded, const QString& folder);

/// The user's substitutions, from the settings.
PathSubstitutions read_substitutions();
void keep_substitutions(const PathSubstitutions& substitutions);
/// Puts a substitution first, and removes another one of the same place.
void add_substitution(const PathSubstitution& substitution);

}  // namespace respike::gui
