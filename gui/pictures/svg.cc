#include "gui/pictures/svg.h"

#include <QGuiApplication>
#include <QScreen>
#include <QSvgGenerator>

namespace respike::gui {

void write_svg(QIODevice& device, const QSizeF& size, const QString& title,
               const std::function<void(QPainter&, const QRectF&)>& paint,
               const QString& description) {
  const QRectF area(QPointF(), size);
  QSvgGenerator svg;
  svg.setOutputDevice(&device);
  svg.setTitle(title);
  svg.setDescription(description);
  // Text is as large as it was measured, in points.
  svg.setResolution(qRound(QGuiApplication::primaryScreen()->logicalDotsPerInchY()));
  svg.setSize(size.toSize());
  svg.setViewBox(area);
  QPainter painter(&svg);
  paint(painter, area);
}

}  // namespace respike::gui
