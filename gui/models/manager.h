#pragma once
// Shared by all pages: a database, its applications, background work, and messages.
//
// Work goes to other threads, so that the window never waits: actions, which may take long, go to
// the first; questions of pages go to the second. Both use only applications/, with an Environment
// of their own for each job. Answers come back in the thread of the Manager.
//
// A third thread watches: every second it checks whether the database (another process wrote), the
// spool (a run counts) or a file of an image (make wrote it) has changed. If so, it reads the
// applications again, which merges counts and registers new builds, like `respike list`.

#include <QDateTime>
#include <QObject>
#include <QTimer>

#include <atomic>
#include <deque>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "applications/environment.h"
#include "gui/models/action.h"
#include "gui/models/lane.h"

namespace respike::gui {

struct Message {
  enum class Kind : uint8_t { done, note, warning, error };
  QDateTime time;
  Kind kind{};
  QString about;  // the title of the action; empty: none
  QString text;
};

/// An action that was started.
struct Task {
  enum class State : uint8_t { waiting, running, done, failed, cancelled };
  int number = 0;
  QString title;
  QStringList command;
  State state = State::waiting;
  QString step;      // "libfoo.so: layout"
  double share = 0;  // share of the work on the present image, in [0, 1]
};

/// Everything in a database that pages show at all times.
struct Snapshot {
  std::vector<ApplicationView> applications;
  QString problem;    // why the database cannot be read or written; empty: it can
  bool there = true;  // the database's file exists
};

class Manager : public QObject {
  Q_OBJECT

 public:
  explicit Manager(std::filesystem::path database, QObject* parent = nullptr);
  /// Cancels running actions, and waits until they have stopped.
  ~Manager() override;

  const std::filesystem::path& database() const { return database_; }
  /// Switches to another database. Actions that were started end in their old database.
  void open(const std::filesystem::path& database);

  const Snapshot& snapshot() const { return snapshot_; }
  const ApplicationView* application(const QString& name) const;
  /// Reads the applications again, even if nothing seems to have changed.
  void refresh();

  /// Starts an action, after the actions that were started before; returns its number.
  int start(Action action);
  /// Stops an action at its next step. Finished work stays, as on the command line.
  void cancel(int task);
  const std::deque<Task>& tasks() const { return tasks_; }  // the last hundred, oldest first
  bool busy() const;

  /// Asks a question in the background. `answer` gets the result in this thread, unless `asker` is
  /// gone by then; on failure `failed` gets the error's sentence.
  template <typename T>
  void ask(QObject* asker, std::function<T(Environment&)> question,
           std::function<void(const T&)> answer, std::function<void(const QString&)> failed) {
    auto result = std::make_shared<std::optional<T>>();
    ask_any(
        asker,
        [result, question = std::move(question)](Environment& environment) {
          *result = question(environment);
        },
        [result, answer = std::move(answer)] { answer(**result); }, std::move(failed));
  }

  void say(Message::Kind kind, const QString& about, const QString& text);
  /// Records the command line for what the user has just done.
  void note_command(const QStringList& words, const QString& folder = {},
                    const QString& input = {});

 Q_SIGNALS:
  void snapshot_changed();
  void task_changed(const respike::gui::Task& task);
  void task_ended(const respike::gui::Task& task);
  void said(const respike::gui::Message& message);
  void command_noted(const QString& line);
  void database_changed();

 private:
  struct Watched;
  void ask_any(QObject* asker, std::function<void(Environment&)> question,
               std::function<void()> answer, std::function<void(const QString&)> failed);
  void look(bool anyway);
  /// `was_read`: if false, the snapshot only has the problem.
  void take(Snapshot snapshot, bool was_read);
  void say_news(const std::vector<Message>& news);
  void update(int task, const std::function<void(Task&)>& change);

  std::filesystem::path database_;
  Snapshot snapshot_;
  std::deque<Task> tasks_;
  struct Running {
    std::shared_ptr<std::atomic<bool>> cancelled;
    std::function<void()> stop;  // Action::stop
  };
  std::map<int, Running> running_;  // tasks that have not ended yet
  int last_task_ = 0;
  bool looking_ = false;  // the third thread looks for changes, or reads
  bool look_again_ = false;
  std::shared_ptr<Watched> watched_;  // used in the third thread only
  std::set<QString> news_;            // messages of the watch and of questions, shown only once
  QTimer timer_;
  Lane work_;
  Lane questions_;
  Lane watch_;
};

}  // namespace respike::gui

Q_DECLARE_METATYPE(respike::gui::Task)
Q_DECLARE_METATYPE(respike::gui::Message)
