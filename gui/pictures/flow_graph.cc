// Example: block 3, which ran 1,234 times, is a box with the lines "3" and "1,234 x 12" for its
// twelve instructions, in the colour of their share of the procedure's work.

#include "gui/pictures/flow_graph.h"

#include <QFontDatabase>
#include <QGraphicsRectItem>
#include <QKeyEvent>
#include <QPainter>
#include <QStyleOptionGraphicsItem>
#include <QWheelEvent>

#include <algorithm>
#include <cmath>
#include <utility>

#include "gui/models/graph_layout.h"
#include "gui/models/table_model.h"
#include "gui/models/verbatim.h"
#include "gui/pictures/free_room.h"
#include "gui/pictures/heat.h"
#include "gui/pictures/svg.h"
#include "optimizer/base/number_text.h"
#include "views/layout_view.h"

namespace respike::gui {
namespace {

constexpr int kBlockKey = 0;  // of QGraphicsItem::data
constexpr double kPadding = 6;
constexpr double kReadable = 0.25;  // of the size on paper

/// A path through points with round corners.
QPainterPath smooth(const std::vector<QPointF>& points) {
  QPainterPath path(points.front());
  for (size_t i = 1; i < points.size(); ++i) {
    const QPointF &a = points[i - 1], &b = points[i];
    const double bend = (b.y() - a.y()) / 2;
    if (b.y() > a.y())
      path.cubicTo(a + QPointF(0, bend), b - QPointF(0, bend), b);
    else
      path.lineTo(b);
  }
  return path;
}

void add_arrow(QPainterPath& path, const QPointF& tip) {
  path.moveTo(tip + QPointF(-4, -7));
  path.lineTo(tip);
  path.lineTo(tip + QPointF(4, -7));
}

/// A node of the picture: a block, or blocks that are left out.
struct Box {
  BlockId block = kNone;
  QString text, tip;
  double heat = 0;
  std::optional<SplitProcedure::Part> part;
};

/// A box with its text. Qt's own items for text and paths are so expensive that a graph of 2,000
/// blocks would block the window.
class BoxItem : public QGraphicsRectItem {
 public:
  BoxItem(const QRectF& rect, const QString& text, const QFont& font)
      : QGraphicsRectItem(rect), text_(text), font_(font) {}
  void paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget* widget) override {
    QGraphicsRectItem::paint(painter, option, widget);
    if (option->levelOfDetailFromTransform(painter->worldTransform()) < kReadable) return;
    painter->setFont(font_);
    painter->setPen(text_on(brush().color()));
    painter->drawText(rect().adjusted(kPadding, kPadding, 0, 0), Qt::AlignLeft, text_);
  }

 private:
  QString text_;
  QFont font_;
};

/// The count of an edge, and its place.
struct EdgeCount {
  QString text;
  QRectF place;  // empty: there is no room
  QFont font;
};

/// An edge. Its exact outline is only needed below the pointer.
class EdgeItem : public QGraphicsItem {
 public:
  EdgeItem(const QPainterPath& path, const QPen& pen, EdgeCount count)
      : path_(path), pen_(pen), count_(std::move(count)) {
    const double w = pen.widthF();
    bounds_ = path.controlPointRect().adjusted(-w, -w, w, w) | count_.place;
  }
  QRectF boundingRect() const override { return bounds_; }
  QPainterPath shape() const override {
    QPainterPathStroker stroker;
    stroker.setWidth(pen_.widthF() + 4);
    return stroker.createStroke(path_);
  }
  void paint(QPainter* painter, const QStyleOptionGraphicsItem* option, QWidget*) override {
    painter->setPen(pen_);
    painter->drawPath(path_);
    if (count_.place.isEmpty() ||
        option->levelOfDetailFromTransform(painter->worldTransform()) < kReadable)
      return;
    painter->setFont(count_.font);
    painter->setPen(pen_.color());
    painter->drawText(count_.place, Qt::AlignLeft, count_.text);
  }

