// Example: the report of bzip2 starts with its images, then says that generateMTFValues executed
// 32% of 1.8 G instructions, and shows its flow graph.

#include "gui/pictures/report.h"

#include <QBuffer>

#include <algorithm>
#include <numeric>
#include <span>

#include "applications/descriptions.h"
#include "applications/life.h"
#include "gui/models/character_model.h"
#include "gui/pictures/figure.h"
#include "gui/pictures/flow_graph.h"
#include "gui/pictures/layout_picture.h"
#include "gui/pictures/svg.h"
#include "optimizer/base/number_text.h"
#include "optimizer/base/saturating.h"

namespace respike::gui {
namespace {

constexpr size_t kProcedures = 30, kGraphs = 6;
constexpr size_t kMostBlocks = 150;  // largest flow graph that is readable on a page
constexpr int kMostRows = 600;       // of a map

constexpr const char* kStyle = R"(
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; padding: 0 2rem; }
p, ul { max-width: 70rem; }
table { border-collapse: collapse; width: 100%; margin: 1rem 0; }
caption { text-align: left; font-weight: 600; padding: .3rem 0; }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid #8884; vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
figure { margin: 2rem 0; overflow-x: auto; background: #fff; color: #222; padding: .5rem 1rem; border: 1px solid #8884; border-radius: 6px; }
figcaption { margin-bottom: .5rem; }
figure svg { display: block; width: 100%; height: auto; }
figure.graph svg { width: auto; max-width: 100%; }
figure svg text { font-family: system-ui, sans-serif; }
code { overflow-wrap: anywhere; }
h2 { margin-top: 2.5rem; }
@media print { figure { break-inside: avoid; } }
)";

QString html(const QString& text) {
  return text.toHtmlEscaped();
}
QString html(const std::string& text) {
  return html(QString::fromStdString(text));
}

/// The gain, its certainty, and the next step.
QString summary_of(const ApplicationView& application) {
  const Life life = life_of(application);
  QString gained = "nothing was measured of the present version yet";
  if (life[Step::checking].done) gained = html(application.last_check->verdict);
  QString sure = "Nothing was counted yet.";  // a sentence
  if (life[Step::running].done) sure = "It is based on " + html(life[Step::running].text) + ".";
  QString expected;
  for (const ImageView& view : application.images)
    if (view.optimized && !view.optimized->forecast.empty())
      expected += QString("<li><code>%1</code>: %2</li>\n")
                      .arg(html(std::filesystem::path(view.image.path).filename().string()),
                           html(view.optimized->forecast));
  QString page = "<p><b>Gain:</b> " + gained + ".</p>\n";
  if (!expected.isEmpty())
    page += "<p><b>Expected by the profile:</b></p>\n<ul>\n" + expected + "</ul>\n";
  page += "<p><b>How sure:</b> " + sure + "</p>\n";
  return page + "<p><b>Next:</b> " + html(application.name + " " + life.next.why) + ".</p>\n";
}

QString images_table(const ApplicationView& application) {
  QString rows;
  for (const ImageView& view : application.images) {
    const bool can = view.image.optimizable && view.problem.empty();
    const std::string state = !view.problem.empty() ? view.problem
                              : can                 ? made_text(view)
                                                    : left_alone_text(view.image);
    rows += QString("<tr><td><code>%1</code></td><td>%2</td><td>%3</td><td>%4</td></tr>\n")
                .arg(html(view.image.path), html(std::string(name_of(view.role))),
                     can ? html(profile_text(view.profile)) : QString(), html(state));
  }
  return "<table><caption>What was made of each image</caption>\n<tr><th "
         "scope=\"col\">File</th><th "
         "scope=\"col\">Role</th><th scope=\"col\">Profile</th><th "
         "scope=\"col\">State</th></tr>\n" +
         rows + "</table>\n";
}

QString procedures_table(const ReportData& data) {
  QString rows;
  for (const ProcedureRow& row : data.procedures)
    rows += QString(
                "<tr><td class=\"number\">%1</td><td class=\"number\">%2</td><td "
                "class=\"number\">%3</td>"
                "<td><code>%4</code></td><td>%5</td></tr>\n")
                .arg(QString::fromStdString(percent(row.share, 1)), number(row.instructions),
                     number(row.entries), html(row.name), html(row.image));
  return QString("<p>%1 instructions were executed, in %2 of %3 procedures.</p>\n")
             .arg(number(data.instructions), number(data.executed), number(data.of_procedures)) +
         "<table><caption>Procedures by executed instructions</caption>\n<tr><th scope=\"col\" "
         "class=\"number\">Share</th><th scope=\"col\" class=\"number\">Instructions</th><th "
         "scope=\"col\" class=\"number\">Entries</th><th scope=\"col\">Procedure</th><th "
         "scope=\"col\">Image</th></tr>\n" +
         rows + "</table>\n";
}

/// A document as an element `svg` for screen readers.
QString element_of(const QByteArray& svg, const QString& title, const QString& description) {
  QString text = QString::fromUtf8(svg);
  text.remove(0, text.indexOf("<svg"));
  return text.replace(0, 4,
                      QString("<svg role=\"img\" aria-label=\"%1\" aria-description=\"%2\"")
                          .arg(html(title), html(description)));
}

QString svg_of(const QSizeF& size, const QString& title, const QString& description,
               const Painting& paint) {
  QBuffer buffer;
  buffer.open(QIODevice::WriteOnly);
  write_svg(buffer, size, title, paint, description);
  return element_of(buffer.data(), title, description);
}

/// A description of a flow graph: "22 blocks. The hottest are block 0, which ran 29,977 times with
/// 27 instructions, ..."
QString describe_graph(const CodeView& view) {
  std::vector<BlockId> hottest(view.blocks.size());
  std::iota(hottest.begin(), hottest.end(), BlockId{0});
  const auto executed = [&](BlockId id) { return executed_instructions(view.blocks[id]); };
  std::ranges::stable_sort(hottest, std::greater(), executed);
  constexpr size_t kNamed = 3;
  QStringList named;
  for (size_t i = 0; i < std::min(kNamed, hottest.size()) && executed(hottest[i]) != 0; ++i)
    named << QString("block %1, which ran %2 times with %3 instructions")
                 .arg(hottest[i])
                 .arg(number(view.blocks[hottest[i]].count))
                 .arg(view.blocks[hottest[i]].lines.size());
  QString text = QString("%1 blocks.").arg(view.blocks.size());
  if (!named.isEmpty()) text += " The hottest: " + named.join("; ") + ".";
  return text;
}

QString figure_of(const Figure& figure) {
  return QString("<figure><figcaption><strong>%1</strong>: %2</figcaption>\n%3</figure>\n")
      .arg(html(figure.title), html(figure.text),
           svg_of(size_of(figure), figure.title, figure.text,
                  [&](QPainter& painter, const QRectF& area) {
                    paint_figure(painter, area, figure, paper_palette());
                  }));
}

/// The rows of a table whose first column is text, and whose other columns are numbers.
QString rows_of(const QAbstractItemModel& model) {
  QString rows;
  for (int row = 0; row < model.rowCount(); ++row) {
    rows += "<tr>";
    for (int column = 0; column < model.columnCount(); ++column)
      rows += QString("<td%1>%2</td>")
                  .arg(column == 0 ? "" : " class=\"number\"",
                       html(model.index(row, column).data().toString()));
    rows += "</tr>\n";
  }
  return rows;
}

QString character_table(const Characteristics& program) {
  CharacterModel model;
  model.set(program);
  return "<details><summary>The numbers of these figures</summary>\n<table><caption>Shares of the "
         "executed instructions</caption>\n<tr><th scope=\"col\">Of procedures</th><th "
         "scope=\"col\" "
         "class=\"number\">Bound</th>"
         "<th scope=\"col\" class=\"number\">Share</th></tr>\n" +
         rows_of(model) + "</table>\n</details>\n";
}

// ---- layout ----

QString touched_table(const TouchedModel& model) {
  return "<table><caption>Code that runs</caption>\n<tr><th scope=\"col\">In which something "
         "runs</th><th scope=\"col\" class=\"number\">Original</th><th scope=\"col\" "
         "class=\"number\">Optimized</th><th scope=\"col\" class=\"number\">Change</th></tr>\n" +
         rows_of(model) + "</table>\n";
}

/// A description of the maps: "Something runs in 63 pages of 8,192 bytes of the original, and in 12
/// of the optimized image."
QString describe_layouts(const LayoutAnswer& layouts) {
  const LayoutView &before = layouts.before, &after = layouts.after;
  QString text = QString("Something runs in %1 pages of %2 bytes of the original")
                     .arg(number(before.touched.pages), number(before.page));
  if (!after.pieces.empty())
    text += QString(", and in %1 of the optimized image").arg(number(after.touched.pages));
  return text + ".";
}

QString layout_section(const ReportData& data) {
  const LayoutAnswer& layouts = data.layouts;
  const QString main = QString::fromStdString(data.application.main).section('/', -1);
  const LayoutMap before(layouts.before, LayoutMap::Row::page, true);
  const LayoutMap after(layouts.after, LayoutMap::Row::page, true);
  const QString title = "Layout of " + main, text = describe_layouts(layouts);
  QString section = QString("<h2>Layout of <code>%1</code></h2>\n").arg(html(main));
  if (!layouts.not_followed.empty())
    section += QString("<p>The layout of the optimized image is not known: %1</p>\n")
                   .arg(html(layouts.not_followed));
  if (std::max(before.rows(), after.rows()) > kMostRows)
    section += QString("<p>%1 The page Layout of the window shows them.</p>\n").arg(text);
  else
    section += QString(
                   "<figure><figcaption>%1 A row is a page, a cell a cache line; grey never ran, "
                   "red ran most often. Pages in which nothing runs are left out.</figcaption>\n"
                   "%2</figure>\n")
                   .arg(text, element_of(layouts_as_svg(before, after, title, text), title, text));
  TouchedModel touched;
  touched.set(layouts.before, layouts.after);
  return section + touched_table(touched);
}

// ---- flow graphs ----

QString figure_of(const ProcedureAnswer& answer) {
  FlowGraphScene scene;
  scene.set(answer.view, answer.counted, {});
  const QString name = QString::fromStdString(answer.view.name);
  QString caption =
      QString("<strong>%1</strong>: %2 blocks").arg(html(name)).arg(answer.view.blocks.size());
  if (scene.left_out() != 0)
    caption += QString(", %1 of them never ran and are left out").arg(scene.left_out());
  return QString("<figure class=\"graph\"><figcaption>%1</figcaption>\n%2</figure>\n")
      .arg(caption, svg_of(scene.sceneRect().size(), "Flow graph of " + name,
                           describe_graph(answer.view), [&](QPainter& painter, const QRectF& area) {
                             scene.render(&painter, area, scene.sceneRect());
                           }));
}

}  // namespace

