#include "gui/pages/loops_view.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QVBoxLayout>

#include <algorithm>

#include "gui/pages/controls.h"
#include "optimizer/base/number_text.h"

namespace respike::gui {

LoopsView::LoopsView(Manager& manager, std::shared_ptr<CodeCache> cache, QWidget* parent)
    : TimeView(manager, parent), cache_(std::move(cache)) {
  filter_.setSourceModel(&model_);
  filter_.setSortRole(LoopModel::sort_role);
  filter_.setSortCaseSensitivity(Qt::CaseInsensitive);
  filter_.setFilterKeyColumn(LoopModel::procedure);
  filter_.setFilterCaseSensitivity(Qt::CaseInsensitive);
  find_ = new QLineEdit(this);
  find_->setPlaceholderText("Find loops of a procedure");
  find_->setAccessibleName("Find loops of a procedure");
  find_->setClearButtonEnabled(true);
  sum_ = new QLabel(this);

  auto* top = new QHBoxLayout;
  top->addWidget(find_, 1);
  top->addWidget(
      make_button(Icon::save, "&Save as CSV…", "Save the table as comma-separated values", this,
                  [this] { save_csv(filter_, choice().application + "-loops.csv", this); }));

  table_ = make_table("Loops", &filter_, this);
  table_->setToolTip("A double click, or Enter, shows the loop in its procedure");
  table_->setSortingEnabled(true);
  table_->sortByColumn(LoopModel::instructions, Qt::DescendingOrder);
  table_->setColumnWidth(LoopModel::instructions, 150);
  table_->setColumnWidth(LoopModel::depth, 70);
  table_->setColumnWidth(LoopModel::blocks, 70);
  table_->setColumnWidth(LoopModel::source, 150);
  table_->setColumnHidden(LoopModel::source, true);
  table_->horizontalHeader()->setStretchLastSection(false);
  table_->horizontalHeader()->setSectionResizeMode(LoopModel::procedure, QHeaderView::Stretch);
  set_content(table_);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(top);
  layout->addWidget(stack(), 1);
  layout->addWidget(sum_);

  connect(table_, &QTableView::activated, this, [this](const QModelIndex& index) {
    const LoopRow& row = model_.rows()[size_t(filter_.mapToSource(index).row())];
    Q_EMIT procedure_wanted(row.image_path, row.procedure, row.loop.procedure_address,
                            row.loop.address);
  });
  connect(find_, &QLineEdit::textChanged, &filter_, &QSortFilterProxyModel::setFilterFixedString);
}

void LoopsView::clear() {
  model_.set({});
  sum_->clear();
}

void LoopsView::read() {
  show_nothing("Reading the code …");
  ask<std::vector<LoopRow>>(
      [cache = cache_, name = choice().application.toStdString(), images = choice().images](
          Environment& environment) { return read_loops(environment, *cache, name, images); },
      [this](const std::vector<LoopRow>& rows) { show(rows); });
}

void LoopsView::show(const std::vector<LoopRow>& rows) {
  // The share of an outer loop includes its inner loops.
  double share = 0;
  for (const LoopRow& row : rows)
    if (row.loop.depth == 1) share += row.share;
  sum_->setText(QString("%1 of the instructions were executed in %2 loop%3")
                    .arg(QString::fromStdString(percent(share, 1)),
                         QString::fromStdString(grouped(rows.size())),
                         rows.size() == 1 ? "" : "s"));
  model_.set(rows);
  table_->setColumnHidden(LoopModel::source, std::ranges::all_of(rows, [](const LoopRow& row) {
                            return row.source.isEmpty();
                          }));
  if (rows.empty())
    show_nothing(
        "Nothing was counted yet, or no loop ran: <b>instrument</b> the application, and "
        "<b>run</b> it.");
  else
    show_content();
}

}  // namespace respike::gui
