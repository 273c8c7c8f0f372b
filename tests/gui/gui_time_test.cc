// The page "Where time goes" and the report, on programs that were counted by the command line.

#include <QAbstractItemModelTester>
#include <QApplication>
#include <QLabel>
#include <QSignalSpy>
#include <QStackedWidget>
#include <QTabWidget>
#include <QTableView>
#include <QTest>

#include <gtest/gtest.h>

#include "gui/models/character_model.h"
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
  for (const char* view : {"Procedures", "Character"}) {
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
  EXPECT_EQ(page.count("<svg"), page.count("role=\"img\""));
  EXPECT_FALSE(page.contains("<script"));
}

}  // namespace
}  // namespace respike::gui

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  return respike::gui::run_tests(argc, argv, [&] {
    const QApplication application(argc, argv);
    return RUN_ALL_TESTS();
  });
}
