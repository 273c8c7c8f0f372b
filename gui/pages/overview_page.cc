// Example: bzip2 is registered and instrumented. Its step "run" shows a highlighted button Run; a
// press runs the program with the arguments below the steps, and the watch of the database moves
// the highlight to Optimize as soon as the counts are there.

#include "gui/pages/overview_page.h"

#include <QHBoxLayout>
#include <QScrollArea>
#include <QVBoxLayout>

#include "gui/pages/dialogs.h"
#include "gui/pages/first_steps.h"
#include "gui/pages/run_page.h"

namespace respike::gui {
namespace {

struct StepWords {
  const char* name;
  const char* button;
  const char* tip;
  Icon icon;
};

// In the order of Step.
constexpr std::array<StepWords, kSteps> kWords = {{
    {"Registered", "Register another…", "Register a program and the libraries that it loads",
     Icon::add},
    {"Counts", "Instrument", "Make images that count what runs, and run these from now on",
     Icon::counter},
    {"Has run", "Run", "Run the application with the arguments below", Icon::run},
    {"Optimized", "Optimize", "Make images by the profiles collected, and run these from now on",
     Icon::speed},
    {"Checked", "Check",
     "Run the original and the optimized version with the arguments below, and say whether to ship",
     Icon::check},
    {"Exported", "Export…", "Copy the optimized images into a folder", Icon::ship},
}};

constexpr int kMark = 20;  // size of the marks of steps, in pixels

QLabel* make_text(QWidget* parent) {
  auto* label = new QLabel(parent);
  label->setTextFormat(Qt::PlainText);
  label->setWordWrap(true);
  label->setTextInteractionFlags(Qt::TextSelectableByMouse);
  label->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);  // paths may be long
  return label;
}

QString text_of(const std::string& text) {
  return QString::fromStdString(text);
}

}  // namespace

OverviewPage::OverviewPage(Manager& manager, RunPage& run, bool has_demo, QWidget* parent)
    : QWidget(parent), manager_(manager), run_(run) {
  auto* first = new FirstSteps(has_demo, this);
  connect(first, &FirstSteps::register_wanted, this, &OverviewPage::register_wanted);
  connect(first, &FirstSteps::demo_wanted, this, &OverviewPage::demo_wanted);
  auto* scrolled = new QScrollArea(this);  // with large letters the steps are high
  scrolled->setWidgetResizable(true);
  scrolled->setFrameShape(QFrame::NoFrame);
  scrolled->setAccessibleName("Steps");
  scrolled->setWidget(make_steps());
  stack_ = new QStackedWidget(this);
  stack_->addWidget(first);
  stack_->addWidget(scrolled);
  problem_ = make_text(this);
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(problem_);
  layout->addWidget(stack_, 1);
  connect(&manager_, &Manager::snapshot_changed, this, [this] {
    awaits_reading_ = false;
    show_state();
  });
  connect(&manager_, &Manager::task_ended, this, [this] {
    awaits_reading_ = true;
    show_state();
  });
  connect(&run_, &RunPage::ended, this, [this] {
    awaits_reading_ = true;
    show_state();
  });
  connect(&manager_, &Manager::task_changed, this, &OverviewPage::show_state);
  connect(&run_, &RunPage::state_changed, this, &OverviewPage::show_state);
  show_state();
}

QWidget* OverviewPage::make_steps() {
  auto* page = new QWidget(this);
  title_ = new ElidedLabel(page);
  QFont large = title_->font();
  large.setPointSizeF(1.8 * large.pointSizeF());
  title_->setFont(large);
  gain_ = make_text(page);
  advice_ = make_text(page);
  auto* grid = new QGridLayout;
  grid->setColumnStretch(3, 1);
  grid->setHorizontalSpacing(12);
  grid->setVerticalSpacing(10);
  for (size_t i = 0; i < kSteps; ++i) {
    const StepWords& words = kWords[i];
    Row& row = rows_[i];
    row.mark = new QLabel(page);
    row.name = new QLabel(words.name, page);
    row.text = make_text(page);
    row.button = make_button(words.icon, words.button, words.tip, page,
                             [this, i] { take(static_cast<Step>(i)); });
    grid->addWidget(row.mark, int(i), 0);
    grid->addWidget(row.name, int(i), 1);
    // Buttons come before texts, which may be long: in a narrow window texts are cut, not buttons.
    grid->addWidget(row.button, int(i), 2);
    grid->addWidget(row.text, int(i), 3);
  }
  arguments_ = new QLineEdit(page);
  arguments_->setAccessibleName("Arguments of the program");
  arguments_->setToolTip("What Run and Check start the program with, quoted as in a shell");
  arguments_->setPlaceholderText("none");
  connect(arguments_, &QLineEdit::returnPressed, this, [this] {
    const ApplicationView* application = manager_.application(application_);
    const bool checks = application != nullptr && life_of(*application).next.step == Step::checking;
    take(checks ? Step::checking : Step::running);
  });
  auto* label = new QLabel("Ar&guments", page);
  label->setBuddy(arguments_);
  place_ = new ElidedLabel(page);
  state_ = new ElidedLabel(page);
  output_ = make_button("Show the &output", "What the program printed, on the page Run", page,
                        [this] { Q_EMIT output_wanted(); });
  auto* arguments = new QHBoxLayout;
  arguments->addWidget(label);
  arguments->addWidget(arguments_, 1);
  auto* runs = new QHBoxLayout;
  stop_ = make_button(Icon::stop, "&Stop",
                      "End the program: by SIGTERM, at the second press by SIGKILL", page,
                      [this] { run_.stop(); });
  runs->addWidget(state_, 1);
  runs->addWidget(stop_);
  runs->addWidget(output_);
  auto* layout = new QVBoxLayout(page);
  layout->setContentsMargins(24, 16, 24, 16);
  layout->addWidget(title_);
  layout->addWidget(gain_);
  layout->addSpacing(12);
  layout->addLayout(grid);
  layout->addSpacing(8);
  layout->addWidget(advice_);
  layout->addSpacing(12);
  layout->addLayout(arguments);
  layout->addWidget(place_);
  layout->addLayout(runs);
  layout->addStretch(1);
  return page;
}

