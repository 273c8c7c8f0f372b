#pragma once
// The listing of a procedure: a row for each block, then a row for each of its instructions.

#include <QAbstractTableModel>

#include <vector>

#include "environment/code_view.h"

namespace respike::gui {

class ListingModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { count, address, text, target, column_count };
  enum Role { block_role = Qt::UserRole, heat_role };  // number of the block; share in [0, 1]

  using QAbstractTableModel::QAbstractTableModel;

  /// `counted`: whether counts are shown.
  void set(CodeView view, bool counted);
  const CodeView& view() const { return view_; }
  int row_of(BlockId block) const { return block < starts_.size() ? starts_[block] : -1; }
  BlockId block_at(int row) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  CodeView view_;
  bool counted_ = false;
  uint64_t hottest_ = 0;
  std::vector<int> starts_;  // row of each block
  int rows_ = 0;
};

}  // namespace respike::gui
