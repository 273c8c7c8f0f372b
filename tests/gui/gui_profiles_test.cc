// The page "Profiles", on programs that were counted by the command line. Oracle: the command line,
// `respike profile show --json`, `merge` and `match --json`.

#include <QAbstractItemModelTester>
#include <QComboBox>
#include <QDoubleSpinBox>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QJsonObject>
#include <QLabel>
#include <QMessageBox>

#include "gui/models/profile_tables.h"
#include "gui/pages/profile_views.h"
#include "gui/pages/profiles_page.h"
#include "gui/pictures/figure.h"
#include "optimizer/base/number_text.h"
#include "tests/gui/window_test.h"

namespace respike::gui {
namespace {

// ---- models ----

TEST(CellModelTest, NumbersAreSortedByValueAndChangesBySize) {
  static constexpr TableModel::Title kTitles[] = {{"Change", ""}, {"Name", ""}};
  CellModel model(kTitles);
  const QAbstractItemModelTester tester(&model,
                                        QAbstractItemModelTester::FailureReportingMode::Fatal);
  QSortFilterProxyModel sorted;
  const QAbstractItemModelTester sorted_tester(
      &sorted, QAbstractItemModelTester::FailureReportingMode::Fatal);
  sorted.setSourceModel(&model);
  sorted.setSortRole(CellModel::sort_role);
  auto rows = std::make_shared<CellRows>();
  rows->push_back({change_cell(20), text_cell("b")});
  rows->push_back({change_cell(-3000), text_cell("a")});
  rows->push_back({change_cell(0), text_cell("c")});
  model.set(rows);
  const auto shown = [&](int row, int column) {
    return sorted.index(row, column).data().toString();
  };
  sorted.sort(0, Qt::DescendingOrder);
  EXPECT_EQ(shown(0, 0), "-3,000");
  EXPECT_EQ(shown(1, 0), "+20");
  EXPECT_EQ(shown(2, 0), "0");
  sorted.sort(1);
  EXPECT_EQ(shown(0, 1), "a");
  model.set(std::make_shared<CellRows>());
  EXPECT_EQ(sorted.rowCount(), 0);
}

TEST(CellModelTest, FormsAreThoseOfTheCommandLine) {
  static constexpr TableModel::Title kTitles[] = {{"", ""}, {"", ""}, {"", ""}, {"", ""}, {"", ""}};
  CellModel model(kTitles);
  auto rows = std::make_shared<CellRows>();
  rows->push_back({count_cell(1234567), share_cell(0.12345), address_cell(0x120000440),
                   hash_cell(0xabc), points_cell(-0.000001)});
  model.set(rows);
  const char* expected[] = {"1,234,567", "12.35%", "120000440", "0000000000000abc", "0.00"};
  for (int column = 0; column < 5; ++column)
    EXPECT_EQ(model.index(0, column).data().toString(), expected[column]);
}

// ---- the page ----

class ProfilesTest : public WindowTest {
 protected:
  QString path(const char* name) const { return (world_.folder() / name).c_str(); }

  /// Registers a program whose file is `program`, and counts a run.
  void count(const std::string& program) {
    const QString file = world_.copy(program, "app");
    world_.ok({"register", file, "--name", "app"});
    count_again();
    page("Profiles");
    ASSERT_TRUE(wait_for([&] { return rows("Profiles") > 0; }));
  }
  void count_again() {
    world_.ok({"instrument", "app"});
    world_.respike({"run", "app"});
  }
  /// Puts another program in place of the file: a new build.
  void rebuild(const std::string& program) {
    const QString other = world_.copy(program, "other");
    std::filesystem::rename(other.toStdString(), world_.folder() / "app");
    world_.ok({"list"});
  }

