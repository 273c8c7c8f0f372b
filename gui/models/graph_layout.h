#pragma once
// The places of the boxes of a flow graph, in layers.
//
// Source: K. Sugiyama, S. Tagawa, M. Toda, "Methods for visual understanding of hierarchical system
// structures", IEEE Transactions on Systems, Man, and Cybernetics 11(2), 1981: break cycles, assign
// layers, order each layer by the middle of its neighbours, set coordinates.

#include <QPointF>
#include <QRectF>
#include <QSizeF>

#include <cstdint>
#include <vector>

namespace respike::gui {

struct Graph {
  struct Edge {
    uint32_t from = 0, to = 0;
  };
  std::vector<QSizeF> nodes;  // sizes; node 0 is the entry
  std::vector<Edge> edges;
};

struct GraphLayout {
  std::vector<QRectF> nodes;
  /// For each edge: points from the border of one box to the border of the other, through the gaps
  /// between boxes.
  std::vector<std::vector<QPointF>> edges;
  std::vector<bool> backward;  // per edge: leads up
  QSizeF size;
};

/// Time is linear in nodes, and in edges times the layers that they span; edges that span more than
/// kMostLayers layers run beside the graph.
GraphLayout lay_out(const Graph& graph);

}  // namespace respike::gui
