#pragma once
// The page that guides the user: the progress of the chosen application, and its next step.

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
  /// `run`: the page that runs programs for this page.
  OverviewPage(Manager& manager, RunPage& run, bool has_demo, QWidget* parent = nullptr);

  void choose(const QString& application);
  /// Shows why an action failed, until the next step is taken.
  void show_failure(const QString& text);

 Q_SIGNALS:
  void register_wanted();
  void demo_wanted();
  void output_wanted();  // the user wants to see the output of the last run

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
  bool awaits_reading_ = false;  // an action has ended, and the database was not read again yet
  QString offered_;              // arguments that were filled in; the user may have changed them
  QStackedWidget* stack_ = nullptr;
  QLabel* problem_ = nullptr;
  ElidedLabel* title_ = nullptr;
  QLabel* advice_ = nullptr;
  QLabel* gain_ = nullptr;
  QLineEdit* arguments_ = nullptr;
  ElidedLabel* place_ = nullptr;  // folder and input of runs
  ElidedLabel* state_ = nullptr;  // state of the run
  QPushButton* stop_ = nullptr;
  QPushButton* output_ = nullptr;  // shows the output
  std::array<Row, kSteps> rows_{};
};

}  // namespace respike::gui
