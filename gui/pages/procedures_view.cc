#include "gui/pages/procedures_view.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QVBoxLayout>

#include "gui/pages/controls.h"
#include "optimizer/base/number_text.h"

namespace respike::gui {

ProceduresView::ProceduresView(Manager& manager, QWidget* parent) : TimeView(manager, parent) {
  filter_.setSourceModel(&model_);
  find_ = new QLineEdit(this);
  find_->setPlaceholderText("Find a procedure");
  find_->setAccessibleName("Find a procedure");
  find_->setClearButtonEnabled(true);
  only_executed_ = new QCheckBox("only what &ran", this);
  only_executed_->setChecked(true);
  only_executed_->setToolTip("Leave procedures that never ran out of the table");
  sum_ = new QLabel(this);

  auto* top = new QHBoxLayout;
  top->addWidget(find_, 1);
  top->addWidget(only_executed_);
  top->addWidget(
      make_button("&Save as CSV…", "Save the table as comma-separated values", this,
                  [this] { save_csv(filter_, choice().application + "-procedures.csv", this); }));

  table_ = make_table("Procedures", &filter_, this);
  table_->setToolTip("A double click, or Enter, shows the procedure");
  table_->setSortingEnabled(true);
  table_->sortByColumn(ProcedureModel::instructions, Qt::DescendingOrder);
  table_->setColumnWidth(ProcedureModel::instructions, 150);
  table_->setColumnWidth(ProcedureModel::entries, 120);
  table_->horizontalHeader()->setStretchLastSection(false);
  table_->horizontalHeader()->setSectionResizeMode(ProcedureModel::name, QHeaderView::Stretch);
  set_content(table_);

  auto* layout = new QVBoxLayout(this);
  layout->addLayout(top);
  layout->addWidget(stack(), 1);
  layout->addWidget(sum_);

  connect(table_, &QTableView::activated, this, [this](const QModelIndex& index) {
    const ProcedureRow& row = model_.rows()[size_t(filter_.mapToSource(index).row())];
    Q_EMIT procedure_wanted(row.image_path, row.name, row.address, 0);
  });
  connect(find_, &QLineEdit::textChanged, &filter_, &ProcedureFilter::set_text);
  connect(only_executed_, &QCheckBox::toggled, &filter_, &ProcedureFilter::set_only_executed);
}

void ProceduresView::read() {
  show_content();  // the answer comes soon
  using Rows = std::vector<ProcedureRow>;
  ask<Rows>([name = choice().application.toStdString(), images = choice().images](
                Environment& environment) { return read_procedures(environment, name, images); },
            [this](const Rows& rows) { show(rows); });
}

void ProceduresView::show(std::vector<ProcedureRow> rows) {
  uint64_t instructions = 0, executed = 0;
  for (const ProcedureRow& row : rows) {
    instructions = saturating_add(instructions, row.instructions);
    executed += row.instructions != 0;
  }
  sum_->setText(QString("%1 instructions executed, in %2 of %3 procedures")
                    .arg(QString::fromStdString(grouped(instructions)))
                    .arg(QString::fromStdString(grouped(executed)))
                    .arg(QString::fromStdString(grouped(rows.size()))));
  model_.set(std::move(rows));
  executed == 0 ? show_uncounted() : show_content();
}

}  // namespace respike::gui
