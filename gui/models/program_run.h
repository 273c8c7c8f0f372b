#pragma once
// Runs of applications, one after another, in their modes.

#include <QObject>
#include <QProcess>
#include <QStringList>
#include <QTemporaryDir>

#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <utility>

namespace respike::gui {

/// The user's request: a command of Respike that starts programs, with a folder and an input.
struct RunRequest {
  enum class Kind {
    program,  // respike run
    command,  // respike exec: `arguments` are a command, below which the application runs
    session,  // respike session: the same for all applications; no arguments: a shell
    check     // respike check
  };
  Kind kind = Kind::program;
  QString application;
  QString program = {};  // one of several programs; empty: the only one
  QStringList arguments;
  QStringList environment;  // NAME=VALUE
  QString folder;           // empty: the folder of this process
  QString input;            // a file; empty: no input
  bool in_terminal = false;
  bool guard = false;  // of a program: respike run --guard

  /// The command line, without folder and input.
  QStringList command() const;
  /// The same as a shell command line, with folder and input.
  QString line() const;
};

/// The words of a line, as a POSIX shell splits it: quotes and backslashes, no expansion. nullopt
/// when a quote is not closed.
std::optional<QStringList> split_words(const QString& line);

/// Runs requests one after another; each is a child process of Respike, which gives programs their
/// own images and passes signals on. The program's output arrives as it is written.
class ProgramRun : public QObject {
  Q_OBJECT

 public:
  /// `respike`: the command. Runs use `database`.
  ProgramRun(QString respike, QObject* parent = nullptr);
  /// Stops the running program.
  ~ProgramRun() override;

  void start(const RunRequest& request, const std::filesystem::path& database);
  /// Ends the program: with SIGTERM, at the second call with SIGKILL. Drops waiting requests.
  void stop();
  /// Whether a program runs, or is about to.
  bool running() const { return begun_ || !queue_.empty(); }
  int waiting() const { return int(queue_.size()); }

 Q_SIGNALS:
  void started(const respike::gui::RunRequest& request);
  void output(const QByteArray& bytes, bool is_error);
  /// `how`: "exit status 0", "killed by signal 11 (Segmentation fault)", or why it did not start.
  void ended(bool good, const QString& how);

 private:
  bool in_process() const { return process_.state() != QProcess::NotRunning; }
  void next();
  /// The words that run `words` in a terminal emulator.
  QStringList in_terminal(const RunRequest& request, const QStringList& words);
  void end_in_terminal();
  void end(bool good, const QString& how);

  QString respike_;
  std::deque<std::pair<RunRequest, std::filesystem::path>> queue_;
  QProcess process_;
  bool begun_ = false;  // a run has begun whose end was not reported yet
  bool asked_to_stop_ = false;
  std::unique_ptr<QTemporaryDir> noted_;  // where the shell in a terminal writes the exit status
};

/// The terminal emulator of this system; empty: there is none.
QString terminal_emulator();

}  // namespace respike::gui
