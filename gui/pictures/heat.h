#pragma once
// Colours: of heat, which is how often something ran; and of series of numbers.

#include <QColor>

#include <cstddef>

namespace respike::gui {

/// `share` in [0, 1] of the hottest. What never ran is grey; the scale is that of the square root,
/// so that warm things differ, too. `dark`: for a dark background.
QColor heat_colour(double share, bool dark);
/// Black or white, whichever is read better on a background.
QColor text_on(const QColor& background);
/// Of the parts of a bar, or the lines of a chart, by their number: eight colours that people with
/// any colour vision tell apart.
QColor series_colour(size_t number);

}  // namespace respike::gui
