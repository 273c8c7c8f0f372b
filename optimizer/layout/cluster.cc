// Rows of pieces that grow by joining.
//
// Each row keeps the places of its pieces. Where two rows join, the row with fewer pieces moves, so
// every piece moves at most log n times. The row can come before or after the other row, as it is
// or reversed; of these four ways the one that leaves the fewest bytes between the two pieces of
// the affinity is taken.
//
// Example: a calls b, rows (x a) and (b y). Placed after: x a b y, with nothing between a and b.

#include "optimizer/layout/cluster.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>

namespace respike {
namespace {

class Rows {
 public:
  explicit Rows(std::span<const uint64_t> sizes)
      : sizes_(sizes),
        rows_(sizes.size()),
        row_of_(sizes.size()),
        place_(sizes.size()),
        next_(sizes.size(), kEnd) {
    std::iota(row_of_.begin(), row_of_.end(), 0);
    for (uint32_t piece = 0; piece < sizes.size(); ++piece)
      rows_[piece] = {piece, piece, 1, 0, static_cast<int64_t>(sizes[piece])};
  }

  void join(uint32_t a, uint32_t b, uint64_t longest) {
    if (row_of_[a] == row_of_[b] || length(row_of_[a]) + length(row_of_[b]) > longest) return;
    if (rows_[row_of_[a]].pieces < rows_[row_of_[b]].pieces) std::swap(a, b);
    Row& stays = rows_[row_of_[a]];
    const Row& moves = rows_[row_of_[b]];
    const int64_t before_a = place_[a] - stays.start, behind_a = stays.end - place_[a] - size(a);
    const int64_t before_b = place_[b] - moves.start, behind_b = moves.end - place_[b] - size(b);
    const int64_t distances[] = {
        behind_a + before_b,  // after
        behind_a + behind_b,  // after, reversed
        before_a + behind_b,  // before
        before_a + before_b,  // before, reversed
    };
    const auto way = std::min_element(std::begin(distances), std::end(distances)) - distances;
    const bool behind = way < 2, turned = way == 1 || way == 3;
    std::vector<uint32_t> pieces = pieces_of(moves);
    if (behind == turned) std::reverse(pieces.begin(), pieces.end());
    rows_[row_of_[b]].pieces = 0;
    for (const uint32_t piece : pieces) {
      row_of_[piece] = row_of_[a];
      if (behind)
        append(stays, piece);
      else
        prepend(stays, piece);
    }
  }

  std::vector<std::vector<uint32_t>> all() const {
    std::vector<std::vector<uint32_t>> result;
    for (const Row& row : rows_)
      if (row.pieces != 0) result.push_back(pieces_of(row));
    return result;
  }

 private:
  static constexpr uint32_t kEnd = 0xffffffff;
  struct Row {
    uint32_t first, last;
    uint32_t pieces;
    int64_t start, end;  // bytes
  };

  uint64_t length(uint32_t row) const {
    return static_cast<uint64_t>(rows_[row].end - rows_[row].start);
  }
  int64_t size(uint32_t piece) const { return static_cast<int64_t>(sizes_[piece]); }
  std::vector<uint32_t> pieces_of(const Row& row) const {
    std::vector<uint32_t> result;
    result.reserve(row.pieces);
    for (uint32_t piece = row.first; piece != kEnd; piece = next_[piece]) result.push_back(piece);
    return result;
  }
  void append(Row& row, uint32_t piece) {
    place_[piece] = row.end;
    row.end += size(piece);
    next_[piece] = kEnd;
    next_[row.last] = piece;
    row.last = piece;
    ++row.pieces;
  }
  void prepend(Row& row, uint32_t piece) {
    row.start -= size(piece);
    place_[piece] = row.start;
    next_[piece] = row.first;
    row.first = piece;
    ++row.pieces;
  }

  std::span<const uint64_t> sizes_;
  std::vector<Row> rows_;
  std::vector<uint32_t> row_of_;  // by piece
  std::vector<int64_t> place_;    // by piece, in its row
  std::vector<uint32_t> next_;    // by piece, the next piece in its row
};

/// Merges all affinities of the same two pieces into one.
void add_up(std::vector<Affinity>& affinities) {
  std::erase_if(affinities, [](const Affinity& a) { return a.from == a.to || a.weight <= 0; });
  for (Affinity& a : affinities)
    if (a.from > a.to) std::swap(a.from, a.to);
  const auto pair = [](const Affinity& a) { return std::tuple(a.from, a.to); };
  // The sum of floating-point numbers depends on their order: a stable sort keeps it.
  std::stable_sort(affinities.begin(), affinities.end(),
                   [&](const Affinity& a, const Affinity& b) { return pair(a) < pair(b); });
  size_t kept = 0;
  for (size_t i = 0; i < affinities.size(); ++i) {
    if (kept != 0 && pair(affinities[kept - 1]) == pair(affinities[i]))
      affinities[kept - 1].weight += affinities[i].weight;
    else
      affinities[kept++] = affinities[i];
  }
  affinities.resize(kept);
}

}  // namespace

std::vector<std::vector<uint32_t>> rows_by_affinity(std::span<const uint64_t> sizes,
                                                    std::vector<Affinity> affinities,
                                                    uint64_t longest) {
  add_up(affinities);
  std::stable_sort(affinities.begin(), affinities.end(),
                   [](const Affinity& a, const Affinity& b) { return a.weight > b.weight; });
  Rows rows(sizes);
  for (const Affinity& affinity : affinities) rows.join(affinity.from, affinity.to, longest);
  return rows.all();
}

std::vector<std::vector<uint32_t>> by_heat(std::vector<std::vector<uint32_t>> rows,
                                           std::span<const uint64_t> sizes,
                                           std::span<const double> heat) {
  std::vector<std::pair<double, uint32_t>> order;
  for (uint32_t r = 0; r < rows.size(); ++r) {
    double sum = 0, bytes = 1;
    for (const uint32_t piece : rows[r]) {
      sum += heat[piece];
      bytes += static_cast<double>(sizes[piece]);
    }
    order.emplace_back(-sum / bytes, r);
  }
  std::sort(order.begin(), order.end());
  std::vector<std::vector<uint32_t>> result;
  for (const auto& [coldness, r] : order) result.push_back(std::move(rows[r]));
  return result;
}

std::vector<uint32_t> place_by_affinity(std::span<const uint64_t> sizes,
                                        std::span<const double> heat,
                                        std::vector<Affinity> affinities) {
  std::vector<uint32_t> order;
  for (const auto& row :
       by_heat(rows_by_affinity(sizes, std::move(affinities), std::numeric_limits<uint64_t>::max()),
               sizes, heat))
    order.insert(order.end(), row.begin(), row.end());
  return order;
}

}  // namespace respike
