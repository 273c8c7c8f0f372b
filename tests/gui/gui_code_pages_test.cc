// The pages that show code: Time, Procedure, Layout, Images. Oracle: the answers of the code cache,
// and the contents of the page before another choice.

#include <QComboBox>
#include <QFile>
#include <QHeaderView>
#include <QLabel>
#include <QScrollBar>
#include <QTreeView>

#include <algorithm>
#include <fstream>

#include "gui/models/code_cache.h"
#include "gui/models/listing_model.h"
#include "gui/models/procedure_model.h"
#include "gui/pictures/layout_picture.h"
#include "tests/gui/window_test.h"

namespace respike::gui {
namespace {

namespace fs = std::filesystem;

class CodePagesTest : public WindowTest {
 protected:
  /// Registers a program by the command line, and counts a run of it.
  void count(const QString& program, const QString& name, const QStringList& arguments = {}) {
    world_.ok({"register", program, "--name", name});
    world_.ok({"instrument", name});
    EXPECT_LT(world_.respike(QStringList{"run", name} + arguments).status, 120);
    world_.ok({"collect"});
    manager_->refresh();
    const auto counted = [&] {
      const ApplicationView* view = manager_->application(name);
      return view != nullptr && view->images.front().profile.runs > 0;
    };
    ASSERT_TRUE(wait_for(counted));
    window_->choose(name);
    ASSERT_EQ(window_->application(), name);
  }

  QTableView* table(const QString& name) {
    for (auto* found : window_->findChildren<QTableView*>())
      if (found->accessibleName() == name) return found;
    return nullptr;
  }

  static QString cell(const QTableView* table, int row, int column) {
    return table->model()->index(row, column).data().toString();
  }

  static int row_of(const QTableView* table, int column, const QString& text) {
    for (int row = 0; row < table->model()->rowCount(); ++row)
      if (cell(table, row, column) == text) return row;
    return -1;
  }

  /// Whether a label that is visible holds a text.
  bool says(const QString& text) {
    return std::ranges::any_of(window_->findChildren<QLabel*>(), [&](const QLabel* label) {
      return label->isVisible() && label->text().contains(text);
    });
  }

  void open_procedure(const QString& name) {
    page("Time");
    auto* procedures = table("Procedures");
    ASSERT_TRUE(wait_for([&] { return row_of(procedures, ProcedureModel::name, name) >= 0; }));
    Q_EMIT procedures->activated(
        procedures->model()->index(row_of(procedures, ProcedureModel::name, name), 0));
  }

  bool is_shown(const QString& procedure) {
    return wait_for([&] { return says("<b>" + procedure + "</b> at "); });
  }

  /// A program with two procedures `helper`: one prints "first" and calls the other's file.
  QString build_twins() {
    const fs::path folder = world_.folder();
    std::ofstream(folder / "one.c") << R"(
#include <stdio.h>
void second(int);
static __attribute__((noinline)) void helper(int n) { printf("first %d\n", n); }
int main(void) {
  for (int i = 0; i < 3; i++) { helper(i); second(i); }
  return 0;
}
)";
    std::ofstream(folder / "two.c") << R"(
#include <stdio.h>
static __attribute__((noinline)) int helper(int n) {
  int sum = 0;
  for (int i = 0; i < 100 + n; i++) sum = sum * 3 + i;
  return sum;
}
void second(int n) { printf("second %d\n", helper(n)); }
)";
    const QString image = (folder / "twins").c_str();
    const auto built = run_command(
        "alpha-linux-gnu-gcc", {"-O1", "-fno-unroll-loops", "-Wl,-q", (folder / "one.c").c_str(),
                                (folder / "two.c").c_str(), "-o", image});
    EXPECT_EQ(built.status, 0) << built.errors.toStdString();
    return image;
  }

  /// Chooses and follows the first line of the listing that names `target`.
  void follow(const QString& target) {
    auto* listing = table("Listing");
    const int row = row_of(listing, ListingModel::target, target);
    ASSERT_GE(row, 0) << target.toStdString();
    listing->setCurrentIndex(listing->model()->index(row, 0));
    QTest::keyClick(listing, Qt::Key_Return);
  }
};

// ---- Procedure ----

