#pragma once
// A table with a line to find rows, and a button that saves the table.

#include <QLineEdit>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QWidget>

#include <memory>

#include "gui/models/cell_model.h"

namespace respike::gui {

class TableBox : public QWidget {
  Q_OBJECT

 public:
  /// `find`: the name of the search line, such as "Find a procedure", which searches the column
  /// `found`; -1: no line.
  TableBox(const QString& name, std::span<const TableModel::Title> titles, const QString& find,
           int found, QWidget* parent);

  void set(std::shared_ptr<const CellRows> rows);
  /// The model's row of the selection; -1: none.
  int chosen() const;
  void choose_first();
  QTableView* table() { return table_; }

 Q_SIGNALS:
  void chosen_changed();

 private:
  CellModel model_;
  QSortFilterProxyModel sorted_;
  QTableView* table_ = nullptr;
};

}  // namespace respike::gui
