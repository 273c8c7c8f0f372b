#pragma once
// Lines of shares over a few bounds, such as cumulative distributions.

#include <QPainter>
#include <QPalette>
#include <QRectF>
#include <QString>

#include <vector>

namespace respike::gui {

struct LineChart {
  struct Line {
    QString name;
    std::vector<double> shares;  // 0 to 1, as many as `bounds`
  };
  QString x_title, y_title;
  std::vector<QString> bounds;
  std::vector<Line> lines;
  std::vector<size_t> marks;  // indices of bounds: the shares there are written beside the points
};

/// The size of a separate picture.
QSizeF size_of(const LineChart& chart);

/// Paints the lines, with a legend below when there are several. Lines also differ in their marks
/// and dashes, so that colour is not needed.
void paint_chart(QPainter& painter, const QRectF& area, const LineChart& chart,
                 const QPalette& palette);

}  // namespace respike::gui