TEST_F(CodePagesTest, AnAnswerForTheApplicationBeforeIsDropped) {
  count(world_.copy("interpreter.dynamic"), "one");
  count(world_.copy("calls.dynamic"), "other");
  window_->choose("one");
  open_procedure("main");
  window_->choose("other");
  // The hottest procedure of the other application, and nothing of the one before.
  ASSERT_TRUE(wait_for([&] { return table("Listing")->model()->rowCount() > 0; }));
  wait(std::chrono::milliseconds(1500));
  page("Time");
  const QAbstractItemModel& rows = *table("Procedures")->model();
  ASSERT_TRUE(wait_for([&] { return rows.rowCount() > 0; }));
  const QString hottest = rows.index(0, ProcedureModel::name).data().toString();
  page("Procedure");
  EXPECT_TRUE(says("<b>" + hottest + "</b> at ")) << hottest.toStdString();
}

TEST_F(CodePagesTest, OpensWithTheHottestProcedure) {
  count(world_.copy("calls.dynamic"), "app");
  page("Time");
  ASSERT_TRUE(wait_for([&] { return table("Procedures")->model()->rowCount() > 0; }));
  const QAbstractItemModel& rows = *table("Procedures")->model();
  const QString hottest = rows.index(0, ProcedureModel::name).data().toString();
  page("Procedure");
  EXPECT_TRUE(is_shown(hottest)) << hottest.toStdString();
}

TEST_F(CodePagesTest, CallsLeadToTheProcedureThatIsCalled) {
  count(build_twins(), "app");
  open_procedure("second");
  ASSERT_TRUE(is_shown("second"));
  follow("helper");
  ASSERT_TRUE(is_shown("helper"));
  const auto& listing = static_cast<const ListingModel&>(*table("Listing")->model());
  EXPECT_GT(listing.view().blocks.size(), 2u);  // the one with a loop
  press("Back");
  EXPECT_TRUE(is_shown("second"));
}

TEST_F(CodePagesTest, BranchesLeadToTheirBlocks) {
  count(world_.copy("interpreter.dynamic"), "app");
  open_procedure("main");
  ASSERT_TRUE(is_shown("main"));
  auto* listing = table("Listing");
  const auto& model = static_cast<const ListingModel&>(*listing->model());
  int row = 0;
  while (row < model.rowCount() && !(model.line_at(row) != nullptr && model.line_at(row)->place &&
                                     model.line_at(row)->place->block != kNone))
    ++row;
  ASSERT_LT(row, model.rowCount());
  const BlockId block = model.line_at(row)->place->block;
  listing->setCurrentIndex(model.index(row, 0));
  QTest::keyClick(listing, Qt::Key_Return);
  EXPECT_EQ(model.block_at(listing->currentIndex().row()), block);
  EXPECT_FALSE(find<QAbstractButton>("Back")->isEnabled());  // the page stays
}

TEST_F(CodePagesTest, WhatIsStruckOutIsNoProcedure) {
  count(world_.copy("lua.dynamic"), "app", {"-e", "for i=1,99 do string.format('%d', i) end"});
  world_.ok({"optimize", "app"});
  manager_->refresh();
  ASSERT_TRUE(wait_for([&] { return image().optimized.has_value(); }));
  Environment environment(world_.database());
  CodeCache cache;
  // A procedure from which hot-cold optimization removed code.
  QString split;
  for (const ProcedureRow& row : read_times(environment, "app", {}).rows) {
    if (row.instructions == 0) break;
    const auto answer = cache.ask_changes(environment, {.application = "app",
                                                        .image = row.image_path,
                                                        .name = row.name.toStdString(),
                                                        .address = row.address});
    if (answer.view.taken_out.empty()) continue;
    split = row.name;
    break;
  }
  ASSERT_FALSE(split.isEmpty());
  open_procedure(split);
  ASSERT_TRUE(is_shown(split));
  auto* listing = table("Listing");
  const auto struck_out = [&] {
    for (int row = 0; row < listing->model()->rowCount(); ++row)
      if (cell(listing, row, ListingModel::target).startsWith("taken out")) return row;
    return -1;
  };
  ASSERT_TRUE(wait_for([&] { return struck_out() >= 0; }));
  Q_EMIT listing->activated(listing->model()->index(struck_out(), 0));
  wait(std::chrono::milliseconds(500));
  EXPECT_TRUE(says("<b>" + split + "</b> at "));
  auto* version = find<QComboBox>("Version");
  version->setCurrentIndex(1);
  Q_EMIT version->activated(1);
  ASSERT_TRUE(wait_for([&] { return cell(listing, 0, ListingModel::text).contains("was "); }));
}

