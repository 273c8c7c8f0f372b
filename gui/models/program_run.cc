// Example: the request {.application = "bc", .arguments = {"-l"}} starts
// `respike --db X run bc -l`, which ends as the program ends.

#include "gui/models/program_run.h"

#include <QFile>
#include <QFileInfo>
#include <QStandardPaths>

#include <cstring>
#include <utility>

#include "gui/models/action.h"

namespace respike::gui {

QStringList RunRequest::command() const {
  const QStringList set = environment.isEmpty() ? QStringList() : QStringList{"env"} + environment;
  switch (kind) {
    case Kind::command:
      return QStringList{"respike", "exec", application, "--"} + set + arguments;
    case Kind::session: {
      const QStringList shell = {qEnvironmentVariable("SHELL", "/bin/sh")};
      const QStringList words = {"respike", "session"};
      return set.isEmpty() ? words + arguments
                           : words + set + (arguments.isEmpty() ? shell : arguments);
    }
    case Kind::check:
      return QStringList{"respike", "check", application, "--"} + arguments;
    case Kind::program:
      break;
  }
  QStringList words = {"respike", "run"};
  if (guard) words << "--guard";
  for (const QString& variable : environment) words << "--env" << variable;
  if (!program.isEmpty()) words << "--program" << program;
  if (application.startsWith('-')) words << "--";
  return words << application << arguments;
}

QString RunRequest::line() const {
  QString text = shell_line(command());
  if (!input.isEmpty()) text += " < " + shell_line({input});
  return folder.isEmpty() ? text : "cd " + shell_line({folder}) + " && " + text;
}

std::optional<QStringList> split_words(const QString& line) {
  QStringList words;
  QString word;
  bool inside = false;  // inside a word
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
    if (noted_) return end_in_terminal();
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

/// QProcess may still be inside start(), so the next run starts later; and QProcess may report
/// several errors of one start.
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
  words[0] = respike_;
  words.insert(1, "--db");
  words.insert(2, QString::fromStdString(database.string()));
  noted_.reset();
  if (request.in_terminal) words = in_terminal(request, words);
  process_.setWorkingDirectory(request.folder);
  process_.setStandardInputFile(request.input.isEmpty() ? QProcess::nullDevice() : request.input);
  Q_EMIT started(request);
  if (!request.folder.isEmpty() && !QFileInfo(request.folder).isDir())
    return end(false, "it could not be started: there is no folder " + request.folder);
  if (!request.input.isEmpty() && !QFileInfo(request.input).isReadable())
    return end(false, "it could not be started: the input " + request.input + " cannot be read");
  const QString program = words.takeFirst();
  process_.start(program, words);
}

/// The terminal has its own input and exit status, so a shell inside the terminal passes on the
/// program's.
QStringList ProgramRun::in_terminal(const RunRequest& request, const QStringList& words) {
  static const QString kScript =
      "status=$1 input=$2; shift 2; "
      "if [ -n \"$input\" ]; then \"$@\" < \"$input\"; else \"$@\"; fi; echo $? > \"$status\"";
  noted_ = std::make_unique<QTemporaryDir>();
  const QString terminal = terminal_emulator();
  const bool is_gnome = QFileInfo(terminal).fileName() == "gnome-terminal";
  return QStringList{terminal} + (is_gnome ? QStringList{"--wait", "--"} : QStringList{"-e"}) +
         QStringList{"sh", "-c", kScript, "sh", noted_->filePath("status"), request.input} + words;
}

void ProgramRun::end_in_terminal() {
  QFile file(noted_->filePath("status"));
  bool is_known = file.open(QIODevice::ReadOnly);
  const int status = file.readAll().trimmed().toInt(&is_known);
  noted_.reset();
  if (!is_known) return end(false, "the terminal was closed before the program ended");
  constexpr int kSignals = 128;  // shells add this to the number of a signal
  end(status == 0, status > kSignals ? QString("killed by signal %1 (%2)")
                                           .arg(status - kSignals)
                                           .arg(strsignal(status - kSignals))
                                     : QString("exit status %1").arg(status));
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
