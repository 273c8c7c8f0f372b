#pragma once
// Colours of heat, which shows how often code ran, and of series of numbers.

#include <QColor>

#include <cstddef>

namespace respike::gui {

/// `share`: relative to the hottest, in [0, 1]. Code that never ran is grey; the scale is the
/// square root, so that warm shares differ as well. `dark`: for a dark background.
QColor heat_colour(double share, bool dark);
/// Black or white, whichever is more readable on a background.
QColor text_on(const QColor& background);
/// Colours for the parts of a bar, or the lines of a chart, by number: eight colours that people
/// with any colour vision can distinguish.
QColor series_colour(size_t number);

}  // namespace respike::gui
