#include "gui/pages/gain_page.h"

#include <QDir>
#include <QFileDialog>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QMessageBox>
#include <QSplitter>
#include <QVBoxLayout>

#include "gui/models/program_run.h"
#include "gui/pages/controls.h"

namespace respike::gui {

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
  auto* form = new QFormLayout;
  form->addRow("&Arguments", arguments_);
  form->addRow("&Folder", folder_);
  form->addRow("I&nput", input_);
  start_ = make_button("&Compare",
                       "Run the original and the optimized program on a model of the processor",
                       this, [this] { compare(); });
  end_ = make_button("&Stop", "End the comparison", this, [this] {
    if (stop_) stop_->stop();
  });
  verdict_ = new QLabel(this);
  verdict_->setWordWrap(true);
  auto* buttons = new QHBoxLayout;
  buttons->addWidget(start_);
  buttons->addWidget(end_);
  buttons->addWidget(verdict_, 1);
  buttons->addWidget(
      make_button("Save &picture…", "Save the bars as SVG or PNG", this, [this] { save(); }));
  buttons->addWidget(make_button("Save CS&V…", "Save the figures as comma-separated values", this,
                                 [this] { save_csv(figures_, application_ + "-gain.csv", this); }));

  bars_ = new StackedBarsWidget(this);
  bars_->setAccessibleName("Cycles by cause");
  bars_->setToolTip("Cycles on the model of the processor, by what they are spent on");
  table_ = make_table("Figures", &figures_, this);
  table_->horizontalHeader()->setStretchLastSection(false);
  auto* result = new QSplitter(Qt::Vertical, this);
  result->addWidget(bars_);
  result->addWidget(table_);
  empty_ = make_empty_state(
      "What does optimization gain? Give a <b>workload</b> above, and press <b>Compare</b>.<p>Both "
      "versions of "
      "the program run on a model of the processor, which takes longer than a run. Libraries stay "
      "as they are.",
      this);
  stack_ = new QStackedWidget(this);
  stack_->addWidget(empty_);
  stack_->addWidget(result);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(form);
  layout->addLayout(buttons);
  layout->addWidget(stack_, 1);

  connect(arguments_, &QLineEdit::returnPressed, this, &GainPage::compare);
  connect(&manager_, &Manager::task_ended, this, &GainPage::end);
  connect(&manager_, &Manager::snapshot_changed, this, &GainPage::show_state);
  show_state();
}

GainPage::~GainPage() {
  if (stop_) stop_->stop();
}

void GainPage::choose(const QString& application) {
  if (application == application_) return;
  application_ = application;
  verdict_->clear();
  stack_->setCurrentIndex(0);
  show_state();
}

void GainPage::compare() {
  if (!start_->isEnabled()) return;
  const auto arguments = split_words(arguments_->text());
  if (!arguments) {
    verdict_->setText("a quote in the arguments is not closed");
    return;
  }
  result_ = std::make_shared<simulator::Comparison>();
  stop_ = std::make_shared<StopFile>();
  verdict_->setText("running both versions …");
  task_ = manager_.start(compare_action({.application = application_,
                                         .arguments = *arguments,
                                         .folder = folder_->text(),
                                         .input = input_->text()},
                                        result_, stop_));
  show_state();
}

void GainPage::end(const Task& task) {
  if (task.number != task_) return;
  task_ = 0;
  show_state();
  const auto& [before, after, difference] = *result_;
  if (before.cycles == 0 || after.cycles == 0) {
    verdict_->setText("The comparison ended without a result: the page Messages says why.");
    return;
  }
  verdict_->setText(
      difference.empty()
          ? QString("<b>%1 times as fast</b> on a model of the %2; both versions printed the same.")
                .arg(double(before.cycles) / double(after.cycles), 0, 'f', 3)
                .arg(QString::fromStdString(before.model))
          : "The versions do not behave alike: " + QString::fromStdString(difference));
  figures_.set(*result_);
  table_->resizeColumnsToContents();
  StackedBars bars;
  bars.unit = "cycles";
  bars.bars = {{"original", {}}, {"optimized", {}}};
  for (size_t i = 0; i < before.components.size(); ++i) {
    bars.parts.push_back(QString::fromUtf8(before.components[i].name.data(),
                                           qsizetype(before.components[i].name.size())));
    bars.bars[0].parts.push_back(double(before.components[i].cycles));
    bars.bars[1].parts.push_back(double(after.components[i].cycles));
  }
  bars_->set(std::move(bars));
  stack_->setCurrentIndex(1);
}

void GainPage::show_state() {
  const ApplicationView* application = manager_.application(application_);
  const bool can = application != nullptr && !application->images.empty() &&
                   application->images.front().optimized.has_value();
  start_->setEnabled(can && task_ == 0);
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
  if (!failure.isEmpty()) QMessageBox::warning(this, "Save the bars", failure);
}

}  // namespace respike::gui
