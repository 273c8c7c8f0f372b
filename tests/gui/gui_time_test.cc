// The page "Time" and the report, on programs that were counted by the command line.

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QLabel>
#include <QLineEdit>
#include <QSignalSpy>
#include <QStackedWidget>
#include <QTabWidget>
#include <QTableView>
#include <QTest>

#include <gtest/gtest.h>

#include "gui/models/calls_model.h"
#include "gui/models/character_model.h"
#include "gui/models/loop_model.h"
#include "gui/pages/time_page.h"
#include "gui/pictures/figure.h"
#include "gui/pictures/report.h"
#include "tests/gui/support.h"

namespace respike::gui {
namespace {

/// A page for the application "app", whose runs were counted.
class TimeTest : public testing::Test {
 protected:
  void count(const std::string& program) {
    path_ = world_.copy(program);
    world_.ok({"register", path_, "--name", "app"});
    world_.ok({"instrument", "app"});
    world_.respike({"run", "app"});
  }

  void open(const QString& view) {
    if (page_ == nullptr) {
      manager_ = std::make_unique<Manager>(world_.database());
      page_ = std::make_unique<TimePage>(*manager_, std::make_shared<CodeCache>());
      page_->choose("app");
      page_->resize(1100, 700);
      page_->show();
      ASSERT_TRUE(QTest::qWaitForWindowExposed(page_.get()));
      ASSERT_TRUE(wait_for([&] { return manager_->application("app") != nullptr; }));
    }
    auto* tabs = page_->findChild<QTabWidget*>();
    for (int i = 0; i < tabs->count(); ++i)
      if (tabs->tabText(i) == view) return tabs->setCurrentIndex(i);
    FAIL() << "there is no view " << view.toStdString();
  }

  /// The table of a name, once it shows rows.
  QTableView* table(const QString& name) {
    QTableView* found = nullptr;
    const auto filled = [&] {
      for (auto* view : page_->findChildren<QTableView*>())
        if (view->accessibleName() == name && view->isVisible() && view->model()->rowCount() != 0)
          found = view;
      return found != nullptr;
    };
    EXPECT_TRUE(wait_for(filled)) << "nothing in " << name.toStdString();
    return found;
  }

  static QString cell(const QTableView* table, int row, int column) {
    return table->model()->index(row, column).data().toString();
  }

