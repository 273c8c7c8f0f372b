// The source of a block: where files are found, how the editor starts, and the contents of the page
// Procedure. Oracle: `respike profile annotate` on the same profile, and the source's own lines.

#include <QCheckBox>
#include <QComboBox>
#include <QFileDialog>
#include <QLabel>
#include <QListWidget>
#include <QMenuBar>
#include <QRegularExpression>

#include <sys/stat.h>

#include <fstream>
#include <map>
#include <sstream>

#include "gui/models/editor.h"
#include "gui/models/listing_model.h"
#include "gui/models/loop_model.h"
#include "gui/models/procedure_model.h"
#include "gui/models/source_model.h"
#include "gui/models/source_paths.h"
#include "gui/pictures/flow_graph.h"
#include "gui/pictures/layout_picture.h"
#include "tests/gui/window_test.h"

namespace respike::gui {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text = "int x;\n") {
  fs::create_directories(path.parent_path());
  std::ofstream(path) << text;
}

// ---- places ----

TEST(SourcePathsTest, AFolderIsFoundByAsManyRecordedFoldersAsItHas) {
  const QTemporaryDir folder;
  const QString root = folder.path();
  write((root + "/here/app/src/main.c").toStdString());
  const QString recorded = "/build/app/src/main.c";
  // Whichever of the folders the user points at, files below /build are below `here`.
  for (const char* chosen : {"/here", "/here/app", "/here/app/src", "/here/app/src/"}) {
    const auto place = substitution_for(recorded, root + chosen);
    ASSERT_TRUE(place.has_value()) << chosen;
    EXPECT_EQ(place->from, "/build") << chosen;
    EXPECT_EQ(place->to, root + "/here") << chosen;
  }
  write((root + "/flat/main.c").toStdString());
  EXPECT_EQ(substitution_for(recorded, root + "/flat"),
            std::optional(PathSubstitution{"/build/app/src", root + "/flat"}));
  EXPECT_FALSE(substitution_for(recorded, root).has_value());
  EXPECT_FALSE(substitution_for("main.c", root + "/flat").has_value());
  EXPECT_FALSE(substitution_for(recorded, "/").has_value());
}

TEST(SourcePathsTest, TheRecordedPlaceComesFirstAndOnlyWholeFoldersAreReplaced) {
  const QTemporaryDir folder;
  const QString root = folder.path();
  write((root + "/old/a.c").toStdString());
  write((root + "/new/a.c").toStdString());
  write((root + "/new/b.c").toStdString());
  write((root + "/newer/c.c").toStdString());
  const PathSubstitutions places = {{root + "/old", root + "/new"}};
  EXPECT_EQ(find_source(root + "/old/a.c", places), root + "/old/a.c");
  EXPECT_EQ(find_source(root + "/old/b.c", places), root + "/new/b.c");
  EXPECT_EQ(find_source(root + "/older/c.c", places), "");
  EXPECT_EQ(find_source(root + "/old", places), "");  // a folder is not a source
  EXPECT_EQ(find_source("a.c", places), "");
}

TEST(SourcePathsTest, PlacesAreRememberedAndReplaced) {
  QSettings().clear();
  add_substitution({"/a", "/b"});
  add_substitution({"/c", "/d"});
  add_substitution({"/a", "/e"});
  EXPECT_EQ(read_substitutions(), (PathSubstitutions{{"/a", "/e"}, {"/c", "/d"}}));
}

// ---- the editor ----

TEST(EditorTest, PatternsBecomeWords) {
  EXPECT_EQ(editor_words("code -g {file}:{line}", "/a b/c.c", 12),
            QStringList({"code", "-g", "/a b/c.c:12"}));
  EXPECT_EQ(editor_words("'my editor' +{line}", "/c.c", 3),
            QStringList({"my editor", "+3", "/c.c"}));
  EXPECT_EQ(editor_words("e 'open", "/c.c", 3), QStringList());
  qputenv("VISUAL", "emacs -nw");
  EXPECT_EQ(editor_words("$VISUAL +{line} {file}", "/c.c", 3),
            QStringList({"emacs", "-nw", "+3", "/c.c"}));
  qunsetenv("VISUAL");
  EXPECT_EQ(editor_words("$VISUAL {file}", "/c.c", 3), QStringList());
}

