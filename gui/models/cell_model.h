#pragma once
// A table of given cells: for tables whose rows are read as a whole.

#include <QString>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gui/models/table_model.h"

namespace respike::gui {

/// A text, or a number with the format in which it is shown.
struct Cell {
  enum class Form : uint8_t { text, count, figure, change, share, points, address, hash };
  Form form = Form::text;
  uint64_t number = 0;  // for count, address and hash
  double value = 0;     // for figure, change, share and points
  QString text;
};

Cell text_cell(const std::string& text);
/// 1,234.
Cell count_cell(uint64_t count);
/// 2.5.
Cell figure_cell(double value);
/// +1,234; sorted by its absolute value.
Cell change_cell(double value);
/// A part of 1: 12.34%.
Cell share_cell(double share);
/// The difference of two shares: +1.25, in percentage points; sorted by its absolute value.
Cell points_cell(double difference);
/// Hexadecimal.
Cell address_cell(uint64_t address);
/// Hexadecimal, 16 digits.
Cell hash_cell(uint64_t hash);

using CellRows = std::vector<std::vector<Cell>>;

class CellModel : public TableModel {
  Q_OBJECT

 public:
  enum Role { sort_role = Qt::UserRole };

  /// `titles` lives as long as the program.
  explicit CellModel(std::span<const Title> titles, QObject* parent = nullptr);

  /// Each row has a cell for each title.
  void set(std::shared_ptr<const CellRows> rows);
  QVariant data(const QModelIndex& index, int role) const override;

 protected:
  int row_count() const override { return int(rows_->size()); }

 private:
  std::shared_ptr<const CellRows> rows_ = std::make_shared<CellRows>();
};

}  // namespace respike::gui
