// Example: the request {.application = "bc", .arguments = {"-l"}} starts
// `respike --db X run bc -l`, which ends as the program ends.

#include "gui/models/program_run.h"

#include <QFileInfo>
#include <QStandardPaths>

#include <cstring>
#include <utility>

namespace respike::gui {

QStringList RunRequest::command() const {
  QStringList words = {"respike", "run"};
  for (const QString& variable : environment) words << "--env" << variable;
  if (application.startsWith('-')) words << "--";
  return words << application << arguments;
}

std::optional<QStringList> split_words(const QString& line) {
  QStringList words;
  QString word;
  bool inside = false;  // of a word
  for (qsizetype i = 0; i < line.size(); ++i) {
    const QChar c = line[i];
    if (c == '\'') {
      const qsizetype end = line.indexOf('\'', i + 1);
      if (end < 0) return std::nullopt;
      word += QStringView(line).mid(i + 1, end - i - 1);
      inside = true;
      i = end;
    } else if (c == '"') {
      inside = true;
      for (++i; i < line.size() && line[i] != '"'; ++i) {
        const bool escapes =
            line[i] == '\\' && i + 1 < line.size() && QString("\"\\$`").contains(line[i + 1]);
        word += line[escapes ? ++i : i];
      }
      if (i >= line.size()) return std::nullopt;
    } else if (c == '\\' && i + 1 < line.size()) {
      word += line[++i];
      inside = true;
    } else if (c.isSpace()) {
      if (inside) words << word;
      word.clear();
      inside = false;
    } else {
      word += c;
      inside = true;
    }
  }
  if (inside) words << word;
  return words;
}

QString terminal_emulator() {
  for (const char* name : {"x-terminal-emulator", "konsole", "gnome-terminal", "xterm"})
    if (const QString path = QStandardPaths::findExecutable(name); !path.isEmpty()) return path;
  return {};
}

ProgramRun::ProgramRun(QString respike, QObject* parent)
    : QObject(parent), respike_(std::move(respike)) {
  connect(&process_, &QProcess::readyReadStandardOutput, this,
          [this] { Q_EMIT output(process_.readAllStandardOutput(), false); });
  connect(&process_, &QProcess::readyReadStandardError, this,
          [this] { Q_EMIT output(process_.readAllStandardError(), true); });
  connect(&process_, &QProcess::finished, this, [this](int code, QProcess::ExitStatus status) {
    const bool crashed = status == QProcess::CrashExit;
    end(!crashed && code == 0,
        crashed ? QString("killed by signal %1 (%2)").arg(code).arg(strsignal(code))
                : QString("exit status %1").arg(code));
  });
  connect(&process_, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
    if (error == QProcess::FailedToStart)
      end(false, "it could not be started: " + process_.errorString());
  });
}

ProgramRun::~ProgramRun() {
  process_.disconnect(this);
  if (!in_process()) return;
  process_.terminate();
  if (!process_.waitForFinished(2000)) process_.kill();
  process_.waitForFinished(2000);
}

void ProgramRun::start(const RunRequest& request, const std::filesystem::path& database) {
  queue_.emplace_back(request, database);
  if (!in_process()) next();
}

/// QProcess may still be inside of start(), so that the next run starts later; and QProcess may
/// report several errors of one start.
void ProgramRun::end(bool good, const QString& how) {
  if (!std::exchange(begun_, false)) return;
  Q_EMIT ended(good, how);
  QMetaObject::invokeMethod(this, &ProgramRun::next, Qt::QueuedConnection);
}

void ProgramRun::next() {
  if (queue_.empty() || in_process()) return;
  const auto [request, database] = queue_.front();
  queue_.pop_front();
  asked_to_stop_ = false;
  begun_ = true;
  QStringList words = request.command();
  words.pop_front();
  words = QStringList{"--db", QString::fromStdString(database.string())} + words;
  QString program = respike_;
  if (request.in_terminal) {
    words = QStringList{"-e", respike_} + words;
    program = terminal_emulator();
  }
  process_.setWorkingDirectory(request.folder);
  process_.setStandardInputFile(request.input.isEmpty() ? QProcess::nullDevice() : request.input);
  Q_EMIT started(request);
  if (!request.input.isEmpty() && !QFileInfo(request.input).isReadable())
    return end(false, "it could not be started: the input " + request.input + " cannot be read");
  process_.start(program, words);
}

void ProgramRun::stop() {
  queue_.clear();
  if (!in_process()) return;
  if (std::exchange(asked_to_stop_, true))
    process_.kill();
  else
    process_.terminate();
}

}  // namespace respike::gui
