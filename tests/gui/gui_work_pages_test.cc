// The pages that start work: Run, Gain, and the window's messages when work ends. Oracle: the
// command line on the same database, and the programs' output.

#include <QCheckBox>
#include <QComboBox>
#include <QFile>
#include <QLabel>
#include <QMessageBox>
#include <QPushButton>
#include <QScrollBar>
#include <QSpinBox>
#include <QStatusBar>
#include <QTextBlock>
#include <QTreeView>

#include <algorithm>
#include <fstream>

#include "gui/models/gain_model.h"
#include "gui/pictures/stacked_bars.h"
#include "tests/gui/window_test.h"

namespace respike::gui {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

class WorkPagesTest : public WindowTest {
 protected:
  bool says(const QString& text) {
    return wait_for([&] {
      return std::ranges::any_of(window_->findChildren<QLabel*>(), [&](const QLabel* label) {
        return label->isVisible() && label->text().contains(text);
      });
    });
  }

  void run_until(const QString& state) {
    page("Run");
    press("Run");
    EXPECT_TRUE(says(state)) << output()->toPlainText().toStdString();
    wait_for_the_end();
  }

  /// The run has ended: the button that starts the next run is "Run" again.
  void wait_for_the_end() {
    EXPECT_TRUE(wait_for([&] { return !find<QPushButton>("Stop")->isEnabled(); }));
  }

  QPlainTextEdit* output() { return find<QPlainTextEdit>("Output of the program"); }

  void optimize(const QString& name) {
    world_.ok({"optimize", name});
    manager_->refresh();
    ASSERT_TRUE(wait_for([&] { return application().images.front().optimized.has_value(); }));
  }

  /// A terminal emulator that starts the given command and ends with 0.
  void make_terminal() {
    const fs::path terminal = world_.folder() / "x-terminal-emulator";
    std::ofstream(terminal) << "#!/bin/sh\n[ \"$1\" = -e ] || exit 3\nshift\n"
                               "echo in the terminal\n\"$@\" < /dev/null\nexit 0\n";
    fs::permissions(terminal, fs::perms::owner_all);
    path_ = qgetenv("PATH");
    qputenv("PATH", QByteArray(world_.folder().c_str()) + ':' + path_);
    open();
  }
  ~WorkPagesTest() override {
    if (!path_.isEmpty()) qputenv("PATH", path_);
  }

