#include "gui/pages/gain_page.h"

#include <QDir>
#include <QFileDialog>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QMessageBox>
#include <QScrollArea>
#include <QSettings>
#include <QSplitter>
#include <QVBoxLayout>

#include <algorithm>

#include "gui/models/program_run.h"
#include "gui/pages/controls.h"
#include "gui/pages/remembering.h"

namespace respike::gui {
namespace {

constexpr const char* kSettings = "gains";
constexpr const char* kRunning = "running both versions …";
constexpr const char* kHowToCompare =
    "Give a <b>workload</b> above, and press <b>Compare</b>.<p>Both versions of the program run on "
    "a model of the processor, which takes longer than a run; where the emulator of the model is "
    "not installed, they are timed. Optimized libraries are in their places.";

/// The gain that each optimized image's profile forecasts, as HTML; empty: none.
QString forecast_of(const ApplicationView& application) {
  QString rows;
  for (const ImageView& view : application.images) {
    if (!view.optimized || view.optimized->forecast.empty()) continue;
    const std::string name = std::filesystem::path(view.image.path).filename().string();
    rows += QString("<p><b>%1</b>: %2</p>")
                .arg(QString::fromStdString(name).toHtmlEscaped(),
                     QString::fromStdString(view.optimized->forecast).toHtmlEscaped());
  }
  return rows.isEmpty() ? rows : "<h3>Expected by the profile</h3>" + rows;
}

}  // namespace

GainPage::GainPage(Manager& manager, QWidget* parent) : QWidget(parent), manager_(manager) {
  arguments_ = new QLineEdit(this);
  arguments_->setAccessibleName("Arguments of the workload");
  arguments_->setToolTip(
      "Arguments of the program, quoted as in a shell; better not those of the training");
  folder_ = new QLineEdit(this);
  folder_->setAccessibleName("Folder of the workload");
  folder_->setPlaceholderText(QDir::currentPath());
  folder_->setToolTip("The folder in which both versions run");
  input_ = new QLineEdit(this);
  input_->setAccessibleName("Input file of the workload");
  input_->setPlaceholderText("nothing to read");
  input_->setToolTip("What both versions read");
  work_ = WorkFields(arguments_, folder_, input_);
  auto* form = new QFormLayout;
  form->addRow("Ar&guments", arguments_);
  form->addRow("Fol&der", folder_);
  form->addRow("I&nput", input_);
  start_ = make_button(Icon::speed, "&Compare",
                       "Run the original and the optimized program on a model of the processor",
                       this, [this] { compare(); });
  end_ = make_button(Icon::stop, "&Stop", "End the comparison", this,
                     [this] { manager_.cancel(task_); });
  verdict_ = new QLabel(this);
  verdict_->setWordWrap(true);
  verdict_->setTextFormat(Qt::PlainText);
  verdict_->setSizePolicy(QSizePolicy::Ignored, QSizePolicy::Preferred);
  auto* buttons = new QHBoxLayout;
  buttons->addWidget(start_);
  buttons->addWidget(end_);
  buttons->addWidget(verdict_, 1);
  buttons->addWidget(make_button(Icon::forget, "Fo&rget", "Forget the comparisons that are chosen",
                                 this, [this] { forget(); }));
  buttons->addWidget(make_button(Icon::save, "Save &picture…", "Save the bars as SVG or PNG", this,
                                 [this] { save(); }));
  buttons->addWidget(make_button(Icon::save, "Sav&e CSV…",
                                 "Save the figures as comma-separated values", this,
                                 [this] { save_csv(figures_, application_ + "-gain.csv", this); }));
  buttons->addWidget(make_button(
      Icon::save, "Save &list…", "Save the list of comparisons as comma-separated values (CSV)",
      this, [this] { save_csv(kept_, application_ + "-comparisons.csv", this); }));

  kept_table_ = make_table("Comparisons", &kept_, this);
  kept_table_->setToolTip("Comparisons that were kept; choose several to see them side by side");
  kept_table_->setSelectionMode(QAbstractItemView::ExtendedSelection);
  kept_table_->horizontalHeader()->setStretchLastSection(false);
  kept_table_->horizontalHeader()->setSectionResizeMode(ComparisonModel::workload,
                                                        QHeaderView::Stretch);
  bars_ = new StackedBarsWidget(this);
  bars_->setAccessibleName("Cycles by cause");
  bars_->setToolTip("Cycles on the model of the processor, by what they are spent on");
  table_ = make_table("Figures", &figures_, this);
  table_->horizontalHeader()->setStretchLastSection(false);
  auto* scrolled = new QScrollArea(this);  // the bars of many comparisons are high
  scrolled->setWidgetResizable(true);
  scrolled->setFrameShape(QFrame::NoFrame);
  scrolled->setWidget(bars_);
  scrolled->setAccessibleName("Bars");
  auto* result = new QSplitter(Qt::Vertical, this);
  result->addWidget(kept_table_);
  result->addWidget(scrolled);
  result->addWidget(table_);
  result->setSizes({90, 280, 120});
  empty_ = make_empty_state("", this);
  stack_ = new QStackedWidget(this);
  stack_->addWidget(empty_);
  stack_->addWidget(result);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(form);
  layout->addLayout(buttons);
  layout->addWidget(stack_, 1);

  connect(arguments_, &QLineEdit::returnPressed, this, &GainPage::compare);
  connect(&manager_, &Manager::task_ended, this, &GainPage::end);
  connect(&manager_, &Manager::said, this, [this](const Message& message) {
    if (message.kind == Message::Kind::error) failure_ = message.text;
  });
  connect(&manager_, &Manager::snapshot_changed, this, &GainPage::take_snapshot);
  connect(kept_table_->selectionModel(), &QItemSelectionModel::selectionChanged, this,
          &GainPage::show_chosen);
  show_state();
}

GainPage::~GainPage() {
  if (stop_) stop_->stop();
}

void GainPage::choose(const QString& application) {
  if (application == application_) return;
  application_ = application;
  recall();
  verdict_->setText(task_ != 0 && compared_ == application_ ? kRunning : "");
  stack_->setCurrentIndex(0);
  kept_.set({});
  take_snapshot();
}

void GainPage::take_snapshot() {
  // Offers the last counted run, until the user compares something else.
  const ApplicationView* application = manager_.application(application_);
  if (application != nullptr && !is_own_) work_.follow(application->last_run);
  show_state();
  if (application != nullptr && !asking_) read();
}

void GainPage::read() {
  asking_ = true;
  using Rows = std::vector<ComparisonRow>;
  manager_.ask<Rows>(
      this,
      [name = application_.toStdString()](Environment& environment) {
        return read_comparisons(environment, name);
      },
      [this, asked = application_](const Rows& rows) {
        asking_ = false;
        if (asked == application_)
          show_kept(rows);
        else
          take_snapshot();
      },
      [this](const QString&) { asking_ = false; });
}

void GainPage::show_kept(const std::vector<ComparisonRow>& rows) {
  const auto ids = [](const std::vector<ComparisonRow>& list) {
    std::vector<Id> result;
    for (const ComparisonRow& row : list) result.push_back(row.id);
    return result;
  };
  if (ids(rows) == ids(kept_.rows())) return;
  kept_.set(rows);
  for (int column = 0; column < kept_.columnCount(); ++column)
    if (column != ComparisonModel::workload) kept_table_->resizeColumnToContents(column);
  if (!rows.empty()) kept_table_->selectRow(0);
  stack_->setCurrentIndex(rows.empty() ? 0 : 1);
}

std::vector<int> GainPage::chosen() const {
  std::vector<int> rows;
  for (const QModelIndex& index : kept_table_->selectionModel()->selectedRows())
    rows.push_back(index.row());
  std::ranges::sort(rows);
  return rows;
}

/// Shows bars of all chosen comparisons, and figures of the first.
void GainPage::show_chosen() {
  const std::vector<int> rows = chosen();
  if (rows.empty()) return;
  const ComparisonRow& first = kept_.rows()[size_t(rows.front())];
  figures_.set(first);
  fit_columns(*table_);
  widen_for_numbers(*table_,
                    {GainModel::name, GainModel::before, GainModel::after, GainModel::change});
  StackedBars bars;
  bars.unit = unit_of(first);
  for (const ComparedNumber& number : first.cycles)
    bars.parts.push_back(QString::fromStdString(number.name));
  for (const int row : rows) {
    const ComparisonRow& shown = kept_.rows()[size_t(row)];
    if (shown.cycles.size() != first.cycles.size() || unit_of(shown) != bars.unit)
      continue;  // another model
    const QString of = rows.size() == 1 ? QString() : QString(", build %1").arg(shown.build_number);
    bars.bars.push_back({"original" + of, {}});
    for (const ComparedNumber& number : shown.cycles)
      bars.bars.back().parts.push_back(double(number.original));
    bars.bars.push_back({"optimized" + of, {}});
    for (const ComparedNumber& number : shown.cycles)
      bars.bars.back().parts.push_back(double(number.optimized));
  }
  bars_->set(std::move(bars));
}

void GainPage::forget() {
  const std::vector<int> rows = chosen();
  if (rows.empty()) return;
  const QString question =
      rows.size() == 1 ? QString("Forget the comparison that is chosen?")
                       : QString("Forget the %1 comparisons that are chosen?").arg(rows.size());
  if (QMessageBox::question(this, "Forget comparisons", question) != QMessageBox::Yes) return;
  std::vector<Id> ids;
  for (const int row : rows) ids.push_back(kept_.rows()[size_t(row)].id);
  manager_.start(
      {.title = "Forget comparisons", .command = {}, .work = [ids](Environment& environment) {
         for (const Id id : ids) environment.database().remove_comparison(id);
         return QStringList{"comparisons forgotten"};
       }});
}

void GainPage::compare() {
  if (!start_->isEnabled()) return;
  const auto arguments = split_words(arguments_->text());
  if (!arguments) {
    verdict_->setText("a quote in the arguments is not closed");
    return;
  }
  remember();
  is_own_ = true;
  stop_ = std::make_shared<StopFile>();
  verdict_->setText(kRunning);
  compared_ = application_;
  const GainRequest request{.application = application_,
                            .arguments = *arguments,
                            .folder = folder_->text(),
                            .input = input_->text()};
  task_ = manager_.start(compare_action(request, stop_));
  manager_.note_command(compare_command(request), request.folder, request.input);
  show_state();
}

void GainPage::end(const Task& task) {
  if (task.number != task_) return;
  task_ = 0;
  if (compared_ == application_)
    verdict_->setText(task.state == Task::State::done     ? QString()
                      : task.state == Task::State::failed ? failure_
                                                          : "stopped");
  take_snapshot();
}

void GainPage::remember() const {
  QSettings settings;
  settings.beginGroup(settings_group(kSettings, application_));
  work_.remember(settings);
}

/// Restores the workload of the last comparison.
void GainPage::recall() {
  QSettings settings;
  settings.beginGroup(settings_group(kSettings, application_));
  work_.fill(WorkFields::recall(settings));
  is_own_ = settings.contains("arguments");
}

void GainPage::show_state() {
  const ApplicationView* application = manager_.application(application_);
  const bool can = application != nullptr && !application->images.empty() &&
                   application->images.front().optimized.has_value();
  start_->setEnabled(can && task_ == 0);
  const QString forecast = application != nullptr ? forecast_of(*application) : QString();
  empty_->setText(forecast + "<h3>" +
                  (forecast.isEmpty() ? "What does optimization gain?" : "No comparison yet") +
                  "</h3>" + (can ? kHowToCompare : "Optimize the application first."));
  start_->setToolTip(can ? "Run the original and the optimized program on a model of the processor"
                         : "Optimize the application first");
  end_->setEnabled(task_ != 0);
}

void GainPage::save() {
  if (bars_->bars().bars.empty()) return;
  const QString path = QFileDialog::getSaveFileName(
      this, "Save the bars", application_ + "-gain.svg", "SVG (*.svg);;PNG (*.png)");
  if (path.isEmpty()) return;
  const QString failure = save_bars(bars_->bars(), path, "Cycles of " + application_ + " by cause");
  if (!failure.isEmpty()) QMessageBox::warning(this, "Save the bars", verbatim(failure));
}

}  // namespace respike::gui
