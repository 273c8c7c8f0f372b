// An order of rows in which lines that take turns share few sets.
//
// For every unplaced line and every set of the cache, a sum is kept: the turns of the line with the
// placed lines of the set. Placing a row adds the turns of its lines to the sums of the lines that
// take turns with them, each in one set.
//
// Example: the only line of a row takes 900 turns with lines placed in set 5 and none with other
// lines. A start at set 5 costs 900 minus the mean of the row's sums; at any other set the row
// gains the mean.
//
// The greedy order leaves only the remaining places to the last rows. Exchanges make up for that:
// of two rows of one length, or of two neighbours, so that all other rows stay in place. The gain
// of an exchange follows from the sums, and few exchanges gain anything, so all pairs are tried
// repeatedly.

#include "optimizer/layout/colour.h"

#include <algorithm>
#include <numeric>

namespace respike {
namespace {

constexpr uint64_t kMostTries = 300'000;
constexpr double kLeastGain = 20;  // turns, of some hundred thousand of lines that share sets

class Colouring {
 public:
  Colouring(std::span<const uint32_t> lines, const Turns& turns, const CacheShape& cache)
      : lines_(lines), turns_(turns), sets_(cache.sets), first_(lines.size() + 1) {
    std::partial_sum(lines.begin(), lines.end(), first_.begin() + 1);
    cost_.assign(size_t{first_.back()} * sets_, 0);
    mean_.assign(lines.size(), 0);
    set_of_.assign(lines.size(), 0);
    row_of_.resize(first_.back());
    for (uint32_t r = 0; r < lines.size(); ++r)
      std::fill(row_of_.begin() + first_[r], row_of_.begin() + first_[r + 1], r);
    find_neighbours();
  }

  std::vector<uint32_t> order() {
    std::vector<uint32_t> left(lines_.size());
    std::iota(left.begin(), left.end(), 0);
    std::vector<uint32_t> result;
    uint32_t set = 0;
    while (!left.empty()) {
      auto best = left.begin();
      double most = gain(*best, set);
      for (auto row = left.begin() + 1; row != left.end(); ++row)
        if (const double gained = gain(*row, set); gained > most) {
          most = gained;
          best = row;
        }
      add(*best, set, 1);
      set_of_[*best] = set;
      set = (set + lines_[*best]) % sets_;
      result.push_back(*best);
      left.erase(best);
    }
    while (improve(result)) {
    }
    return result;
  }

 private:
  uint32_t behind(uint32_t set) const { return set + 1 == sets_ ? 0 : set + 1; }

  double gain(uint32_t row, uint32_t set) const {
    double cost = 0;
    for (uint32_t line = first_[row]; line < first_[row + 1]; ++line) {
      cost += static_cast<double>(cost_[size_t{line} * sets_ + set]);
      set = behind(set);
    }
    return mean_[row] - cost;
  }

  /// Calls f(line, other) for each two lines of different rows that take turns.
  template <typename F>
  void for_each_pair(F f) const {
    for (uint32_t line = 0; line < first_.back(); ++line)
      for (uint32_t other = 0; other < first_[row_of_[line]]; ++other)
        if (turns_.between(line, other) != 0) f(line, other);
  }

  /// Lists, since most pairs of lines never take turns.
  void find_neighbours() {
    first_neighbour_.resize(first_.back() + size_t{1});
    for_each_pair([&](uint32_t line, uint32_t other) {
      ++first_neighbour_[line];
      ++first_neighbour_[other];
    });
    std::exclusive_scan(first_neighbour_.begin(), first_neighbour_.end(), first_neighbour_.begin(),
                        uint32_t{0});
    neighbours_.resize(first_neighbour_.back());
    std::vector<uint32_t> next(first_neighbour_.begin(), first_neighbour_.end() - 1);
    for_each_pair([&](uint32_t line, uint32_t other) {
      neighbours_[next[line]++] = {other, turns_.between(line, other)};
      neighbours_[next[other]++] = {line, turns_.between(line, other)};
    });
  }

