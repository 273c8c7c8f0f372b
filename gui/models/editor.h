#pragma once
// The user's editor, started at a line of a source.

#include <QString>
#include <QStringList>

#include <cstdint>

namespace respike::gui {

/// What starts the editor when the user says nothing.
inline constexpr const char* kDefaultEditor = "xdg-open {file}";

/// The command that opens a line, as words: no shell reads it. `pattern` is split as a shell splits
/// words; then {file} and {line} stand for the path and the number, and $VISUAL or $EDITOR as the
/// first word for the words of that variable. A pattern without {file} gets the path as its last
/// word. Empty: a quote is not closed, or the variable is not set.
QStringList editor_words(const QString& pattern, const QString& path, uint32_t line);

/// Starts the editor that the settings name, which goes on by itself. Returns what went wrong, as a
/// sentence; empty: nothing. `path` is absolute and names a file.
QString open_in_editor(const QString& path, uint32_t line);

/// The pattern of the settings; empty: kDefaultEditor.
QString read_editor();
void keep_editor(const QString& pattern);

}  // namespace respike::gui