void OverviewPage::choose(const QString& application) {
  if (application != application_) {
    application_ = application;
    failure_.clear();
    offer();
  }
  show_state();
}

/// Fills in the arguments from the page Run.
void OverviewPage::offer() {
  offered_ = run_.arguments();
  arguments_->setText(offered_);
}

void OverviewPage::show_state() {
  if (arguments_->text() == offered_ && offered_ != run_.arguments()) offer();
  const Snapshot& snapshot = manager_.snapshot();
  problem_->setText(snapshot.problem);
  problem_->setVisible(!snapshot.problem.isEmpty());
  const ApplicationView* application = manager_.application(application_);
  stack_->setCurrentIndex(application == nullptr && snapshot.applications.empty() ? 0 : 1);
  // The effect of an action shows after the database is read again: until then no action may start
  // twice.
  const bool busy = manager_.busy() || run_.running() || awaits_reading_;
  const Life life = application != nullptr ? life_of(*application) : Life();
  for (size_t i = 0; i < kSteps; ++i) show_step(static_cast<Step>(i), life, busy);
  title_->setText(application == nullptr ? "No application is chosen" : application_);
  QStringList figures;
  if (life.gain) figures << "Gain: " + text_of(gain_text(*life.gain));
  if (life.age_days)
    figures << (*life.age_days == 0   ? QString("counted today")
                : *life.age_days == 1 ? QString("counted yesterday")
                                      : QString("counted %1 days ago").arg(*life.age_days));
  if (application != nullptr)
    figures << "runs its " + text_of(std::string(name_of(application->mode))) + " images";
  gain_->setText(figures.join("   ·   "));
  advice_->setText(application == nullptr ? "Choose an application above."
                                          : application_ + ' ' + text_of(life.next.why) + '.');
  const QString folder = run_.folder(), input = run_.input();
  QStringList places;
  if (!folder.isEmpty()) places << "runs in " + folder;
  if (!input.isEmpty()) places << "reads " + input;
  place_->setText(places.isEmpty() ? "Input and folder of the program can be given on the page Run."
                                   : "The program " + places.join(" and ") + " (page Run).");
  QString state = run_.state();
  if (state.startsWith("exit status") && !state.endsWith(" 0"))
    state += ": does the program need arguments, or an input?";
  state_->setText(!failure_.isEmpty() ? failure_ : state);
  output_->setVisible(!run_.state().isEmpty());
  stop_->setVisible(run_.running());
  arguments_->setEnabled(application != nullptr);
}

void OverviewPage::show_step(Step step, const Life& life, bool busy) {
  const Row& row = rows_[size_t(step)];
  const ApplicationView* application = manager_.application(application_);
  const bool is_next = life.next.step == step;
  const bool done = application != nullptr && life[step].done;
  row.mark->setPixmap(icon(is_next ? Icon::next
                           : done  ? Icon::done
                                   : Icon::later)
                          .pixmap(QSize(kMark, kMark), devicePixelRatioF()));
  row.mark->setAccessibleName(is_next ? "next" : done ? "done" : "later");
  QFont font = row.name->font();
  font.setBold(is_next);
  row.name->setFont(font);
  row.text->setText(text_of(life[step].text));
  row.text->setToolTip(verbatim(row.text->text()));
  bool possible = step == Step::registering;
  if (application != nullptr && !possible && !busy && manager_.snapshot().problem.isEmpty()) {
    const bool optimized = life[Step::optimizing].done;
    possible = step == Step::checking    ? life.can_be_checked
               : step == Step::exporting ? optimized
                                         : life.next.step.has_value() || optimized;
  }
  row.button->setEnabled(possible);
  show_as_next(*row.button, is_next && possible);
}

void OverviewPage::show_failure(const QString& text) {
  failure_ = text;
  show_state();
}

void OverviewPage::take(Step step) {
  if (!rows_[size_t(step)].button->isEnabled()) return;
  failure_.clear();
  switch (step) {
    case Step::registering:
      return Q_EMIT register_wanted();
    case Step::instrumenting:
      manager_.start(instrument_action(application_, {}));
      return;
    case Step::running:
      return run(RunRequest::Kind::program);
    case Step::optimizing:
      manager_.start(optimize_action(application_, {}));
      return;
    case Step::checking:
      return run(RunRequest::Kind::check);
    case Step::exporting:
      return export_images();
  }
}

/// A run below a command or in a session needs the page Run.
void OverviewPage::run(RunRequest::Kind kind) {
  const ApplicationView* application = manager_.application(application_);
  if (application == nullptr || application->programs().empty()) return Q_EMIT output_wanted();
  run_.run(kind, arguments_->text());
}

void OverviewPage::export_images() {
  const ApplicationView* application = manager_.application(application_);
  if (application == nullptr) return;
  ExportDialog dialog(*application, {}, this);
  if (dialog.exec() == QDialog::Accepted)
    manager_.start(export_action(dialog.application(), dialog.images(), dialog.place()));
}

}  // namespace respike::gui