ReportData read_report(Environment& environment, const std::string& application) {
  ReportData data;
  data.application = environment.show(application);
  std::vector<ProcedureRow> rows = read_times(environment, application, {}).rows;
  data.of_procedures = rows.size();
  for (const ProcedureRow& row : rows) {
    data.instructions = saturating_add(data.instructions, row.instructions);
    data.executed += row.instructions != 0;
  }
  rows.resize(std::min({rows.size(), kProcedures, size_t(data.executed)}));
  CodeCache cache;
  data.character = read_characteristics(environment, cache, application, {});
  const ImageView& main = data.application.images.front();
  data.builds = read_builds(environment, application, main.image.path);
  BuildHistory history;
  for (BuildLine& line : std::span(data.builds).first(std::min(data.builds.size(), kBuildsShown)))
    line.found = history.found(environment, line.build.id);
  if (is_counted(main, {})) data.layouts = cache.layouts(environment, application, main.image.path);
  for (const ProcedureRow& row : rows) {
    if (data.graphs.size() == kGraphs) break;
    if (row.blocks > kMostBlocks) continue;
    data.graphs.push_back(cache.ask(environment, {.application = application,
                                                  .image = row.image_path,
                                                  .name = row.name.toStdString(),
                                                  .address = row.address}));
  }
  data.procedures = std::move(rows);
  return data;
}

