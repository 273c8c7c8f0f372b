#include "gui/pictures/svg.h"

#include <QGuiApplication>
#include <QImage>
#include <QScreen>
#include <QSvgGenerator>

#include <algorithm>

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

bool write_png(QIODevice& device, const QSizeF& size,
               const std::function<void(QPainter&, const QRectF&)>& paint) {
  constexpr double kMostPixels = 16000;  // a side
  const double scale = std::min({2.0, kMostPixels / size.width(), kMostPixels / size.height()});
  QImage image((size * scale).toSize().expandedTo({1, 1}), QImage::Format_ARGB32);
  image.fill(Qt::white);
  QPainter painter(&image);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.scale(scale, scale);
  paint(painter, QRectF(QPointF(), size));
  painter.end();
  return image.save(&device, "PNG");
}

}  // namespace respike::gui
