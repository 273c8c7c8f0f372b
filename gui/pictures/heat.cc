#include "gui/pictures/heat.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace respike::gui {

QColor heat_colour(double share, bool dark) {
  if (share <= 0) return dark ? QColor(70, 72, 76) : QColor(232, 232, 232);
  const double heat = std::sqrt(std::clamp(share, 0.0, 1.0));
  // From pale yellow over orange to dark red: brightness alone also distinguishes the colours.
  const double hue = (52 - 48 * heat) / 360;
  return QColor::fromHslF(float(hue), float(dark ? 0.75 : 0.95),
                          float(dark ? 0.32 + 0.16 * heat : 0.88 - 0.42 * heat));
}

/// Uses the contrast ratio of the Web Content Accessibility Guidelines 2.1, 1.4.3.
QColor text_on(const QColor& background) {
  const auto linear = [](double c) {
    return c <= 0.03928 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  const double luminance = 0.2126 * linear(background.redF()) +
                           0.7152 * linear(background.greenF()) +
                           0.0722 * linear(background.blueF());
  return (luminance + 0.05) * (luminance + 0.05) > 1.05 * 0.05 ? Qt::black : Qt::white;
}

QColor series_colour(size_t number) {
  // Okabe and Ito's palette ("Color universal design", 2008).
  constexpr std::array<QRgb, 8> kColours = {0xff0072b2, 0xffe69f00, 0xff009e73, 0xffcc79a7,
                                            0xff56b4e9, 0xffd55e00, 0xfff0e442, 0xff999999};
  return kColours[number % kColours.size()];
}

}  // namespace respike::gui
