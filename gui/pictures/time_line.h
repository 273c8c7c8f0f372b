#pragma once
// Points in time, the newest at the top, each with a bar that shows how much of something lasted
// until then.

#include <QPainter>
#include <QPalette>
#include <QRectF>
#include <QString>

#include <optional>
#include <vector>

namespace respike::gui {

struct TimeLine {
  struct Point {
    QString when;
    QString name;
    bool filled = false;          // the mark on the line is filled
    std::optional<double> share;  // 0 to 1: the length of the bar; nullopt: no bar
    QString text;                 // below the name
  };
  std::vector<Point> points;  // the newest first
  QString legend;             // the meaning of marks and bars
};

/// The size of a separate picture.
QSizeF size_of(const TimeLine& line);

void paint_time_line(QPainter& painter, const QRectF& area, const TimeLine& line,
                     const QPalette& palette);

}  // namespace respike::gui