TEST(EditorTest, NamesAreWordsWhateverTheyHold) {
  for (const char* name : {"/a b.c", "/a;touch x.c", "/$(touch x).c", "/`x`.c", "/{line}.c",
                           "/{file}.c", "/a\"'\\.c", "/-o.c", "/new\nline.c"}) {
    EXPECT_EQ(editor_words("e {file} {line}", name, 7), QStringList({"e", name, "7"}));
    EXPECT_EQ(editor_words("e", name, 7), QStringList({"e", name}));
  }
}

TEST(EditorTest, TheDesktopGetsTextOnly) {
  QSettings().clear();
  const World world;
  const fs::path tools = world.folder() / "tools";
  write(tools / "xdg-open", "#!/bin/sh\nprintf '%s\\n' \"$@\" > \"$0.got\"\n");
  fs::permissions(tools / "xdg-open", fs::perms::owner_all);
  const QByteArray path = qgetenv("PATH");
  qputenv("PATH", QByteArray(tools.c_str()) + ':' + path);
  const auto opened = [&](const char* name, const char* text) {
    write(world.folder() / name, text);
    fs::remove(tools / "xdg-open.got");
    const QString failure = open_in_editor((world.folder() / name).c_str(), 5);
    if (!failure.isEmpty()) return false;
    return wait_for([&] { return fs::exists(tools / "xdg-open.got"); });
  };
  EXPECT_TRUE(opened("a.c", "int x;\n"));
  EXPECT_TRUE(opened("a.inc", "int x;\n"));
  EXPECT_FALSE(opened("a.desktop", "[Desktop Entry]\nExec=x\n"));
  EXPECT_FALSE(opened("a.html", "<html></html>\n"));
  write(world.folder() / "run.c", "#!/bin/sh\n");
  fs::permissions(world.folder() / "run.c", fs::perms::owner_all);
  EXPECT_FALSE(opened("run.c", "#!/bin/sh\n"));
  keep_editor("no-such-editor {file}");
  EXPECT_TRUE(open_in_editor((world.folder() / "a.c").c_str(), 5).contains("no such program"));
  qputenv("PATH", path);
}

// ---- the page ----

constexpr const char* kSource = R"(#include <stdio.h>
#include "twice.h"
__attribute__((noinline)) static int sum(int rounds) {
  int total = 0;
  for (int i = 0; i < rounds; ++i) {
    if (i % 4 == 3)
      total ^= twice(total);
    total += i;
  }
  return total;
}
int main(int argc, char** argv) {
	if (argc > 5)
    puts("<many> & more");
  printf("%d\n", sum(1000));
  return 0;
}
)";
constexpr const char* kHeader = R"(static inline int twice(int x) {
  return x * 2 + 1;
}
)";

class SourceTest : public WindowTest {
 protected:
  fs::path sources() const { return world_.folder() / "made here"; }

  /// Builds the program and counts a run. `flags`: of the compiler.
  void count(const QStringList& flags, const QString& name = "app",
             const QString& compiler = "alpha-linux-gnu-gcc") {
    write(sources() / "loop.c", kSource);
    write(sources() / "twice.h", kHeader);
    const QString image = (world_.folder() / name.toStdString()).c_str();
    const auto built = run_command(
        compiler,
        QStringList{"-O1", "-Wl,-q", (sources() / "loop.c").c_str(), "-o", image} + flags);
    ASSERT_EQ(built.status, 0) << built.errors.toStdString();
    world_.ok({"register", image, "--name", name});
    world_.ok({"instrument", name});
    ASSERT_EQ(world_.respike({"run", name}).status, 0);
    world_.ok({"collect"});
    manager_->refresh();
    ASSERT_TRUE(wait_for([&] {
      const ApplicationView* view = manager_->application(name);
      return view != nullptr && view->images.front().profile.runs > 0;
    }));
    window_->choose(name);
  }

