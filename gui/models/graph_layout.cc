// Example: a loop 0 -> 1 -> 2 -> 1, 2 -> 3. The walk from the entry finds that 2 -> 1 leads back,
// so the layers are 0, 1, 2, 3, and the edge back runs up beside the boxes.
//
// An edge over several layers gets a dummy node of no width in each layer between, so that boxes
// make room for the edge.

#include "gui/models/graph_layout.h"

#include <algorithm>
#include <numeric>

namespace respike::gui {
namespace {

constexpr double kGapX = 28, kGapY = 44;
constexpr double kDummyWidth = 6;
constexpr int kMostLayers = 24;  // layers for which an edge gets dummies
constexpr int kSweeps = 6;

/// The computation of one layout. Nodes from graph.nodes.size() on are dummies.
class Layers {
 public:
  explicit Layers(const Graph& graph) : graph_(graph) {}

  GraphLayout run() {
    find_backward();
    assign_layers();
    add_dummies();
    order();
    place();
    return result();
  }

 private:
  struct Node {
    QSizeF size;
    int layer = 0;
    double x = 0, y = 0;  // of the middle of the upper border
    std::vector<uint32_t> up, down;
  };

  /// A depth-first walk from the entry, then from all nodes not yet reached: an edge to a node on
  /// the present path leads back.
  void find_backward() {
    const size_t count = graph_.nodes.size();
    std::vector<std::vector<uint32_t>> out(count);
    for (uint32_t e = 0; e < graph_.edges.size(); ++e) out[graph_.edges[e].from].push_back(e);
    backward_.assign(graph_.edges.size(), false);
    std::vector<uint8_t> state(count);  // 1: on the path, 2: done
    std::vector<std::pair<uint32_t, size_t>> path;
    for (uint32_t root = 0; root < count; ++root) {
      if (state[root] != 0) continue;
      path.emplace_back(root, 0);
      state[root] = 1;
      while (!path.empty()) {
        auto& [node, next] = path.back();
        if (next == out[node].size()) {
          state[node] = 2;
          finished_.push_back(node);
          path.pop_back();
          continue;
        }
        const uint32_t edge = out[node][next++];
        const uint32_t to = graph_.edges[edge].to;
        if (state[to] == 1) {
          backward_[edge] = true;
        } else if (state[to] == 0) {
          state[to] = 1;
          path.emplace_back(to, 0);
        }
      }
    }
  }

  /// A node's layer is the length of the longest path to it, without edges that lead back.
  void assign_layers() {
    nodes_.resize(graph_.nodes.size());
    for (size_t i = 0; i < nodes_.size(); ++i) nodes_[i].size = graph_.nodes[i];
    std::vector<std::vector<uint32_t>> out(nodes_.size());
    for (uint32_t e = 0; e < graph_.edges.size(); ++e)
      if (!backward_[e]) out[graph_.edges[e].from].push_back(graph_.edges[e].to);
    for (auto node = finished_.rbegin(); node != finished_.rend(); ++node)
      for (const uint32_t to : out[*node])
        nodes_[to].layer = std::max(nodes_[to].layer, nodes_[*node].layer + 1);
  }

  void link(uint32_t from, uint32_t to) {
    nodes_[from].down.push_back(to);
    nodes_[to].up.push_back(from);
  }

  void add_dummies() {
    ways_.resize(graph_.edges.size());
    for (uint32_t e = 0; e < graph_.edges.size(); ++e) {
      const auto [from, to] = graph_.edges[e];
      const int span = nodes_[to].layer - nodes_[from].layer;
      if (backward_[e] || span <= 0 || span > kMostLayers) continue;
      uint32_t last = from;
      for (int layer = nodes_[from].layer + 1; layer < nodes_[to].layer; ++layer) {
        const auto dummy = uint32_t(nodes_.size());
        nodes_.emplace_back();
        nodes_.back().size = {kDummyWidth, 0};
        nodes_.back().layer = layer;
        ways_[e].push_back(dummy);
        link(last, dummy);
        last = dummy;
      }
      link(last, to);
    }
    for (uint32_t node = 0; node < nodes_.size(); ++node) {
      const auto layer = size_t(nodes_[node].layer);
      if (layers_.size() <= layer) layers_.resize(layer + 1);
      layers_[layer].push_back(node);
    }
  }

  /// Sorts each layer by the middle of its nodes' neighbours in the previous layer, alternately
  /// down and up.
  void order() {
    std::vector<double> position(nodes_.size()), middle(nodes_.size());
    const auto number = [&](const std::vector<uint32_t>& layer) {
      for (size_t i = 0; i < layer.size(); ++i) position[layer[i]] = double(i);
    };
    for (const auto& layer : layers_) number(layer);
    const auto sort_by = [&](std::vector<uint32_t>& layer, bool down) {
      for (const uint32_t node : layer) {
        const auto& near = down ? nodes_[node].up : nodes_[node].down;
        double sum = 0;
        for (const uint32_t other : near) sum += position[other];
        middle[node] = near.empty() ? position[node] : sum / double(near.size());
      }
      std::ranges::stable_sort(layer, {}, [&](uint32_t node) { return middle[node]; });
      number(layer);
    };
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (auto& layer : layers_) sort_by(layer, true);
      for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) sort_by(*layer, false);
    }
    for (auto& layer : layers_) sort_by(layer, true);
  }

