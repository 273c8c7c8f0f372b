// Example: the cycles of a program before and after as two bars: issue, branches, cache misses.

#include "gui/pictures/stacked_bars.h"

#include <QSaveFile>

#include <algorithm>
#include <array>
#include <numeric>

#include "gui/pictures/svg.h"

namespace respike::gui {
namespace {

// Okabe and Ito's palette, which people with any colour vision tell apart ("Color universal
// design", 2008).
constexpr std::array<QRgb, 8> kColours = {0xff0072b2, 0xffe69f00, 0xff009e73, 0xffcc79a7,
                                          0xff56b4e9, 0xffd55e00, 0xfff0e442, 0xff999999};
constexpr double kGap = 10;

double sum_of(const StackedBars::Bar& bar) {
  return std::accumulate(bar.parts.begin(), bar.parts.end(), 0.0);
}

QString short_number(double value) {
  if (value >= 1e9) return QString::number(value / 1e9, 'f', 2) + " G";
  if (value >= 1e6) return QString::number(value / 1e6, 'f', 1) + " M";
  if (value >= 1e3) return QString::number(value / 1e3, 'f', 1) + " k";
  return QString::number(value, 'f', 0);
}

double height_of(const QFontMetricsF& metrics, const StackedBars& bars) {
  const double line = metrics.height() + 4;
  return double(bars.bars.size()) * (2 * line + kGap) + double(bars.parts.size()) * line + 2 * kGap;
}

/// "original: 4.0 M cycles, issue 3.0 M, misses 1.0 M. ..."
QString description_of(const StackedBars& bars) {
  QStringList sentences;
  for (const auto& bar : bars.bars) {
    QString sentence = bar.name + ": " + short_number(sum_of(bar)) + " " + bars.unit;
    for (size_t i = 0; i < bars.parts.size(); ++i)
      sentence += ", " + bars.parts[i] + " " + short_number(bar.parts[i]);
    sentences << sentence + ".";
  }
  return sentences.join(' ');
}

}  // namespace

void paint_bars(QPainter& painter, const QRectF& area, const StackedBars& bars,
                const QPalette& palette) {
  const QFontMetricsF metrics(painter.font());
  const double line = metrics.height() + 4;
  double longest = 0, names = 0;
  for (const auto& bar : bars.bars) {
    longest = std::max(longest, sum_of(bar));
    names = std::max(names, metrics.horizontalAdvance(bar.name));
  }
  if (longest == 0) return;
  const double left = area.left() + names + kGap;
  const double width =
      area.right() - left - metrics.horizontalAdvance("0000.0 M " + bars.unit) - kGap;
  double y = area.top() + kGap;
  for (const auto& bar : bars.bars) {
    painter.setPen(palette.color(QPalette::WindowText));
    painter.drawText(QRectF(area.left(), y, names, 2 * line), Qt::AlignVCenter | Qt::AlignLeft,
                     bar.name);
    double x = left;
    for (size_t i = 0; i < bar.parts.size(); ++i) {
      const double part = width * bar.parts[i] / longest;
      painter.fillRect(QRectF(x, y, part, 2 * line), QColor(kColours[i % kColours.size()]));
      x += part;
    }
    painter.drawText(QRectF(x + kGap / 2, y, area.right() - x, 2 * line),
                     Qt::AlignVCenter | Qt::AlignLeft, short_number(sum_of(bar)) + " " + bars.unit);
    y += 2 * line + kGap;
  }
  y += kGap;
  for (size_t i = 0; i < bars.parts.size(); ++i) {
    painter.fillRect(QRectF(left, y + 2, line - 4, line - 4),
                     QColor(kColours[i % kColours.size()]));
    QStringList numbers;
    for (const auto& bar : bars.bars) numbers << short_number(bar.parts[i]);
    painter.setPen(palette.color(QPalette::WindowText));
    painter.drawText(QRectF(left + line + 4, y, area.right() - left, line),
                     Qt::AlignVCenter | Qt::AlignLeft, bars.parts[i] + ": " + numbers.join(" → "));
    y += line;
  }
}

void StackedBarsWidget::set(StackedBars bars) {
  bars_ = std::move(bars);
  setMinimumHeight(int(height_of(QFontMetricsF(font()), bars_)));
  updateGeometry();
  update();
}

QSize StackedBarsWidget::sizeHint() const {
  return {640, int(height_of(QFontMetricsF(font()), bars_))};
}

void StackedBarsWidget::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  paint_bars(painter, rect(), bars_, palette());
}

QString save_bars(const StackedBars& bars, const QString& path, const QString& title) {
  QSaveFile file(path);
  if (!file.open(QIODevice::WriteOnly)) return path + ": " + file.errorString();
  const QSizeF size(760, height_of(QFontMetricsF(QFont()), bars));
  const auto paint = [&](QPainter& painter, const QRectF& area) {
    paint_bars(painter, area, bars, QPalette(QColor(Qt::lightGray)));  // on white
  };
  if (!path.endsWith(".png", Qt::CaseInsensitive))
    write_svg(file, size, title, paint, description_of(bars));
  else if (!write_png(file, size, paint))
    return path + ": the picture cannot be written";
  return file.commit() ? QString() : path + ": " + file.errorString();
}

}  // namespace respike::gui
