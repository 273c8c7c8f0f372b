#pragma once
// The map of an image's text as a picture, and as a control.

#include <QAbstractScrollArea>
#include <QPainter>

#include "gui/models/layout_map.h"

namespace respike::gui {

/// The appearance of the map.
struct LayoutLook {
  double row_height = 10;  // pixels
  bool dark = false;
};

/// Paints rows [first, end) into an area; the first row is at its top.
void paint_layout(QPainter& painter, const QRectF& area, const LayoutMap& map, int first, int end,
                  const LayoutLook& look);

/// Writes both maps side by side as SVG or, by the name's end, PNG. Returns the error; empty: none.
QString save_layouts(const LayoutMap& before, const LayoutMap& after, const QString& path,
                     const QString& title);

/// The same picture as an SVG document, with a text that says what the picture shows.
QByteArray layouts_as_svg(const LayoutMap& before, const LayoutMap& after, const QString& title,
                          const QString& description = {});

/// Shows a map with a cursor. Keys: the arrows and Page Up and Down move the cursor, + and - change
/// the height of rows, Enter shows the procedure.
class LayoutMapView : public QAbstractScrollArea {
  Q_OBJECT

 public:
  explicit LayoutMapView(QWidget* parent = nullptr);
  void set(LayoutMap map);
  const LayoutMap& map() const { return map_; }
  /// Moves the cursor to an address, if a row holds it.
  void show_address(uint64_t address);

 Q_SIGNALS:
  /// The mouse or the cursor is over this code; empty: over no code.
  void pointed(const QString& text);
  void piece_wanted(const respike::LayoutPiece& piece);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;

 private:
  QRectF cells() const;
  const LayoutPiece* piece_under(const QPointF& place) const;
  void move_cursor(int row, int column);
  void set_row_height(double height);
  void update_bars();

  LayoutMap map_;
  LayoutLook look_;
  int row_ = 0, column_ = 0;  // of the cursor
};

}  // namespace respike::gui
