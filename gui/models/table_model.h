#pragma once
// The base of all tables: titles of columns with their tooltips, and the number of rows.

#include <QAbstractTableModel>

#include <cstdint>
#include <span>

#include "optimizer/base/number_text.h"

namespace respike::gui {

/// 1,234,567.
inline QString number(uint64_t value) {
  return QString::fromStdString(grouped(value));
}

class TableModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  struct Title {
    const char* title;
    const char* tip;  // meaning of the column, and its unit
  };

  int rowCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : row_count();
  }
  int columnCount(const QModelIndex& parent = {}) const override {
    return parent.isValid() ? 0 : int(titles_.size());
  }
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override {
    if (orientation != Qt::Horizontal || section < 0 || section >= int(titles_.size())) return {};
    if (role == Qt::DisplayRole) return QString(titles_[size_t(section)].title);
    if (role == Qt::ToolTipRole) return QString(titles_[size_t(section)].tip);
    return {};
  }

 protected:
  /// `titles` lives as long as the program.
  TableModel(std::span<const Title> titles, QObject* parent)
      : QAbstractTableModel(parent), titles_(titles) {}
  virtual int row_count() const = 0;

 private:
  std::span<const Title> titles_;
};

}  // namespace respike::gui
