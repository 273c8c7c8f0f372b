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

/// Writes what `paint` paints in an area of this size, with a title, and a description for people
/// who cannot see the picture.
void write_svg(QIODevice& device, const QSizeF& size, const QString& title, const Painting& paint,
               const QString& description = {});

/// Writes the same to a file, as SVG or, by the name's end, as PNG: twice as large, on white.
/// Returns the error; empty: none.
QString save_picture(const QString& path, const QSizeF& size, const QString& title,
                     const Painting& paint, const QString& description = {});

/// Black on white, for files: a window may be dark, but paper is not.
QPalette paper_palette();

}  // namespace respike::gui
