#pragma once
// The user's editor, started at a line of a source.

#include <QString>
#include <QStringList>

#include <cstdint>

namespace respike::gui {

/// The editor's command if the user sets none.
inline constexpr const char* kDefaultEditor = "xdg-open {file}";

/// The command that opens a line, as words: no shell reads it. `pattern` is split into words like
/// in a shell. Then {file} and {line} are replaced by the path and the number, and $VISUAL or
/// $EDITOR as the first word is replaced by the words of that variable. A pattern without {file}
/// gets the path as its last word. Empty: a quote is not closed, or the variable is not set.
QStringList editor_words(const QString& pattern, const QString& path, uint32_t line);

/// Starts the editor that the settings name; the editor outlives this call. Returns an error, as a
/// sentence; empty: none. `path` is absolute and names a file.
QString open_in_editor(const QString& path, uint32_t line);

/// The pattern of the settings; empty: kDefaultEditor.
QString read_editor();
void keep_editor(const QString& pattern);

}  // namespace respike::gui
