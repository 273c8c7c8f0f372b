#include "gui/pages/table_box.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QVBoxLayout>

#include "gui/pages/controls.h"
#include "gui/pages/remembering.h"

namespace respike::gui {

TableBox::TableBox(const QString& name, std::span<const TableModel::Title> titles,
                   const QString& find, int found, QWidget* parent)
    : QWidget(parent), model_(titles) {
  sorted_.setSourceModel(&model_);
  sorted_.setSortRole(CellModel::sort_role);
  sorted_.setSortCaseSensitivity(Qt::CaseInsensitive);
  sorted_.setFilterCaseSensitivity(Qt::CaseInsensitive);
  table_ = make_table(name, &sorted_, this);
  table_->setSortingEnabled(true);
  table_->sortByColumn(-1, Qt::AscendingOrder);  // unsorted, until the user chooses a column
  auto* top = new QHBoxLayout;
  if (found >= 0) {
    sorted_.setFilterKeyColumn(found);
    auto* line = new QLineEdit(this);
    line->setPlaceholderText(find);
    line->setAccessibleName(find);
    line->setClearButtonEnabled(true);
    top->addWidget(line, 1);
    connect(line, &QLineEdit::textChanged, &sorted_, &QSortFilterProxyModel::setFilterFixedString);
  } else {
    top->addWidget(new QLabel(name, this), 1);
  }
  auto* save = make_button("CSV…", "Save this table as comma-separated values", this, [this, name] {
    save_csv(sorted_, name.toLower().replace(' ', '-') + ".csv", this);
  });
  save->setAccessibleName("Save as CSV: " + name);
  top->addWidget(save);
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins({});
  layout->addLayout(top);
  layout->addWidget(table_, 1);
  connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
          &TableBox::chosen_changed);
}

void TableBox::set(std::shared_ptr<const CellRows> rows) {
  model_.set(std::move(rows));
  fit_columns(*table_);
}

int TableBox::chosen() const {
  const QModelIndex index = sorted_.mapToSource(table_->currentIndex());
  return index.isValid() ? index.row() : -1;
}

void TableBox::choose_first() {
  table_->setCurrentIndex(sorted_.index(0, 0));
}

}  // namespace respike::gui
