#pragma once
// Pictures as SVG and PNG.

#include <QIODevice>
#include <QPainter>
#include <QRectF>
#include <QString>

#include <functional>

namespace respike::gui {

/// Writes what `paint` paints in an area of this size, with a title and a text that says what the
/// picture shows, for people who do not see the picture.
void write_svg(QIODevice& device, const QSizeF& size, const QString& title,
               const std::function<void(QPainter&, const QRectF&)>& paint,
               const QString& description = {});

/// Writes the same as PNG, twice as large, on white. Returns whether that went well.
bool write_png(QIODevice& device, const QSizeF& size,
               const std::function<void(QPainter&, const QRectF&)>& paint);

}  // namespace respike::gui