QByteArray make_report(const ReportData& data) {
  const QString name = html(data.application.name);
  QString page = QString(
                     "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width\">\n<title>%1: report "
                     "of Respike</title>\n"
                     "<style>%2</style>\n</head>\n<body>\n<h1>%1</h1>\n")
                     .arg(name, kStyle);
  page += QString("<p><code>%1</code> runs its %2 images.</p>\n")
              .arg(html(data.application.main), html(std::string(name_of(data.application.mode))));
  page += summary_of(data.application);
  page += "<h2>Images</h2>\n" + images_table(data.application);
  if (data.builds.size() > 1)
    page += "<h2>Builds of the program</h2>\n" + figure_of(build_figure(data.builds));
  page += "<h2>Where time goes</h2>\n";
  if (data.executed == 0) {
    page += QString(
                "<p>Nothing was counted yet: <code>respike instrument %1</code>, then run the "
                "program.</p>\n")
                .arg(name);
  } else {
    page += procedures_table(data);
    page += "<h2>What kind of program it is</h2>\n";
    for (const Figure& figure : character_figures(data.character)) page += figure_of(figure);
    page += character_table(data.character);
    if (data.layouts.before.touched.lines != 0) page += layout_section(data);
    page +=
        "<h2>Flow graphs</h2>\n<p>Boxes are basic blocks: their number, how often they ran, and "
        "how many "
        "instructions they have. The hotter the colour, the more instructions a block "
        "executed.</p>\n";
    for (const ProcedureAnswer& answer : data.graphs) page += figure_of(answer);
  }
  return (page + "</body>\n</html>\n").toUtf8();
}

}  // namespace respike::gui