TEST_F(CodePagesTest, AFailureIsTriedAgain) {
  const QString program = world_.copy("calls.dynamic");
  count(program, "app");
  open_procedure("main");
  ASSERT_TRUE(is_shown("main"));
  page("Applications");
  ASSERT_TRUE(QFile::rename(program, program + ".away"));
  ASSERT_TRUE(wait_for([&] { return !image().problem.empty(); }));
  const QString problem = QString::fromStdString(image().problem);
  for (const char* title : {"Procedure", "Layout"}) {
    page(title);
    EXPECT_TRUE(wait_for([&] { return says(problem); })) << title;
  }
  page("Procedure");
  ASSERT_TRUE(QFile::rename(program + ".away", program));
  EXPECT_TRUE(is_shown("main"));
}

// ---- Time ----

TEST_F(CodePagesTest, NewCountsLeaveFilterAndPlaceAlone) {
  count(world_.copy("sqlite3.dynamic"), "app", {"-batch", ":memory:", "SELECT 1;"});
  page("Time");
  auto* procedures = table("Procedures");
  ASSERT_TRUE(wait_for([&] { return procedures->model()->rowCount() > 100; }));
  const QString chosen = cell(procedures, 0, ProcedureModel::name);
  EXPECT_EQ(procedures->currentIndex().row(), 0);
  procedures->verticalScrollBar()->setValue(50);
  const auto run_again = [&] {
    const QString counts = csv_of(*procedures->model());
    EXPECT_EQ(world_.respike({"run", "app", "-batch", ":memory:", "SELECT 2;"}).status, 0);
    EXPECT_TRUE(wait_for([&] { return csv_of(*procedures->model()) != counts; }));
  };
  run_again();
  EXPECT_EQ(procedures->verticalScrollBar()->value(), 50);
  EXPECT_EQ(cell(procedures, procedures->currentIndex().row(), ProcedureModel::name), chosen);
  auto* find_line = find<QLineEdit>("Find a procedure");
  find_line->setText("Malloc");
  run_again();
  EXPECT_EQ(find_line->text(), "Malloc");
  EXPECT_NE(cell(procedures, 0, ProcedureModel::name), chosen);
}

TEST_F(CodePagesTest, RowsOfAnotherApplicationGoAtOnce) {
  count(world_.copy("calls.dynamic"), "one");
  count(world_.copy("interpreter.dynamic"), "other");
  page("Time");
  auto* procedures = table("Procedures");
  ASSERT_TRUE(wait_for([&] { return procedures->model()->rowCount() > 3; }));
  window_->choose("one");
  EXPECT_EQ(procedures->model()->rowCount(), 0);
  ASSERT_TRUE(wait_for([&] { return procedures->model()->rowCount() > 3; }));
}

// ---- Layout ----

TEST_F(CodePagesTest, MapsOfAnotherApplicationGoAtOnce) {
  count(world_.copy("calls.dynamic"), "one");
  count(build_twins(), "other");
  window_->choose("one");
  page("Layout");
  LayoutMapView* map = nullptr;
  for (auto* found : window_->findChildren<LayoutMapView*>())
    if (found->accessibleName() == "Map of the original text") map = found;
  ASSERT_TRUE(map != nullptr);
  ASSERT_TRUE(wait_for([&] { return map->map().rows() > 0; }));
  window_->choose("other");
  EXPECT_EQ(map->map().rows(), 0);
  ASSERT_TRUE(wait_for([&] { return map->map().rows() > 0; }));
  // Of two procedures with one name the one in the map is shown.
  const LayoutView& view = map->map().view();
  const LayoutPiece* last = nullptr;
  for (const LayoutPiece& piece : view.pieces)
    if (view.procedures[piece.procedure] == "helper") last = &piece;
  ASSERT_TRUE(last != nullptr);
  Q_EMIT map->piece_wanted(*last);
  ASSERT_TRUE(is_shown("helper"));
  EXPECT_TRUE(says(QString::number(view.addresses[last->procedure], 16)));
}

}  // namespace
}  // namespace respike::gui
