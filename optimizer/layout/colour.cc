// For every line of a row that is still to be placed, and every set of the cache, the turns that it
// takes with the lines that are there already are kept as a sum. Placing a row adds the turns of
// its lines to those of their partners, each in one set.

#include "optimizer/layout/colour.h"

#include <algorithm>
#include <numeric>

namespace respike {
namespace {

class Colouring {
 public:
  Colouring(std::span<const uint32_t> lines, std::span<const Affinity> turns,
            const CacheShape& cache)
      : lines_(lines), sets_(cache.sets), first_(lines.size() + 1) {
    std::partial_sum(lines.begin(), lines.end(), first_.begin() + 1);
    cost_.assign(size_t{first_.back()} * sets_, 0);
    mean_.assign(lines.size(), 0);
    row_of_.resize(first_.back());
    for (uint32_t r = 0; r < lines.size(); ++r)
      std::fill(row_of_.begin() + first_[r], row_of_.begin() + first_[r + 1], r);
    partners_.resize(first_.back());
    for (const Affinity& turn : turns) {
      if (row_of_[turn.from] == row_of_[turn.to]) continue;
      partners_[turn.from].push_back({turn.to, static_cast<float>(turn.weight)});
      partners_[turn.to].push_back({turn.from, static_cast<float>(turn.weight)});
    }
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
      place(*best, set);
      set = (set + lines_[*best]) % sets_;
      result.push_back(*best);
      left.erase(best);
    }
    return result;
  }

 private:
  struct Partner {
    uint32_t line;
    float turns;
  };

  double gain(uint32_t row, uint32_t set) const {
    double cost = 0;
    for (uint32_t line = first_[row]; line < first_[row + 1]; ++line) {
      cost += static_cast<double>(cost_[size_t{line} * sets_ + set]);
      set = set + 1 == sets_ ? 0 : set + 1;
    }
    return mean_[row] - cost;
  }

  void place(uint32_t row, uint32_t set) {
    for (uint32_t line = first_[row]; line < first_[row + 1]; ++line) {
      for (const Partner& partner : partners_[line]) {
        cost_[size_t{partner.line} * sets_ + set] += partner.turns;
        mean_[row_of_[partner.line]] += static_cast<double>(partner.turns) / sets_;
      }
      set = set + 1 == sets_ ? 0 : set + 1;
    }
  }

  std::span<const uint32_t> lines_;
  const uint32_t sets_;
  std::vector<uint32_t> first_;                 // by row, of its lines
  std::vector<uint32_t> row_of_;                // by line
  std::vector<float> cost_;                     // by line, set
  std::vector<double> mean_;                    // by row, of its cost over all sets
  std::vector<std::vector<Partner>> partners_;  // by line
};

}  // namespace

std::vector<uint32_t> order_by_conflicts(std::span<const uint32_t> lines,
                                         std::span<const Affinity> turns, const CacheShape& cache) {
  return Colouring(lines, turns, cache).order();
}

}  // namespace respike
