// Example: the text of SQLite before optimization is a grey carpet with red crumbs in 60 of its 115
// rows; after it, red rows at the top and grey rows below.

#include "gui/pictures/layout_picture.h"

#include <QBuffer>
#include <QFontDatabase>
#include <QKeyEvent>
#include <QScrollBar>

#include <algorithm>
#include <cmath>

#include "gui/pictures/heat.h"
#include "gui/pictures/svg.h"

namespace respike::gui {
namespace {

constexpr int kTones = 16;  // few tones: neighbours of the same colour are painted at once
constexpr double kGap = 8;

/// The tone of a cell: -1 where there is no code, 0 where nothing runs.
int tone_of(const LayoutMap& map, const LayoutMap::Cell& cell) {
  if (!cell.code) return -1;
  return cell.count == 0 ? 0 : 1 + int(map.heat(cell) * (kTones - 1));
}

QColor colour_of(int tone, bool dark) {
  const double heat = double(tone) / kTones;
  return heat_colour(heat * heat, dark);  // the tone is a logarithm already
}

QFont small_font() {
  return QFontDatabase::systemFont(QFontDatabase::SmallestReadableFont);
}

double label_width(const QFontMetricsF& metrics, const LayoutMap& map) {
  const QString widest =
      map.rows() == 0 ? QString() : QString::number(map.address(map.rows() - 1), 16);
  return metrics.horizontalAdvance(widest) + kGap;
}

}  // namespace

void paint_layout(QPainter& painter, const QRectF& area, const LayoutMap& map, int first, int end,
                  const LayoutLook& look) {
  const int columns = map.columns();
  if (columns == 0) return;
  painter.setFont(small_font());
  const QFontMetricsF metrics(painter.font());
  const double left = area.left() + label_width(metrics, map);
  const double width = (area.right() - left) / columns;
  const double height = look.row_height;
  const int every = std::max(1, int(std::ceil(metrics.height() / height)));
  const double gap = height >= 4 ? 1 : 0;
  painter.setPen(look.dark ? QColor(200, 200, 200) : QColor(70, 70, 70));
  for (int row = first; row < end; ++row) {
    const double y = area.top() + (row - first) * height;
    if (row % every == 0)
      painter.drawText(QRectF(area.left(), y, left - area.left() - kGap / 2, every * height),
                       Qt::AlignTop | Qt::AlignRight | Qt::TextDontClip,
                       QString::number(map.address(row), 16));
    for (int column = 0; column < columns;) {
      const int tone = tone_of(map, map.cell(row, column));
      int behind = column + 1;
      while (behind < columns && tone_of(map, map.cell(row, behind)) == tone) ++behind;
      if (tone >= 0)
        painter.fillRect(QRectF(left + column * width, y, (behind - column) * width, height - gap),
                         colour_of(tone, look.dark));
      column = behind;
    }
  }
}

// ---- files ----

namespace {

constexpr double kMapWidth = 640, kTitle = 24;

QSizeF size_of(const LayoutMap& before, const LayoutMap& after, const LayoutLook& look) {
  const int maps = after.rows() == 0 ? 1 : 2;
  const double rows = std::max(before.rows(), after.rows()) * look.row_height;
  return {maps * kMapWidth + (maps - 1) * 3 * kGap + 2 * kGap, kTitle + rows + 2 * kGap};
}

void paint_both(QPainter& painter, const LayoutMap& before, const LayoutMap& after,
                const LayoutLook& look) {
  double x = kGap;
  for (const LayoutMap* map : {&before, &after}) {
    if (map->rows() == 0) continue;
    const QRectF area(x, kGap, kMapWidth, kTitle + map->rows() * look.row_height);
    painter.setFont(small_font());
    painter.setPen(Qt::black);
    painter.drawText(area.topLeft() + QPointF(0, kTitle / 2),
                     map == &before ? "original" : "optimized");
    paint_layout(painter, area.adjusted(0, kTitle, 0, 0), *map, 0, map->rows(), look);
    x += kMapWidth + 3 * kGap;
  }
}

}  // namespace

QByteArray layouts_as_svg(const LayoutMap& before, const LayoutMap& after, const QString& title,
                          const QString& description) {
  QBuffer buffer;
  buffer.open(QIODevice::WriteOnly);
  const LayoutLook look;
  write_svg(
      buffer, size_of(before, after, look), title,
      [&](QPainter& painter, const QRectF&) { paint_both(painter, before, after, look); },
      description);
  return buffer.data();
}

QString save_layouts(const LayoutMap& before, const LayoutMap& after, const QString& path,
                     const QString& title) {
  const LayoutLook look;
  return save_picture(
      path, size_of(before, after, look), title,
      [&](QPainter& painter, const QRectF&) { paint_both(painter, before, after, look); });
}

// ---- LayoutMapView ----

LayoutMapView::LayoutMapView(QWidget* parent) : QAbstractScrollArea(parent) {
  setFocusPolicy(Qt::StrongFocus);
  setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  viewport()->setMouseTracking(true);
  viewport()->setToolTip(
      "The hotter the colour, the more often code runs (logarithm); grey: never");
}

void LayoutMapView::set(LayoutMap map) {
  map_ = std::move(map);
  row_ = std::clamp(row_, 0, std::max(0, map_.rows() - 1));
  column_ = std::clamp(column_, 0, std::max(0, map_.columns() - 1));
  if (map_.rows() != 0 && !map_.cell(row_, column_).code) {
    int column = 0;  // a row has code
    while (column + 1 < map_.columns() && !map_.cell(row_, column).code) ++column;
    column_ = column;
  }
  update_bars();
  viewport()->update();
}

void LayoutMapView::show_address(uint64_t address) {
  const auto [row, column] = map_.place_of(address);
  if (row >= 0) move_cursor(row, column);
}

void LayoutMapView::update_bars() {
  const int visible = std::max(1, int(viewport()->height() / look_.row_height));
  verticalScrollBar()->setRange(0, std::max(0, map_.rows() - visible));
  verticalScrollBar()->setPageStep(visible);
}

void LayoutMapView::resizeEvent(QResizeEvent*) {
  update_bars();
}

/// The area of the visible cells.
QRectF LayoutMapView::cells() const {
  const QRectF area = viewport()->rect();
  return area.adjusted(label_width(QFontMetricsF(small_font()), map_), 0, 0, 0);
}

void LayoutMapView::paintEvent(QPaintEvent*) {
  QPainter painter(viewport());
  look_.dark = palette().base().color().lightness() < 128;
  painter.fillRect(viewport()->rect(), palette().base());
  const int first = verticalScrollBar()->value();
  const int end = std::min(map_.rows(), first + int(viewport()->height() / look_.row_height) + 1);
  paint_layout(painter, viewport()->rect(), map_, first, end, look_);
  if (map_.columns() == 0 || !hasFocus() || row_ < first || row_ >= end) return;
  const QRectF area = cells();
  const double width = area.width() / map_.columns();
  painter.setPen(QPen(palette().highlight().color(), 2));
  painter.drawRect(QRectF(area.left() + column_ * width,
                          area.top() + (row_ - first) * look_.row_height, width, look_.row_height)
                       .adjusted(-2, -2, 2, 1));
}

const LayoutPiece* LayoutMapView::piece_under(const QPointF& place) const {
  const QRectF area = cells();
  if (map_.columns() == 0 || !area.contains(place)) return nullptr;
  const int row = verticalScrollBar()->value() + int((place.y() - area.top()) / look_.row_height);
  if (row >= map_.rows()) return nullptr;
  const double bytes = double(map_.columns()) * double(map_.view().line);
  return map_.piece_at(map_.address(row) +
                       uint64_t((place.x() - area.left()) / area.width() * bytes));
}

void LayoutMapView::mouseMoveEvent(QMouseEvent* event) {
  const LayoutPiece* piece = piece_under(event->position());
  Q_EMIT pointed(piece == nullptr ? QString() : map_.describe(*piece));
}

void LayoutMapView::mousePressEvent(QMouseEvent* event) {
  const LayoutPiece* piece = piece_under(event->position());
  if (piece != nullptr) show_address(piece->address);
}

void LayoutMapView::mouseDoubleClickEvent(QMouseEvent* event) {
  const LayoutPiece* piece = piece_under(event->position());
  if (piece != nullptr) Q_EMIT piece_wanted(*piece);
}

void LayoutMapView::move_cursor(int row, int column) {
  if (map_.rows() == 0) return;
  row_ = std::clamp(row, 0, map_.rows() - 1);
  column_ = std::clamp(column, 0, map_.columns() - 1);
  QScrollBar* bar = verticalScrollBar();
  bar->setValue(std::clamp(bar->value(), row_ - bar->pageStep() + 1, row_));
  viewport()->update();
  const LayoutPiece* piece = map_.hottest_piece(row_, column_);
  Q_EMIT pointed(piece == nullptr ? QString("no code") : map_.describe(*piece));
}

void LayoutMapView::set_row_height(double height) {
  look_.row_height = std::clamp(height, 2.0, 32.0);
  update_bars();
  viewport()->update();
}

void LayoutMapView::keyPressEvent(QKeyEvent* event) {
  const int page = verticalScrollBar()->pageStep();
  switch (event->key()) {
    case Qt::Key_Left:
      return move_cursor(row_, column_ - 1);
    case Qt::Key_Right:
      return move_cursor(row_, column_ + 1);
    case Qt::Key_Up:
      return move_cursor(row_ - 1, column_);
    case Qt::Key_Down:
      return move_cursor(row_ + 1, column_);
    case Qt::Key_PageUp:
      return move_cursor(row_ - page, column_);
    case Qt::Key_PageDown:
      return move_cursor(row_ + page, column_);
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      return set_row_height(look_.row_height * 1.25);
    case Qt::Key_Minus:
      return set_row_height(look_.row_height * 0.8);
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (const LayoutPiece* piece = map_.hottest_piece(row_, column_)) Q_EMIT piece_wanted(*piece);
      return;
    default:
      QAbstractScrollArea::keyPressEvent(event);
  }
}

void LayoutMapView::wheelEvent(QWheelEvent* event) {
  if ((event->modifiers() & Qt::ControlModifier) == 0)
    return QAbstractScrollArea::wheelEvent(event);
  set_row_height(look_.row_height * std::pow(1.0015, event->angleDelta().y()));
  event->accept();
}

}  // namespace respike::gui
