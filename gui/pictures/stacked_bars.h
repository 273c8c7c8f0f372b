#pragma once
// Horizontal bars, each a sum of parts.

#include <QColor>
#include <QPainter>
#include <QRectF>
#include <QString>
#include <QWidget>

#include <vector>

namespace respike::gui {

struct StackedBars {
  struct Bar {
    QString name;
    std::vector<double> parts;  // as many as `parts` below
  };
  std::vector<QString> parts;
  std::vector<Bar> bars;
  QString unit;
};

/// Paints bars with a legend below. Colours also differ in brightness, and the legend names each
/// part with its numbers, so that colour is not needed.
void paint_bars(QPainter& painter, const QRectF& area, const StackedBars& bars,
                const QPalette& palette);

class StackedBarsWidget : public QWidget {
  Q_OBJECT

 public:
  using QWidget::QWidget;
  void set(StackedBars bars);
  const StackedBars& bars() const { return bars_; }
  QSize sizeHint() const override;

 protected:
  void paintEvent(QPaintEvent* event) override;

 private:
  StackedBars bars_;
};

/// The size of a separate picture.
QSizeF size_of(const StackedBars& bars);
/// Writes the bars as SVG or, by the name's end, PNG. Returns the error; empty: none.
QString save_bars(const StackedBars& bars, const QString& path, const QString& title);

}  // namespace respike::gui
