// The places of boxes of flow graphs, and the contents of pictures.

#include <gtest/gtest.h>

#include <QApplication>
#include <QBuffer>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>
#include <QXmlStreamReader>

#include <algorithm>
#include <random>

#include "gui/models/graph_layout.h"
#include "gui/pictures/figure.h"
#include "gui/pictures/flow_graph.h"
#include "gui/pictures/heat.h"
#include "gui/pictures/layout_picture.h"
#include "gui/pictures/stacked_bars.h"
#include "gui/pictures/svg.h"
#include "tests/gui/support.h"

namespace respike::gui {
namespace {

/// A flow graph as compilers make them: mostly branches over a few blocks, some loops, a few long
/// jumps.
Graph random_graph(uint32_t nodes, uint32_t seed) {
  std::mt19937 random(seed);
  const auto below = [&](uint32_t bound) { return uint32_t(random() % bound); };
  Graph graph;
  for (uint32_t i = 0; i < nodes; ++i) {
    graph.nodes.emplace_back(40 + below(80), 30 + below(20));
    if (i + 1 < nodes) graph.edges.push_back({i, i + 1});
    const uint32_t kind = below(20);
    if (kind < 8) graph.edges.push_back({i, std::min(nodes - 1, i + 2 + below(6))});
    if (kind == 8) graph.edges.push_back({i, i - std::min(i, below(10))});
    if (kind == 9) graph.edges.push_back({i, below(nodes)});
  }
  return graph;
}

bool on_border(const QPointF& point, const QRectF& box) {
  return box.adjusted(-0.01, -0.01, 0.01, 0.01).contains(point) &&
         (std::abs(point.y() - box.top()) < 0.01 || std::abs(point.y() - box.bottom()) < 0.01);
}

TEST(LayOut, BoxesAreApartAndEdgesEndAtThem) {
  for (uint32_t seed = 0; seed < 60; ++seed) {
    const Graph graph = random_graph(1 + seed, seed);
    const GraphLayout layout = lay_out(graph);
    ASSERT_EQ(layout.nodes.size(), graph.nodes.size());
    ASSERT_EQ(layout.edges.size(), graph.edges.size());
    const QRectF all = QRectF(QPointF(), layout.size).adjusted(-0.01, -0.01, 0.01, 0.01);
    for (size_t a = 0; a < layout.nodes.size(); ++a) {
      EXPECT_EQ(layout.nodes[a].size(), graph.nodes[a]);
      EXPECT_TRUE(all.contains(layout.nodes[a])) << "seed " << seed << ", box " << a;
      for (size_t b = a + 1; b < layout.nodes.size(); ++b)
        EXPECT_FALSE(layout.nodes[a].intersects(layout.nodes[b]))
            << "seed " << seed << ": " << a << ' ' << b;
    }
    for (size_t e = 0; e < layout.edges.size(); ++e) {
      const auto [from, to] = graph.edges[e];
      EXPECT_TRUE(on_border(layout.edges[e].front(), layout.nodes[from]))
          << "seed " << seed << ", edge " << e;
      EXPECT_TRUE(on_border(layout.edges[e].back(), layout.nodes[to]))
          << "seed " << seed << ", edge " << e;
      if (!layout.backward[e] && from != to) {
        EXPECT_LT(layout.nodes[from].top(), layout.nodes[to].top());
      }
    }
  }
}

TEST(LayOut, LoopsLeadBack) {
  Graph graph;
  for (int i = 0; i < 4; ++i) graph.nodes.emplace_back(50, 30);
  graph.edges = {{0, 1}, {1, 2}, {2, 1}, {2, 3}};
  const GraphLayout layout = lay_out(graph);
  EXPECT_EQ(layout.backward, (std::vector<bool>{false, false, true, false}));
}

TEST(LayOut, NothingOfNothing) {
  EXPECT_TRUE(lay_out({}).nodes.empty());
}

TEST(LayOut, TwoThousandBlocksWithinASecond) {
  const Graph graph = random_graph(2000, 1);
  const PatientTimer timer(PatientTimer::Waits::of_this_thread);
  EXPECT_EQ(lay_out(graph).nodes.size(), 2000u);
  const std::chrono::milliseconds time = timer.elapsed();
  EXPECT_TRUE(time < std::chrono::seconds(1) || !times_apply()) << time.count() << " ms";
}

/// Block 0 goes on to 1, which ran, and to 2, which never ran.
CodeView three_blocks() {
  CodeView view;
  view.name = "f";
  view.blocks.resize(3);
  for (CodeBlock& block : view.blocks) block.lines.resize(4);
  view.blocks[0].count = view.blocks[1].count = 7;
  view.blocks[0].edges = {{1, Edge::Kind::fall_through, 7}, {2, Edge::Kind::taken, 0}};
  return view;
}

TEST(FlowGraph, LeavesOutWhatNeverRan) {
  FlowGraphScene scene;
  scene.set(three_blocks(), true, {.hides_cold = true});
  EXPECT_NE(scene.box(1), nullptr);
  EXPECT_EQ(scene.box(2), nullptr);
  EXPECT_EQ(scene.left_out(), 1);
  EXPECT_EQ(FlowGraphScene::block_of(scene.box(1)), 1u);
  scene.set(three_blocks(), true, {.hides_cold = false});
  EXPECT_NE(scene.box(2), nullptr);
  scene.set(three_blocks(), false, {.hides_cold = true});  // nothing is known of counts
  EXPECT_NE(scene.box(2), nullptr);
}

TEST(FlowGraph, IsSavedWithItsTitle) {
  QTemporaryDir folder;
  FlowGraphScene scene;
  scene.set(three_blocks(), true, {});
  const QString svg = folder.filePath("f.svg"), png = folder.filePath("f.png");
  EXPECT_EQ(save_picture(scene, svg, "Flow graph of f"), "");
  EXPECT_EQ(save_picture(scene, png, "Flow graph of f"), "");
  QFile file(svg);
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  EXPECT_TRUE(QString::fromUtf8(file.readAll()).contains("<title>Flow graph of f</title>"));
  EXPECT_FALSE(QImage(png).isNull());
  EXPECT_NE(save_picture(scene, "/nowhere/f.svg", "f"), "");
}

TEST(Heat, IsTellableByBrightness) {
  for (const bool dark : {false, true}) {
    const double cold = heat_colour(0.01, dark).lightnessF(),
                 hot = heat_colour(1, dark).lightnessF();
    EXPECT_GT(std::abs(cold - hot), 0.1) << dark;
    for (const double share : {0.0, 0.01, 0.5, 1.0}) {
      const QColor back = heat_colour(share, dark), front = text_on(back);
      EXPECT_GT(std::abs(back.lightnessF() - front.lightnessF()), 0.25) << share;
    }
  }
}

TEST(StackedBars, AreSavedWithAllNames) {
  QTemporaryDir folder;
  const StackedBars bars{.parts = {"issue", "misses"},
                         .bars = {{"original", {3e6, 1e6}}, {"optimized", {2e6, 5e5}}},
                         .unit = "cycles"};
  const QString path = folder.filePath("bars.svg");
  EXPECT_EQ(save_bars(bars, path, "Cycles"), "");
  QFile file(path);
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  const QString text = QString::fromUtf8(file.readAll());
  for (const char* word :
       {"Cycles", "original", "optimized", "issue: 3.0 M → 2.0 M", "4.0 M cycles"})
    EXPECT_TRUE(text.contains(word)) << word;
}

// ---- figures ----

TEST(Figures, AreSavedWithTitlesBoundsAndMarks) {
  QTemporaryDir folder;
  Characteristics program{.executed = 100, .instructions = 10, .procedures = {}};
  program.procedures.push_back({.name = "calls", .executed = 69, .blocks = 20, .hot_blocks = 2});
  program.procedures.push_back(
      {.name = "loops", .executed = 31, .blocks = 3, .hot_blocks = 3, .trip_count = 8, .saves = 4});
  const std::vector<Figure> figures = character_figures(program);
  ASSERT_EQ(figures.size(), 3u);
  const auto saved = [&](const Figure& figure) {
    const QString path = folder.filePath(figure.name + ".svg");
    EXPECT_EQ(save_figure(figure, path), "");
    QFile file(path);
    EXPECT_TRUE(file.open(QIODevice::ReadOnly));
    const QString text = QString::fromUtf8(file.readAll());
    EXPECT_TRUE(text.contains("<title>" + figure.title + "</title>"));
    return text;
  };
  for (const char* word : {">69%<", ">100%<", ">1024<", "turns less than so many times"})
    EXPECT_TRUE(saved(figures[0]).contains(word)) << word;
  for (const char* word : {">0%<", "all blocks", "without blocks that rarely run"})
    EXPECT_TRUE(saved(figures[1]).contains(word)) << word;
  for (const char* word : {"saves of registers: 4 %", "all other instructions: 96 %"})
    EXPECT_TRUE(saved(figures[2]).contains(word)) << word;
  const QString png = folder.filePath("loops.png");
  EXPECT_EQ(save_figure(figures[0], png), "");
  EXPECT_FALSE(QImage(png).isNull());
  EXPECT_NE(save_figure(figures[0], "/nowhere/loops.svg"), "");
}

std::vector<BuildLine> some_builds() {
  std::vector<BuildLine> builds(3);
  for (size_t i = 0; i < builds.size(); ++i) {
    builds[i].build.number = int64_t(builds.size() - i);
    builds[i].build.first_seen = 1'700'000'000 - int64_t(i) * 86'400;
  }
  builds[0].present = true;
  builds[0].found = {.before = 2, .share = 1, .most_lost = {}};
  builds[1].profile.runs = 2;
  builds[1].found = {.before = 1, .share = 0.9, .most_lost = "parse, 8%: flow graph changed"};
  builds[2].profile.runs = 1;
  return builds;
}

TEST(Figures, BuildsOverTime) {
  const Figure figure = build_figure(some_builds());
  EXPECT_TRUE(
      figure.text.contains("build 3 (now); 100.00% found again, nothing of build 2 is lost."));
  EXPECT_TRUE(
      figure.text.contains("build 2, 2 runs; 90.00% found again, of build 1 most lost: parse"));
  EXPECT_TRUE(figure.text.endsWith("build 1, 1 run."));
  QTemporaryDir folder;
  const QString path = folder.filePath("builds.svg");
  ASSERT_EQ(save_figure(figure, path), "");
  QFile file(path);
  ASSERT_TRUE(file.open(QIODevice::ReadOnly));
  const QString text = QString::fromUtf8(file.readAll());
  for (const char* word : {">build 3 (now)<", ">100.00%<", ">90.00%<", ">build 1, 1 run<"})
    EXPECT_TRUE(text.contains(word)) << word;
}

TEST(Figures, OfManyBuildsShowTheNewest) {
  std::vector<BuildLine> builds(100);
  for (size_t i = 0; i < builds.size(); ++i) builds[i].build.number = int64_t(100 - i);
  const Figure figure = build_figure(builds);
  const auto& line = std::get<TimeLine>(figure.picture);
  ASSERT_EQ(line.points.size(), kBuildsShown);
  EXPECT_EQ(line.points.front().name, "build 100");
}

TEST(Figures, OfNothingArePainted) {
  QImage image(400, 300, QImage::Format_ARGB32);
  image.fill(Qt::white);
  QPainter painter(&image);
  for (const Figure& figure : character_figures({}))
    paint_figure(painter, QRectF(0, 0, 400, 300), figure, paper_palette());
  paint_figure(painter, QRectF(0, 0, 400, 300), build_figure({}), paper_palette());
}

// ---- LayoutMap ----

/// Pages and passes of the cache of 256 bytes, lines of 32.
LayoutView some_layout(std::vector<LayoutPiece> pieces) {
  LayoutView view;
  view.procedures = {"f", "g"};
  view.pieces = std::move(pieces);
  view.line = 32;
  view.cache = view.page = 256;
  return view;
}

LayoutPiece piece(uint64_t address, uint64_t size, uint64_t count, uint32_t procedure = 0) {
  return {.address = address,
          .size = size,
          .count = count,
          .procedure = procedure,
          .block = 1,
          .part = {}};
}

TEST(LayoutMapTest, RowsWithoutCodeAreLeftOut) {
  const LayoutMap map(some_layout({piece(0x1000, 8, 1), piece(0x13f8, 16, 9)}),
                      LayoutMap::Row::page, false);
  ASSERT_EQ(map.rows(), 3);
  EXPECT_EQ(map.columns(), 8);
  EXPECT_EQ(map.address(0), 0x1000u);
  EXPECT_EQ(map.address(1), 0x1300u);
  EXPECT_EQ(map.address(2), 0x1400u) << "the second piece crosses a border";
  EXPECT_EQ(map.place_of(0x1200), std::pair(-1, -1));
  EXPECT_EQ(map.place_of(0x13ff), std::pair(1, 7));
}

TEST(LayoutMapTest, ACellIsAsHotAsItsHottestPiece) {
  const LayoutMap map(
      some_layout({piece(0x1000, 8, 0), piece(0x1008, 8, 7, 1), piece(0x1010, 48, 3)}),
      LayoutMap::Row::cache, false);
  EXPECT_EQ(map.cell(0, 0).count, 7u);
  EXPECT_EQ(map.cell(0, 1).count, 3u);
  EXPECT_TRUE(map.cell(0, 1).code);
  EXPECT_FALSE(map.cell(0, 2).code);
  EXPECT_EQ(map.heat(map.cell(0, 0)), 1);
  EXPECT_GT(map.heat(map.cell(0, 1)), 0.5) << "heat is a logarithm";
  EXPECT_EQ(map.heat(map.cell(0, 2)), 0);
  ASSERT_NE(map.hottest_piece(0, 0), nullptr);
  EXPECT_EQ(map.describe(*map.hottest_piece(0, 0)), "g, block 1: ran 7 times, 8 bytes at 1008");
  EXPECT_EQ(map.hottest_piece(0, 2), nullptr);
  EXPECT_EQ(map.hottest_piece(1, 0), nullptr);
  ASSERT_NE(map.piece_at(0x1004), nullptr);
  EXPECT_EQ(map.describe(*map.piece_at(0x1004)), "f, block 1: never ran, 8 bytes at 1000");
  EXPECT_EQ(map.piece_at(0x1040), nullptr);
  EXPECT_EQ(map.piece_at(0xfff), nullptr);
}

TEST(LayoutMapTest, RowsThatDoNotRunCanBeLeftOut) {
  const LayoutView view = some_layout({piece(0x1000, 8, 0), piece(0x2000, 8, 1)});
  EXPECT_EQ(LayoutMap(view, LayoutMap::Row::page, false).rows(), 2);
  const LayoutMap hot(view, LayoutMap::Row::page, true);
  ASSERT_EQ(hot.rows(), 1);
  EXPECT_EQ(hot.address(0), 0x2000u);
}

TEST(LayoutMapTest, NothingOfNothing) {
  EXPECT_EQ(LayoutMap().rows(), 0);
  EXPECT_EQ(LayoutMap({}, LayoutMap::Row::page, false).columns(), 0);
  EXPECT_EQ(LayoutMap(some_layout({}), LayoutMap::Row::page, false).rows(), 0);
}

TEST(LayoutMapTest, PicturesAreWritten) {
  const QTemporaryDir folder;
  const LayoutMap before(some_layout({piece(0x1000, 900, 1)}), LayoutMap::Row::page, false);
  const LayoutMap after(some_layout({piece(0x1000, 20, 5)}), LayoutMap::Row::page, false);
  for (const char* name : {"a.svg", "a.png"}) {
    const QString path = folder.filePath(name);
    EXPECT_EQ(save_layouts(before, after, path, "Layout of f").toStdString(), "");
    EXPECT_FALSE(QImage(path).isNull()) << name;
  }
  EXPECT_TRUE(layouts_as_svg(before, after, "Layout of f").contains("<title>Layout of f</title>"));
  EXPECT_NE(save_layouts(before, after, "/nowhere/a.svg", ""), "");
}

TEST(SvgTest, NamesMayHoldAnything) {
  const QString title = "a & <b>\"@description@", text = "1 < 2 & \"3\" > 2",
                name = "less<int> & x";
  QBuffer buffer;
  buffer.open(QIODevice::WriteOnly);
  write_svg(
      buffer, {100, 100}, title,
      [&](QPainter& painter, const QRectF& area) { painter.drawText(area, name); }, text);
  QXmlStreamReader svg(buffer.data());
  std::map<QString, QString> found;
  while (!svg.atEnd())
    if (svg.readNext() == QXmlStreamReader::StartElement) {
      const QString element = svg.name().toString();
      if (element == "title" || element == "desc" || element == "text")
        found[element] = svg.readElementText();
    }
  EXPECT_FALSE(svg.hasError()) << svg.errorString().toStdString();
  EXPECT_EQ(found["title"], title);
  EXPECT_EQ(found["desc"], text);
  EXPECT_EQ(found["text"], name);
}

TEST(LayoutMapTest, TheCursorSaysWhatIsThere) {
  LayoutMapView view;
  view.resize(400, 200);
  view.set(LayoutMap(some_layout({piece(0x1000, 32, 1), piece(0x1120, 32, 4, 1)}),
                     LayoutMap::Row::page, false));
  QString pointed, wanted;
  QObject::connect(&view, &LayoutMapView::pointed, [&](const QString& text) { pointed = text; });
  QObject::connect(&view, &LayoutMapView::piece_wanted, [&](const LayoutPiece& chosen) {
    wanted = QString::fromStdString(view.map().view().procedures[chosen.procedure]);
  });
  view.show();
  QTest::keyClick(&view, Qt::Key_Down);
  EXPECT_EQ(pointed, "no code");
  QTest::keyClick(&view, Qt::Key_Right);
  EXPECT_TRUE(pointed.startsWith("g, block 1: ran 4 times")) << pointed.toStdString();
  QTest::keyClick(&view, Qt::Key_Return);
  EXPECT_EQ(wanted, "g");
  for (int i = 0; i < 20; ++i) QTest::keyClick(&view, Qt::Key_PageDown);
  view.show_address(0x1000);
  EXPECT_TRUE(pointed.startsWith("f, block 1")) << pointed.toStdString();
}

TEST(TouchedModelTest, ComparesBothLayouts) {
  LayoutView before = some_layout({piece(0x1000, 64, 1)}), after = before;
  before.touched = {.pages = 4, .lines = 20, .bytes = 400, .text = 900};
  after.touched = {.pages = 1, .lines = 15, .bytes = 400, .text = 800};
  TouchedModel model;
  model.set(before, after);
  EXPECT_EQ(model.index(0, TouchedModel::change).data().toString(), "-75.0%");
  EXPECT_EQ(model.index(1, TouchedModel::after).data().toString(), "15");
  model.set(before, {});
  EXPECT_EQ(model.index(0, TouchedModel::change).data().toString(), "");
  model.set({}, {});
  EXPECT_EQ(model.rowCount(), 0);
}

}  // namespace
}  // namespace respike::gui