  /// Heights by layer; then each node near the middle of its neighbours, without overlaps.
  void place() {
    double y = 0;
    for (const auto& layer : layers_) {
      double height = 0;
      for (const uint32_t node : layer) {
        nodes_[node].y = y;
        height = std::max(height, nodes_[node].size.height());
      }
      tops_.push_back(y);
      bottoms_.push_back(y + height);
      y += height + kGapY;
    }
    for (auto& layer : layers_) {
      double x = 0;
      for (const uint32_t node : layer) {
        nodes_[node].x = x + nodes_[node].size.width() / 2;
        x += nodes_[node].size.width() + kGapX;
      }
    }
    for (int sweep = 0; sweep < kSweeps; ++sweep) {
      for (auto& layer : layers_) align(layer, true);
      for (auto layer = layers_.rbegin(); layer != layers_.rend(); ++layer) align(*layer, false);
    }
    for (auto& layer : layers_) align(layer, true);
  }

  double distance(uint32_t left, uint32_t right) const {
    return (nodes_[left].size.width() + nodes_[right].size.width()) / 2 + kGapX;
  }

  /// Averages the wishes of overlapping neighbours in a layer, as in isotonic regression: a group
  /// of nodes moves to the mean of its wishes.
  void align(const std::vector<uint32_t>& layer, bool down) {
    struct Run {
      size_t first;
      double sum;  // sum of wishes, each less the node's place in the run
      size_t count;
      double width;  // from the first node to the last one
      double at() const { return sum / double(count); }
    };
    std::vector<Run> runs;
    for (size_t i = 0; i < layer.size(); ++i) {
      const auto& near = down ? nodes_[layer[i]].up : nodes_[layer[i]].down;
      double wish = nodes_[layer[i]].x;
      if (!near.empty()) {
        wish = 0;
        for (const uint32_t other : near) wish += nodes_[other].x;
        wish /= double(near.size());
      }
      runs.push_back({i, wish, 1, 0});
      while (runs.size() > 1) {
        Run& right = runs.back();
        Run& left = runs[runs.size() - 2];
        const double gap = distance(layer[right.first - 1], layer[right.first]);
        if (left.at() + left.width + gap <= right.at()) break;
        const double shift = left.width + gap;
        left.sum += right.sum - double(right.count) * shift;
        left.count += right.count;
        left.width += gap + right.width;
        runs.pop_back();
      }
    }
    for (const Run& run : runs) {
      double x = run.at();
      for (size_t i = run.first; i < run.first + run.count; ++i) {
        nodes_[layer[i]].x = x;
        if (i + 1 < run.first + run.count) x += distance(layer[i], layer[i + 1]);
      }
    }
  }

  GraphLayout result() {
    GraphLayout layout;
    double left = 0, right = 0;
    for (const Node& node : nodes_) {
      left = std::min(left, node.x - node.size.width() / 2);
      right = std::max(right, node.x + node.size.width() / 2);
    }
    for (size_t i = 0; i < graph_.nodes.size(); ++i)
      layout.nodes.emplace_back(QPointF(nodes_[i].x - nodes_[i].size.width() / 2, nodes_[i].y),
                                nodes_[i].size);
    double beside = right + kGapX;  // x of edges that run up, or far down
    for (uint32_t e = 0; e < graph_.edges.size(); ++e) {
      const Node &from = nodes_[graph_.edges[e].from], &to = nodes_[graph_.edges[e].to];
      std::vector<QPointF> way;
      const double bottom = bottoms_[size_t(from.layer)];
      way.emplace_back(from.x, from.y + from.size.height());
      if (!backward_[e] && to.layer > from.layer && to.layer - from.layer <= kMostLayers) {
        for (const uint32_t dummy : ways_[e]) {
          way.emplace_back(nodes_[dummy].x, nodes_[dummy].y);
          way.emplace_back(nodes_[dummy].x, bottoms_[size_t(nodes_[dummy].layer)]);
        }
      } else {
        const double near =
            std::max(from.x + from.size.width() / 2, to.x + to.size.width() / 2) + kGapX / 2;
        const bool close = std::abs(from.layer - to.layer) <= 1;
        const double x = close ? near : beside;
        if (!close) beside += 5;
        way.emplace_back(x, bottom + kGapY / 3);
        way.emplace_back(x, tops_[size_t(to.layer)] - kGapY / 3);
      }
      way.emplace_back(to.x, to.y);
      layout.edges.push_back(std::move(way));
    }
    layout.backward = backward_;
    for (auto& rect : layout.nodes) rect.translate(-left, 0);
    for (auto& way : layout.edges)
      for (QPointF& point : way) point.rx() -= left;
    layout.size = {beside - left, bottoms_.empty() ? 0 : bottoms_.back()};
    return layout;
  }

  const Graph& graph_;
  std::vector<bool> backward_;
  std::vector<uint32_t> finished_;  // in the order in which the walk left them
  std::vector<Node> nodes_;
  std::vector<std::vector<uint32_t>> ways_;  // dummies of each edge
  std::vector<std::vector<uint32_t>> layers_;
  std::vector<double> tops_, bottoms_;  // of layers
};

}  // namespace

GraphLayout lay_out(const Graph& graph) {
  if (graph.nodes.empty()) return {};
  return Layers(graph).run();
}

}  // namespace respike::gui
