#pragma once
// The colour of heat: how often something ran, from cold to hot.

#include <QColor>

namespace respike::gui {

/// `share` in [0, 1] of the hottest. What never ran is grey; the scale is that of the square root,
/// so that warm things differ, too. `dark`: for a dark background.
QColor heat_colour(double share, bool dark);
/// Black or white, whichever is read better on a background.
QColor text_on(const QColor& background);

}  // namespace respike::gui