  QTableView* table(const QString& name) {
    for (auto* found : window_->findChildren<QTableView*>())
      if (found->accessibleName() == name) return found;
    return nullptr;
  }

  const ListingModel& listing() {
    return static_cast<const ListingModel&>(*table("Listing")->model());
  }
  const SourceModel& source() { return static_cast<const SourceModel&>(*table("Source")->model()); }

  void open_procedure(const QString& name) {
    page("Time");
    auto* procedures = table("Procedures");
    int row = -1;
    ASSERT_TRUE(wait_for([&] {
      for (row = procedures->model()->rowCount() - 1; row >= 0; --row)
        if (procedures->model()->index(row, ProcedureModel::name).data() == name) break;
      return row >= 0;
    }));
    Q_EMIT procedures->activated(procedures->model()->index(row, 0));
    ASSERT_TRUE(wait_for([&] { return listing().view().name == name.toStdString(); }));
  }

  /// Opens a procedure, and waits for its source.
  void open_source(const QString& procedure) {
    open_procedure(procedure);
    ASSERT_TRUE(wait_for([&] { return source().rowCount() > 0; }));
  }

  QString text(int row, SourceModel::Column column) {
    return source().index(row, column).data().toString();
  }

  QCheckBox* source_box() {
    for (auto* box : window_->findChildren<QCheckBox*>())
      if (plain(box->text()) == "source") return box;
    return nullptr;
  }

  bool says(const QString& words) {
    for (const auto* label : window_->findChildren<QLabel*>())
      if (label->isVisible() && label->text().contains(words)) return true;
    return false;
  }

  /// Counts and shares of the lines of a file, as `respike profile annotate` prints them.
  std::map<int, std::pair<QString, QString>> annotated(const QString& file) {
    const QString profile = (world_.folder() / "written.profile").c_str();
    Environment environment(world_.database());
    write_profile(profile.toStdString(), environment.database().profile(image().build->id));
    std::map<int, std::pair<QString, QString>> lines;
    bool inside = false;
    const QRegularExpression line_text(R"(^ *([\d,]+) +([\d.]+%) +(\d+)  )");
    for (const QString& line :
         world_.ok({"profile", "annotate", profile, "--top", "0"}).split('\n')) {
      if (line.contains(" instructions, ")) inside = line.contains(file);
      const auto match = line_text.match(line);
      if (inside && match.hasMatch())
        lines[match.captured(3).toInt()] = {match.captured(1), match.captured(2)};
    }
    return lines;
  }
};

TEST_F(SourceTest, TheSourceHasTheCountsOfTheCommandLine) {
  count({"-g"});
  open_source("sum");
  std::istringstream lines(kSource);
  int row = 0;
  for (std::string line; std::getline(lines, line); ++row) {
    if (line.starts_with('\t')) line = "        " + line.substr(1);
    EXPECT_EQ(text(row, SourceModel::text).toStdString(), line);
  }
  EXPECT_EQ(source().rowCount(), row);
  const auto expected = annotated("loop.c");
  EXPECT_GT(expected.size(), 6u);
  for (const auto& [line, figures] : expected) {
    EXPECT_EQ(text(line - 1, SourceModel::count), figures.first) << line;
    EXPECT_EQ(text(line - 1, SourceModel::share), figures.second) << line;
  }
}

