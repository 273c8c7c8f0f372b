// Example: an Alpha image has rows of 8,192 bytes, a page or a pass of the cache, of 256 lines
// each. Lines in one column meet in the cache when a row is a pass.

#include "gui/models/layout_map.h"

#include <algorithm>
#include <cmath>

#include "optimizer/base/number_text.h"
#include "views/code_sources.h"

namespace respike::gui {
namespace {

/// The starts of the rows that hold pieces, ascending.
std::vector<uint64_t> find_rows(const LayoutView& view, uint64_t size, bool only_executed) {
  std::vector<uint64_t> rows;
  for (const LayoutPiece& piece : view.pieces) {
    if (piece.size == 0 || (only_executed && piece.count == 0)) continue;
    uint64_t row = piece.address / size * size;
    if (!rows.empty() && row <= rows.back()) row = rows.back() + size;
    for (; row < piece.address + piece.size; row += size) rows.push_back(row);
  }
  return rows;
}

}  // namespace

LayoutMap::LayoutMap(LayoutView view, Row row, bool only_executed,
                     std::shared_ptr<const SourceLines> lines)
    : view_(std::move(view)), lines_(std::move(lines)) {
  row_size_ = row == Row::page ? view_.page : view_.cache;
  if (row_size_ == 0 || view_.line == 0) return;
  rows_ = find_rows(view_, row_size_, only_executed);
  cells_.resize(rows_.size() * size_t(columns()));
  for (const LayoutPiece& piece : view_.pieces) {
    if (piece.size == 0) continue;
    hottest_ = std::max(hottest_, piece.count);
    const uint64_t end = piece.address + piece.size;
    for (uint64_t at = piece.address / view_.line * view_.line; at < end; at += view_.line) {
      const auto [r, c] = place_of(at);
      if (r < 0) continue;
      Cell& cell = cells_[size_t(r) * size_t(columns()) + size_t(c)];
      cell.code = true;
      cell.count = std::max(cell.count, piece.count);
    }
  }
}

double LayoutMap::heat(const Cell& cell) const {
  if (cell.count == 0) return 0;
  return std::log1p(double(cell.count)) / std::log1p(double(hottest_));
}

std::pair<int, int> LayoutMap::place_of(uint64_t address) const {
  if (row_size_ == 0) return {-1, -1};
  const auto row = std::ranges::lower_bound(rows_, address / row_size_ * row_size_);
  if (row == rows_.end() || address < *row) return {-1, -1};
  return {int(row - rows_.begin()), int((address - *row) / view_.line)};
}

const LayoutPiece* LayoutMap::piece_at(uint64_t address) const {
  auto piece = std::ranges::upper_bound(view_.pieces, address, {}, &LayoutPiece::address);
  if (piece == view_.pieces.begin()) return nullptr;
  --piece;
  return address < piece->address + piece->size ? &*piece : nullptr;
}

const LayoutPiece* LayoutMap::hottest_piece(int row, int column) const {
  if (row < 0 || row >= rows() || column < 0 || column >= columns()) return nullptr;
  const uint64_t start = address(row) + uint64_t(column) * view_.line, end = start + view_.line;
  auto piece = std::ranges::upper_bound(view_.pieces, start, {}, &LayoutPiece::address);
  if (piece != view_.pieces.begin()) --piece;
  const LayoutPiece* hottest = nullptr;
  for (; piece != view_.pieces.end() && piece->address < end; ++piece)
    if (piece->address + piece->size > start &&
        (hottest == nullptr || piece->count > hottest->count))
      hottest = &*piece;
  return hottest;
}

QString LayoutMap::describe(const LayoutPiece& piece) const {
  QString text = piece.procedure == kNone
                     ? QString("code without a name")
                     : QString::fromStdString(view_.procedures[piece.procedure]);
  if (piece.block != kNone) text += QString(", block %1").arg(piece.block);
  if (piece.part) text += ", " + QString::fromUtf8(name_of(*piece.part).data());
  text += piece.count == 0 ? QString(": never ran") : ": ran " + number(piece.count) + " times";
  text += QString(", %1 bytes at %2").arg(piece.size).arg(piece.address, 0, 16);
  const std::string place = lines_ == nullptr ? "" : place_text(*lines_, piece.address);
  return place.empty() ? text : text + ", " + QString::fromStdString(place);
}

// ---- TouchedModel ----

constexpr TableModel::Title kTouchedModelTitles[] = {
    {"In which something runs", "By the profile's counts; what never ran costs nothing"},
    {"Original", "In the original image"},
    {"Optimized", "In the optimized image"},
    {"Change", "From the original to the optimized image"}};

TouchedModel::TouchedModel(QObject* parent) : TableModel(kTouchedModelTitles, parent) {}

void TouchedModel::set(const LayoutView& original, const LayoutView& optimized) {
  beginResetModel();
  optimized_ = !optimized.pieces.empty();
  rows_.clear();
  if (!original.pieces.empty())
    rows_ = {{QString("pages of %1 bytes").arg(number(original.page)), original.touched.pages,
              optimized.touched.pages},
             {QString("cache lines of %1 bytes").arg(original.line), original.touched.lines,
              optimized.touched.lines},
             {"bytes of these lines", original.touched.lines * original.line,
              optimized.touched.lines * original.line},
             {"bytes of blocks that run", original.touched.bytes, optimized.touched.bytes},
             {"bytes of all blocks", original.touched.text, optimized.touched.text}};
  endResetModel();
}

QVariant TouchedModel::data(const QModelIndex& index, int role) const {
  if (!index.isValid()) return {};
  if (role == Qt::TextAlignmentRole)
    return int(Qt::AlignVCenter | (index.column() == name ? Qt::AlignLeft : Qt::AlignRight));
  if (role != Qt::DisplayRole) return {};
  const Row& row = rows_[size_t(index.row())];
  switch (index.column()) {
    case name:
      return row.name;
    case before:
      return number(row.before);
    case after:
      return optimized_ ? number(row.after) : QString();
    case change:
      if (!optimized_ || row.before == 0) return {};
      return QString::asprintf("%+.1f%%", 100 * (double(row.after) / double(row.before) - 1));
    default:
      return {};
  }
}

}  // namespace respike::gui
