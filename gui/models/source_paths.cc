// Example: a program was compiled in /build/app, and its sources are in /home/me/app now. The user
// selects /home/me/app/src for /build/app/src/main.c; it follows that files below /build/app are
// now below /home/me/app.

#include "gui/models/source_paths.h"

#include <QDir>
#include <QFileInfo>
#include <QSettings>

#include <algorithm>

namespace respike::gui {
namespace {

constexpr const char* kSetting = "sources/places";  // from, to, from, to ...

bool is_file(const QString& path) {
  return QFileInfo(path).isFile();
}

/// The path without its last folder or file; "/a" has none.
QString parent_of(const QString& path) {
  return path.left(path.lastIndexOf('/'));
}

QString last_of(const QString& path) {
  return path.mid(path.lastIndexOf('/') + 1);
}

}  // namespace

QString find_source(const QString& recorded, const PathSubstitutions& substitutions) {
  if (recorded.startsWith('/') && is_file(recorded)) return recorded;
  for (const PathSubstitution& place : substitutions) {
    if (!recorded.startsWith(place.from + '/')) continue;
    const QString path = place.to + recorded.mid(place.from.size());
    if (is_file(path)) return path;
  }
  return {};
}

std::optional<PathSubstitution> substitution_for(const QString& recorded, const QString& folder) {
  const QString path = QDir::cleanPath(recorded), there = QDir::cleanPath(folder);
  if (!path.startsWith('/') || !there.startsWith('/') || there == "/") return std::nullopt;
  for (qsizetype start = 0; start >= 0; start = path.indexOf('/', start + 1)) {
    if (!is_file(there + path.mid(start))) continue;
    PathSubstitution place{path.left(start), there};
    // Folders with the same names are not part of the difference.
    while (place.from.count('/') > 1 && place.to.count('/') > 1 &&
           last_of(place.from) == last_of(place.to))
      place = {parent_of(place.from), parent_of(place.to)};
    return place;
  }
  return std::nullopt;
}

PathSubstitutions read_substitutions() {
  const QStringList paths = QSettings().value(kSetting).toStringList();
  PathSubstitutions substitutions;
  for (qsizetype i = 0; i + 1 < paths.size(); i += 2)
    substitutions.push_back({paths[i], paths[i + 1]});
  return substitutions;
}

void keep_substitutions(const PathSubstitutions& substitutions) {
  QStringList paths;
  for (const PathSubstitution& place : substitutions) paths << place.from << place.to;
  QSettings().setValue(kSetting, paths);
}

void add_substitution(const PathSubstitution& substitution) {
  PathSubstitutions all = read_substitutions();
  std::erase_if(all,
                [&](const PathSubstitution& place) { return place.from == substitution.from; });
  all.insert(all.begin(), substitution);
  keep_substitutions(all);
}

}  // namespace respike::gui
