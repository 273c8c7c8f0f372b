// Example: a row of share_cell(0.3) and count_cell(1200) shows "30.00%" and "1,200", and is sorted
// by 0.3 and 1200. Cells become text when the table shows them, since a table of 20,000 rows shows
// thirty of them.

#include "gui/models/cell_model.h"

#include <algorithm>
#include <cmath>

#include "optimizer/base/number_text.h"

namespace respike::gui {
namespace {

/// The sign of a number whose absolute value is written as `size`; no sign before a zero.
QString with_sign(double value, const QString& size) {
  const bool zero = std::ranges::none_of(size, [](QChar c) { return c >= '1' && c <= '9'; });
  return (zero ? "" : value > 0 ? "+" : "-") + size;
}

QString text_of(const Cell& cell) {
  switch (cell.form) {
    case Cell::Form::text:
      return cell.text;
    case Cell::Form::count:
      return QString::fromStdString(grouped(cell.number));
    case Cell::Form::figure:
      return QString::number(cell.value);
    case Cell::Form::change:
      return with_sign(cell.value, QString::fromStdString(grouped(uint64_t(std::abs(cell.value)))));
    case Cell::Form::share:
      return QString::fromStdString(percent(cell.value, 1));
    case Cell::Form::points:
      return with_sign(cell.value, QString::number(std::abs(100 * cell.value), 'f', 2));
    case Cell::Form::address:
      return QString::number(cell.number, 16);
    case Cell::Form::hash:
      return QString::number(cell.number, 16).rightJustified(16, '0');
  }
  return {};
}

/// The value by which a column is sorted.
QVariant value_of(const Cell& cell) {
  switch (cell.form) {
    case Cell::Form::text:
      return cell.text;
    case Cell::Form::figure:
    case Cell::Form::share:
      return cell.value;
    case Cell::Form::change:
    case Cell::Form::points:
      return std::abs(cell.value);
    default:
      return qulonglong(cell.number);
  }
}

}  // namespace

Cell text_cell(const std::string& text) {
  return {.text = QString::fromStdString(text)};
}
Cell count_cell(uint64_t count) {
  return {.form = Cell::Form::count, .number = count, .text = {}};
}
Cell figure_cell(double value) {
  return {.form = Cell::Form::figure, .value = value, .text = {}};
}
Cell change_cell(double value) {
  return {.form = Cell::Form::change, .value = value, .text = {}};
}
Cell share_cell(double share) {
  return {.form = Cell::Form::share, .value = share, .text = {}};
}
Cell points_cell(double difference) {
  return {.form = Cell::Form::points, .value = difference, .text = {}};
}
Cell address_cell(uint64_t address) {
  return {.form = Cell::Form::address, .number = address, .text = {}};
}
Cell hash_cell(uint64_t hash) {
  return {.form = Cell::Form::hash, .number = hash, .text = {}};
}

CellModel::CellModel(std::span<const Title> titles, QObject* parent) : TableModel(titles, parent) {}

void CellModel::set(std::shared_ptr<const CellRows> rows) {
  beginResetModel();
  rows_ = std::move(rows);
  endResetModel();
}

QVariant CellModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  const Cell& cell = (*rows_)[size_t(index.row())][size_t(index.column())];
  switch (role) {
    case Qt::DisplayRole:
    case Qt::ToolTipRole:  // a column may be too narrow for its text
      return text_of(cell);
    case Qt::TextAlignmentRole:
      return int(Qt::AlignVCenter |
                 (cell.form == Cell::Form::text ? Qt::AlignLeft : Qt::AlignRight));
    case sort_role:
      return value_of(cell);
    default:
      return {};
  }
}

}  // namespace respike::gui
