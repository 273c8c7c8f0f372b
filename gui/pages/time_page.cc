#include "gui/pages/time_page.h"

#include <QFileInfo>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QVBoxLayout>

#include <algorithm>

#include "gui/pages/controls.h"
#include "optimizer/base/number_text.h"

namespace respike::gui {

TimePage::TimePage(Manager& manager, QWidget* parent) : QWidget(parent), manager_(manager) {
  filter_.setSourceModel(&model_);
  images_ = new QComboBox(this);
  images_->setAccessibleName("Image");
  images_->setToolTip("Procedures of all images, or of one");
  images_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  find_ = new QLineEdit(this);
  find_->setPlaceholderText("Find a procedure");
  find_->setAccessibleName("Find a procedure");
  find_->setClearButtonEnabled(true);
  only_executed_ = new QCheckBox("only what &ran", this);
  only_executed_->setChecked(true);
  only_executed_->setToolTip("Leave procedures that never ran out of the table");
  sum_ = new QLabel(this);

  auto* top = new QHBoxLayout;
  top->addWidget(images_);
  top->addWidget(find_, 1);
  top->addWidget(only_executed_);
  top->addWidget(
      make_button("&Save as CSV…", "Save the table as comma-separated values", this,
                  [this] { save_csv(filter_, application_ + "-procedures.csv", this); }));

  table_ = make_table("Procedures", &filter_, this);
  table_->setSortingEnabled(true);
  table_->sortByColumn(ProcedureModel::instructions, Qt::DescendingOrder);
  table_->setColumnWidth(ProcedureModel::instructions, 150);
  table_->setColumnWidth(ProcedureModel::entries, 120);
  table_->horizontalHeader()->setStretchLastSection(false);
  table_->horizontalHeader()->setSectionResizeMode(ProcedureModel::name, QHeaderView::Stretch);
  empty_ = make_empty_state("", this);
  stack_ = new QStackedWidget(this);
  stack_->addWidget(empty_);
  stack_->addWidget(table_);

  auto* layout = new QVBoxLayout(this);
  layout->addLayout(top);
  layout->addWidget(stack_, 1);
  layout->addWidget(sum_);

  connect(table_, &QTableView::activated, this, [this](const QModelIndex& index) {
    const ProcedureRow& row = model_.rows()[size_t(filter_.mapToSource(index).row())];
    Q_EMIT procedure_wanted(row.image_path, row.name, row.address);
  });
  connect(find_, &QLineEdit::textChanged, &filter_, &ProcedureFilter::set_text);
  connect(only_executed_, &QCheckBox::toggled, &filter_, &ProcedureFilter::set_only_executed);
  connect(images_, &QComboBox::activated, this, &TimePage::read);
  connect(&manager_, &Manager::snapshot_changed, this, &TimePage::take_snapshot);
  take_snapshot();
}

void TimePage::choose(const QString& application) {
  if (application == application_) return;
  application_ = application;
  images_->clear();
  take_snapshot();
}

QString TimePage::stamp() const {
  QString text = application_ + '\n' + images_->currentData().toString();
  if (const ApplicationView* application = manager_.application(application_))
    for (const ImageView& view : application->images)
      if (view.build)
        text += QString("\n%1 %2 %3")
                    .arg(view.build->id)
                    .arg(view.profile.runs)
                    .arg(view.profile.carried_runs);
  return text;
}

void TimePage::take_snapshot() {
  const ApplicationView* application = manager_.application(application_);
  const QString before = images_->currentData().toString();
  images_->clear();
  if (application != nullptr) {
    images_->addItem("all images", QString());
    for (const ImageView& view : application->images)
      if (view.build) {
        const QString path = QString::fromStdString(view.image.path);
        images_->addItem(QFileInfo(path).fileName(), path);
      }
    images_->setCurrentIndex(std::max(0, images_->findData(before)));
  }
  if (stamp() != shown_) read();
}

void TimePage::read() {
  shown_ = stamp();
  if (manager_.application(application_) == nullptr) {
    model_.set({});
    empty_->setText(application_.isEmpty() ? "Choose an application above."
                                           : "The application is not registered.");
    stack_->setCurrentIndex(0);
    sum_->clear();
    return;
  }
  std::vector<std::string> images;
  if (const QString image = images_->currentData().toString(); !image.isEmpty())
    images.push_back(image.toStdString());
  using Rows = std::vector<ProcedureRow>;
  manager_.ask<Rows>(
      this,
      [application = application_.toStdString(), images](Environment& environment) {
        return read_procedures(environment, application, images);
      },
      [this, asked = shown_](const Rows& rows) {
        if (asked == shown_) show(rows);
      },
      [this](const QString& failure) {
        empty_->setText(failure);
        stack_->setCurrentIndex(0);
      });
}

void TimePage::show(std::vector<ProcedureRow> rows) {
  uint64_t instructions = 0, executed = 0;
  for (const ProcedureRow& row : rows) {
    instructions = saturating_add(instructions, row.instructions);
    executed += row.instructions != 0;
  }
  sum_->setText(QString("%1 instructions executed, in %2 of %3 procedures")
                    .arg(QString::fromStdString(grouped(instructions)))
                    .arg(QString::fromStdString(grouped(executed)))
                    .arg(QString::fromStdString(grouped(rows.size()))));
  if (executed == 0)
    empty_->setText(
        "Nothing was counted yet: <b>instrument</b> the application, and <b>run</b> it.");
  model_.set(std::move(rows));
  stack_->setCurrentIndex(executed == 0 ? 0 : 1);
}

}  // namespace respike::gui
