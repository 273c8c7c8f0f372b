#pragma once
// The page that runs the chosen application.

#include <QCheckBox>
#include <QComboBox>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QPushButton>
#include <QSpinBox>
#include <QStringDecoder>

#include "gui/models/manager.h"
#include "gui/models/program_run.h"
#include "gui/pages/controls.h"
#include "gui/pages/work_fields.h"

namespace respike::gui {

class RunPage : public QWidget {
  Q_OBJECT

 public:
  RunPage(Manager& manager, const QString& respike, QWidget* parent = nullptr);

  void choose(const QString& application);
  void run();
  void stop() { runner_.stop(); }
  /// Runs the chosen application once with this kind and these arguments, in the folder and with
  /// the input of this page.
  void run(RunRequest::Kind kind, const QString& arguments);
  QString arguments() const { return arguments_->text(); }
  QString folder() const { return folder_->text(); }
  QString input() const { return input_->text(); }
  /// "running", or how the last run of the chosen application ended; empty: there was none.
  QString state() const { return said_of_ == application_ ? state_->text() : QString(); }
  /// Fills in arguments of an application that has none yet.
  static void suggest(const QString& application, const QString& arguments);
  bool running() const { return runner_.running(); }

 Q_SIGNALS:
  void state_changed();
  void ended();

 private:
  void show_state();
  RunRequest::Kind kind() const { return RunRequest::Kind(kind_->currentIndex()); }
  void show_kind();
  void show_programs(const ApplicationView* application);
  void append(const QString& text, bool is_error);
  void remember() const;
  void say(const QString& application, const QString& state);
  /// Splits a line of arguments into words; shows why this is not possible.
  std::optional<QStringList> words_of(const QString& line, const QString& what);
  void start(const RunRequest& request, int times);
  void recall();

  Manager& manager_;
  ProgramRun runner_;
  QString application_;
  QString ran_;          // the application that runs, or ran last
  bool checks_ = false;  // the run is a check, whose status is not the program's
  QString said_of_;      // the application of `state_`
  ElidedLabel* mode_ = nullptr;
  QComboBox* kind_ = nullptr;     // in the order of RunRequest::Kind
  QComboBox* program_ = nullptr;  // for an application with several programs
  QLineEdit* arguments_ = nullptr;
  QLineEdit* folder_ = nullptr;
  QLineEdit* input_ = nullptr;
  WorkFields work_;  // from these three
  QLineEdit* environment_ = nullptr;
  QSpinBox* times_ = nullptr;
  QCheckBox* in_terminal_ = nullptr;
  QCheckBox* guard_ = nullptr;
  QPushButton* run_ = nullptr;
  QPushButton* stop_ = nullptr;
  ElidedLabel* state_ = nullptr;
  QPlainTextEdit* output_ = nullptr;
  bool follows_ = true;  // keeps the end of the output visible
  QStringDecoder decoder_[2] = {QStringDecoder(QStringDecoder::System),
                                QStringDecoder(QStringDecoder::System)};
};

}  // namespace respike::gui