 private:
  QPainterPath path_;
  QPen pen_;
  EdgeCount count_;
  QRectF bounds_;
};

/// Finds a place beside an edge for a text of a size, first near the start or the end of the edge.
/// Empty: there is no place.
QRectF find_place(std::vector<QPointF> points, bool near_end, const QSizeF& size, FreeRoom& room) {
  constexpr double kBeside = 8;  // pixels: edges are up to 4 wide, with round corners
  if (near_end) std::ranges::reverse(points);
  for (size_t i = 1; i < points.size(); ++i)
    for (const double share : {0.35, 0.6}) {
      const QPointF on = points[i - 1] * (1 - share) + points[i] * share;
      for (const double x : {on.x() + kBeside, on.x() - kBeside - size.width()}) {
        const QRectF place(QPointF(x, on.y() - size.height() / 2), size);
        if (room.take(place)) return place;
      }
    }
  return {};
}

/// The size of a text of short lines.
QSizeF size_of(const QString& text, const QFontMetricsF& metrics) {
  double width = 0;
  const QStringList lines = text.split('\n');
  for (const QString& line : lines) width = std::max(width, metrics.horizontalAdvance(line));
  return {width, metrics.height() + double(lines.size() - 1) * metrics.lineSpacing()};
}

QString part_tip(SplitProcedure::Part part) {
  switch (part) {
    case SplitProcedure::Part::hot:
      return "hot part: calls lead here; instructions that only cold code needs were taken out";
    case SplitProcedure::Part::cold:
      return "cold part: the original code, entered through stubs";
    case SplitProcedure::Part::clone:
      return "clone: the original code of a hot block, for control that comes from the cold part";
    case SplitProcedure::Part::stub:
      return "stub: does what was taken out of the hot part, on the way to the cold part";
  }
  return {};
}

/// "block 3 of the original".
QString blocks_text(const std::vector<BlockId>& blocks) {
  QStringList numbers;
  for (const BlockId block : blocks) numbers << QString::number(block);
  return QString(blocks.size() == 1 ? "block %1 of the original" : "blocks %1 of the original")
      .arg(numbers.join(", "));
}

/// The border of a box: parts differ in their lines, and the box names its part.
QPen border(const Box& box, const QColor& ink) {
  if (box.block == kNone) return QPen(ink, 0.5);
  if (!box.part) return QPen(ink, 1);
  switch (*box.part) {
    case SplitProcedure::Part::hot:
      return QPen(QColor(0xd5, 0x5e, 0x00), 3);
    case SplitProcedure::Part::cold:
      return QPen(QColor(0x00, 0x72, 0xb2), 2);
    case SplitProcedure::Part::clone:
      return QPen(QColor(0x00, 0x9e, 0x73), 2, Qt::DashLine);
    case SplitProcedure::Part::stub:
      return QPen(QColor(0xcc, 0x79, 0xa7), 2, Qt::DotLine);
  }
  return QPen(ink, 1);
}

}  // namespace

void FlowGraphScene::set(const CodeView& view, bool counted, const Look& look) {
  clear();
  const QFont font = QFontDatabase::systemFont(QFontDatabase::SmallestReadableFont);
  const QFontMetricsF metrics(font);
  boxes_.assign(view.blocks.size(), nullptr);
  tips_.assign(view.blocks.size(), {});
  left_out_ = 0;
  uint64_t most = 0;  // instructions executed in a block
  for (const CodeBlock& block : view.blocks) most = std::max(most, executed_instructions(block));
  const bool hides = look.hides_cold && counted && most != 0;

  std::vector<Box> boxes;
  std::vector<uint32_t> node_of(view.blocks.size(), kNone);
  for (BlockId id = 0; id < view.blocks.size(); ++id) {
    const CodeBlock& block = view.blocks[id];
    if (hides && block.count == 0 && id != 0) {
      ++left_out_;
      continue;
    }
    node_of[id] = uint32_t(boxes.size());
    Box box;
    box.block = id;
    box.text = QString::number(id);
    if (block.part) box.text += " " + QString::fromUtf8(name_of(*block.part).data());
    box.text += counted ? QString("\n%1 × %2").arg(number(block.count)).arg(block.lines.size())
                        : QString("\n%1 instructions").arg(block.lines.size());
    box.part = block.part;
    box.tip = QString("block %1 at %2: %3 instructions")
                  .arg(id)
                  .arg(block.address, 0, 16)
                  .arg(block.lines.size());
    if (counted) box.tip += QString(", ran %1 times").arg(number(block.count));
    if (block.part) box.tip += "\n" + part_tip(*block.part);
    if (!block.originals.empty()) box.tip += "\nruns " + blocks_text(block.originals);
    if (most != 0) box.heat = double(executed_instructions(block)) / double(most);
    boxes.push_back(box);
  }

  Graph graph;
  struct Line {
    uint64_t count;
    Edge::Kind kind;
  };
  std::vector<Line> lines;
  for (BlockId id = 0; id < view.blocks.size(); ++id) {
    if (node_of[id] == kNone) continue;
    int cold = 0;
    for (const CodeEdge& edge : view.blocks[id].edges) {
      if (node_of[edge.to] == kNone) {
        ++cold;
        continue;
      }
      graph.edges.push_back({node_of[id], node_of[edge.to]});
      lines.push_back({edge.count, edge.kind});
    }
    if (cold == 0) continue;
    Box box;
    box.text = "never";
    box.tip = QString("block %1 could go on to %2 blocks that never ran").arg(id).arg(cold);
    graph.edges.push_back({node_of[id], uint32_t(boxes.size())});
    lines.push_back({0, Edge::Kind::taken});
    boxes.push_back(box);
  }
  for (const Box& box : boxes)
    graph.nodes.push_back(size_of(box.text, metrics) + QSizeF(2 * kPadding, 2 * kPadding));
  const GraphLayout layout = lay_out(graph);

  const QColor ink = look.dark ? QColor(200, 200, 200) : QColor(70, 70, 70);
  uint64_t busiest = 1;
  for (const Line& line : lines) busiest = std::max(busiest, line.count);
  // If several edges leave or enter a box, their ends are kept apart.
  std::vector<int> leaving(boxes.size()), coming(boxes.size());
  for (const auto& edge : graph.edges) {
    ++leaving[edge.from];
    ++coming[edge.to];
  }
  const auto ends_apart = [&](const auto& edge) { return leaving[edge.from] > coming[edge.to]; };
  FreeRoom room;
  for (const QRectF& node : layout.nodes) room.take(node);
  for (size_t e = 0; e < layout.edges.size(); ++e) {
    QPainterPath path = smooth(layout.edges[e]);
    add_arrow(path, layout.edges[e].back());
    const double share = double(lines[e].count) / double(busiest);
    QPen pen(layout.backward[e] ? QColor(60, 110, 200) : ink, 1 + 3 * std::sqrt(share));
    if (lines[e].kind == Edge::Kind::landing_pad) pen.setStyle(Qt::DotLine);
    if (counted && lines[e].count == 0) pen.setStyle(Qt::DashLine);
    EdgeCount count;
    if (counted && lines[e].count != 0) {
      const QString text = number(lines[e].count);
      count = {
          text,
          find_place(layout.edges[e], ends_apart(graph.edges[e]), size_of(text, metrics), room),
          font};
    }
    auto* item = new EdgeItem(path, pen, count);
    addItem(item);
    item->setZValue(-1);
    if (counted)
      item->setToolTip(QString("taken %1 times%2")
                           .arg(number(lines[e].count))
                           .arg(layout.backward[e] ? ", leads back" : ""));
  }
  for (size_t i = 0; i < boxes.size(); ++i) {
    const QColor fill = heat_colour(boxes[i].heat, look.dark);
    auto* item = new BoxItem(layout.nodes[i], boxes[i].text, font);
    addItem(item);
    item->setPen(border(boxes[i], ink));
    item->setBrush(fill);
    item->setToolTip(verbatim(boxes[i].tip));
    if (boxes[i].block != kNone) {
      item->setFlag(QGraphicsItem::ItemIsSelectable);
      item->setData(kBlockKey, boxes[i].block);
      boxes_[boxes[i].block] = item;
      tips_[boxes[i].block] = boxes[i].tip;
    }
  }
  setSceneRect(itemsBoundingRect().adjusted(-20, -20, 20, 20));
}