  /// Adds the turns of a row's lines, `sign` times, where it starts at `set`.
  void add(uint32_t row, uint32_t set, int sign) {
    for (uint32_t line = first_[row]; line < first_[row + 1]; ++line) {
      for (uint32_t n = first_neighbour_[line]; n < first_neighbour_[line + 1]; ++n) {
        const auto [other, turns] = neighbours_[n];
        cost_[size_t{other} * sets_ + set] += static_cast<float>(turns) * static_cast<float>(sign);
        mean_[row_of_[other]] += static_cast<double>(turns) / sets_ * sign;
      }
      set = behind(set);
    }
  }

  /// Tries to exchange each pair of rows once. True when rows were exchanged and tries are left.
  bool improve(std::vector<uint32_t>& order) {
    bool improved = false;
    for (size_t i = 0; i < order.size(); ++i)
      for (size_t j = i + 1; j < order.size(); ++j) {
        const uint32_t a = order[i], b = order[j];
        if (j != i + 1 && lines_[a] != lines_[b]) continue;
        if (++tries_ > kMostTries) return false;
        const uint32_t to_a = j == i + 1 ? (set_of_[a] + lines_[b]) % sets_ : set_of_[b];
        const uint32_t to_b = set_of_[a];
        if (change(a, to_a, b, to_b) > -kLeastGain) continue;
        move(a, to_a);
        move(b, to_b);
        std::swap(order[i], order[j]);
        improved = true;
      }
    return improved;
  }

  /// The change in the turns of lines that share sets, when row `a` moves to `to_a` and `b` to
  /// `to_b`.
  double change(uint32_t a, uint32_t to_a, uint32_t b, uint32_t to_b) const {
    const double apart = met_without(a, to_a, b) - met_without(a, set_of_[a], b) +
                         met_without(b, to_b, a) - met_without(b, set_of_[b], a);
    return apart + met_by(a, to_a, b, to_b) - met_by(a, set_of_[a], b, set_of_[b]);
  }
  /// The turns of a row's lines with the placed lines of their sets, except the lines of row
  /// `other`.
  double met_without(uint32_t row, uint32_t set, uint32_t other) const {
    double sum = 0;
    const uint32_t at = set;
    for (uint32_t line = first_[row]; line < first_[row + 1]; ++line) {
      sum += static_cast<double>(cost_[size_t{line} * sets_ + set]);
      set = behind(set);
    }
    return sum - met_by(row, at, other, set_of_[other]);
  }
  /// The turns between lines of the two rows that share a set.
  double met_by(uint32_t a, uint32_t set_a, uint32_t b, uint32_t set_b) const {
    double sum = 0;
    uint32_t j = set_a < set_b ? set_a + sets_ - set_b : set_a - set_b;  // line of b
    for (uint32_t i = 0; i < lines_[a]; ++i) {
      if (j < lines_[b]) sum += turns_.between(first_[a] + i, first_[b] + j);
      j = behind(j);
    }
    return sum;
  }

  void move(uint32_t row, uint32_t set) {
    add(row, set_of_[row], -1);
    add(row, set, 1);
    set_of_[row] = set;
  }

  std::span<const uint32_t> lines_;
  const Turns& turns_;
  const uint32_t sets_;
  std::vector<uint32_t> first_;   // by row: its first line
  std::vector<uint32_t> row_of_;  // by line
  std::vector<uint32_t> set_of_;  // by row: the set of its first line
  std::vector<float> cost_;       // by line, set
  struct Neighbour {
    uint32_t line, turns;
  };
  std::vector<uint32_t> first_neighbour_;  // by line
  std::vector<Neighbour> neighbours_;      // lines of other rows that take turns with the line
  uint64_t tries_ = 0;                     // exchanges that were tried
  std::vector<double> mean_;               // by row: the mean of its cost over all sets
};

}  // namespace

std::vector<uint32_t> order_by_conflicts(std::span<const uint32_t> lines, const Turns& turns,
                                         const CacheShape& cache) {
  return Colouring(lines, turns, cache).order();
}

}  // namespace respike
