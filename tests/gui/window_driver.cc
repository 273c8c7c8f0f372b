// window_driver --db DATABASE: a window without a display that performs the actions in lines of its
// standard input, for tests that kill windows or open several windows.
//
// A line holds the words of a command, apart by tabs, as on the command line: "instrument<TAB>app".
// Beside the command line's words there are "verify APP", "compare APP", "show" and "quit". The
// program answers with lines of JSON: {"event": "started"} before an action begins, {"event":
// "ended", "state": "done"} after it, {"event": "said", "kind": "error", ...} for each message, and
// {"event": "shown", "rows": [...]} after "show". "die WORDS" begins an action, and SIGKILL ends
// the window before it learns of the action's end. Pages change all the time, so each page asks its
// questions.

#include <QAbstractItemModel>
#include <QApplication>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QSocketNotifier>
#include <QStatusBar>
#include <QTabWidget>
#include <QTimer>
#include <QTreeView>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <utility>

#include "gui/models/gain_model.h"
#include "gui/models/manager.h"
#include "gui/pages/main_window.h"
#include "gui/pages/run_page.h"
#include "tests/gui/support.h"

namespace respike::gui {
namespace {

constexpr int kNextPageEvery = 150, kTick = 5;  // ms

void tell(const QJsonObject& event) {
  std::puts(QJsonDocument(event).toJson(QJsonDocument::Compact).constData());
  std::fflush(stdout);
}

QString state_text(Task::State state) {
  static const char* const kNames[] = {"waiting", "running", "done", "failed", "cancelled"};
  return kNames[int(state)];
}

QString kind_text(Message::Kind kind) {
  static const char* const kNames[] = {"done", "note", "warning", "error"};
  return kNames[int(kind)];
}

class Driver {
 public:
  Driver(const std::filesystem::path& database)
      : manager_(database), window_(manager_, respike_command()) {
    QObject::connect(&manager_, &Manager::said, &window_, [this](const Message& message) {
      tell({{"event", "said"}, {"kind", kind_text(message.kind)}, {"text", message.text}});
      if (message.about == "Run " + running_) end("done");
    });
    QObject::connect(&manager_, &Manager::task_ended, &window_,
                     [this](const Task& task) { end(state_text(task.state)); });
    QObject::connect(&pages_, &QTimer::timeout, &window_, [this] {
      auto* tabs = window_.findChild<QTabWidget*>();
      tabs->setCurrentIndex((tabs->currentIndex() + 1) % tabs->count());
    });
    QObject::connect(&ticks_, &QTimer::timeout, &window_,
                     [this] { longest_ = std::max(longest_, since_tick_.restart().count()); });
    QObject::connect(&input_, &QSocketNotifier::activated, &window_, [this] { read(); });
    window_.show();
    pages_.start(kNextPageEvery);
    ticks_.setTimerType(Qt::PreciseTimer);
    since_tick_.restart();
    ticks_.start(kTick);
  }

 private:
  void end(const QString& state) { tell({{"event", "ended"}, {"state", state}}); }

  void read() {
    char bytes[4096];
    const ssize_t got = ::read(0, bytes, sizeof bytes);
    if (got <= 0) return QCoreApplication::quit();
    unread_.append(bytes, got);
    for (qsizetype end = 0; (end = unread_.indexOf('\n')) >= 0;) {
      const QStringList words = QString::fromUtf8(unread_.left(end)).split('\t');
      unread_.remove(0, end + 1);
      act(words);
    }
  }

  void act(const QStringList& words) {
    const QString& command = words[0];
    if (command == "quit") return QCoreApplication::quit();
    if (command == "show") return show();
    if (command == "die") {
      act(words.mid(1));
      raise(SIGKILL);
    }
    tell({{"event", "started"}});
    if (command == "run") {
      running_ = words[1];
      window_.choose(running_);
      return window_.findChild<RunPage*>()->run();
    }
    manager_.start(action(words));
  }

  Action action(const QStringList& words) {
    const QString& command = words[0];
    const QString first = words.value(1);
    if (command == "register") return register_action(first.toStdString(), words.value(3));
    if (command == "instrument")
      return instrument_action(
          first, {.images = {},
                  .counters = words.contains("atomic") ? Counters::atomic : Counters::shared,
                  .profile = {}});
    if (command == "optimize") return optimize_action(first, {});
    if (command == "mode")
      return mode_action(first, words[2] == "original" ? Mode::original : Mode::instrumented);
    if (command == "export") return export_action(first, {}, {.folder = words[2].toStdString()});
    if (command == "verify") return verify_action(first, {});
    if (command == "unregister") return unregister_action(first);
    if (command == "prune") return prune_action(words.size() == 3 ? words[2].toUInt() : 3, false);
    if (command == "compare")
      return compare_action({.application = first, .arguments = {}, .folder = {}, .input = {}},
                            std::make_shared<StopFile>());
    return collect_action();
  }

  /// Reports a user's view: the rows of the page Applications, if its pages exist, and the longest
  /// time since the last report in which the window handled no event although it had a processor.
  void show() {
    const QAbstractItemModel& model = *window_.findChild<QTreeView*>()->model();
    QJsonArray rows;
    for (int row = 0; row < model.rowCount(); ++row) {
      QJsonArray cells;
      for (int column = 0; column < model.columnCount(); ++column)
        cells.append(model.index(row, column).data().toString());
      rows.append(cells);
    }
    tell({{"event", "shown"},
          {"rows", rows},
          {"problem", manager_.snapshot().problem},
          {"status", window_.statusBar()->currentMessage()},
          {"blocked_ms", qint64(std::exchange(longest_, 0)) - kTick}});
  }

  Manager manager_;
  MainWindow window_;
  QTimer pages_, ticks_;
  PatientTimer since_tick_{PatientTimer::Waits::of_this_thread};
  std::chrono::milliseconds::rep longest_ = 0;
  QSocketNotifier input_{0, QSocketNotifier::Read};
  QByteArray unread_;
  QString running_;  // the application that runs
};

}  // namespace
}  // namespace respike::gui

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication application(argc, argv);
  QCoreApplication::setOrganizationName("respike");
  QCoreApplication::setApplicationName("respike-manager");
  if (argc != 3) return 2;
  const respike::gui::Driver driver(argv[2]);
  return QApplication::exec();
}
