// Example: start(optimize_action("bc", {})) posts the action to the thread for work. There it opens
// the database, optimizes, and posts messages back; until then its progress arrives at most every
// 50 ms. When the action ends, the applications are read again in the thread of the watch.

#include "gui/models/manager.h"

#include <QPointer>

#include <algorithm>
#include <chrono>
#include <exception>
#include <new>

#include "optimizer/base/error.h"
#include "profiledb/merging.h"

namespace respike::gui {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

namespace {

constexpr size_t kTasksKept = 100;
constexpr int kLookEvery = 1000;  // ms
constexpr auto kProgressEvery = std::chrono::milliseconds(50);

struct Cancelled {};  // thrown by the progress of an action

/// Runs `f` and returns its error, as a sentence; empty: none.
template <typename F>
QString sentence_of_failure(F f) {
  try {
    f();
  } catch (const std::bad_alloc&) {
    return "out of memory";
  } catch (const std::exception& error) {
    const QString text = QString::fromUtf8(error.what());
    return text.isEmpty() ? "something failed and left no message" : text;
  }
  return {};
}

/// Notes and warnings of an Environment.
std::vector<Message> messages_of(const Environment& environment, const QString& about) {
  std::vector<Message> messages;
  for (const std::string& note : environment.notes())
    messages.push_back({{}, Message::Kind::note, about, QString::fromStdString(note)});
  for (const std::string& warning : environment.warnings().warnings())
    messages.push_back({{}, Message::Kind::warning, about, QString::fromStdString(warning)});
  return messages;
}

bool is_there(const fs::path& file) {
  std::error_code error;
  return fs::status(file, error).type() != fs::file_type::not_found;
}

/// Opens a database for reading. If it cannot be written, `problem` gets the reason.
std::unique_ptr<Environment> open_to_look(const fs::path& database, QString& problem) {
  try {
    problem.clear();
    return std::make_unique<Environment>(database);
  } catch (const Error& error) {
    try {
      auto environment = std::make_unique<Environment>(database, Access::read);
      problem = QString("%1; what it holds can be looked at, and not changed").arg(error.what());
      return environment;
    } catch (const Error&) {  // the first sentence says more
    }
    throw;
  }
}

bool is_default(const fs::path& database) {
  try {
    return database == default_database_path();
  } catch (const Error&) {  // no variable names its place
    return false;
  }
}

}  // namespace

/// The last state seen, to detect changes.
struct Manager::Watched {
  fs::path path;
  // Stays open: the version of its database changes when other processes write.
  std::unique_ptr<Environment> environment;
  QString problem;  // why it cannot be written; empty: it can
  int64_t version = 0;
  std::optional<FileIdentity> file;
  bool failed = false;  // the last look failed
  std::vector<std::pair<std::string, std::optional<FileIdentity>>> images;
  Clock::time_point last_read;
  Clock::duration reading{};  // duration of the last reading