  World world_;
  QString path_;
  std::unique_ptr<Manager> manager_;
  std::unique_ptr<TimePage> page_;
};

TEST_F(TimeTest, WithoutCountsEachViewSaysWhatToDo) {
  world_.ok({"register", world_.copy("calls.dynamic"), "--name", "app"});
  for (const char* view : {"Procedures", "Character", "Loops"}) {
    open(view);
    EXPECT_TRUE(wait_for([&] {
      return std::ranges::any_of(page_->findChildren<QLabel*>(), [](const QLabel* label) {
        return label->isVisible() && label->text().contains("Nothing was counted yet");
      });
    })) << view;
  }
}

TEST_F(TimeTest, TheCharacterIsThatOfTheProfile) {
  count("interpreter.dynamic");
  open("Character");
  auto* numbers = table("Numbers of the figures");
  Environment environment(world_.database());
  CodeCache cache;
  const Characteristics expected = read_characteristics(environment, cache, "app", {});
  ASSERT_GT(expected.executed, 1000u);
  CharacterModel model;
  const QAbstractItemModelTester tester(&model,
                                        QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.set(expected);
  ASSERT_EQ(numbers->model()->rowCount(), model.rowCount());
  for (int row = 0; row < model.rowCount(); ++row)
    for (int column = 0; column < model.columnCount(); ++column)
      EXPECT_EQ(cell(numbers, row, column), model.index(row, column).data().toString());
  const auto pictures = page_->findChildren<FigureWidget*>();
  ASSERT_EQ(pictures.size(), 3);
  EXPECT_EQ(pictures.front()->accessibleDescription().toStdString(), trip_count_text(expected));
}

TEST_F(TimeTest, CountsThatGrowAreShown) {
  count("calls.dynamic");
  open("Procedures");
  auto* procedures = table("Procedures");
  const QString before = cell(procedures, 0, ProcedureModel::instructions);
  world_.respike({"run", "app"});
  EXPECT_TRUE(
      wait_for([&] { return cell(procedures, 0, ProcedureModel::instructions) != before; }));
}

TEST_F(TimeTest, EnterShowsTheProcedure) {
  count("calls.dynamic");
  open("Procedures");
  auto* procedures = table("Procedures");
  QSignalSpy wanted(page_.get(), &TimePage::procedure_wanted);
  procedures->setCurrentIndex(procedures->model()->index(0, 0));
  QTest::keyClick(procedures, Qt::Key_Return);
  ASSERT_EQ(wanted.count(), 1);
  EXPECT_EQ(wanted[0][1].toString(), cell(procedures, 0, ProcedureModel::name));
}

TEST_F(TimeTest, CallsAreFollowedBothWays) {
  count("calls.dynamic");
  open("Procedures");
  auto* procedures = table("Procedures");
  const auto row_of = [&](const QString& name) {
    for (int row = 0; row < procedures->model()->rowCount(); ++row)
      if (cell(procedures, row, ProcedureModel::name) == name) return row;
    return -1;
  };
  const auto chosen = [&] {
    return cell(procedures, procedures->currentIndex().row(), ProcedureModel::name);
  };
  procedures->setCurrentIndex(procedures->model()->index(row_of("main"), 0));
  auto* callees = table("Callees");
  int row = 0;
  while (callees->model()->index(row, 0).data(CallsModel::row_role).toInt() < 0) ++row;
  const QString calls = cell(callees, row, CallsModel::count),
                callee = cell(callees, row, CallsModel::name);
  callees->setCurrentIndex(callees->model()->index(row, 0));
  QTest::keyClick(callees, Qt::Key_Return);
  EXPECT_EQ(chosen(), callee);
  auto* callers = table("Callers");
  row = 0;
  while (row < callers->model()->rowCount() && cell(callers, row, CallsModel::name) != "main")
    ++row;
  EXPECT_EQ(cell(callers, row, CallsModel::count), calls);
  page_->findChild<QLineEdit*>()->setText(callee);  // leaves main out
  callers->setCurrentIndex(callers->model()->index(row, 0));
  QTest::keyClick(callers, Qt::Key_Return);
  EXPECT_EQ(chosen(), "main");
}

TEST_F(TimeTest, LoopsLeadToTheirBlocks) {
  count("interpreter.dynamic");
  open("Loops");
  auto* loops = table("Loops");
  Environment environment(world_.database());
  CodeCache cache;
  LoopModel model;
  const QAbstractItemModelTester tester(&model,
                                        QAbstractItemModelTester::FailureReportingMode::Fatal);
  model.set(read_loops(environment, cache, "app", {}));
  ASSERT_GT(model.rowCount(), 3);
  EXPECT_EQ(loops->model()->rowCount(), model.rowCount());
  QSignalSpy wanted(page_.get(), &TimePage::procedure_wanted);
  loops->setCurrentIndex(loops->model()->index(0, 0));
  QTest::keyClick(loops, Qt::Key_Return);
  ASSERT_EQ(wanted.count(), 1);
  EXPECT_EQ(wanted[0][1].toString(), cell(loops, 0, LoopModel::procedure));
  const uint64_t block = wanted[0][3].toULongLong();
  EXPECT_EQ(QString::number(block, 16), cell(loops, 0, LoopModel::address));
  const ProcedureAnswer answer =
      cache.ask(environment, {.application = "app",
                              .image = path_.toStdString(),
                              .name = wanted[0][1].toString().toStdString(),
                              .address = wanted[0][2].toULongLong()});
  EXPECT_TRUE(std::ranges::any_of(answer.view.blocks, [&](const CodeBlock& shown) {
    return shown.address == block && shown.count > 0;
  }));
  for (int column = 0; column < model.columnCount(); ++column)
    loops->sortByColumn(column, Qt::AscendingOrder);
}

TEST(CallsModelTest, ShowsWhatIsCertainFirst) {
  TimeData times;
  for (const char* name : {"main", "sort", "less"}) times.rows.emplace_back().name = name;
  times.calls = {{0, 1, 1000, 2, false},
                 {1, 2, 9000, 1, true},
                 {1, kNone, 50, 1, false},
                 {kNone, 2, 8000, 0, false},
                 {2, 1, 3000, 1, false}};
  CallsModel callers(Direction::callers), callees(Direction::callees);
  const QAbstractItemModelTester first(&callers,
                                       QAbstractItemModelTester::FailureReportingMode::Fatal);
  const QAbstractItemModelTester second(&callees,
                                        QAbstractItemModelTester::FailureReportingMode::Fatal);
  callers.set(times.rows, times.calls, 1);
  EXPECT_EQ(csv_of(callers).section("\r\n", 1),
            "\"3,000\",75.00%,1,less\r\n\"1,000\",25.00%,2,main\r\n");
  callees.set(times.rows, times.calls, 1);
  EXPECT_EQ(csv_of(callees).section("\r\n", 1),
            "50,100.00%,1,\"another image, or through a pointer\"\r\n"
            "\"at most 9,000\",,1,less (a pointer)\r\n");
  callers.set(times.rows, times.calls, 2);
  EXPECT_EQ(callers.rowCount(), 2);
  callers.clear();
  EXPECT_EQ(callers.rowCount(), 0);
}

// ---- the report ----

TEST_F(TimeTest, TheReportHasFiguresWithTextsAndNoScripts) {
  count("interpreter.dynamic");
  Environment environment(world_.database());
  const ReportData data = read_report(environment, "app");
  const QString page = QString::fromUtf8(make_report(data));
  for (const Figure& figure : character_figures(data.character)) {
    EXPECT_TRUE(page.contains("<strong>" + figure.title + "</strong>"));
    EXPECT_TRUE(page.contains("<svg role=\"img\" aria-label=\"" + figure.title));
    EXPECT_TRUE(page.contains(figure.text));
  }
  const TouchedCode& touched = data.layouts.before.touched;
  ASSERT_GT(touched.pages, 0u);
  EXPECT_TRUE(page.contains("Layout of <code>interpreter.dynamic"));
  EXPECT_TRUE(page.contains(QString("Something runs in %1 pages of").arg(touched.pages)));
  EXPECT_FALSE(page.contains("of the optimized image"));  // there is none
  EXPECT_EQ(page.count("<svg"), page.count("role=\"img\""));
  EXPECT_FALSE(page.contains("<script"));
}

}  // namespace
}  // namespace respike::gui
