#pragma once
// Rectangles of a picture that do not overlap, to find room for texts.

#include <QRectF>

#include <cmath>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace respike::gui {

/// Taken rectangles are kept in a grid, so that a picture of 10,000 texts takes a few milliseconds.
class FreeRoom {
 public:
  /// Takes a rectangle, unless it overlaps a taken one. Returns whether it did.
  bool take(const QRectF& wanted) {
    const auto all_cells = [&](auto look) {
      for (int64_t x = cell(wanted.left()); x <= cell(wanted.right()); ++x)
        for (int64_t y = cell(wanted.top()); y <= cell(wanted.bottom()); ++y)
          if (!look(taken_[x * kPrime + y])) return false;
      return true;
    };
    const bool is_free = all_cells([&](const std::vector<QRectF>& taken) {
      for (const QRectF& other : taken)
        if (other.intersects(wanted)) return false;
      return true;
    });
    return is_free && all_cells([&](std::vector<QRectF>& taken) {
             taken.push_back(wanted);
             return true;
           });
  }

 private:
  static constexpr double kCell = 64;  // pixels
  static constexpr int64_t kPrime = 1'000'003;
  static int64_t cell(double place) { return int64_t(std::floor(place / kCell)); }

  std::unordered_map<int64_t, std::vector<QRectF>> taken_;
};

}  // namespace respike::gui
