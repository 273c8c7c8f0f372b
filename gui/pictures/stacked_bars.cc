// Example: the cycles of a program before and after as two bars: issue, branches, cache misses.

#include "gui/pictures/stacked_bars.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "gui/pictures/heat.h"
#include "gui/pictures/svg.h"

namespace respike::gui {
namespace {

constexpr double kGap = 10;

double sum_of(const StackedBars::Bar& bar) {
  return std::accumulate(bar.parts.begin(), bar.parts.end(), 0.0);
}

QString short_number(double value) {
  if (value >= 1e9) return QString::number(value / 1e9, 'f', 2) + " G";
  if (value >= 1e6) return QString::number(value / 1e6, 'f', 1) + " M";
  if (value >= 1e3) return QString::number(value / 1e3, 'f', 1) + " k";
  return QString::number(value, 'f', value == std::floor(value) ? 0 : 1);
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
      painter.fillRect(QRectF(x, y, part, 2 * line), series_colour(i));
      x += part;
    }
    painter.drawText(QRectF(x + kGap / 2, y, area.right() - x, 2 * line),
                     Qt::AlignVCenter | Qt::AlignLeft, short_number(sum_of(bar)) + " " + bars.unit);
    y += 2 * line + kGap;
  }
  y += kGap;
  for (size_t i = 0; i < bars.parts.size(); ++i) {
    painter.fillRect(QRectF(left, y + 2, line - 4, line - 4), series_colour(i));
    QStringList numbers;
    for (const auto& bar : bars.bars) numbers << short_number(bar.parts[i]);
    painter.setPen(palette.color(QPalette::WindowText));
    painter.drawText(QRectF(left + line + 4, y, area.right() - left, line),
                     Qt::AlignVCenter | Qt::AlignLeft,
                     bars.parts[i] + ": " + numbers.join(" → ") + " " + bars.unit);
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

QSizeF size_of(const StackedBars& bars) {
  return {760, height_of(QFontMetricsF(QFont()), bars)};
}

QString save_bars(const StackedBars& bars, const QString& path, const QString& title) {
  return save_picture(
      path, size_of(bars), title,
      [&](QPainter& painter, const QRectF& area) {
        paint_bars(painter, area, bars, paper_palette());
      },
      description_of(bars));
}

}  // namespace respike::gui
