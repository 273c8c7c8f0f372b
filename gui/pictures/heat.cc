#include "gui/pictures/heat.h"

#include <algorithm>
#include <cmath>

namespace respike::gui {

QColor heat_colour(double share, bool dark) {
  if (share <= 0) return dark ? QColor(70, 72, 76) : QColor(232, 232, 232);
  const double heat = std::sqrt(std::clamp(share, 0.0, 1.0));
  // From pale yellow over orange to dark red: also told apart by brightness alone.
  const double hue = (52 - 48 * heat) / 360;
  return QColor::fromHslF(float(hue), float(dark ? 0.75 : 0.95),
                          float(dark ? 0.32 + 0.16 * heat : 0.88 - 0.42 * heat));
}

QColor text_on(const QColor& background) {
  const double light =
      0.299 * background.redF() + 0.587 * background.greenF() + 0.114 * background.blueF();
  return light > 0.5 ? Qt::black : Qt::white;
}

}  // namespace respike::gui
