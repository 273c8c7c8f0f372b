#pragma once
// The flow graph of a procedure as a picture.

#include <QGraphicsItem>
#include <QGraphicsScene>
#include <QGraphicsView>

#include <vector>

#include "views/code_sources.h"
#include "views/code_view.h"

namespace respike::gui {

/// The boxes and edges of a flow graph. Blocks that never ran can be left out; then edges to them
/// end in a small box with the number of blocks that were left out.
class FlowGraphScene : public QGraphicsScene {
  Q_OBJECT

 public:
  using QGraphicsScene::QGraphicsScene;

  struct Look {
    bool hides_cold = true;  // leaves out blocks that never ran, if any block ran
    bool dark = false;
  };
  void set(const CodeView& view, bool counted, const Look& look);
  /// Adds the source lines of each block to the tip of its box.
  void add_places(const CodeSources& sources);
  /// The box of a block, or nullptr when the block is left out.
  QGraphicsItem* box(BlockId block) const;
  /// The block of a box; kNone: the item is not a box.
  static BlockId block_of(const QGraphicsItem* item);
  int left_out() const { return left_out_; }

 private:
  std::vector<QGraphicsItem*> boxes_;  // by block; nullptr: left out
  std::vector<QString> tips_;          // by block
  int left_out_ = 0;
};

/// Shows a scene: Ctrl and the wheel zoom, and so do + and -; 0 shows all.
class FlowGraphView : public QGraphicsView {
  Q_OBJECT

 public:
  explicit FlowGraphView(QWidget* parent = nullptr);

 public Q_SLOTS:
  void zoom(double factor);
  void show_all();
  /// Shows the scene at the size of the text, with `entry` in the middle of the upper border.
  void show_start(const QGraphicsItem* entry);

 protected:
  void wheelEvent(QWheelEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
};

/// Writes a scene as SVG or, by the name's end, PNG. Returns the error; empty: none.
QString save_picture(QGraphicsScene& scene, const QString& path, const QString& title);

}  // namespace respike::gui