TEST_F(SourceTest, TheSourceFollowsTheListingAndTheListingTheSource) {
  count({"-g"});
  open_source("sum");
  auto* rows = table("Listing");
  EXPECT_FALSE(rows->isColumnHidden(ListingModel::source));
  std::set<std::string> files;
  for (int row = 0; row < listing().rowCount(); ++row) {
    const SourcePlace place = listing().place_of(row);
    rows->setCurrentIndex(listing().index(row, 0));
    if (!place.known()) continue;
    const std::string file = fs::path(listing().sources().files[place.file]).filename();
    files.insert(file);
    const int lines = file == "loop.c" ? 17 : 3;
    ASSERT_TRUE(wait_for([&] { return source().rowCount() == lines; })) << row;
    EXPECT_EQ(table("Source")->currentIndex().row() + 1, int(place.line));
    EXPECT_TRUE(says(QString("%1:%2 in ").arg(file.c_str()).arg(place.line)));
    if (listing().line_at(row) != nullptr) {
      EXPECT_EQ(listing().index(row, ListingModel::source).data().toString().toStdString(),
                file + ":" + std::to_string(place.line));
    }
    // The block's lines are marked, and no others.
    const BlockId block = listing().block_at(row);
    std::set<int> marked, expected;
    for (const SourcePlace& other : listing().sources().places[block])
      if (other.known() && other.file == place.file) expected.insert(int(other.line) - 1);
    for (int i = 0; i < lines; ++i)
      if (source().index(i, 0).data(SourceModel::chosen_role).toBool()) marked.insert(i);
    EXPECT_EQ(marked, expected) << row;
  }
  EXPECT_TRUE(files.contains("loop.c"));
  // Enter on a line goes from one of its instructions to the next.
  rows->setCurrentIndex(listing().index(0, 0));
  ASSERT_TRUE(wait_for([&] { return source().rowCount() == 17; }));
  auto* shown = table("Source");
  const int loop_line = 5;
  std::set<int> visited;
  for (int i = 0; i < 20; ++i) {
    shown->setCurrentIndex(source().index(loop_line - 1, 0));
    QTest::keyClick(shown, Qt::Key_Return);
    const int row = rows->currentIndex().row();
    EXPECT_EQ(int(listing().place_of(row).line), loop_line);
    visited.insert(row);
  }
  int with_line = 0;
  for (int row = 0; row < listing().rowCount(); ++row)
    with_line +=
        listing().line_at(row) != nullptr && int(listing().place_of(row).line) == loop_line;
  EXPECT_EQ(int(visited.size()), with_line);
}

TEST_F(SourceTest, AnOptimizedImageHasTheLinesOfItsOriginal) {
  count({"-g"});
  open_source("sum");
  std::map<std::string, int> before, after;
  const auto lines_of = [&] {
    std::map<std::string, int> lines;
    for (const auto& block : listing().sources().places)
      for (const SourcePlace& place : block) ++lines[place_text(listing().sources(), place)];
    return lines;
  };
  before = lines_of();
  world_.ok({"optimize", "app"});
  manager_->refresh();
  ASSERT_TRUE(wait_for([&] { return image().optimized.has_value(); }));
  auto* version = find<QComboBox>("Version");
  version->setCurrentIndex(1);
  Q_EMIT version->activated(1);
  ASSERT_TRUE(wait_for([&] {
    return listing().rowCount() > 0 && !listing().view().blocks[0].originals.empty() &&
           !listing().sources().empty();
  }));
  after = lines_of();
  for (const auto& [line, instructions] : after)
    EXPECT_TRUE(line.empty() || before.contains(line)) << line;
  EXPECT_TRUE(after.contains("loop.c:8"));
  ASSERT_TRUE(wait_for([&] { return source().rowCount() == 17; }));
  EXPECT_EQ(text(7, SourceModel::count), "1,000");  // the counts of the original
}

TEST_F(SourceTest, WithoutDebugInformationTheControlSaysWhy) {
  count({});
  open_procedure("sum");
  ASSERT_TRUE(wait_for([&] { return source_box()->toolTip().contains("compile with -g"); }));
  EXPECT_FALSE(source_box()->isEnabled());
  EXPECT_FALSE(table("Source")->isVisible());
  EXPECT_TRUE(table("Listing")->isColumnHidden(ListingModel::source));
}