  QTableView* table(const QString& name) {
    for (auto* view : window_->findChildren<QTableView*>())
      if (view->accessibleName() == name) return view;
    ADD_FAILURE() << "there is no table " << name.toStdString();
    return nullptr;
  }
  int rows(const QString& name) { return table(name)->model()->rowCount(); }
  QString cell(const QString& name, int row, int column) {
    return table(name)->model()->index(row, column).data().toString();
  }
  void choose_rows(int first, int last) {
    auto* view = table("Profiles");
    view->selectionModel()->select(
        QItemSelection(view->model()->index(first, 0), view->model()->index(last, 0)),
        QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  }
  void view(const QString& title) {
    auto* tabs = find<QTabWidget>("Views of profiles");
    for (int i = 0; i < tabs->count(); ++i)
      if (tabs->tabText(i) == title) tabs->setCurrentIndex(i);
  }
  bool says(const QString& text) {
    return std::ranges::any_of(window_->findChildren<QLabel*>(), [&](const QLabel* label) {
      return label->isVisible() && label->text().contains(text);
    });
  }

  /// Writes the chosen profile to a file.
  void write(const QString& file) {
    press("Merge", [&](QDialog& dialog) {
      find<QLineEdit>("Profile to write", &dialog)->setText(file);
      accept(dialog);
    });
  }
  QJsonObject json(const QStringList& words) {
    return QJsonDocument::fromJson(world_.ok(words).toUtf8()).object();
  }
  ProfilesPage& profiles() { return *window_->findChild<ProfilesPage*>(); }
};

QString number(const QJsonValue& value) {
  return QString::fromStdString(grouped(uint64_t(value.toDouble())));
}
QString hex(const QJsonValue& value) {
  return QString::number(value.toInteger(), 16);
}

TEST_F(ProfilesTest, WithoutCountsThePageSaysWhatToDo) {
  page("Profiles");
  EXPECT_TRUE(wait_for([&] { return says("Choose an application above"); }));
  register_by_command(world_.copy("calls.dynamic"), "app");
  EXPECT_TRUE(wait_for([&] { return says("Nothing of this application was counted yet"); }));
}

TEST_F(ProfilesTest, ShowsEveryNumberOfTheCommandLine) {
  count("calls.dynamic");
  write(path("one"));
  ASSERT_EQ(end_of(1), Task::State::done);
  ASSERT_TRUE(wait_for([&] { return rows("Profiles") == 2; }));
  const QJsonObject profile = json({"profile", "show", path("one"), "--json"});
  ASSERT_TRUE(wait_for([&] { return says(profile["hash"].toString()); }));
  EXPECT_TRUE(says(profile["image"].toString()));
  EXPECT_TRUE(says("Runs: 1."));
  const QString name = "Procedures of the profile";
  const QJsonArray procedures = profile["procedures"].toArray();
  ASSERT_GT(procedures.size(), 10);
  ASSERT_EQ(rows(name), procedures.size());
  for (int row = 0; row < rows(name); ++row) {
    const QJsonObject procedure = procedures[row].toObject();
    EXPECT_EQ(cell(name, row, 1), number(procedure["instructions"]));
    EXPECT_EQ(cell(name, row, 2), number(procedure["entries"]));
    EXPECT_EQ(cell(name, row, 3), procedure["exact"].toBool() ? "yes" : "no");
    EXPECT_EQ(cell(name, row, 5), hex(procedure["address"]));
    EXPECT_EQ(cell(name, row, 6), procedure["signature"].toString());
    EXPECT_EQ(cell(name, row, 7), procedure["name"].toString());
    table(name)->setCurrentIndex(table(name)->model()->index(row, 0));
    const QJsonArray blocks = procedure["blocks"].toArray();
    ASSERT_EQ(rows("Blocks of the procedure"), blocks.size());
    for (int b = 0; b < blocks.size(); ++b) {
      const char* fields[] = {"address", "size", "instructions", "count"};
      for (int i = 0; i < 4; ++i) {
        const QJsonValue value = blocks[b].toObject()[fields[i]];
        EXPECT_EQ(cell("Blocks of the procedure", b, 1 + i), i == 0 ? hex(value) : number(value));
      }
    }
    int way = 0;
    const auto expect_ways = [&](const char* list, const char* to, const char* often) {
      for (const QJsonValue entry : procedure[list].toArray()) {
        const QJsonObject fields = entry.toObject();
        EXPECT_EQ(cell("Edges and calls of the procedure", way, 1), hex(fields["from"]));
        EXPECT_EQ(cell("Edges and calls of the procedure", way, 2), hex(fields[to]));
        EXPECT_EQ(cell("Edges and calls of the procedure", way, 3), number(fields[often]));
        if (fields.contains("kind")) {
          EXPECT_EQ(cell("Edges and calls of the procedure", way, 0), fields["kind"].toString());
        }
        ++way;
      }
    };
    expect_ways("edges", "to", "count");
    expect_ways("calls", "callee", "count");
    expect_ways("indirect", "target", "changes");
    ASSERT_EQ(rows("Edges and calls of the procedure"), way);
  }
}

TEST_F(ProfilesTest, MergesWithWeightsAsTheCommandLineDoes) {
  count("calls.dynamic");
  write(path("one"));
  ASSERT_EQ(end_of(1), Task::State::done);
  ASSERT_TRUE(wait_for([&] { return rows("Profiles") == 2; }));
  world_.ok({"profile", "merge", path("one") + ":2.5", "-o", path("two")});
  profiles().open_files({path("two")});
  ASSERT_TRUE(wait_for([&] { return rows("Profiles") == 3; }));
  choose_rows(1, 2);
  press("Merge", [&](QDialog& dialog) {
    find<QDoubleSpinBox>("Weight of one", &dialog)->setValue(3);
    find<QDoubleSpinBox>("Weight of two", &dialog)->setValue(0.5);
    find<QLineEdit>("Profile to write", &dialog)->setText(path("merged"));
    accept(dialog);
  });
  ASSERT_EQ(end_of(2), Task::State::done);
  world_.ok({"profile", "merge", path("one") + ":3", path("two") + ":0.5", "-o", path("expected")});
  const auto bytes = [](const QString& file) {
    QFile opened(file);
    EXPECT_TRUE(opened.open(QIODevice::ReadOnly));
    return opened.readAll();
  };
  EXPECT_EQ(bytes(path("merged")), bytes(path("expected")));
  EXPECT_TRUE(wait_for([&] { return rows("Profiles") == 4; }));
  EXPECT_TRUE(commands().contains("profile merge " + path("one") + ":3 " + path("two") +
                                  ":0.5 -o " + path("merged")));
}

TEST_F(ProfilesTest, AFileIsReplacedOnlyWhenTheUserSaysSo) {
  count("calls.dynamic");
  QFile kept(path("kept"));
  ASSERT_TRUE(kept.open(QIODevice::ReadWrite) && kept.write("mine") == 4 && kept.flush());
  for (const auto answer : {QMessageBox::No, QMessageBox::Yes}) {
    QTimer timer;
    QObject::connect(&timer, &QTimer::timeout, &timer, [&] {
      if (auto* box = qobject_cast<QMessageBox*>(QApplication::activeModalWidget())) {
        EXPECT_TRUE(box->text().contains("Replace it?"));
        timer.stop();
        QTest::mouseClick(box->button(answer), Qt::LeftButton);
      }
    });
    timer.start(10);
    press("Merge", [&](QDialog& dialog) {
      find<QLineEdit>("Profile to write", &dialog)->setText(path("kept"));
      accept(dialog);
      if (dialog.isVisible()) dialog.reject();
    });
    if (answer == QMessageBox::No) {
      kept.seek(0);
      EXPECT_EQ(kept.readAll(), "mine");
    }
  }
  ASSERT_EQ(end_of(1), Task::State::done);
  EXPECT_EQ(json({"profile", "show", path("kept"), "--json"})["runs"].toDouble(), 1);
}

TEST_F(ProfilesTest, MatchesAsTheCommandLineDoes) {
  count("calls.dynamic");
  write(path("one"));
  ASSERT_EQ(end_of(1), Task::State::done);
  const QString newer = world_.copy("calls.pie");
  ASSERT_TRUE(wait_for([&] { return rows("Profiles") == 2; }));
  press("Match", [&](QDialog& dialog) {
    find<QComboBox>("Image", &dialog)->setEditText(newer);
    find<QLineEdit>("Profile to write", &dialog)->setText(path("carried"));
    accept(dialog);
  });
  ASSERT_EQ(end_of(2), Task::State::done);
  const QJsonObject expected =
      json({"profile", "match", path("one"), newer, "-o", path("expected"), "--json"});
  EXPECT_EQ(json({"profile", "show", path("carried"), "--json"}),
            json({"profile", "show", path("expected"), "--json"}));
  const QJsonArray list = expected["procedure_list"].toArray();
  ASSERT_TRUE(wait_for([&] { return rows("Losses") == list.size(); }));
  EXPECT_TRUE(
      says(QString("%1 of %2 procedures matched")
               .arg(number(expected["matched_procedures"]), number(expected["procedures"]))));
  EXPECT_TRUE(says(QString("%1 of %2, with")
                       .arg(number(expected["matched_executed_procedures"]),
                            number(expected["executed_procedures"]))));
  for (int row = 0; row < list.size(); ++row) {
    const QJsonObject loss = list[row].toObject();
    EXPECT_EQ(cell("Losses", row, 2), number(loss["instructions"]));
    EXPECT_EQ(cell("Losses", row, 3),
              QString::fromStdString(percent(loss["confidence"].toDouble(), 1)));
    EXPECT_EQ(cell("Losses", row, 4), loss["reason"].toString());
    EXPECT_EQ(cell("Losses", row, 5), hex(loss["address"]));
    EXPECT_EQ(cell("Losses", row, 7), loss["name"].toString());
    EXPECT_EQ(cell("Losses", row, 8), loss["new_name"].toString());
  }
  EXPECT_TRUE(commands().contains("profile match " + path("one")));
}

TEST_F(ProfilesTest, AProfileOfAnotherProgramIsRefusedAsByTheCommandLine) {
  count("calls.dynamic");
  write(path("one"));
  ASSERT_EQ(end_of(1), Task::State::done);
  const QString other = world_.copy("interpreter.dynamic");
  ASSERT_TRUE(wait_for([&] { return rows("Profiles") == 2; }));
  press("Match", [&](QDialog& dialog) {
    find<QComboBox>("Image", &dialog)->setEditText(other);
    accept(dialog);
  });
  ASSERT_EQ(end_of(2), Task::State::failed);
  EXPECT_TRUE(messages().contains(
      world_.refusal({"profile", "match", path("one"), other, "-o", path("x")})));
}

TEST_F(ProfilesTest, TwoBuildsSideBySideAndWhatWasLost) {
  count("calls.dynamic");
  write(path("older"));
  ASSERT_EQ(end_of(1), Task::State::done);
  rebuild("calls.pie");
  ASSERT_TRUE(wait_for([&] { return rows("Profiles") == 3; }));
  choose_rows(1, 1);
  view("Found again");
  const QJsonArray list = json({"profile", "match", path("older"), path("app"), "-o", path("x"),
                                "--json"})["procedure_list"]
                              .toArray();
  ASSERT_TRUE(wait_for([&] { return rows("Losses") == list.size(); }));
  EXPECT_TRUE(says("From build 1 to build 2"));
  for (int row = 0; row < list.size(); ++row) {
    EXPECT_EQ(cell("Losses", row, 7), list[row].toObject()["name"].toString());
    EXPECT_EQ(cell("Losses", row, 4), list[row].toObject()["reason"].toString());
  }

  page("Images");
  auto* time_line = find<FigureWidget>("Builds over time");
  ASSERT_TRUE(wait_for([&] { return time_line->figure().text.contains("found again"); }));
  const auto& points = std::get<TimeLine>(time_line->figure().picture).points;
  ASSERT_EQ(points.size(), 2u);
  EXPECT_TRUE(points[0].name.startsWith("build 2 (now)"));
  EXPECT_FALSE(points[0].filled);
  ASSERT_TRUE(points[0].share);
  const QJsonObject match =
      json({"profile", "match", path("older"), path("app"), "-o", path("x"), "--json"});
  EXPECT_NEAR(*points[0].share, match["confidence"].toDouble(), 1e-3);
  EXPECT_TRUE(
      points[0].text.contains("of build 1 most lost: " + list[0].toObject()["name"].toString()));
  EXPECT_EQ(points[1].name, "build 1, 1 run");
  EXPECT_TRUE(points[1].filled);
  EXPECT_FALSE(points[1].share);

  page("Profiles");
  count_again();
  ASSERT_TRUE(wait_for([&] { return cell("Profiles", 1, 1) == "1"; }));
  choose_rows(0, 1);
  auto* views = find<QTabWidget>("Views of profiles");
  EXPECT_EQ(views->tabText(views->currentIndex()), "Side by side");
  ASSERT_TRUE(wait_for([&] { return rows("Differences") > 0 && says("A: app, build 1"); }));
  Environment environment(world_.database());
  const auto builds = environment.database().builds(environment.show("app").images[0].image.id);
  const auto sum = [&](Id build) {
    uint64_t total = 0;
    for (const auto& procedure :
         environment.database().profile(build, {.carried_weight = 0}).procedures)
      total += procedure.instructions();
    return total;
  };
  uint64_t shown[2] = {};
  for (int row = 0; row < rows("Differences"); ++row)
    for (int side = 0; side < 2; ++side)
      shown[side] += cell("Differences", row, side).remove(',').toULongLong();
  EXPECT_EQ(shown[0], sum(builds[1].id));
  EXPECT_EQ(shown[1], sum(builds[0].id));
}

TEST_F(ProfilesTest, FilesThatAreNoProfilesAreRefusedInOneSentence) {
  count("calls.dynamic");
  profiles().open_files({path("app")});
  const QString sentence = world_.refusal({"profile", "show", path("app")});
  EXPECT_TRUE(wait_for([&] { return messages().contains(sentence); }));
  page("Profiles");
  EXPECT_EQ(rows("Profiles"), 1);
}

TEST_F(ProfilesTest, FilesOfOneNameAreToldApart) {
  count("calls.dynamic");
  write(path("one"));
  ASSERT_EQ(end_of(1), Task::State::done);
  ASSERT_TRUE(wait_for([&] { return rows("Profiles") == 2; }));
  std::filesystem::create_directory(world_.folder() / "b");
  std::filesystem::copy_file(world_.folder() / "one", world_.folder() / "b" / "one");
  profiles().open_files({path("b/one"), path("b/one")});
  ASSERT_TRUE(wait_for([&] { return rows("Profiles") == 3; }));
  EXPECT_EQ(cell("Profiles", 1, 0), "one");
  EXPECT_EQ(cell("Profiles", 2, 0), path("b/one"));
}

TEST_F(ProfilesTest, FilesAreClosed) {
  count("calls.dynamic");
  write(path("one"));
  ASSERT_EQ(end_of(1), Task::State::done);
  ASSERT_TRUE(wait_for([&] { return rows("Profiles") == 2; }));
  choose_rows(1, 1);
  press("Close");
  EXPECT_EQ(rows("Profiles"), 1);
  EXPECT_FALSE(find<QPushButton>("Close")->isEnabled());
}

}  // namespace
}  // namespace respike::gui
