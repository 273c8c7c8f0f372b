#include "gui/pages/run_page.h"

#include <QDir>
#include <QFileDialog>
#include <QFontDatabase>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QScrollBar>
#include <QSettings>
#include <QVBoxLayout>

#include "gui/pages/controls.h"

namespace respike::gui {
namespace {

constexpr int kMostLines = 20000;  // of output that is kept

QWidget* with_button(QLineEdit* line, QPushButton* button, QWidget* parent) {
  auto* row = new QWidget(parent);
  auto* layout = new QHBoxLayout(row);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(line, 1);
  layout->addWidget(button);
  return row;
}

QString describe(Mode mode) {
  switch (mode) {
    case Mode::original:
      return "runs its original images: nothing is counted";
    case Mode::instrumented:
      return "runs its instrumented images, which count";
    case Mode::optimized:
      return "runs its optimized images";
  }
  return {};
}

}  // namespace

RunPage::RunPage(Manager& manager, const QString& respike, QWidget* parent)
    : QWidget(parent), manager_(manager), runner_(respike) {
  mode_ = new QLabel(this);
  arguments_ = new QLineEdit(this);
  arguments_->setAccessibleName("Arguments");
  arguments_->setToolTip("Arguments of the program, quoted as in a shell");
  folder_ = new QLineEdit(this);
  folder_->setAccessibleName("Folder");
  folder_->setPlaceholderText(QDir::currentPath());
  input_ = new QLineEdit(this);
  input_->setAccessibleName("Input file");
  input_->setPlaceholderText("nothing to read");
  environment_ = new QLineEdit(this);
  environment_->setAccessibleName("Environment");
  environment_->setPlaceholderText("NAME=VALUE …, beside the variables of this window");
  times_ = new QSpinBox(this);
  times_->setAccessibleName("Runs");
  times_->setRange(1, 10000);
  times_->setSuffix(" ×");
  times_->setToolTip("So many runs, one after the other");
  in_terminal_ = new QCheckBox("in a &terminal", this);
  in_terminal_->setEnabled(!terminal_emulator().isEmpty());
  in_terminal_->setToolTip(in_terminal_->isEnabled() ? "For programs that ask for a terminal"
                                                     : "This system has no terminal emulator");

  auto* form = new QFormLayout;
  form->addRow("Application", mode_);
  form->addRow("Ar&guments", arguments_);
  form->addRow("Fol&der",
               with_button(folder_,
                           make_button("Browse…", "Choose the folder", this,
                                       [this] {
                                         const QString path = QFileDialog::getExistingDirectory(
                                             this, "Folder in which the program runs",
                                             folder_->text());
                                         if (!path.isEmpty()) folder_->setText(path);
                                       }),
                           this));
  form->addRow("I&nput",
               with_button(input_,
                           make_button("Browse…", "Choose the input file", this,
                                       [this] {
                                         const QString path = QFileDialog::getOpenFileName(
                                             this, "What the program reads", input_->text());
                                         if (!path.isEmpty()) input_->setText(path);
                                       }),
                           this));
  form->addRow("&Environment", environment_);

  run_ = make_button("&Run", "Run the application in its mode", this, [this] { run(); });
  stop_ = make_button("&Stop", "End the program: by SIGTERM, at the second press by SIGKILL", this,
                      [this] { runner_.stop(); });
  state_ = new QLabel(this);
  auto* buttons = new QHBoxLayout;
  buttons->addWidget(run_);
  buttons->addWidget(times_);
  buttons->addWidget(in_terminal_);
  buttons->addWidget(stop_);
  buttons->addWidget(state_, 1);
  buttons->addWidget(make_button("C&lear", "Empty the output", this, [this] { output_->clear(); }));

  output_ = new QPlainTextEdit(this);
  output_->setAccessibleName("Output of the program");
  output_->setReadOnly(true);
  output_->setMaximumBlockCount(kMostLines);
  output_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  output_->setPlaceholderText("What the program writes appears here.");

  auto* layout = new QVBoxLayout(this);
  layout->addLayout(form);
  layout->addLayout(buttons);
  layout->addWidget(output_, 1);

  connect(arguments_, &QLineEdit::returnPressed, this, &RunPage::run);
  connect(&runner_, &ProgramRun::started, this, [this](const RunRequest& request) {
    for (QStringDecoder& decoder : decoder_) decoder.resetState();
    append("$ " + shell_line(request.command()) + "\n", false);
    show_state();
    state_->setText("running");
  });
  connect(&runner_, &ProgramRun::output, this, [this](const QByteArray& bytes, bool is_error) {
    append(decoder_[is_error ? 1 : 0].decode(bytes), is_error);
  });
  connect(&runner_, &ProgramRun::ended, this, [this](bool good, const QString& how) {
    manager_.say(good ? Message::Kind::done : Message::Kind::warning, "Run " + application_, how);
    show_state();
    state_->setText(how);
    manager_.refresh();
  });
  connect(&manager_, &Manager::snapshot_changed, this, &RunPage::show_state);
  show_state();
}

void RunPage::choose(const QString& application) {
  if (application == application_) return;
  application_ = application;
  recall();
  show_state();
}

void RunPage::run() {
  if (application_.isEmpty()) return;
  const auto arguments = split_words(arguments_->text());
  const auto environment = split_words(environment_->text());
  if (!arguments || !environment) {
    state_->setText(arguments ? "a quote in the environment is not closed"
                              : "a quote in the arguments is not closed");
    return;
  }
  for (const QString& variable : *environment)
    if (variable.indexOf('=') < 1) {
      state_->setText(QString("\"%1\" is not NAME=VALUE").arg(variable));
      return;
    }
  remember();
  const RunRequest request{.application = application_,
                           .arguments = *arguments,
                           .environment = *environment,
                           .folder = folder_->text(),
                           .input = input_->text(),
                           .in_terminal = in_terminal_->isChecked()};
  manager_.note_command(request.command(), request.folder, request.input);
  for (int i = 0; i < times_->value(); ++i) runner_.start(request, manager_.database());
}

void RunPage::show_state() {
  const ApplicationView* application = manager_.application(application_);
  mode_->setText(application == nullptr ? "Choose an application above."
                                        : application_ + " " + describe(application->mode));
  const bool running = runner_.running();
  run_->setEnabled(application != nullptr);
  run_->setText(running ? "&Run after this" : "&Run");
  stop_->setEnabled(running);
}

void RunPage::append(const QString& text, bool is_error) {
  QTextCursor cursor(output_->document());
  cursor.movePosition(QTextCursor::End);
  QTextCharFormat format;
  format.setForeground(is_error ? palette().link() : palette().text());
  const QScrollBar* bar = output_->verticalScrollBar();
  const bool at_end = bar->value() == bar->maximum();
  cursor.insertText(text, format);
  if (at_end) output_->verticalScrollBar()->setValue(bar->maximum());
}

void RunPage::remember() const {
  QSettings settings;
  settings.beginGroup("runs/" + QString::fromUtf8(application_.toUtf8().toPercentEncoding()));
  settings.setValue("arguments", arguments_->text());
  settings.setValue("folder", folder_->text());
  settings.setValue("input", input_->text());
  settings.setValue("environment", environment_->text());
}

void RunPage::recall() {
  QSettings settings;
  settings.beginGroup("runs/" + QString::fromUtf8(application_.toUtf8().toPercentEncoding()));
  arguments_->setText(settings.value("arguments").toString());
  folder_->setText(settings.value("folder").toString());
  input_->setText(settings.value("input").toString());
  environment_->setText(settings.value("environment").toString());
}

}  // namespace respike::gui
