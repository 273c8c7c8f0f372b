#pragma once
// The page that leads: how far the chosen application is, and the one step that comes next.

#include <QGridLayout>
#include <QLabel>
#include <QLineEdit>
#include <QPushButton>
#include <QStackedWidget>

#include <array>

#include "applications/life.h"
#include "gui/models/manager.h"
#include "gui/models/program_run.h"
#include "gui/pages/controls.h"

namespace respike::gui {

class RunPage;

class OverviewPage : public QWidget {
  Q_OBJECT

 public:
  /// `run`: the page that runs programs; this one has them run there.
  OverviewPage(Manager& manager, RunPage& run, bool has_demo, QWidget* parent = nullptr);

  void choose(const QString& application);
  /// Says why an action failed, until the next step is taken.
  void show_failure(const QString& text);

 Q_SIGNALS:
  void register_wanted();
  void demo_wanted();
  void output_wanted();  // of the program that runs, or ran last

 private:
  /// A step, in a row of the table of steps.
  struct Row {
    QLabel* mark;
    QLabel* name;
    QLabel* text;
    QPushButton* button;
  };

  QWidget* make_steps();
  void offer();
  void show_state();
  void show_step(Step step, const Life& life, bool busy);
  void take(Step step);
  void run(RunRequest::Kind kind);
  void export_images();

  Manager& manager_;
  RunPage& run_;
  QString application_;
  QString failure_;              // of the last action; empty: none
  bool awaits_reading_ = false;  // something was done, and the database was not read again yet
  QString offered_;  // arguments that were filled in, and that the user may have changed
  QStackedWidget* stack_ = nullptr;
  QLabel* problem_ = nullptr;
  ElidedLabel* title_ = nullptr;
  QLabel* advice_ = nullptr;
  QLabel* gain_ = nullptr;
  QLineEdit* arguments_ = nullptr;
  ElidedLabel* place_ = nullptr;  // folder and input of runs
  ElidedLabel* state_ = nullptr;  // of the run
  QPushButton* stop_ = nullptr;
  QPushButton* output_ = nullptr;  // leads to the output
  std::array<Row, kSteps> rows_{};
};

}  // namespace respike::gui
