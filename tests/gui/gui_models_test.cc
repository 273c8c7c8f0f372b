// The models without a Manager. The oracle of the item models is Qt's QAbstractItemModelTester,
// which ends the process when a model breaks its promises; that of quoting is a real shell.

#include <QAbstractItemModelTester>
#include <QSignalSpy>
#include <QSortFilterProxyModel>

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "gui/models/action.h"
#include "gui/models/application_model.h"
#include "gui/models/log_model.h"
#include "gui/models/procedure_model.h"
#include "gui/models/program_run.h"
#include "tests/gui/support.h"

namespace respike::gui {
namespace {

ApplicationView application(const std::string& name, const std::vector<std::string>& images,
                            double runs = 0) {
  ApplicationView view{.name = name, .main = "/bin/" + name, .mode = {}, .images = {}, .fault = {}};
  for (const std::string& path : images) {
    ImageView& image = view.images.emplace_back();
    image.image.path = path;
    image.image.optimizable = true;
    image.role = &image == &view.images.front() ? Role::main : Role::linked;
    image.profile.runs = runs;
  }
  return view;
}

/// A model with a sorting proxy, as the page uses it, both watched.
struct Tree {
  ApplicationModel model;
  QSortFilterProxyModel sorted;
  QAbstractItemModelTester model_tester{&model,
                                        QAbstractItemModelTester::FailureReportingMode::Fatal};
  QAbstractItemModelTester sorted_tester{&sorted,
                                         QAbstractItemModelTester::FailureReportingMode::Fatal};
  Tree() {
    sorted.setRecursiveFilteringEnabled(true);
    sorted.setSourceModel(&model);
    sorted.setSortRole(ApplicationModel::sort_role);
    sorted.sort(0, Qt::DescendingOrder);
  }
};

QString text_of(const QModelIndex& index) {
  return index.data().toString();
}

// ---- ApplicationModel ----

TEST(ApplicationModelTest, ShowsApplicationsByNameAndTheirImages) {
  Tree tree;
  tree.model.set({application("b", {"/bin/b", "/lib/libx.so"}), application("a", {"/bin/a"})});
  ASSERT_EQ(tree.model.rowCount(), 2);
  EXPECT_EQ(text_of(tree.model.index(0, 0)), "a");
  const QModelIndex b = tree.model.index(1, 0);
  ASSERT_EQ(tree.model.rowCount(b), 2);
  EXPECT_EQ(text_of(tree.model.index(1, 0, b)), "libx.so");
  EXPECT_EQ(tree.model.find("b", "/lib/libx.so"), tree.model.index(1, 0, b));
  EXPECT_FALSE(tree.model.find("b", "/lib/liby.so").isValid());
  EXPECT_FALSE(tree.model.find("c").isValid());
  EXPECT_EQ(b.data(ApplicationModel::application_role), "b");
  EXPECT_EQ(b.data(ApplicationModel::image_role).toString(), "");
}

TEST(ApplicationModelTest, RowsStayWhenOnlyContentsChange) {
  Tree tree;
  tree.model.set({application("a", {"/bin/a"}), application("b", {"/bin/b", "/lib/libx.so"})});
  const QPersistentModelIndex image = tree.model.find("b", "/lib/libx.so");
  const QPersistentModelIndex sorted_image = tree.sorted.mapFromSource(image);
  QSignalSpy inserted(&tree.model, &QAbstractItemModel::rowsInserted);
  QSignalSpy removed(&tree.model, &QAbstractItemModel::rowsRemoved);
  QSignalSpy reset(&tree.model, &QAbstractItemModel::modelReset);
  QSignalSpy changed(&tree.model, &QAbstractItemModel::dataChanged);
  tree.model.set(
      {application("a", {"/bin/a"}, 2), application("b", {"/bin/b", "/lib/libx.so"}, 3)});
  EXPECT_TRUE(inserted.isEmpty() && removed.isEmpty() && reset.isEmpty());
  EXPECT_FALSE(changed.isEmpty());
  EXPECT_EQ(text_of(image), "libx.so");
  EXPECT_EQ(text_of(sorted_image), "libx.so");
  EXPECT_EQ(image.sibling(1, ApplicationModel::profile).data(ApplicationModel::sort_role), 3.0);
}

TEST(ApplicationModelTest, PersistentIndexesFollowTheirImages) {
  Tree tree;
  tree.model.set({application("b", {"/bin/b", "/lib/libx.so"}), application("d", {"/bin/d"})});
  const QPersistentModelIndex b = tree.model.find("b"), d = tree.model.find("d");
  const QPersistentModelIndex image = tree.model.find("b", "/lib/libx.so");
  const QPersistentModelIndex other = tree.model.find("d", "/bin/d");
  const auto check = [&](const std::string& where) {
    EXPECT_EQ(text_of(b), "b") << where;
    EXPECT_EQ(text_of(d), "d") << where;
    EXPECT_EQ(image, tree.model.find("b", "/lib/libx.so")) << where;
    EXPECT_EQ(other, tree.model.find("d", "/bin/d")) << where;
    EXPECT_EQ(other.parent(), d) << where;
  };
  const auto rows = [&](std::initializer_list<std::string> more) {
    std::vector<ApplicationView> all = {application("b", {"/bin/b", "/lib/libx.so"}),
                                        application("d", {"/bin/d"})};
    for (const std::string& name : more) all.push_back(application(name, {"/bin/" + name}));
    return all;
  };
  tree.model.set(rows({"a", "c", "e"}));
  check("inserted before, between and behind");
  tree.model.set(rows({"c"}));
  check("removed before and behind");
  tree.model.set(rows({}));
  check("removed between");
  tree.model.set({});
  EXPECT_FALSE(b.isValid() || image.isValid() || other.isValid());
}

TEST(ApplicationModelTest, RandomListsKeepTheModelConsistent) {
  Tree tree;
  std::mt19937 random(1);
  for (int round = 0; round < 300; ++round) {
    std::vector<ApplicationView> list;
    for (char name = 'a'; name < 'h'; ++name) {
      if (random() % 2 == 0) continue;
      std::vector<std::string> images;
      for (unsigned i = 0; i < 1 + random() % 3; ++i)
        images.push_back(std::string("/lib/") + name + std::to_string(i));
      list.push_back(application(std::string(1, name), images, double(random() % 5)));
    }
    std::ranges::shuffle(list, random);
    tree.model.set(list);
    ASSERT_EQ(tree.model.rowCount(), int(list.size()));
    for (const ApplicationView& view : list) {
      const QModelIndex row = tree.model.find(QString::fromStdString(view.name));
      ASSERT_EQ(tree.model.rowCount(row), int(view.images.size()));
      ASSERT_EQ(tree.sorted.rowCount(tree.sorted.mapFromSource(row)), int(view.images.size()));
    }
  }
}

TEST(ApplicationModelTest, AllCellsHaveTextsAndColumnsTitlesWithTips) {
  Tree tree;
  ApplicationView broken = application("a", {"/bin/a", "/lib/liba.so"});
  broken.images[0].problem = "the file is gone";
  broken.images[1].image.optimizable = false;
  broken.images[1].image.reason = "it has no relocations";
  tree.model.set({broken, application("none", {})});
  EXPECT_EQ(text_of(tree.model.index(0, ApplicationModel::state)), "the file is gone");
  const QModelIndex image = tree.model.index(1, ApplicationModel::state, tree.model.index(0, 0));
  EXPECT_TRUE(text_of(image).contains("it has no relocations"));
  for (int column = 0; column < ApplicationModel::column_count; ++column) {
    EXPECT_FALSE(
        tree.model.headerData(column, Qt::Horizontal, Qt::DisplayRole).toString().isEmpty());
    EXPECT_FALSE(
        tree.model.headerData(column, Qt::Horizontal, Qt::ToolTipRole).toString().isEmpty());
  }
}

// ---- MessageModel ----

TEST(MessageModelTest, OldestMessagesGo) {
  MessageModel model;
  const auto add = [&](int number) {
    model.add(
        {QDateTime::currentDateTime(), Message::Kind::note, "about", QString::number(number)});
  };
  const int count = MessageModel::kMost + 3;
  for (int i = 0; i < count - 10; ++i) add(i);
  // The tester looks at all rows after each change.
  QAbstractItemModelTester tester(&model, QAbstractItemModelTester::FailureReportingMode::Fatal);
  for (int i = count - 10; i < count; ++i) add(i);
  ASSERT_EQ(model.rowCount(), MessageModel::kMost);
  EXPECT_EQ(text_of(model.index(0, MessageModel::text)), "3");
  EXPECT_EQ(text_of(model.index(MessageModel::kMost - 1, MessageModel::text)),
            QString::number(count - 1));
  EXPECT_EQ(text_of(model.index(0, MessageModel::kind)), "note");
}

// ---- ProcedureModel ----

ProcedureRow procedure(const QString& name, uint64_t instructions, double share) {
  ProcedureRow row;
  row.name = name;
  row.image = "a";
  row.image_path = "/bin/a";
  row.instructions = instructions;
  row.entries = instructions / 7;
  row.blocks = 3;
  row.share = share;
  return row;
}

TEST(ProcedureModelTest, FilterSortsByNumbersAndHidesWhatDidNotRun) {
  ProcedureModel model;
  ProcedureFilter filter;
  QAbstractItemModelTester model_tester(&model,
                                        QAbstractItemModelTester::FailureReportingMode::Fatal);
  QAbstractItemModelTester tester(&filter, QAbstractItemModelTester::FailureReportingMode::Fatal);
  filter.setSourceModel(&model);
  filter.sort(ProcedureModel::instructions, Qt::DescendingOrder);
  model.set(
      {procedure("nine", 9, 0.009), procedure("thousand", 1000, 0.99), procedure("cold", 0, 0)});
  const auto names = [&] {
    QStringList result;
    for (int row = 0; row < filter.rowCount(); ++row)
      result << text_of(filter.index(row, ProcedureModel::name));
    return result;
  };
  EXPECT_EQ(names(), QStringList({"thousand", "nine"}));
  EXPECT_EQ(text_of(filter.index(0, ProcedureModel::instructions)), "1,000");
  filter.set_only_executed(false);
  EXPECT_EQ(names(), QStringList({"thousand", "nine", "cold"}));
  filter.set_text("NIN");
  EXPECT_EQ(names(), QStringList({"nine"}));
  model.set({procedure("ninety", 90, 1)});
  EXPECT_EQ(names(), QStringList({"ninety"}));
  for (int column = 0; column < model.columnCount(); ++column) {
    filter.sort(column);
    EXPECT_FALSE(model.headerData(column, Qt::Horizontal, Qt::ToolTipRole).toString().isEmpty());
  }
  model.set({});
  EXPECT_EQ(names(), QStringList());
}

TEST(CsvTest, QuotesWhatNeedsQuotes) {
  ProcedureModel model;
  ProcedureRow row = procedure("operator,(\"x\")\nnext", 1234567, 1);
  row.image = "plain";
  model.set({row});
  const QString csv = csv_of(model);
  EXPECT_TRUE(csv.startsWith("Share,Instructions,Entries,")) << csv.toStdString();
  EXPECT_TRUE(csv.contains("\"1,234,567\"")) << csv.toStdString();
  EXPECT_TRUE(csv.endsWith("\"operator,(\"\"x\"\")\nnext\",plain\r\n")) << csv.toStdString();
  EXPECT_EQ(csv.count("\r\n"), 2);
}

// ---- words of command lines ----

const QStringList kHard = {"",     "a",        "a b",   "it's",  "\"",         "$HOME",
                           "`id`", "\\",       "\\\\n", "a\nb",  "*",          "~",
                           "-x",   "--a=b c",  "#",     "a;b|c", "&",          "(x)",
                           "'",    "''\"\"''", "ä€𝄞",   "\t",    "end in \\'", "!"};

TEST(WordsTest, ShellLineIsReadBackBySplitWords) {
  EXPECT_EQ(split_words(shell_line(kHard)), kHard);
  for (const QString& word : kHard) EXPECT_EQ(split_words(shell_line({word})), QStringList{word});
  EXPECT_EQ(shell_line({"respike", "run", "/a/b.c-d_e"}), "respike run /a/b.c-d_e");
}

/// The words that `sh` reads from a line, each followed by a zero byte.
QStringList by_shell(const QString& line) {
  const World::Outcome outcome = run_command("sh", {"-c", "printf '%s\\0' " + line});
  EXPECT_EQ(outcome.status, 0) << outcome.errors.toStdString();
  QStringList words = outcome.output.split(QChar(0));
  words.pop_back();  // after the last zero byte
  return words;
}

TEST(WordsTest, AShellReadsTheSameWords) {
  EXPECT_EQ(by_shell(shell_line(kHard)), kHard);
  for (const QString line : {"a 'b c' \"d e\" f\\ g", "a'b'\"c\"d", "\"\\a \\\\ \\\" \\$ \\`\"",
                             "'' \"\" x", "  a\tb  ", "a\\\\b 'a\\b' \"'\" '\"'", "x''y"})
    EXPECT_EQ(split_words(line), by_shell(line)) << line.toStdString();
}

TEST(WordsTest, RandomLinesAreSplitAsByAShell) {
  std::mt19937 random(7);
  const QString letters = "ab  '\"\\\\";
  for (int round = 0; round < 150; ++round) {
    QString line = "x";
    for (unsigned i = 0; i < random() % 12; ++i) line += letters[int(random() % 8)];
    if (const auto words = split_words(line))
      EXPECT_EQ(*words, by_shell(line)) << line.toStdString();
    else
      EXPECT_NE(run_command("sh", {"-c", "printf %s " + line}).status, 0) << line.toStdString();
  }
}

TEST(WordsTest, OpenQuotesAreRefused) {
  for (const QString line : {"'", "\"", "a 'b", "a \"b\\\""}) EXPECT_FALSE(split_words(line));
  EXPECT_EQ(split_words(""), QStringList());
}

// ---- command lines of actions ----

/// The words after `respike`, through a shell's quoting.
QStringList arguments(const QStringList& command) {
  const QStringList words = split_words(shell_line(command)).value();
  EXPECT_EQ(words.front(), "respike");
  return words.mid(1);
}

/// Runs each action's command line on an application with a name, from registering to forgetting.
void run_commands(const QString& name) {
  const World world;
  const std::string path = world.copy("calls.dynamic", "a program").toStdString();
  const MakingOptions atomic{.images = {path}, .counters = Counters::atomic, .profile = {}};
  MakingOptions aged{.images = {path}, .counters = Counters::shared, .profile = {}};
  aged.profile.half_life_days = 2.5;
  aged.profile.carried_weight = 0;
  const std::string out = (world.folder() / "an out").string();
  const auto ok = [&](const Action& action) { return world.ok(arguments(action.command)); };
  ok(register_action(path, name));
  EXPECT_TRUE(world.ok({"list"}).contains(name));
  ok(instrument_action(name, {}));
  ok(instrument_action(name, atomic));
  const RunRequest request{.application = name,
                           .arguments = {"--", "-x", "[a,b]", "it's"},
                           .environment = {"A=b c", "D="},
                           .folder = {},
                           .input = {},
                           .in_terminal = false};
  const World::Outcome run = world.respike(arguments(request.command()));
  EXPECT_TRUE(run.output.contains("bye")) << run.errors.toStdString();
  ok(collect_action());
  ok(optimize_action(name, aged));
  ok(optimize_action(name, {}));
  for (const Mode mode : {Mode::original, Mode::instrumented, Mode::optimized})
    ok(mode_action(name, mode));
  ok(export_action(name, {}, {.folder = out}));
  ok(export_action(name, {path}, {.folder = out, .names = ExportPlace::Names::paths}));
  EXPECT_TRUE(std::filesystem::exists(out + "/a program"));
  EXPECT_TRUE(std::filesystem::exists(out + path));
  EXPECT_TRUE(ok(prune_action(2, true)).contains("nothing to remove"));
  ok(unregister_action(name));
  ok(prune_action(1, false));
}

TEST(ActionTest, CommandLinesAreAcceptedByTheCommand) {
  run_commands("plain");
}
TEST(ActionTest, CommandLinesAreAcceptedForNamesWithSpacesAndQuotes) {
  run_commands("it's a \"name\"");
}
TEST(ActionTest, CommandLinesAreAcceptedForNamesThatLookLikeOptions) {
  run_commands("-x");
  run_commands("--help");
}

TEST(RunRequestTest, ArgumentsReachTheProgramAsTheyAre) {
  const World world;
  const QString image = world.build_echo();
  for (const QString name : {"echo", "-x"}) {
    world.ok(arguments(register_action(image.toStdString(), name).command));
    RunRequest request;
    request.application = name;
    for (const QStringList& words : {kHard, QStringList{"--", "a", "--"}, QStringList{"--help"}}) {
      request.arguments = words;
      EXPECT_EQ(world.ok(arguments(request.command())), '[' + words.join("][") + "]\n");
    }
  }
}

TEST(ActionTest, SeveralProgramsAreOneApplication) {
  const World world;
  const QString echo = world.build_echo(), calls = world.copy("calls.dynamic");
  const std::vector<std::filesystem::path> programs = {echo.toStdString(), calls.toStdString()};
  world.ok(arguments(register_action(programs, "both").command));
  Environment environment(world.database());
  EXPECT_EQ(environment.show("both").programs().size(), 2u);
  EXPECT_EQ(register_action(programs, "both").work(environment).join('\n'),
            "both: was registered already");
  const RunRequest request{.application = "both",
                           .program = echo,
                           .arguments = {"a"},
                           .environment = {},
                           .folder = {},
                           .input = {}};
  EXPECT_EQ(world.ok(arguments(request.command())), "[a]\n");
}

TEST(ActionTest, WorkDoesWhatTheCommandLineDoes) {
  const World world;
  const QString path = world.copy("calls.dynamic");
  Environment environment(world.database());
  const auto did = [&](const Action& action) { return action.work(environment).join('\n'); };
  EXPECT_EQ(did(register_action(path.toStdString(), {})), "calls.dynamic: registered");
  EXPECT_EQ(did(register_action(path.toStdString(), {})), "calls.dynamic: was registered already");
  EXPECT_TRUE(did(instrument_action("calls.dynamic", {}))
                  .section('\n', -1)
                  .startsWith(path + ": instrumented"));
  EXPECT_EQ(did(mode_action("calls.dynamic", Mode::original)), "");
  EXPECT_EQ(environment.show("calls.dynamic").mode, Mode::original);
  EXPECT_THROW(did(verify_action("calls.dynamic", {})), std::exception);
  EXPECT_TRUE(
      did(optimize_action("calls.dynamic", {})).section('\n', -1).startsWith(path + ": optimized"));
  EXPECT_TRUE(did(verify_action("calls.dynamic", {})).contains("basic blocks were compared"));
  EXPECT_EQ(did(prune_action(1, true)), "nothing to remove");
  EXPECT_TRUE(did(unregister_action("calls.dynamic")).startsWith("calls.dynamic: forgotten"));
  EXPECT_TRUE(environment.list().empty());
}

}  // namespace
}  // namespace respike::gui
