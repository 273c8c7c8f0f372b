// Myers' greedy algorithm.
//
// In the grid of both sequences a path leads from the upper left to the lower right corner. It goes
// right (an element of `a` is dropped), down (an element of `b` is new) or, where tokens are equal,
// diagonally. Example: `a` = xyz and `b` = yzw: right (drop x), two diagonals (keep y and z), down
// (add w). After d steps that are not diagonal, only the farthest point of every diagonal matters;
// it follows from the farthest points after d - 1 steps. All farthest points are kept, so that the
// path can be walked back from the end.
//
// Time and memory grow with the square of the differences. After kMostDifferences differences the
// path to the farthest point so far is final, and the search restarts from that point; every search
// advances by at least kMostDifferences elements.

#include "optimizer/profile/matching/sequence_diff.h"

#include <algorithm>

namespace respike {
namespace {

constexpr int64_t kMostDifferences = 400;

using Tokens = std::span<const uint64_t>;

class Search {
 public:
  Search(Tokens a, Tokens b) : a_(a), b_(b), n_(std::ssize(a)), m_(std::ssize(b)) {}

  /// Finds a path from the start and adds its pairs; returns where the path ends.
  std::pair<int64_t, int64_t> run(std::vector<std::pair<int64_t, int64_t>>& pairs) {
    const int64_t most = std::min(kMostDifferences, n_ + m_);
    // farthest_[d][k + d]: x on diagonal k = x - y after d differences.
    int64_t best = 0;  // diagonal
    for (int64_t d = 0; d <= most; ++d) {
      farthest_.emplace_back(2 * d + 1, -1);
      best = -d;
      for (int64_t k = -d; k <= d; k += 2) {
        int64_t x = d == 0 ? 0 : start_of(d, k);
        if (x < 0 || x > n_ || x - k > m_) continue;  // outside the grid
        while (x < n_ && x - k < m_ && a_[x] == b_[x - k]) ++x;
        at(d, k) = x;
        if (x == n_ && x - k == m_) return walk_back(d, k, pairs);
        if (at(d, best) < 0 || 2 * x - k > 2 * at(d, best) - best) best = k;
      }
    }
    return walk_back(most, best, pairs);
  }

 private:
  int64_t& at(int64_t d, int64_t k) { return farthest_[d][k + d]; }
  int64_t before(int64_t d, int64_t k) const { return k < -d || k > d ? -1 : farthest_[d][k + d]; }

  /// The x at which the path enters diagonal k with the d-th difference; negative: it cannot.
  int64_t start_of(int64_t d, int64_t k) const {
    const int64_t right = before(d - 1, k - 1), down = before(d - 1, k + 1);
    return std::max(right < 0 || right >= n_ ? -1 : right + 1, down);
  }

  std::pair<int64_t, int64_t> walk_back(int64_t d, int64_t k,
                                        std::vector<std::pair<int64_t, int64_t>>& pairs) {
    const std::pair end{at(d, k), at(d, k) - k};
    for (;; --d) {
      const int64_t start = d == 0 ? 0 : start_of(d, k);
      for (int64_t x = at(d, k); x-- > start;) pairs.emplace_back(x, x - k);
      if (d == 0) break;
      k = before(d - 1, k + 1) == start ? k + 1 : k - 1;
    }
    std::reverse(pairs.begin(), pairs.end());
    return end;
  }

  Tokens a_, b_;
  int64_t n_, m_;
  std::vector<std::vector<int64_t>> farthest_;
};

}  // namespace

std::vector<std::pair<uint32_t, uint32_t>> common_subsequence(Tokens a, Tokens b) {
  std::vector<std::pair<uint32_t, uint32_t>> result;
  size_t x = 0, y = 0;
  while (x < a.size() && y < b.size()) {
    std::vector<std::pair<int64_t, int64_t>> pairs;
    const auto end = Search(a.subspan(x), b.subspan(y)).run(pairs);
    for (const auto& [i, j] : pairs)
      result.emplace_back(static_cast<uint32_t>(x + i), static_cast<uint32_t>(y + j));
    x += end.first;
    y += end.second;
  }
  return result;
}

}  // namespace respike