  static std::optional<FileIdentity> identity(const fs::path& file) {
    try {
      return file_identity(file);
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  bool changed(const fs::path& now) {
    const auto was = std::exchange(file, identity(now));
    const bool same_file = path == now && file && was && file->inode == was->inode;
    if (!same_file) {
      path = now;
      environment.reset();
    }
    if (!environment || (!problem.isEmpty() && can_be_written())) {
      environment = open_to_look(path, problem);
      version = environment->database().version();
      return true;
    }
    const int64_t before = std::exchange(version, environment->database().version());
    if (before != version) return true;
    if (std::ranges::any_of(
            images, [](const auto& image) { return identity(image.first) != image.second; }))
      return true;
    // Counts of processes that still run are merged again each time: this may take at most a fifth
    // of the time.
    return problem.isEmpty() && Clock::now() - last_read > 4 * reading &&
           anything_to_merge(environment->database());
  }

  bool can_be_written() const {
    try {
      const Environment writes(path);
      return true;
    } catch (const Error&) {
      return false;
    }
  }

  void note(const std::vector<ApplicationView>& applications) {
    images.clear();
    for (const ApplicationView& application : applications)
      for (const ImageView& view : application.images)
        images.emplace_back(view.image.path, identity(view.image.path));
  }
};

Manager::Manager(fs::path database, QObject* parent)
    : QObject(parent), database_(std::move(database)), watched_(std::make_shared<Watched>()) {
  qRegisterMetaType<Task>();
  qRegisterMetaType<Message>();
  connect(&timer_, &QTimer::timeout, this, [this] { look(false); });
  timer_.start(kLookEvery);
  refresh();
}

Manager::~Manager() {
  for (const auto& [task, running] : running_) cancel(task);
}

void Manager::open(const fs::path& database) {
  database_ = database;
  take({}, true);
  Q_EMIT database_changed();
  refresh();
}

const ApplicationView* Manager::application(const QString& name) const {
  const std::string wanted = name.toStdString();
  for (const ApplicationView& application : snapshot_.applications)
    if (application.name == wanted) return &application;
  return nullptr;
}

void Manager::refresh() {
  look(true);
}

// ---- actions ----

int Manager::start(Action action) {
  const int number = ++last_task_;
  auto cancelled = std::make_shared<std::atomic<bool>>(false);
  running_[number] = {cancelled, action.stop};
  Task& added = tasks_.emplace_back();
  added.number = number;
  added.title = action.title;
  if (tasks_.size() > kTasksKept) tasks_.pop_front();
  Q_EMIT task_changed(tasks_.back());
  if (!action.command.isEmpty()) note_command(action.command);
  work_.post([this, number, cancelled, database = database_, action = std::move(action)] {
    const auto in_window = [this](auto f) {
      QMetaObject::invokeMethod(this, f, Qt::QueuedConnection);
    };
    if (!*cancelled)
      in_window([this, number] {
        update(number, [](Task& task) { task.state = Task::State::running; });
      });
    QStringList sentences;
    std::vector<Message> messages;
    bool was_cancelled = *cancelled;
    const QString failure = sentence_of_failure([&] {
      if (was_cancelled) return;
      Environment environment(database);
      Clock::time_point shown;
      environment.progress = [&](std::string_view image, std::string_view step, double done) {
        if (*cancelled) throw Cancelled();
        if (Clock::now() - shown < kProgressEvery) return;
        shown = Clock::now();
        const QString text = QString::fromStdString(fs::path(image).filename().string() + ": ") +
                             QString::fromUtf8(step.data(), qsizetype(step.size()));
        in_window([this, number, text, done] {
          update(number, [&](Task& task) {
            task.step = text;
            task.share = done;
          });
        });
      };
      try {
        sentences = action.work(environment);
      } catch (const Cancelled&) {
        was_cancelled = true;
      } catch (...) {
        messages = messages_of(environment, action.title);
        // Work that `stop` has stopped fails, and the user knows why.
        if (!*cancelled || !action.stop) throw;
        was_cancelled = true;
      }
      messages = messages_of(environment, action.title);
    });
    in_window([=, this, title = action.title] {
      for (const Message& message : messages) say(message.kind, message.about, message.text);
      for (const QString& sentence : sentences) say(Message::Kind::done, title, sentence);
      if (!failure.isEmpty()) say(Message::Kind::error, title, failure);
      if (was_cancelled) say(Message::Kind::note, title, "cancelled: what was finished stays");
      running_.erase(number);
      update(number, [&](Task& task) {
        task.state = !failure.isEmpty() ? Task::State::failed
                     : was_cancelled    ? Task::State::cancelled
                                        : Task::State::done;
        task.step.clear();
        task.share = 1;
      });
      const auto task = std::ranges::find(tasks_, number, &Task::number);
      if (task != tasks_.end()) Q_EMIT task_ended(*task);
      refresh();
    });
  });
  return number;
}

void Manager::cancel(int task) {
  const auto running = running_.find(task);
  if (running == running_.end()) return;
  *running->second.cancelled = true;
  if (running->second.stop) running->second.stop();
}

bool Manager::busy() const {
  return !running_.empty();
}

void Manager::update(int number, const std::function<void(Task&)>& change) {
  const auto task = std::ranges::find(tasks_, number, &Task::number);
  if (task == tasks_.end()) return;
  change(*task);
  Q_EMIT task_changed(*task);
}

// ---- questions ----

void Manager::ask_any(QObject* asker, std::function<void(Environment&)> question,
                      std::function<void()> answer, std::function<void(const QString&)> failed) {
  questions_.post([this, database = database_, asker = QPointer(asker),
                   question = std::move(question), answer = std::move(answer),
                   failed = std::move(failed)] {
    std::vector<Message> news;
    const QString failure = sentence_of_failure([&] {
      if (!is_there(database)) throw Error("there is no database", database);
      QString ignored;  // the watch reports it
      const auto environment = open_to_look(database, ignored);
      question(*environment);
      news = messages_of(*environment, {});
    });
    QMetaObject::invokeMethod(
        this,
        [=, this] {
          say_news(news);
          if (asker.isNull()) return;
          if (failure.isEmpty())
            answer();
          else
            failed(failure);
        },
        Qt::QueuedConnection);
  });
}

void Manager::look(bool anyway) {
  if (looking_) {
    look_again_ |= anyway;
    return;
  }
  looking_ = true;
  watch_.post([this, anyway, database = database_, watched = watched_] {
    Snapshot snapshot;
    std::vector<Message> news;
    bool read = false;
    bool vanished = false;
    QString failure = sentence_of_failure([&] {
      if (!is_there(database)) {
        vanished = watched->path == database && watched->file.has_value();
        read = anyway || watched->file.has_value();
        snapshot.there = false;
        watched->file.reset();
        watched->environment.reset();
        watched->problem.clear();
        return;
      }
      const bool changed = watched->changed(database) || watched->failed;
      if (!changed && !anyway) return;
      read = true;
      const Clock::time_point start = Clock::now();
      snapshot.applications = watched->environment->list();
      news = messages_of(*watched->environment, {});
      watched->note(snapshot.applications);
      watched->last_read = Clock::now();
      watched->reading = watched->last_read - start;
    });
    const bool was_read = failure.isEmpty();
    snapshot.problem = was_read ? watched->problem : failure;
    watched->failed = !was_read;
    QMetaObject::invokeMethod(
        this,
        [this, database, vanished, was_read, read = read || !was_read, news = std::move(news),
         snapshot = std::move(snapshot)]() mutable {
          looking_ = false;
          say_news(news);
          if (vanished && database == database_)
            say(Message::Kind::warning, "Reading the database",
                QString::fromStdString(database.string()) + ": the database is gone");
          if (read && database == database_) take(std::move(snapshot), was_read);
          if (std::exchange(look_again_, false)) look(true);
        },
        Qt::QueuedConnection);
  });
}

void Manager::take(Snapshot snapshot, bool was_read) {
  const bool is_new = snapshot.problem != snapshot_.problem;
  if (!was_read) {
    if (!is_new) return;
    // The last state is worth more than an empty window.
    snapshot.applications = std::move(snapshot_.applications);
  }
  if (is_new && !snapshot.problem.isEmpty())
    say(was_read ? Message::Kind::warning : Message::Kind::error, "Reading the database",
        snapshot.problem);
  snapshot_ = std::move(snapshot);
  Q_EMIT snapshot_changed();
}

// ---- messages ----

void Manager::say(Message::Kind kind, const QString& about, const QString& text) {
  Q_EMIT said({QDateTime::currentDateTime(), kind, about, text});
}

/// The watch reads again and again: show equal messages only once.
void Manager::say_news(const std::vector<Message>& news) {
  for (const Message& message : news)
    if (news_.insert(message.text).second) say(message.kind, message.about, message.text);
}

void Manager::note_command(const QStringList& words, const QString& folder, const QString& input) {
  QStringList command = words;
  if (command.size() > 0 && !is_default(database_))
    command.insert(1, "--db"), command.insert(2, QString::fromStdString(database_.string()));
  QString line = shell_line(command);
  if (!input.isEmpty()) line += " < " + shell_line({input});
  if (!folder.isEmpty()) line = "cd " + shell_line({folder}) + " && " + line;
  Q_EMIT command_noted(line);
}

}  // namespace respike::gui