TEST_F(SourceTest, TheSourceCanBeHidden) {
  count({"-g"});
  open_source("sum");
  EXPECT_TRUE(table("Source")->isVisible());
  QTest::keyClick(source_box(), Qt::Key_Space);
  EXPECT_FALSE(table("Source")->isVisible());
  EXPECT_TRUE(window_->close());
  open();
  ASSERT_TRUE(wait_for([&] { return window_->application() == "app"; }));
  open_procedure("sum");
  ASSERT_TRUE(wait_for([&] { return source_box()->isEnabled(); }));
  EXPECT_FALSE(table("Source")->isVisible());
  QTest::keyClick(source_box(), Qt::Key_Space);
  EXPECT_TRUE(wait_for([&] { return table("Source")->isVisible() && source().rowCount() == 17; }));
}

TEST_F(SourceTest, AFolderIsPointedAtOnceAndRemembered) {
  count({"-g"});
  fs::rename(sources(), world_.folder() / "moved");
  open_source("sum");
  EXPECT_TRUE(says("The source is not there"));
  EXPECT_FALSE(find<QAbstractButton>("Open in editor")->isEnabled());
  EXPECT_EQ(text(0, SourceModel::text), "");  // lines by number, with their counts
  EXPECT_EQ(text(source().row_of(8), SourceModel::count), "1,000");
  const auto point_at = [&](const fs::path& folder) {
    press("Folder", [&](QDialog& dialog) {
      dialog.findChild<QLineEdit*>("fileNameEdit")->setText(folder.c_str());
      dialog.accept();
    });
  };
  point_at(world_.folder());
  EXPECT_TRUE(says("has no loop.c"));
  point_at(world_.folder() / "moved");
  ASSERT_TRUE(wait_for([&] { return text(0, SourceModel::text) == "#include <stdio.h>"; }));
  EXPECT_FALSE(says("The source is not there"));
  EXPECT_FALSE(find<QAbstractButton>("Folder")->isEnabled());
  EXPECT_TRUE(window_->close());
  open();
  ASSERT_TRUE(wait_for([&] { return window_->application() == "app"; }));
  open_source("main");
  EXPECT_EQ(text(0, SourceModel::text), "#include <stdio.h>");
  page("Settings");
  auto* places = find<QListWidget>("Folders of sources");
  ASSERT_EQ(places->count(), 1);
  EXPECT_TRUE(places->item(0)->text().endsWith("/moved"));
  places->setCurrentRow(0);
  press("Remove");
  EXPECT_TRUE(read_substitutions().empty());
}

TEST_F(SourceTest, TheEditorIsStartedAtTheLine) {
  count({"-g"});
  const fs::path script = world_.folder() / "my editor", got = world_.folder() / "got";
  write(script, "#!/bin/sh\nprintf '%s\\n' \"$@\" > '" + got.string() + ".new'\nmv '" +
                    got.string() + ".new' '" + got.string() + "'\n");
  fs::permissions(script, fs::perms::owner_all);
  page("Settings");
  auto* editor = find<QLineEdit>("Editor");
  editor->setText(QString("'%1' --at {file}:{line}").arg(script.c_str()));
  Q_EMIT editor->editingFinished();
  open_source("sum");
  const auto expect_started = [&](int line) {
    ASSERT_TRUE(wait_for([&] { return fs::exists(got); }));
    std::ifstream words(got);
    std::string word;
    std::getline(words, word);
    EXPECT_EQ(word, "--at");
    std::getline(words, word);
    EXPECT_EQ(word, (sources() / "loop.c").string() + ":" + std::to_string(line));
    EXPECT_FALSE(std::getline(words, word));
    fs::remove(got);
  };
  table("Source")->setCurrentIndex(source().index(7, 0));
  press("Open in editor");
  expect_started(8);
  table("Source")->setCurrentIndex(source().index(5, 0));
  for (QAction* action : window_->findChildren<QAction*>())
    if (action->shortcut() == QKeySequence("Ctrl+Shift+E")) action->trigger();
  expect_started(6);
}

