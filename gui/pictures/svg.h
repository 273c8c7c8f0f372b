#pragma once
// Pictures as SVG.

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

}  // namespace respike::gui