void FlowGraphScene::add_places(const CodeSources& sources) {
  for (BlockId id = 0; id < boxes_.size(); ++id) {
    const QString lines = QString::fromStdString(lines_text(sources, id));
    if (boxes_[id] == nullptr || lines.isEmpty()) continue;
    boxes_[id]->setToolTip(verbatim(tips_[id] + "\n" + lines));
  }
}

QGraphicsItem* FlowGraphScene::box(BlockId block) const {
  return block < boxes_.size() ? boxes_[block] : nullptr;
}

BlockId FlowGraphScene::block_of(const QGraphicsItem* item) {
  const QVariant block = item == nullptr ? QVariant() : item->data(kBlockKey);
  return block.isValid() ? block.toUInt() : kNone;
}

// ---- FlowGraphView ----

FlowGraphView::FlowGraphView(QWidget* parent) : QGraphicsView(parent) {
  setDragMode(QGraphicsView::ScrollHandDrag);
  setTransformationAnchor(QGraphicsView::AnchorUnderMouse);
  setRenderHint(QPainter::Antialiasing);
}

void FlowGraphView::zoom(double factor) {
  const double now = transform().m11() * factor;
  if (now > 0.005 && now < 8) scale(factor, factor);
}

void FlowGraphView::show_all() {
  fitInView(sceneRect(), Qt::KeepAspectRatio);
  if (transform().m11() > 1) resetTransform();
}

void FlowGraphView::show_start(const QGraphicsItem* entry) {
  resetTransform();
  if (entry == nullptr) return;
  const QRectF box = entry->sceneBoundingRect();
  centerOn(box.center().x(), box.top() + viewport()->height() / 2.0 - 20);
}

void FlowGraphView::wheelEvent(QWheelEvent* event) {
  if ((event->modifiers() & Qt::ControlModifier) == 0) return QGraphicsView::wheelEvent(event);
  zoom(std::pow(1.0015, event->angleDelta().y()));
  event->accept();
}

void FlowGraphView::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Plus:
    case Qt::Key_Equal:
      return zoom(1.25);
    case Qt::Key_Minus:
      return zoom(0.8);
    case Qt::Key_0:
      return show_all();
    default:
      QGraphicsView::keyPressEvent(event);
  }
}

// ---- files ----

QString save_picture(QGraphicsScene& scene, const QString& path, const QString& title) {
  const QRectF area = scene.sceneRect();
  return save_picture(path, area.size(), title, [&](QPainter& painter, const QRectF& to) {
    scene.render(&painter, to, area);
  });
}

}  // namespace respike::gui