TEST_F(SourceTest, NamesInDebugInformationOpenNoDevices) {
  count({"-g"});
  const fs::path queue = sources() / "loop.c";  // a compiler accepts any name
  fs::remove(queue);
  ASSERT_EQ(mkfifo(queue.c_str(), 0600), 0);  // opening it waits for ever
  open_source("sum");
  EXPECT_TRUE(says("The source is not there"));
}

/// RESPIKE_GUI_SHOTS: a folder for pictures.
TEST_F(SourceTest, ThereIsRoomInSmallWindowsAndDarkColours) {
  count({"-g"});
  open_source("sum");
  table("Listing")->setCurrentIndex(listing().index(listing().row_of(2), 0));
  const QPalette before = QApplication::palette();
  QPalette dark(QColor(49, 54, 59));
  dark.setColor(QPalette::Base, QColor(27, 30, 32));
  dark.setColor(QPalette::Text, QColor(252, 252, 252));
  for (const QSize size : {QSize(960, 540), QSize(1160, 790), QSize(1900, 1000)})
    for (const bool is_dark : {false, true}) {
      QApplication::setPalette(is_dark ? dark : before);
      window_->resize(size);
      wait(std::chrono::milliseconds(200));
      EXPECT_EQ(window_->width(), size.width());
      EXPECT_EQ(window_->height(), size.height());
      for (const char* name : {"Listing", "Source"}) {
        const QTableView* shown = table(name);
        EXPECT_GE(shown->viewport()->height(), 4 * shown->rowHeight(0)) << name;
      }
      for (const char* name : {"Open in editor", "Folder", "Save as CSV: Source"}) {
        auto* button = find<QAbstractButton>(name);
        EXPECT_GE(button->width(), button->sizeHint().width()) << name;
      }
      if (const QString folder = qEnvironmentVariable("RESPIKE_GUI_SHOTS"); !folder.isEmpty())
        window_->grab().save(
            QString("%1/source-%2%3.png")
                .arg(folder, QString::number(size.width()), is_dark ? "-dark" : ""));
    }
  QApplication::setPalette(before);
  page("Settings");
  add_substitution({"/build/app", "/home/me/app"});
  page("Procedure");
  page("Settings");
  if (const QString folder = qEnvironmentVariable("RESPIKE_GUI_SHOTS"); !folder.isEmpty())
    for (const QSize size : {QSize(960, 540), QSize(1160, 790)}) {
      window_->resize(size);
      wait(std::chrono::milliseconds(200));
      window_->grab().save(QString("%1/settings-%2.png").arg(folder).arg(size.width()));
    }
}

TEST_F(SourceTest, LoopsMapsAndBoxesNameTheirLines) {
  count({"-g"});
  open_source("sum");
  auto* graph = window_->findChild<FlowGraphView*>();
  QString tips;
  for (const QGraphicsItem* item : graph->scene()->items()) tips += item->toolTip();
  EXPECT_TRUE(tips.contains("loop.c:5")) << tips.toStdString();
  page("Time");
  find<QTabWidget>("Views")->setCurrentIndex(1);
  auto* loops = table("Loops");
  ASSERT_TRUE(wait_for([&] { return loops->model()->rowCount() > 0; }));
  EXPECT_FALSE(loops->isColumnHidden(LoopModel::source));
  const QString line = loops->model()->index(0, LoopModel::source).data().toString();
  EXPECT_TRUE(line.startsWith("loop.c:")) << line.toStdString();
  page("Layout");
  for (auto* map : window_->findChildren<LayoutMapView*>()) {
    if (map->accessibleName() != "Map of the original text") continue;
    ASSERT_TRUE(wait_for([&] { return map->map().rows() > 0; }));
    int named = 0;
    for (const LayoutPiece& piece : map->map().view().pieces)
      named += map->map().describe(piece).contains(", loop.c:");
    EXPECT_GT(named, 5);
  }
}

}  // namespace
}  // namespace respike::gui
