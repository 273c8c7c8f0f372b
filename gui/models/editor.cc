// Example: the pattern "code -g {file}:{line}" and line 12 of "/src/my file.c" are the words
// "code",
// "-g" and "/src/my file.c:12".
//
// Names of files come from debug information, which is not trusted. A name is always one word or a
// part of one, whatever its characters, and absolute, so that it cannot be an option. The default,
// xdg-open, treats a file as the desktop treats its type: a file that is not plain text, or that
// can be executed, is not passed to it.

#include "gui/models/editor.h"

#include <QFileInfo>
#include <QMimeDatabase>
#include <QProcess>
#include <QSettings>
#include <QStandardPaths>

#include "gui/models/program_run.h"

namespace respike::gui {
namespace {

constexpr const char* kSetting = "sources/editor";
constexpr const char* kFile = "{file}";
constexpr const char* kLine = "{line}";

/// In one pass: a name that contains "{line}" keeps it.
QString filled_in(const QString& word, const QString& path, uint32_t line) {
  QString result;
  for (qsizetype i = 0; i < word.size();) {
    const auto rest = QStringView(word).mid(i);
    if (rest.startsWith(QLatin1String(kFile))) {
      result += path;
      i += qsizetype(qstrlen(kFile));
    } else if (rest.startsWith(QLatin1String(kLine))) {
      result += QString::number(line);
      i += qsizetype(qstrlen(kLine));
    } else {
      result += word[i++];
    }
  }
  return result;
}

/// Why the desktop must not open a file.
QString why_not_by_desktop(const QString& path) {
  const QMimeType kind = QMimeDatabase().mimeTypeForFile(path);
  const bool is_text = kind.inherits("text/plain") && !kind.inherits("application/x-desktop") &&
                       !kind.inherits("text/html");
  if (is_text && !QFileInfo(path).isExecutable()) return {};
  return path +
         ": the desktop might run it or show it as a page; the page Settings takes the name "
         "of an editor";
}

}  // namespace

QStringList editor_words(const QString& pattern, const QString& path, uint32_t line) {
  const auto split = split_words(pattern);
  if (!split || split->isEmpty()) return {};
  QStringList words = *split;
  if (words.front() == "$VISUAL" || words.front() == "$EDITOR") {
    const QString variable = qEnvironmentVariable(words.takeFirst().mid(1).toLatin1().constData());
    const auto value = split_words(variable);
    if (!value || value->isEmpty()) return {};
    words = *value + words;
  }
  if (!words.join(' ').contains(kFile)) words << kFile;
  for (QString& word : words) word = filled_in(word, path, line);
  return words;
}

QString open_in_editor(const QString& path, uint32_t line) {
  const QString pattern = read_editor().isEmpty() ? QString(kDefaultEditor) : read_editor();
  QStringList words = editor_words(pattern, path, line);
  if (words.isEmpty())
    return pattern + ": this names no editor: a quote is not closed, or the variable is not set";
  const QString name = words.takeFirst();
  const QString program = name.contains('/') ? name : QStandardPaths::findExecutable(name);
  if (program.isEmpty())
    return name + ": there is no such program; the page Settings takes the name of an editor";
  if (QFileInfo(name).fileName() == "xdg-open")
    if (const QString reason = why_not_by_desktop(path); !reason.isEmpty()) return reason;
  QProcess editor;
  editor.setProgram(program);
  editor.setArguments(words);
  editor.setStandardInputFile(QProcess::nullDevice());
  if (editor.startDetached()) return {};
  return name + " cannot be started: " + editor.errorString();
}

QString read_editor() {
  return QSettings().value(kSetting).toString().trimmed();
}

void keep_editor(const QString& pattern) {
  QSettings().setValue(kSetting, pattern.trimmed());
}

}  // namespace respike::gui
