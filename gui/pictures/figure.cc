// Example: the figure "How often loops turn" of SQLite rises to 69% at 2, and its text says that
// the layout across procedures matters.

#include "gui/pictures/figure.h"

#include <algorithm>
#include <set>
#include <span>

#include "applications/descriptions.h"
#include "gui/pictures/svg.h"
#include "optimizer/base/number_text.h"

namespace respike::gui {
namespace {

constexpr const char* kExecuted = "share of the executed instructions";

/// `marks`: the bounds that the text mentions.
LineChart chart_of(const QString& x_title, const std::set<uint32_t>& marks,
                   std::vector<LineChart::Line> lines) {
  LineChart chart{.x_title = x_title, .y_title = kExecuted, .bounds = {}, .lines = {}, .marks = {}};
  for (const uint32_t bound : kBounds) {
    if (marks.contains(bound)) chart.marks.push_back(chart.bounds.size());
    chart.bounds.push_back(QString::number(bound));
  }
  chart.lines = std::move(lines);
  return chart;
}

LineChart::Line line_of(const QString& name, const Distribution& shares) {
  return {name, std::vector<double>(shares.begin(), shares.end())};
}

Figure overhead_figure(const Characteristics& program) {
  const CallOverhead overhead = call_overhead(program);
  const QString text = QString::fromStdString(overhead_text(program));
  if (!program.knows_frames)
    return {"calls", "What calls cost", text,
            StackedBars{.parts = {"all instructions"}, .bars = {{"executed", {100}}}, .unit = "%"}};
  return {"calls", "What calls cost", text,
          StackedBars{.parts = {"stack adjustments", "saves of registers", "restores of registers",
                                "all other instructions"},
                      .bars = {{"executed",
                                {100 * overhead.adjustments, 100 * overhead.saves,
                                 100 * overhead.restores, 100 * (1 - overhead.sum())}}},
                      .unit = "%"}};
}

constexpr const char* kBuildLegend =
    "A filled mark: runs of this build were counted. Bar: share of the instructions that the older "
    "build executed that was found again for sure.";

TimeLine::Point point_of(const BuildLine& line) {
  TimeLine::Point point;
  point.when = first_seen_text(line.build);
  point.name = QString("build %1").arg(line.build.number);
  if (line.present) point.name += " (now)";
  point.filled = line.profile.runs > 0;
  if (point.filled) point.name += ", " + QString::fromStdString(runs_text(line.profile.runs));
  if (!line.found) return point;
  point.share = line.found->share;
  point.text =
      line.found->most_lost.isEmpty()
          ? QString("nothing of build %1 is lost").arg(line.found->before)
          : QString("of build %1 most lost: %2").arg(line.found->before).arg(line.found->most_lost);
  return point;
}

}  // namespace

QSizeF size_of(const Figure& figure) {
  return std::visit([](const auto& picture) { return size_of(picture); }, figure.picture);
}

void paint_figure(QPainter& painter, const QRectF& area, const Figure& figure,
                  const QPalette& palette) {
  if (const auto* chart = std::get_if<LineChart>(&figure.picture))
    paint_chart(painter, area, *chart, palette);
  else if (const auto* bars = std::get_if<StackedBars>(&figure.picture))
    paint_bars(painter, area, *bars, palette);
  else
    paint_time_line(painter, area, std::get<TimeLine>(figure.picture), palette);
}

QString save_figure(const Figure& figure, const QString& path) {
  return save_picture(path, size_of(figure), figure.title,
                      [&](QPainter& painter, const QRectF& area) {
                        paint_figure(painter, area, figure, paper_palette());
                      });
}

std::vector<Figure> character_figures(const Characteristics& program) {
  return {{"loops", "How often loops turn", QString::fromStdString(trip_count_text(program)),
           chart_of("in procedures whose most frequent loop turns less than so many times", {2, 16},
                    {line_of("", by_trip_count(program))})},
          {"blocks", "How large procedures are", QString::fromStdString(blocks_text(program)),
           chart_of("in procedures of at most so many basic blocks (loops turn less than 4 times)",
                    {16},
                    {line_of("all blocks", by_blocks(program, false)),
                     line_of("without blocks that rarely run", by_blocks(program, true))})},
          overhead_figure(program)};
}

Figure build_figure(const std::vector<BuildLine>& builds) {
  TimeLine line;
  QStringList sentences;
  for (const BuildLine& build : std::span(builds).first(std::min(builds.size(), kBuildsShown))) {
    line.points.push_back(point_of(build));
    const TimeLine::Point& point = line.points.back();
    QString sentence = QString("%1: %2").arg(point.when, point.name);
    if (point.share)
      sentence += QString("; %1 found again, %2")
                      .arg(QString::fromStdString(percent(*point.share, 1)), point.text);
    sentences << sentence + ".";
  }
  line.legend = kBuildLegend;
  return {"builds", "Builds over time", sentences.join(' '), std::move(line)};
}

void FigureWidget::set(Figure figure) {
  figure_ = std::move(figure);
  setAccessibleName(figure_.title);
  setAccessibleDescription(figure_.text);
  setMinimumSize(sizeHint() / 2);
  setFixedHeight(sizeHint().height());
  updateGeometry();
  update();
}

void FigureWidget::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  paint_figure(painter, rect(), figure_, palette());
}

}  // namespace respike::gui
