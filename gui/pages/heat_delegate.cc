#include "gui/pages/heat_delegate.h"

#include <QWidget>

#include "gui/pictures/heat.h"

namespace respike::gui {

bool is_dark(const QWidget* widget) {
  return widget->palette().base().color().lightness() < 128;
}

void HeatDelegate::initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const {
  QStyledItemDelegate::initStyleOption(option, index);
  const double heat = index.data(role_).toDouble();
  if (heat == 0 || option->text.isEmpty()) return;
  const QColor colour = heat_colour(heat, is_dark(option->widget));
  option->backgroundBrush = colour;
  option->palette.setColor(QPalette::Text, text_on(colour));
}

}  // namespace respike::gui
