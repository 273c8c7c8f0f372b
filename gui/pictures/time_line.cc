// Example: build 3 is above build 2. Its bar is long, since 97% of the instructions that build 2
// executed were found again; below its name is the largest loss.

#include "gui/pictures/time_line.h"

#include <QFontMetricsF>

#include <algorithm>

#include "gui/pictures/heat.h"
#include "optimizer/base/number_text.h"

namespace respike::gui {
namespace {

constexpr double kGap = 8, kMark = 5, kWidth = 560, kBar = 120, kLeastBar = 40;

double line_height(const QFontMetricsF& metrics) {
  return metrics.height() + 2;
}

double row_height(const QFontMetricsF& metrics) {
  return 2 * line_height(metrics) + kGap;
}

/// The legend takes several lines in a narrow picture.
QRectF legend_place(const QFontMetricsF& metrics, const QRectF& area, const TimeLine& line) {
  const double top = area.top() + kGap + double(line.points.size()) * row_height(metrics);
  constexpr double kHigh = 1000;  // higher than any legend
  const QRectF most(area.left(), top, area.width(), kHigh);
  return {most.topLeft(),
          QSizeF(area.width(), metrics.boundingRect(most, Qt::TextWordWrap, line.legend).height())};
}

class Painter {
 public:
  Painter(QPainter& painter, const QRectF& area, const TimeLine& line, const QPalette& palette)
      : painter_(painter),
        metrics_(painter.font()),
        area_(area),
        line_(line),
        ink_(palette.color(QPalette::WindowText)) {
    for (const TimeLine::Point& point : line.points)
      dates_ = std::max(dates_, metrics_.horizontalAdvance(point.when));
    bar_ = std::clamp(area.width() / 4, kLeastBar, kBar);
  }

  void paint() {
    const double x = axis();
    painter_.setPen(QPen(ink_, 1));
    if (line_.points.size() > 1)
      painter_.drawLine(QPointF(x, middle(0)), QPointF(x, middle(line_.points.size() - 1)));
    for (size_t i = 0; i < line_.points.size(); ++i) paint_point(line_.points[i], i);
    painter_.setPen(ink_);
    painter_.drawText(legend_place(metrics_, area_, line_), Qt::TextWordWrap, line_.legend);
  }

 private:
  double axis() const { return area_.left() + dates_ + kGap + kMark; }
  double top(size_t row) const { return area_.top() + kGap + double(row) * row_height(metrics_); }
  double middle(size_t row) const { return top(row) + line_height(metrics_) / 2; }

  void paint_point(const TimeLine::Point& point, size_t row) {
    const double height = line_height(metrics_), y = top(row);
    painter_.setPen(ink_);
    painter_.drawText(QRectF(area_.left(), y, dates_, height), Qt::AlignRight | Qt::AlignVCenter,
                      point.when);
    painter_.setPen(QPen(series_colour(0), 2));
    painter_.setBrush(point.filled ? series_colour(0) : paper());
    painter_.drawEllipse(QPointF(axis(), middle(row)), kMark, kMark);
    const double left = axis() + kMark + kGap, right = area_.right() - kGap;
    const QString share =
        point.share ? QString::fromStdString(percent(*point.share, 1)) : QString();
    const double numbers = metrics_.horizontalAdvance("100.00%") + kGap;
    const double bar = right - numbers - bar_;
    write({left, y, bar - left - kGap, height}, point.name);
    write({left, y + height, right - left, height}, point.text);
    if (!point.share) return;
    const QRectF all(bar, y + 3, bar_, height - 6);
    painter_.fillRect(QRectF(all.topLeft(), QSizeF(bar_ * *point.share, all.height())),
                      series_colour(0));
    painter_.setPen(QPen(ink_, 1));
    painter_.setBrush(Qt::NoBrush);
    painter_.drawRect(all);
    painter_.drawText(QRectF(right - numbers, y, numbers, height),
                      Qt::AlignRight | Qt::AlignVCenter, share);
  }

  /// Text that is too long ends in an ellipsis.
  void write(const QRectF& place, const QString& text) {
    painter_.setPen(ink_);
    painter_.drawText(place, Qt::AlignLeft | Qt::AlignVCenter,
                      metrics_.elidedText(text, Qt::ElideRight, place.width()));
  }

  /// The opposite of the ink: hides the line behind a mark that is not filled.
  QColor paper() const { return ink_.lightness() < 128 ? Qt::white : QColor(32, 32, 32); }

  QPainter& painter_;
  const QFontMetricsF metrics_;
  const QRectF area_;
  const TimeLine& line_;
  const QColor ink_;
  double dates_ = 0, bar_ = 0;
};

}  // namespace

QSizeF size_of(const TimeLine& line) {
  const QFontMetricsF metrics{QFont()};
  const QRectF area(0, 0, kWidth, 0);
  return {kWidth, legend_place(metrics, area, line).bottom() + kGap};
}

void paint_time_line(QPainter& painter, const QRectF& area, const TimeLine& line,
                     const QPalette& palette) {
  painter.save();
  Painter(painter, area, line, palette).paint();
  painter.restore();
}

}  // namespace respike::gui
