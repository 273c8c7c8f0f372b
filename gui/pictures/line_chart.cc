// Example: the bounds 1, 2, 4 ... and the shares 0.13, 0.69, 0.71 ... give a line that rises from
// left to right; at the mark 2 the text "69%" stands beside the line.

#include "gui/pictures/line_chart.h"

#include <QFontMetricsF>
#include <QPainterPath>

#include <algorithm>

#include "gui/pictures/heat.h"

namespace respike::gui {
namespace {

constexpr double kGap = 6, kPoint = 4, kMarkWidth = 60;
constexpr int kGridLines = 4;

QString percent_of(double share) {
  return QString("%1%").arg(100 * share, 0, 'f', 0);
}

bool has_legend(const LineChart& chart) {
  return chart.lines.size() > 1;
}

/// The positions of shares and bounds in the picture.
struct Plot {
  QRectF area;
  size_t bounds = 0;

  QPointF at(size_t bound, double share) const {
    const double step = bounds < 2 ? 0 : area.width() / double(bounds - 1);
    return {area.left() + step * double(bound), area.bottom() - share * area.height()};
  }
};

/// The title of the horizontal axis takes several lines in a narrow picture.
double title_height(const QFontMetricsF& metrics, const LineChart& chart, double width) {
  constexpr double kHigh = 1000;  // higher than any title
  return metrics.boundingRect(QRectF(0, 0, width, kHigh), Qt::TextWordWrap, chart.x_title).height();
}

Plot plot_of(const QFontMetricsF& metrics, const QRectF& area, const LineChart& chart) {
  const double line = metrics.height() + 2;
  const double below = line * (has_legend(chart) ? 2 : 1) + 2 +
                       title_height(metrics, chart, area.width()) + 1.5 * kGap;
  const double left = metrics.horizontalAdvance("100%") + kGap;
  return {area.adjusted(left, line + kGap + kPoint, -metrics.horizontalAdvance("0000"), -below),
          chart.bounds.size()};
}

void paint_point(QPainter& painter, const QPointF& at, size_t line) {
  const QRectF box(at.x() - kPoint, at.y() - kPoint, 2 * kPoint, 2 * kPoint);
  if (line % 2 == 0)
    painter.drawEllipse(box);
  else
    painter.drawRect(box.adjusted(0.5, 0.5, -0.5, -0.5));
}

void paint_grid(QPainter& painter, const QRectF& area, const Plot& plot, const LineChart& chart,
                const QPalette& palette) {
  const QFontMetricsF metrics(painter.font());
  const double line = metrics.height() + 2;
  const QColor ink = palette.color(QPalette::WindowText);
  const QColor grid(ink.red(), ink.green(), ink.blue(), 64);  // a quarter opaque
  const auto text = [&](const QRectF& where, int alignment, const QString& words) {
    painter.setPen(palette.color(QPalette::WindowText));
    painter.drawText(where, alignment, words);
  };
  for (int i = 0; i <= kGridLines; ++i) {
    const double y = plot.at(0, double(i) / kGridLines).y();
    painter.setPen(grid);
    painter.drawLine(QPointF(plot.area.left(), y), QPointF(plot.area.right(), y));
    text({area.left(), y - line / 2, plot.area.left() - area.left() - kGap, line},
         Qt::AlignRight | Qt::AlignVCenter, percent_of(double(i) / kGridLines));
  }
  for (size_t i = 0; i < chart.bounds.size(); ++i) {
    const QPointF foot = plot.at(i, 0);
    text({foot.x() - 40, foot.y() + kGap, 80, line}, Qt::AlignHCenter | Qt::AlignTop,
         chart.bounds[i]);
  }
  text({area.left(), area.top(), area.width(), line}, Qt::AlignLeft | Qt::AlignVCenter,
       chart.y_title);
  text({area.left(), plot.area.bottom() + kGap + line, area.width(),
        title_height(metrics, chart, area.width())},
       Qt::AlignHCenter | Qt::AlignTop | Qt::TextWordWrap, chart.x_title);
}

void paint_line(QPainter& painter, const Plot& plot, const LineChart& chart, size_t number,
                const QPalette& palette) {
  const LineChart::Line& line = chart.lines[number];
  QPainterPath path;
  for (size_t i = 0; i < line.shares.size(); ++i) {
    const QPointF point = plot.at(i, line.shares[i]);
    i == 0 ? path.moveTo(point) : path.lineTo(point);
  }
  const QColor colour = series_colour(number);
  painter.setBrush(Qt::NoBrush);
  painter.setPen(QPen(colour, 2, number % 2 == 0 ? Qt::SolidLine : Qt::DashLine));
  painter.drawPath(path);
  painter.setPen(Qt::NoPen);
  painter.setBrush(colour);
  for (size_t i = 0; i < line.shares.size(); ++i)
    paint_point(painter, plot.at(i, line.shares[i]), number);
  const double height = QFontMetricsF(painter.font()).height();
  painter.setPen(palette.color(QPalette::WindowText));
  for (const size_t mark : chart.marks) {
    // A cumulative line rises to the right: there is room below the first line on its right, and
    // above the other lines on their left. Near the axis there is no room below.
    const QPointF point = plot.at(mark, line.shares[mark]);
    const bool above = number != 0 || plot.area.bottom() - point.y() < 1.5 * height;
    const double y = above ? point.y() - height - kGap : point.y() + 2;
    const double x = number != 0 ? point.x() - kMarkWidth - kGap : point.x() + kGap;
    painter.drawText(QRectF(x, y, kMarkWidth, height),
                     Qt::AlignVCenter | (number != 0 ? Qt::AlignRight : Qt::AlignLeft),
                     percent_of(line.shares[mark]));
  }
}

void paint_legend(QPainter& painter, const QRectF& area, const Plot& plot, const LineChart& chart,
                  const QPalette& palette) {
  const QFontMetricsF metrics(painter.font());
  const double y = area.bottom() - metrics.height() / 2 - 1;
  double x = plot.area.left();
  for (size_t i = 0; i < chart.lines.size(); ++i) {
    painter.setPen(Qt::NoPen);
    painter.setBrush(series_colour(i));
    paint_point(painter, {x + kPoint, y}, i);
    painter.setPen(palette.color(QPalette::WindowText));
    x += 2 * kPoint + kGap;
    const double width = metrics.horizontalAdvance(chart.lines[i].name);
    painter.drawText(QRectF(x, y - metrics.height() / 2, width + kGap, metrics.height()),
                     Qt::AlignVCenter | Qt::AlignLeft, chart.lines[i].name);
    x += width + 4 * kGap;
  }
}

}  // namespace

QSizeF size_of(const LineChart& chart) {
  const double line = QFontMetricsF(QFont()).height() + 2;
  return {32 * line, line * (has_legend(chart) ? 15 : 14)};
}

void paint_chart(QPainter& painter, const QRectF& area, const LineChart& chart,
                 const QPalette& palette) {
  const Plot plot = plot_of(QFontMetricsF(painter.font()), area, chart);
  painter.save();
  paint_grid(painter, area, plot, chart, palette);
  for (size_t i = 0; i < chart.lines.size(); ++i) paint_line(painter, plot, chart, i, palette);
  if (has_legend(chart)) paint_legend(painter, area, plot, chart, palette);
  painter.restore();
}

}  // namespace respike::gui