  QByteArray path_;
};

// ---- Run ----

TEST_F(WorkPagesTest, ARunKeepsItsNameWhenAnotherApplicationIsChosen) {
  register_by_command(world_.build_echo(), "echo");
  world_.ok({"register", world_.copy("calls.dynamic"), "--name", "other"});
  ASSERT_TRUE(wait_for([&] { return manager_->application("other") != nullptr; }));
  page("Run");
  find<QLineEdit>("Arguments")->setText("sleep 1");
  QString about;
  QObject::connect(manager_.get(), &Manager::said, window_.get(),
                   [&](const Message& message) { about = message.about; });
  press("Run");
  window_->choose("other");
  ASSERT_TRUE(wait_for([&] { return !about.isEmpty(); }));
  EXPECT_EQ(about, "Run echo");
}

TEST_F(WorkPagesTest, OutputWithoutNewlinesIsBounded) {
  const fs::path image = world_.folder() / "flood", source = world_.folder() / "flood.c";
  std::ofstream(source) << R"(
#include <stdio.h>
int main(void) {
  for (int i = 0; i < 6000000; i++) putchar('a' + i % 26);
  return 0;
}
)";
  ASSERT_EQ(
      run_command("alpha-linux-gnu-gcc", {"-O1", "-Wl,-q", source.c_str(), "-o", image.c_str()})
          .status,
      0);
  register_by_command(image.c_str(), "flood");
  run_until("exit status 0");
  const QTextDocument& text = *output()->document();
  ASSERT_TRUE(wait_for([&] { return text.characterCount() > 3'000'000; }));
  wait(milliseconds(200));  // perhaps more comes
  EXPECT_LE(text.characterCount(), 4'000'100);
  EXPECT_GT(text.characterCount(), 3'000'000);
  for (QTextBlock block = text.begin(); block.isValid(); block = block.next())
    ASSERT_LE(block.length(), 10'001);
}

TEST_F(WorkPagesTest, TheEndOfTheOutputIsShownWhenLinesWrap) {
  register_by_command(world_.build_echo(), "echo");
  page("Run");
  QStringList arguments;
  for (int i = 0; i < 400; ++i) arguments << QString("argument%1").arg(i);
  find<QLineEdit>("Arguments")->setText(arguments.join(' '));
  run_until("exit status 0");
  const QScrollBar* bar = output()->verticalScrollBar();
  ASSERT_TRUE(wait_for([&] { return bar->maximum() > 0 && bar->value() == bar->maximum(); }));
  wait(milliseconds(200));  // and so it stays
  EXPECT_EQ(bar->value(), bar->maximum());
  output()->verticalScrollBar()->setValue(0);  // the reader's position stays
  run_until("exit status 0");
  EXPECT_EQ(bar->value(), 0);
}

TEST_F(WorkPagesTest, ATerminalPassesInputAndExitStatusOn) {
  make_terminal();
  register_by_command(world_.build_echo(), "echo");
  const fs::path input = world_.folder() / "an input";
  std::ofstream(input) << "what the program reads\n";
  page("Run");
  find<QCheckBox>("in a terminal")->setChecked(true);
  find<QLineEdit>("Arguments")->setText("exit 3");
  find<QLineEdit>("Input file")->setText(input.c_str());
  run_until("exit status 3");
  EXPECT_TRUE(output()->toPlainText().contains("in the terminal"));
  EXPECT_TRUE(output()->toPlainText().contains("what the program reads"));
  EXPECT_TRUE(output()->toPlainText().contains("respike run echo exit 3 < '"));
  find<QLineEdit>("Arguments")->setText("die 11");
  run_until("killed by signal 11");
}

TEST_F(WorkPagesTest, AFolderThatIsNotThereIsNamed) {
  register_by_command(world_.build_echo(), "echo");
  page("Run");
  find<QLineEdit>("Folder")->setText("/no/such/folder");
  run_until("there is no folder /no/such/folder");
  EXPECT_TRUE(output()->toPlainText().contains("cd /no/such/folder && respike run echo"));
}

TEST_F(WorkPagesTest, RunSaysWhichImagesRun) {
  const QString program = world_.copy("calls.dynamic");
  register_by_command(program, "app");
  optimize("app");
  page("Run");
  EXPECT_TRUE(says("app runs its optimized images"));
  ASSERT_TRUE(QFile::rename(program, program + ".away"));
  EXPECT_TRUE(says("cannot run: the file does not exist"));
  world_.copy("interpreter.dynamic", "calls.dynamic");
  EXPECT_TRUE(says("runs its original images: none of this build is optimized"));
}

TEST_F(WorkPagesTest, OneOfSeveralProgramsIsRun) {
  const QString echo = world_.build_echo(), calls = world_.copy("calls.dynamic");
  world_.ok({"register", calls, echo, "--name", "both"});
  world_.ok({"register", echo});
  ASSERT_TRUE(wait_for([&] { return manager_->application("both") != nullptr; }));
  window_->choose("both");
  page("Run");
  auto* programs = find<QComboBox>("Program");
  ASSERT_TRUE(wait_for([&] { return programs->count() == 2; }));
  EXPECT_TRUE(programs->isEnabled());
  EXPECT_EQ(programs->currentText(), calls);
  programs->setCurrentText(echo);
  find<QLineEdit>("Arguments")->setText("a");
  run_until("exit status 0");
  EXPECT_TRUE(output()->toPlainText().contains("respike run --program " + echo + " both a"));
  EXPECT_TRUE(output()->toPlainText().contains("[a]"));
  manager_->refresh();
  wait(milliseconds(300));
  EXPECT_EQ(programs->currentText(), echo) << "the choice stays";
  window_->choose("echo");
  ASSERT_TRUE(wait_for([&] { return programs->count() == 1; }));
  EXPECT_FALSE(programs->isEnabled());
}

TEST_F(WorkPagesTest, ACommandASessionAndACheckAreRun) {
  const char* mount = "mount -t binfmt_misc none /proc/sys/fs/binfmt_misc";
  if (run_command("unshare", {"--user", "--mount", "--map-root-user", "sh", "-c", mount}).status !=
      0)
    GTEST_SKIP() << "no binfmt_misc in user namespaces here";
  register_by_command(world_.build_echo("gcc"), "echo");
  world_.ok({"instrument", "echo"});
  page("Run");
  auto* what = find<QComboBox>("What to run");
  what->setCurrentIndex(1);
  press("Run");
  EXPECT_TRUE(says("a command is needed"));
  const QString echo = QString::fromStdString(application().main);
  find<QLineEdit>("Arguments")->setText("sh -c '" + echo + " a; " + echo + " b'");
  run_until("exit status 0");
  EXPECT_TRUE(output()->toPlainText().contains("respike exec echo -- sh -c"));
  EXPECT_TRUE(output()->toPlainText().contains("[b]"));
  world_.ok({"collect"});
  EXPECT_TRUE(wait_for([&] { return application().images.front().profile.runs == 2; }));
  what->setCurrentIndex(2);
  find<QLineEdit>("Arguments")->setText(echo + " c");
  run_until("exit status 0");
  EXPECT_TRUE(output()->toPlainText().contains("[c]"));
  world_.ok({"optimize", "echo"});
  what->setCurrentIndex(3);
  find<QLineEdit>("Arguments")->setText("d");
  press("Run");
  ASSERT_TRUE(
      wait_for([&] { return output()->toPlainText().contains("ship"); }, milliseconds(60000)));
  wait_for_the_end();
  what->setCurrentIndex(0);
  find<QCheckBox>("guard")->setChecked(true);
  find<QLineEdit>("Arguments")->setText("die 11");
  press("Run");
  ASSERT_TRUE(wait_for([&] { return output()->toPlainText().contains("died of SIGSEGV"); }));
}

TEST_F(WorkPagesTest, ALibraryIsNotRun) {
  const fs::path library = world_.folder() / "libone.so", source = world_.folder() / "one.c";
  std::ofstream(source) << "int one(void) { return 1; }\n";
  ASSERT_EQ(run_command("alpha-linux-gnu-gcc", {"-O1", "-Wl,-q", "-shared", "-fPIC", source.c_str(),
                                                "-o", library.c_str()})
                .status,
            0);
  register_by_command(library.c_str(), "one");
  optimize("one");
  page("Run");
  EXPECT_TRUE(says("one is a library, which is not run by itself"));
  EXPECT_FALSE(find<QAbstractButton>("Run")->isEnabled());
}

TEST_F(WorkPagesTest, ALongNameDoesNotWidenTheWindow) {
  const QString name = QString("<b>") + QString("n").repeated(297);
  register_by_command(world_.copy("calls.dynamic"), name);
  for (const char* title : {"Applications", "Run", "Gain", "Profiles"}) {
    page(title);
    wait(milliseconds(100));
    EXPECT_LE(window_->minimumSizeHint().width(), 900) << title;
  }
}

// ---- Gain ----

TEST_F(WorkPagesTest, AStoppedComparisonIsNoError) {
  register_by_command(world_.build_echo(), "echo");
  optimize("echo");
  page("Gain");
  ASSERT_TRUE(wait_for([&] { return find<QAbstractButton>("Compare")->isEnabled(); }));
  find<QLineEdit>("Arguments of the workload")->setText("sleep 60");
  press("Compare");
  ASSERT_TRUE(wait_for([&] {
    return run_command("pgrep", {"-f", world_.folder().c_str()}).status == 0;
  }));
  press("Stop");
  EXPECT_EQ(end_of(1), Task::State::cancelled);
  auto* tabs = find<QTabWidget>("Pages");
  EXPECT_EQ(tabs->tabText(tabs->currentIndex()), "Gain");
  EXPECT_TRUE(says("stopped"));
}

/// A program of this host: cycles of a model, and times where the model's emulator is not found.
TEST_F(WorkPagesTest, AProgramOfThisHostIsCountedOptimizedAndCompared) {
  register_by_command(world_.build_echo("gcc"), "echo");
  world_.ok({"instrument", "echo"});
  run_until("exit status 0");
  world_.ok({"collect"});
  EXPECT_TRUE(wait_for([&] { return application().images.front().profile.runs == 1; }));
  optimize("echo");
  page("Gain");
  ASSERT_TRUE(wait_for([&] { return find<QAbstractButton>("Compare")->isEnabled(); }));
  press("Compare");
  ASSERT_EQ(end_of(ended_.size() + 1), Task::State::done);
  auto* bars = window_->findChild<StackedBarsWidget*>();
  ASSERT_TRUE(wait_for([&] { return bars->isVisible(); })) << "the page has no comparison";
  const auto* kept = find<QTableView>("Comparisons");
  ASSERT_EQ(kept->model()->rowCount(), 1);
  const auto is_timed = [&](int row, int column) {
    return kept->model()->index(row, column).data().toString().endsWith(" µs");
  };
  for (const int column : {ComparisonModel::before, ComparisonModel::after})
    EXPECT_FALSE(is_timed(0, column));
  EXPECT_EQ(kept->model()->index(0, ComparisonModel::alike).data(), "yes");
  EXPECT_EQ(bars->bars().unit, "cycles");

  const QByteArray path = qgetenv("PATH");
  qputenv("PATH", "/nowhere");
  press("Compare");
  const Task::State end = end_of(ended_.size() + 1);
  qputenv("PATH", path);
  ASSERT_EQ(end, Task::State::done);
  ASSERT_TRUE(wait_for([&] { return kept->model()->rowCount() == 2; }));
  for (const int column : {ComparisonModel::before, ComparisonModel::after})
    EXPECT_NE(is_timed(0, column), is_timed(1, column)) << "one of the two";
}

/// The optimized version lies in the store, where $ORIGIN leads to no library.
TEST_F(WorkPagesTest, AProgramWithALibraryBesideItIsCompared) {
  const fs::path demo = fs::path(respike_command().toStdString()).parent_path() / "demo";
  if (!fs::exists(demo)) GTEST_SKIP() << "there is no compiler for the demo's machine";
  for (const char* file : {"count-words", "libwords.so"})
    fs::copy_file(demo / file, world_.folder() / file);
  register_by_command((world_.folder() / "count-words").c_str(), "demo");
  optimize("demo");
  page("Gain");
  ASSERT_TRUE(wait_for([&] { return find<QAbstractButton>("Compare")->isEnabled(); }));
  find<QLineEdit>("Arguments of the workload")->setText((demo / "text.txt").c_str());
  press("Compare");
  ASSERT_EQ(end_of(ended_.size() + 1), Task::State::done);
  auto* bars = window_->findChild<StackedBarsWidget*>();
  EXPECT_TRUE(wait_for([&] { return bars->isVisible(); })) << "the page has no comparison";
}

TEST_F(WorkPagesTest, ComparisonsAreKeptChosenAndForgotten) {
  register_by_command(world_.build_echo(), "echo");
  world_.ok({"register", world_.copy("calls.dynamic"), "--name", "other"});
  optimize("echo");
  page("Gain");
  ASSERT_TRUE(wait_for([&] { return find<QAbstractButton>("Compare")->isEnabled(); }));
  for (const char* arguments : {"one", "two words"}) {
    find<QLineEdit>("Arguments of the workload")->setText(arguments);
    press("Compare");
    ASSERT_EQ(end_of(ended_.size() + 1), Task::State::done);
    ASSERT_TRUE(wait_for([&] { return find<QAbstractButton>("Compare")->isEnabled(); }));
  }
  auto* kept = find<QTableView>("Comparisons");
  ASSERT_TRUE(wait_for([&] { return kept->model()->rowCount() == 2; }));
  auto* figures = find<QTableView>("Figures");
  QStringList names;
  for (int row = 0; row < figures->model()->rowCount(); ++row)
    names << figures->model()->index(row, 0).data().toString();
  for (const char* name : {"processes", "exit status", "bytes of the file"})
    EXPECT_TRUE(names.contains(name)) << name;
  for (int column = 1; column < 4; ++column)
    EXPECT_GE(figures->columnWidth(column),
              static_cast<QAbstractItemView*>(figures)->sizeHintForColumn(column));
  kept->selectAll();
  EXPECT_EQ(window_->findChild<StackedBarsWidget*>()->bars().bars.size(), 4u);
  press("Forget", [](QDialog& dialog) { accept(dialog); });
  ASSERT_TRUE(wait_for([&] { return kept->model()->rowCount() == 0; }));

  // Each application has a workload of its own.
  window_->choose("other");
  EXPECT_EQ(find<QLineEdit>("Arguments of the workload")->text(), "");
  window_->choose("echo");
  EXPECT_EQ(find<QLineEdit>("Arguments of the workload")->text(), "two words");
  QString line;
  ASSERT_TRUE(wait_for([&] { return commands().count("compare") == 2; }));
  for (const QString& command : commands().split('\n'))
    if (command.contains("compare")) line = command;
  EXPECT_TRUE(line.endsWith("-- two words")) << line.toStdString();
  page("Gain");
  find<QLineEdit>("Folder of the workload")->setText("/no/such/folder");
  press("Compare");
  EXPECT_EQ(end_of(ended_.size() + 1), Task::State::failed);
  page("Gain");
  EXPECT_TRUE(says("/no/such/folder"));
}

// ---- the window's messages ----

TEST_F(WorkPagesTest, TheStatusLineSaysWhatSucceeded) {
  register_by_command(world_.copy("calls.dynamic"), "app");
  press("Optimize", [](QDialog& dialog) { accept(dialog); });
  ASSERT_EQ(end_of(1), Task::State::done);
  EXPECT_TRUE(window_->statusBar()->currentMessage().contains("optimized by static estimates"))
      << window_->statusBar()->currentMessage().toStdString();
  press("Verify");
  ASSERT_EQ(end_of(2), Task::State::done);
  ASSERT_TRUE(wait_for([&] { return commands().contains("image verify"); }));
  const QString line = commands().split('\n').back();
  EXPECT_EQ(run_command("sh", {"-c", respike_command() + line.mid(7)}).status, 0)  // "respike"
      << line.toStdString();
}

TEST_F(WorkPagesTest, ExportLeavesForeignFilesAlone) {
  register_by_command(world_.copy("calls.dynamic"), "app");
  optimize("app");
  const fs::path out = world_.folder() / "out", file = out / "calls.dynamic";
  fs::create_directory(out);
  std::ofstream(file) << "mine\n";
  const auto export_to = [&](bool replaces) {
    page("Applications");
    press("Export", [&](QDialog& dialog) {
      find<QLineEdit>("Folder", &dialog)->setText(out.c_str());
      find<QCheckBox>("replace files that Respike did not make", &dialog)->setChecked(replaces);
      accept(dialog);
    });
    return end_of(ended_.size() + 1);
  };
  EXPECT_EQ(export_to(false), Task::State::failed);
  EXPECT_EQ(fs::file_size(file), 5u);
  EXPECT_EQ(export_to(true), Task::State::done);
  EXPECT_GT(fs::file_size(file), 5u);
  EXPECT_EQ(export_to(false), Task::State::done);  // its own file
}

TEST_F(WorkPagesTest, NoApplicationIsChosenWhenItsGone) {
  register_by_command(world_.copy("calls.dynamic"), "m");
  for (const char* name : {"a", "z"}) world_.ok({"register", world_.copy("calls.dynamic", name)});
  ASSERT_TRUE(wait_for([&] { return manager_->snapshot().applications.size() == 3; }));
  EXPECT_EQ(window_->application(), "m");
  world_.ok({"unregister", "m"});
  ASSERT_TRUE(wait_for([&] { return manager_->snapshot().applications.size() == 2; }));
  EXPECT_EQ(window_->application(), "");
  EXPECT_TRUE(window_->statusBar()->currentMessage().contains("no application is chosen"));
  world_.ok({"unregister", "z"});
  ASSERT_TRUE(wait_for([&] { return manager_->snapshot().applications.size() == 1; }));
  EXPECT_EQ(window_->application(), "");
  page("Run");
  EXPECT_FALSE(find<QPushButton>("Run")->isEnabled());
  window_->choose("a");
  EXPECT_TRUE(find<QPushButton>("Run")->isEnabled());
}

TEST_F(WorkPagesTest, TheApplicationIsRemembered) {
  for (const char* name : {"a", "z"}) world_.ok({"register", world_.copy("calls.dynamic", name)});
  ASSERT_TRUE(wait_for([&] { return manager_->snapshot().applications.size() == 2; }));
  window_->choose("z");
  EXPECT_TRUE(window_->close());
  open();
  EXPECT_TRUE(wait_for([&] { return window_->application() == "z"; }));
}

TEST_F(WorkPagesTest, NothingToRemoveCannotBeRemoved) {
  register_by_command(world_.copy("calls.dynamic"), "app");
  press("Prune", [](QDialog& dialog) {
    auto* remove = dialog.findChild<QDialogButtonBox*>()->buttons().front();
    EXPECT_TRUE(wait_for([&] {
      return std::ranges::any_of(dialog.findChildren<QLabel*>(), [](const QLabel* label) {
        return label->text() == "nothing to remove";
      });
    }));
    for (auto* button : dialog.findChildren<QPushButton*>())
      if (button->text() == "Remove") remove = button;
    EXPECT_FALSE(remove->isEnabled());
    dialog.reject();
  });
}

}  // namespace
}  // namespace respike::gui
