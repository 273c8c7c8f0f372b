#include "gui/pages/procedures_view.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QScrollBar>
#include <QSplitter>
#include <QVBoxLayout>

#include <algorithm>

#include "gui/pages/controls.h"
#include "gui/pages/remembering.h"
#include "optimizer/base/number_text.h"
#include "optimizer/base/saturating.h"

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
      make_button(Icon::save, "&Save as CSV…", "Save the table as comma-separated values", this,
                  [this] { save_csv(filter_, choice().application + "-procedures.csv", this); }));

  table_ = make_table("Procedures", &filter_, this);
  table_->setToolTip("A double click, or Enter, shows the procedure");
  table_->setSortingEnabled(true);
  table_->sortByColumn(ProcedureModel::instructions, Qt::DescendingOrder);
  // The name comes first, so that a narrow window shows it.
  table_->horizontalHeader()->moveSection(ProcedureModel::name, 0);
  table_->setColumnWidth(ProcedureModel::name, 260);
  table_->setColumnWidth(ProcedureModel::share, 80);
  auto* around = new QWidget(this);
  auto* columns = new QHBoxLayout(around);
  columns->setContentsMargins({});
  columns->addLayout(make_around(callers_, "Callers", around));
  columns->addLayout(make_around(callees_, "Callees", around));
  auto* splitter = new QSplitter(Qt::Vertical, this);
  splitter->addWidget(table_);
  splitter->addWidget(around);
  splitter->setSizes({500, 200});
  set_content(splitter);

  auto* layout = new QVBoxLayout(this);
  layout->addLayout(top);
  layout->addWidget(stack(), 1);
  layout->addWidget(sum_);

  connect(table_, &QTableView::activated, this, [this](const QModelIndex& index) {
    const ProcedureRow& row = model_.rows()[size_t(filter_.mapToSource(index).row())];
    Q_EMIT procedure_wanted(row.image_path, row.name, row.address, 0);
  });
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          &ProceduresView::show_calls);
  connect(find_, &QLineEdit::textChanged, &filter_, &ProcedureFilter::set_text);
  connect(only_executed_, &QCheckBox::toggled, &filter_, &ProcedureFilter::set_only_executed);
}

QLayout* ProceduresView::make_around(Around& around, const QString& name, QWidget* parent) {
  around.title = new QLabel(name, parent);
  around.table = make_table(name, &around.model, parent);
  around.table->setToolTip("A double click, or Enter, goes to the procedure");
  around.table->setColumnWidth(CallsModel::count, 120);
  around.table->setColumnWidth(CallsModel::share, 80);
  around.table->setColumnWidth(CallsModel::places, 60);
  connect(around.table, &QTableView::activated, this,
          [this](const QModelIndex& index) { go_to(index.data(CallsModel::row_role).toInt()); });
  auto* save = make_button("CSV…", "Save these calls as comma-separated values", this,
                           [this, &model = around.model, name] {
                             save_csv(model, choice().application + "-" + name + ".csv", this);
                           });
  save->setAccessibleName("Save as CSV: " + name);
  auto* head = new QHBoxLayout;
  head->addWidget(around.title, 1);
  head->addWidget(save);
  auto* layout = new QVBoxLayout;
  layout->addLayout(head);
  layout->addWidget(around.table, 1);
  return layout;
}

void ProceduresView::clear() {
  calls_.clear();
  model_.set({});
  sum_->clear();
}

void ProceduresView::read() {
  show_content();  // the answer comes soon
  ask<TimeData>([name = choice().application.toStdString(), images = choice().images](
                    Environment& environment) { return read_times(environment, name, images); },
                [this](const TimeData& times) { show(times); });
}

void ProceduresView::show(const TimeData& times) {
  uint64_t instructions = 0, executed = 0;
  for (const ProcedureRow& row : times.rows) {
    instructions = saturating_add(instructions, row.instructions);
    executed += row.instructions != 0;
  }
  sum_->setText(QString("%1 instructions executed, in %2 of %3 procedures")
                    .arg(QString::fromStdString(grouped(instructions)))
                    .arg(QString::fromStdString(grouped(executed)))
                    .arg(QString::fromStdString(grouped(times.rows.size()))));
  const int before = chosen();
  const auto is_same = [&, old = before < 0 ? ProcedureRow() : model_.rows()[size_t(before)]](
                           const ProcedureRow& row) {
    return row.image_path == old.image_path && row.address == old.address;
  };
  const auto same = before < 0 ? times.rows.end() : std::ranges::find_if(times.rows, is_same);
  const int place = table_->verticalScrollBar()->value();
  calls_ = times.calls;
  model_.set(times.rows);
  if (executed == 0) return show_uncounted();
  widen_for_numbers(*table_,
                    {ProcedureModel::share, ProcedureModel::instructions, ProcedureModel::entries,
                     ProcedureModel::per_entry, ProcedureModel::blocks, ProcedureModel::size});
  show_content();
  if (same == times.rows.end()) return table_->setCurrentIndex(filter_.index(0, 0));
  choose_row(int(same - times.rows.begin()));
  table_->doItemsLayout();  // without this the bar has no range
  table_->verticalScrollBar()->setValue(place);
}

void ProceduresView::choose_row(int row) {
  table_->setCurrentIndex(filter_.mapFromSource(model_.index(row, 0)));
}

int ProceduresView::chosen() const {
  const QModelIndex index = filter_.mapToSource(table_->currentIndex());
  return index.isValid() ? index.row() : -1;
}

void ProceduresView::show_calls() {
  const int row = chosen();
  for (Around* around : {&callers_, &callees_}) {
    const bool up = around == &callers_;
    if (row < 0) {
      around->title->setText(up ? "Callers" : "Callees");
      around->model.clear();
      continue;
    }
    around->model.set(model_.rows(), calls_, uint32_t(row));
    around->title->setText(QString(up ? "Callers of <b>%1</b>" : "Callees of <b>%1</b>")
                               .arg(model_.rows()[size_t(row)].name.toHtmlEscaped()));
  }
}

void ProceduresView::go_to(int row) {
  if (row < 0) return;
  const QModelIndex source = model_.index(row, 0);
  if (!filter_.mapFromSource(source).isValid()) {
    find_->clear();
    if (model_.rows()[size_t(row)].instructions == 0) only_executed_->setChecked(false);
  }
  choose_row(row);
  table_->scrollTo(table_->currentIndex());
}

}  // namespace respike::gui
