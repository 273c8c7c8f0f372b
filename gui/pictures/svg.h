#pragma once
// Pictures as files: SVG, and PNG.

#include <QIODevice>
#include <QPainter>
#include <QPalette>
#include <QRectF>
#include <QString>

#include <functional>

namespace respike::gui {

/// Paints a picture in an area.
using Painting = std::function<void(QPainter&, const QRectF&)>;

/// Writes what `paint` paints in an area of this size, with a title.
void write_svg(QIODevice& device, const QSizeF& size, const QString& title, const Painting& paint);

/// Writes a picture as SVG or, by the name's end, PNG. Returns what went wrong; empty: nothing.
QString save_picture(const QString& path, const QSizeF& size, const QString& title,
                     const Painting& paint);

/// Black on white, for files: a window may be dark, paper is not.
QPalette paper_palette();

}  // namespace respike::gui
