#pragma once
// The map of an image's text: rows of memory, cut into lines of the instruction cache.

#include <memory>
#include <vector>

#include "gui/models/table_model.h"
#include "views/layout_view.h"
#include "views/source_lines.h"

namespace respike::gui {

/// Rows without code are left out. Time and memory are linear in the pieces and lines of the view.
class LayoutMap {
 public:
  /// The length of a row: a page, or the size of the cache.
  enum class Row : uint8_t { page, cache };

  struct Cell {
    bool code = false;   // whether the line holds code
    uint64_t count = 0;  // count of the piece in the line that runs most often
  };

  LayoutMap() = default;
  /// `only_executed`: leaves out rows in which nothing runs.
  /// `lines`: line tables of the image; nullptr: none.
  LayoutMap(LayoutView view, Row row, bool only_executed,
            std::shared_ptr<const SourceLines> lines = nullptr);

  const LayoutView& view() const { return view_; }
  int rows() const { return int(rows_.size()); }
  int columns() const { return view_.line == 0 ? 0 : int(row_size_ / view_.line); }
  uint64_t address(int row) const { return rows_[size_t(row)]; }
  const Cell& cell(int row, int column) const {
    return cells_[size_t(row) * size_t(columns()) + size_t(column)];
  }
  /// How hot a cell is, in [0, 1]: the logarithm of its count, relative to the hottest cell's.
  double heat(const Cell& cell) const;

  /// The piece at an address, or nullptr. Binary search.
  const LayoutPiece* piece_at(uint64_t address) const;
  /// The piece of a cell that runs most often, or nullptr.
  const LayoutPiece* hottest_piece(int row, int column) const;
  /// "sqlite3VdbeExec, block 812, hot part: ran 1,234 times, 64 bytes at 120001230, vdbe.c:70".
  QString describe(const LayoutPiece& piece) const;
  /// The row and column of an address; {-1, -1} when no row holds it.
  std::pair<int, int> place_of(uint64_t address) const;

 private:
  LayoutView view_;
  std::shared_ptr<const SourceLines> lines_;
  uint64_t row_size_ = 0;
  std::vector<uint64_t> rows_;  // the address of each, ascending
  std::vector<Cell> cells_;
  uint64_t hottest_ = 0;
};

/// How much of the text runs, before and after, as a table.
class TouchedModel : public TableModel {
  Q_OBJECT

 public:
  enum Column { name, before, after, change };

  explicit TouchedModel(QObject* parent = nullptr);

  /// `optimized` has no pieces when the image was not optimized.
  void set(const LayoutView& original, const LayoutView& optimized);
  QVariant data(const QModelIndex& index, int role) const override;

 protected:
  int row_count() const override { return int(rows_.size()); }

 private:
  struct Row {
    QString name;
    uint64_t before = 0, after = 0;
  };
  std::vector<Row> rows_;
  bool optimized_ = false;
};

}  // namespace respike::gui
