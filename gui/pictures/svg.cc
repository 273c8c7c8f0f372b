#include "gui/pictures/svg.h"

#include <QBuffer>
#include <QGuiApplication>
#include <QImage>
#include <QSaveFile>
#include <QScreen>
#include <QSvgGenerator>

#include <algorithm>

namespace respike::gui {
namespace {

// Placeholders for title and description until the document is made: not every version of Qt
// escapes their text, such as the name in "Flow graph of less<int>".
constexpr const char* kTitle = "@title@";
constexpr const char* kDescription = "@description@";

void put(QByteArray& svg, const char* where, const QString& text) {
  svg.replace(svg.indexOf(where), qsizetype(qstrlen(where)), text.toHtmlEscaped().toUtf8());
}

}  // namespace

void write_svg(QIODevice& device, const QSizeF& size, const QString& title, const Painting& paint,
               const QString& description) {
  const QRectF area(QPointF(), size);
  QBuffer buffer;
  buffer.open(QIODevice::WriteOnly);
  QSvgGenerator svg;
  svg.setOutputDevice(&buffer);
  svg.setTitle(kTitle);
  svg.setDescription(kDescription);
  // Text is as large as it was measured, in points.
  svg.setResolution(qRound(QGuiApplication::primaryScreen()->logicalDotsPerInchY()));
  svg.setSize(size.toSize());
  svg.setViewBox(area);
  QPainter painter(&svg);
  // The window's font may be unknown on the computer where the file is viewed.
  QFont font = painter.font();
  font.setFamily("sans-serif");
  painter.setFont(font);
  paint(painter, area);
  painter.end();
  QByteArray document = buffer.data();
  put(document, kDescription, description);
  put(document, kTitle, title);
  device.write(document);
}

QString save_picture(const QString& path, const QSizeF& size, const QString& title,
                     const Painting& paint, const QString& description) {
  QSaveFile file(path);
  if (!file.open(QIODevice::WriteOnly)) return path + ": " + file.errorString();
  if (!path.endsWith(".png", Qt::CaseInsensitive)) {
    write_svg(file, size, title, paint, description);
    return file.commit() ? QString() : path + ": " + file.errorString();
  }
  constexpr double kMostPixels = 16000;  // largest side
  const double scale = std::min({2.0, kMostPixels / size.width(), kMostPixels / size.height()});
  QImage image((size * scale).toSize().expandedTo({1, 1}), QImage::Format_ARGB32);
  image.fill(Qt::white);
  QPainter painter(&image);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.scale(scale, scale);
  paint(painter, QRectF(QPointF(), size));
  painter.end();
  if (!image.save(&file, "PNG")) return path + ": the picture cannot be written";
  return file.commit() ? QString() : path + ": " + file.errorString();
}

QPalette paper_palette() {
  QPalette palette;
  for (const auto role : {QPalette::Window, QPalette::Base}) palette.setColor(role, Qt::white);
  for (const auto role : {QPalette::WindowText, QPalette::Text}) palette.setColor(role, Qt::black);
  return palette;
}

}  // namespace respike::gui
