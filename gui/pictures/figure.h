#pragma once
// A picture with a title and a sentence that says what the picture means.

#include <QString>
#include <QWidget>

#include <variant>
#include <vector>

#include "gui/models/build_model.h"
#include "gui/pictures/line_chart.h"
#include "gui/pictures/stacked_bars.h"
#include "gui/pictures/time_line.h"
#include "views/characteristics.h"

namespace respike::gui {

struct Figure {
  QString name;   // a word for file names: "loops"
  QString title;  // "How often loops turn"
  QString text;
  std::variant<LineChart, StackedBars, TimeLine> picture;
};

QSizeF size_of(const Figure& figure);
void paint_figure(QPainter& painter, const QRectF& area, const Figure& figure,
                  const QPalette& palette);
/// Writes the picture as SVG or, by the name's end, PNG. Returns the error; empty: none.
QString save_figure(const Figure& figure, const QString& path);

/// The characteristics of a program: loops, sizes of procedures, prologs and epilogs.
std::vector<Figure> character_figures(const Characteristics& program);

/// How many builds a time line shows, and how much of the older counts each of these found again.
inline constexpr size_t kBuildsShown = 12;
/// The builds of an image, the newest first, as a time line.
Figure build_figure(const std::vector<BuildLine>& builds);

/// Shows a figure's picture. Its text is the description for screen readers.
class FigureWidget : public QWidget {
  Q_OBJECT

 public:
  using QWidget::QWidget;
  void set(Figure figure);
  const Figure& figure() const { return figure_; }
  QSize sizeHint() const override { return size_of(figure_).toSize(); }

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  Figure figure_;
};

}  // namespace respike::gui
