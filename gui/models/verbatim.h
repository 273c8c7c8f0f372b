#pragma once
// Texts that are shown literally: labels and tooltips would take `<b>` in a name for a tag.

#include <QString>

namespace respike::gui {

inline QString verbatim(const QString& text) {
  return "<span>" + text.toHtmlEscaped().replace('\n', "<br>") + "</span>";
}

}  // namespace respike::gui
