#include "gui/pages/run_page.h"

#include <QDir>
#include <QFileDialog>
#include <QFontDatabase>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QScrollBar>
#include <QSettings>
#include <QVBoxLayout>

#include <algorithm>

#include "gui/pages/remembering.h"

namespace respike::gui {
namespace {

constexpr const char* kSettings = "runs";
// Limits of the kept output. A longer line continues in the next line: the time for the text's
// layout grows with the length of a line.
constexpr int kMostLines = 20000, kMostCharacters = 4'000'000, kLongestLine = 10'000;

QWidget* with_button(QLineEdit* line, QPushButton* button, QWidget* parent) {
  auto* row = new QWidget(parent);
  auto* layout = new QHBoxLayout(row);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(line, 1);
  layout->addWidget(button);
  return row;
}

/// What `respike run` runs now: images made from an older build are not run.
QString describe(const ApplicationView& application) {
  const auto count = [&](auto what) {
    return int(std::ranges::count_if(application.images, what));
  };
  const std::string& problem = application.images.front().problem;
  if (!problem.empty()) return "cannot run: " + QString::fromStdString(problem);
  if (application.programs().empty())
    return "is a library, which is not run by itself, but by commands whose programs load it";
  const bool counts = application.mode == Mode::instrumented;
  const QString word = QString::fromUtf8(name_of(application.mode).data());
  const int can = count([](const ImageView& view) { return view.build.has_value(); });
  const int made = count([&](const ImageView& view) {
    return (counts ? view.instrumented : view.optimized).has_value();
  });
  if (application.mode == Mode::original) return "runs its original images: nothing is counted";
  if (made == 0)
    return QString("is in mode %1, but runs its original images: none of this build is %1")
        .arg(word);
  QString text = "runs its " + word + " images" + (counts ? ", which count" : "");
  if (made < can) text += QString(": %1 of %2").arg(made).arg(can);
  return text;
}

}  // namespace

RunPage::RunPage(Manager& manager, const QString& respike, QWidget* parent)
    : QWidget(parent), manager_(manager), runner_(respike) {
  mode_ = new ElidedLabel(this);
  kind_ = new QComboBox(this);
  kind_->setAccessibleName("What to run");
  kind_->addItems({"the program, in its mode", "a command that starts the program",
                   "a session: all applications run in their modes",
                   "the original and the optimized program, to decide"});
  kind_->setToolTip("Whether the program runs by itself, below a command, in a session, or twice");
  program_ = new QComboBox(this);
  program_->setAccessibleName("Program");
  program_->setToolTip("Which of the application's programs to run");
  // A long path shall not widen the window.
  program_->setSizeAdjustPolicy(QComboBox::AdjustToMinimumContentsLengthWithIcon);
  program_->setMinimumContentsLength(20);
  arguments_ = new QLineEdit(this);
  arguments_->setAccessibleName("Arguments");
  folder_ = new QLineEdit(this);
  folder_->setAccessibleName("Folder");
  folder_->setPlaceholderText(QDir::currentPath());
  input_ = new QLineEdit(this);
  input_->setAccessibleName("Input file");
  input_->setPlaceholderText("nothing to read");
  work_ = WorkFields(arguments_, folder_, input_);
  environment_ = new QLineEdit(this);
  environment_->setAccessibleName("Environment");
  environment_->setPlaceholderText("NAME=VALUE …, beside the variables of this window");
  times_ = new QSpinBox(this);
  times_->setAccessibleName("Runs");
  times_->setRange(1, 10000);
  times_->setSuffix(" ×");
  times_->setToolTip("So many runs, one after the other");
  guard_ = new QCheckBox("g&uard", this);
  guard_->setToolTip("If the optimized program dies of a fault, its original runs from then on");
  in_terminal_ = new QCheckBox("in a &terminal", this);
  in_terminal_->setEnabled(!terminal_emulator().isEmpty());
  in_terminal_->setToolTip(in_terminal_->isEnabled() ? "For programs that ask for a terminal"
                                                     : "This system has no terminal emulator");

  auto* form = new QFormLayout;
  form->addRow("Application", mode_);
  form->addRow("&What", kind_);
  form->addRow("&Program", program_);
  form->addRow("Ar&guments", arguments_);
  form->addRow("Fol&der",
               with_button(folder_,
                           make_button(Icon::folder, "Browse…", "Choose the folder", this,
                                       [this] {
                                         const QString path = QFileDialog::getExistingDirectory(
                                             this, "Folder in which the program runs",
                                             folder_->text());
                                         if (!path.isEmpty()) folder_->setText(path);
                                       }),
                           this));
  form->addRow("I&nput",
               with_button(input_,
                           make_button(Icon::folder, "Browse…", "Choose the input file", this,
                                       [this] {
                                         const QString path = QFileDialog::getOpenFileName(
                                             this, "What the program reads", input_->text());
                                         if (!path.isEmpty()) input_->setText(path);
                                       }),
                           this));
  form->addRow("&Environment", environment_);

  run_ = make_button(Icon::run, "&Run", "Run the application in its mode", this, [this] { run(); });
  stop_ = make_button(Icon::stop, "&Stop",
                      "End the program: by SIGTERM, at the second press by SIGKILL", this,
                      [this] { runner_.stop(); });
  state_ = new ElidedLabel(this);
  auto* buttons = new QHBoxLayout;
  buttons->addWidget(run_);
  buttons->addWidget(times_);
  buttons->addWidget(in_terminal_);
  buttons->addWidget(guard_);
  buttons->addWidget(stop_);
  buttons->addWidget(state_, 1);
  buttons->addWidget(
      make_button(Icon::broom, "C&lear", "Empty the output", this, [this] { output_->clear(); }));

  output_ = new QPlainTextEdit(this);
  output_->setAccessibleName("Output of the program");
  output_->setReadOnly(true);
  output_->setMaximumBlockCount(kMostLines);
  output_->setFont(QFontDatabase::systemFont(QFontDatabase::FixedFont));
  output_->setPlaceholderText("What the program writes appears here.");
  // Lines that wrap lengthen the range later than they are added: the end is followed until the
  // user scrolls up.
  QScrollBar* bar = output_->verticalScrollBar();
  connect(bar, &QScrollBar::valueChanged, this,
          [this, bar](int value) { follows_ = value == bar->maximum(); });
  connect(bar, &QScrollBar::rangeChanged, this, [this, bar](int, int most) {
    if (follows_) bar->setValue(most);
  });

  auto* layout = new QVBoxLayout(this);
  layout->addLayout(form);
  layout->addLayout(buttons);
  layout->addWidget(output_, 1);

  connect(arguments_, &QLineEdit::returnPressed, this, [this] { run(); });
  connect(kind_, &QComboBox::currentIndexChanged, this, &RunPage::show_state);
  connect(&runner_, &ProgramRun::started, this, [this](const RunRequest& request) {
    ran_ = request.application;
    checks_ = request.kind == RunRequest::Kind::check;
    for (QStringDecoder& decoder : decoder_) decoder.resetState();
    append("$ " + request.line() + "\n", false);
    show_state();
    say(ran_, "running");
  });
  connect(&runner_, &ProgramRun::output, this, [this](const QByteArray& bytes, bool is_error) {
    append(decoder_[is_error ? 1 : 0].decode(bytes), is_error);
  });
  connect(&runner_, &ProgramRun::ended, this, [this](bool good, const QString& how) {
    manager_.say(good ? Message::Kind::done : Message::Kind::warning, "Run " + ran_, how);
    show_state();
    say(ran_, !checks_ ? how : good ? "checked" : "checked: " + how);
    Q_EMIT ended();
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

void RunPage::run(RunRequest::Kind kind, const QString& arguments) {
  const auto words = words_of(arguments, "arguments");
  if (application_.isEmpty() || !words) return;
  start({.kind = kind,
         .application = application_,
         .program = program_->count() > 1 ? program_->currentText() : QString(),
         .arguments = *words,
         .environment = {},
         .folder = folder_->text(),
         .input = input_->text()},
        1);
}

void RunPage::say(const QString& application, const QString& state) {
  said_of_ = application;
  state_->setText(state);
  Q_EMIT state_changed();
}

std::optional<QStringList> RunPage::words_of(const QString& line, const QString& what) {
  auto words = split_words(line);
  if (!words) say(application_, "a quote in the " + what + " is not closed");
  return words;
}

void RunPage::run() {
  if (application_.isEmpty()) return;
  const auto arguments = words_of(arguments_->text(), "arguments");
  if (!arguments) return;
  const auto environment = words_of(environment_->text(), "environment");
  if (!environment) return;
  for (const QString& variable : *environment)
    if (variable.indexOf('=') < 1)
      return say(application_, QString("\"%1\" is not NAME=VALUE").arg(variable));
  remember();
  if (kind() == RunRequest::Kind::command && arguments->isEmpty())
    return say(application_, "a command is needed, such as: make check");
  const bool needs_terminal = kind() == RunRequest::Kind::session && arguments->isEmpty();
  if (needs_terminal && terminal_emulator().isEmpty())
    return say(application_, "a shell needs a terminal, and this system has no terminal emulator");
  start({.kind = kind(),
         .application = application_,
         .program = program_->count() > 1 ? program_->currentText() : QString(),
         .arguments = *arguments,
         .environment = *environment,
         .folder = folder_->text(),
         .input = input_->text(),
         .in_terminal = in_terminal_->isChecked() || needs_terminal,
         .guard = guard_->isChecked()},
        times_->value());
}

void RunPage::start(const RunRequest& request, int times) {
  manager_.note_command(request.command(), request.folder, request.input);
  for (int i = 0; i < times; ++i) runner_.start(request, manager_.database());
}

void RunPage::show_state() {
  const ApplicationView* application = manager_.application(application_);
  if (application != nullptr) work_.follow(application->last_run);
  mode_->setText(application == nullptr ? "Choose an application above."
                                        : application_ + " " + describe(*application));
  show_programs(application);
  show_kind();
  const bool running = runner_.running();
  const bool runs_programs =
      kind() == RunRequest::Kind::program || kind() == RunRequest::Kind::check;
  run_->setEnabled(application != nullptr && (program_->count() > 0 || !runs_programs));
  run_->setText(running ? "&Run after this" : "&Run");
  stop_->setEnabled(running);
}

/// Labels the fields for the chosen kind of run.
void RunPage::show_kind() {
  using Kind = RunRequest::Kind;
  const bool is_program = kind() == Kind::program;
  program_->setEnabled(is_program && program_->count() > 1);
  guard_->setEnabled(is_program);
  environment_->setEnabled(kind() != Kind::check);
  times_->setEnabled(kind() != Kind::session && kind() != Kind::check);
  arguments_->setPlaceholderText(kind() == Kind::command ? "the command, such as: make check"
                                 : kind() == Kind::session
                                     ? "a command; nothing: a shell in a terminal"
                                     : "");
  arguments_->setToolTip(kind() == Kind::command || kind() == Kind::session
                             ? "The command and its arguments, quoted as in a shell"
                             : "Arguments of the program, quoted as in a shell");
}

/// The chosen program stays chosen while the application has it.
void RunPage::show_programs(const ApplicationView* application) {
  QStringList programs;
  if (application != nullptr)
    for (const ImageView* view : application->programs())
      programs << QString::fromStdString(view->loaded_as);
  QStringList shown;
  for (int i = 0; i < program_->count(); ++i) shown << program_->itemText(i);
  if (programs != shown) {
    const QString chosen = program_->currentText();
    program_->clear();
    program_->addItems(programs);
    program_->setCurrentIndex(std::max(0, int(programs.indexOf(chosen))));
  }
}

/// Adds text in lines of bounded length, and forgets the oldest text beyond kMostCharacters.
void RunPage::append(const QString& text, bool is_error) {
  QTextCursor cursor(output_->document());
  cursor.movePosition(QTextCursor::End);
  QTextCharFormat format;
  format.setForeground(is_error ? palette().link() : palette().text());
  cursor.beginEditBlock();
  for (qsizetype at = 0; at < text.size();) {
    const int room = kLongestLine - cursor.positionInBlock();
    if (room <= 0) cursor.insertBlock();
    const qsizetype newline = text.indexOf('\n', at);
    const qsizetype end = newline < 0 ? text.size() : newline + 1;
    const qsizetype size = std::min<qsizetype>(end - at, room > 0 ? room : kLongestLine);
    cursor.insertText(text.mid(at, size), format);
    at += size;
  }
  if (const int beyond = output_->document()->characterCount() - kMostCharacters; beyond > 0) {
    cursor.setPosition(0);
    cursor.setPosition(beyond, QTextCursor::KeepAnchor);
    cursor.removeSelectedText();
  }
  cursor.endEditBlock();
}

void RunPage::suggest(const QString& application, const QString& arguments) {
  QSettings settings;
  settings.beginGroup(settings_group(kSettings, application));
  if (settings.value("arguments").toString().isEmpty()) settings.setValue("arguments", arguments);
}

void RunPage::remember() const {
  QSettings settings;
  settings.beginGroup(settings_group(kSettings, application_));
  work_.remember(settings);
  settings.setValue("environment", environment_->text());
}

/// The last counted run comes first, including runs of the command line.
void RunPage::recall() {
  QSettings settings;
  settings.beginGroup(settings_group(kSettings, application_));
  environment_->setText(settings.value("environment").toString());
  const ApplicationView* application = manager_.application(application_);
  work_.fill(application != nullptr && application->last_run ? *application->last_run
                                                             : WorkFields::recall(settings));
}

}  // namespace respike::gui
