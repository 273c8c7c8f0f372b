// The main window without a display, driven by mouse and keyboard events. Oracle: the window's
// contents, and the command line on the same database.

#include <QAbstractItemView>
#include <QAbstractSpinBox>
#include <QApplication>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDropEvent>
#include <QLineEdit>
#include <QListWidget>
#include <QMenu>
#include <QMenuBar>
#include <QMessageBox>
#include <QMimeData>
#include <QPlainTextEdit>
#include <QProgressBar>
#include <QPushButton>
#include <QSettings>
#include <QSignalSpy>
#include <QSpinBox>
#include <QTabWidget>
#include <QTableView>
#include <QTest>
#include <QTimer>
#include <QTreeView>

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/gui/window_test.h"

namespace respike::gui {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

// ---- a life ----

TEST_F(WindowTest, AWholeLife) {
  const QString program = world_.copy("calls.dynamic", "a program");
  const QString out = (world_.folder() / "an out").c_str();
  press("Register a program", [&](QDialog& dialog) {
    find<QLineEdit>("Program", &dialog)->setText(program);
    find<QLineEdit>("Name", &dialog)->setText("app");
    accept(dialog);
  });
  ASSERT_EQ(end_of(1), Task::State::done);
  ASSERT_TRUE(wait_for([&] { return window_->application() == "app"; }));

  press("Instrument", [](QDialog& dialog) { accept(dialog); });
  ASSERT_EQ(end_of(2), Task::State::done);
  ASSERT_TRUE(wait_for([&] { return image().instrumented.has_value(); }));
  EXPECT_EQ(find<QComboBox>("Mode")->currentText(), "instrumented");

  page("Run");
  find<QLineEdit>("Arguments")->setText("'one argument' two");
  find<QSpinBox>("Runs")->setValue(2);
  press("Run");
  auto* output = find<QPlainTextEdit>("Output of the program");
  const int status = world_.respike({"run", "app"}).status;  // this program does not end with 0
  const auto ends = [&] {
    return std::ranges::count_if(window_->findChildren<QLabel*>(), [&](const QLabel* label) {
      return label->isVisible() && label->text() == QString("exit status %1").arg(status);
    });
  };
  ASSERT_TRUE(wait_for([&] { return ends() == 1 && output->toPlainText().count("bye") == 2; }));
  EXPECT_EQ(output->toPlainText().count("$ respike run app 'one argument' two"), 2);
  ASSERT_TRUE(wait_for([&] { return image().profile.runs == 3; }));

  page("Time");
  auto* procedures = find<QTableView>("Procedures");
  ASSERT_TRUE(procedures != nullptr);
  ASSERT_TRUE(wait_for([&] { return procedures->model()->rowCount() > 10; }));
  const int executed = procedures->model()->rowCount();
  press("only what ran");
  EXPECT_GE(procedures->model()->rowCount(), executed);
  find<QLineEdit>("Find a procedure")->setText("main");
  EXPECT_LT(procedures->model()->rowCount(), executed);

  page("Applications");
  press("Optimize", [](QDialog& dialog) { accept(dialog); });
  ASSERT_EQ(end_of(3), Task::State::done);
  ASSERT_TRUE(wait_for([&] { return image().optimized.has_value(); }));
  EXPECT_EQ(application().mode, Mode::optimized);
  press("Verify");
  ASSERT_EQ(end_of(4), Task::State::done);

  auto* mode = find<QComboBox>("Mode");
  mode->setFocus();
  QTest::keyClick(mode, Qt::Key_Home);
  ASSERT_EQ(end_of(5), Task::State::done);
  ASSERT_TRUE(wait_for([&] { return application().mode == Mode::original; }));

  press("Export", [&](QDialog& dialog) {
    find<QLineEdit>("Folder", &dialog)->setText(out);
    accept(dialog);
  });
  ASSERT_EQ(end_of(6), Task::State::done);
  world_.ok({"image", "verify", program, out + "/a program"});

  world_.ok({"register", world_.copy("interpreter.dynamic"), "--name", "old"});
  world_.ok({"unregister", "old"});
  press("Prune", [&](QDialog& dialog) {
    EXPECT_TRUE(wait_for([&] { return find<QPushButton>("Remove", &dialog)->isEnabled(); }));
    accept(dialog);
  });
  ASSERT_EQ(end_of(7), Task::State::done);
  press("Forget", [](QDialog& dialog) {
    EXPECT_TRUE(qobject_cast<QMessageBox*>(&dialog) != nullptr);
    accept(dialog);
  });
  ASSERT_EQ(end_of(8), Task::State::done);
  ASSERT_TRUE(wait_for([&] { return manager_->snapshot().applications.empty(); }));
  find<QPushButton>("Register a program");  // the first page is back

  const QString said = messages();
  for (const char* text : {"app: registered", "instrumented, ", "optimized by a profile of 3 runs",
                           "blocks were compared", "exported", "forgotten"})
    EXPECT_TRUE(said.contains(text)) << text << " is not in " << said.toStdString();
  QStringList lines = commands().split('\n');
  const QString db = "respike --db " + QString(world_.database().c_str()) + " ";
  const QStringList expected = {"register '" + program + "' --name app",
                                "instrument app",
                                "run app 'one argument' two",
                                "optimize app",
                                "image verify '" + program + "' ",
                                "mode app original",
                                "export app '" + out + "'",
                                "prune --keep 3",
                                "unregister app"};
  ASSERT_EQ(lines.size(), expected.size()) << lines.join('\n').toStdString();
  for (int i = 0; i < lines.size(); ++i)
    if (expected[i].endsWith(' '))  // and a file of the database
      EXPECT_TRUE(lines[i].startsWith(db + expected[i])) << lines[i].toStdString();
    else
      EXPECT_EQ(lines[i], db + expected[i]);
}

TEST_F(WindowTest, TheFirstPageSaysWhatToDoAndOffersADemo) {
  const auto says = [&](const QString& text) {
    return wait_for([&] {
      return std::ranges::any_of(window_->findChildren<QLabel*>(), [&](const QLabel* label) {
        return label->isVisible() && label->text().contains(text);
      });
    });
  };
  EXPECT_TRUE(says("-Wl,-q"));
  EXPECT_TRUE(says("There is no database " + QString(world_.database().c_str())));
  if (!find_demo(respike_command())) {
    EXPECT_TRUE(says("there is no demo"));
    return;
  }
  press("Try the demo");
  ASSERT_EQ(end_of(1), Task::State::done);
  ASSERT_TRUE(wait_for([&] { return window_->application() == "count-words"; }));
  EXPECT_EQ(std::ranges::count_if(application().images,
                                  [](const ImageView& i) { return i.image.optimizable; }),
            2);  // the program and its library
  press("Instrument", [](QDialog& dialog) { accept(dialog); });
  ASSERT_EQ(end_of(2), Task::State::done);
  page("Run");
  press("Run");
  auto* output = find<QPlainTextEdit>("Output of the program");
  ASSERT_TRUE(wait_for([&] { return output->toPlainText().contains(" different\n"); }));
  ASSERT_TRUE(wait_for([&] { return image().profile.runs == 1; }));
  page("Applications");
  press("Optimize", [](QDialog& dialog) { accept(dialog); });
  ASSERT_EQ(end_of(3), Task::State::done);
}

TEST_F(WindowTest, ADroppedFileIsRegistered) {
  const QString program = world_.copy("calls.dynamic");
  QMimeData data;
  data.setUrls({QUrl::fromLocalFile(program)});
  QDragEnterEvent enter({5, 5}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(window_.get(), &enter);
  EXPECT_TRUE(enter.isAccepted());
  QDropEvent drop({5, 5}, Qt::CopyAction, &data, Qt::LeftButton, Qt::NoModifier);
  QApplication::sendEvent(window_.get(), &drop);
  ASSERT_EQ(end_of(1), Task::State::done);
  ASSERT_TRUE(wait_for([&] { return window_->application() == "calls.dynamic"; }));
}

TEST_F(WindowTest, AFailureShowsTheMessages) {
  press("Register a program", [&](QDialog& dialog) {
    find<QLineEdit>("Program", &dialog)->setText("/nonexistent");
    accept(dialog);
  });
  ASSERT_EQ(end_of(1), Task::State::failed);
  auto* tabs = find<QTabWidget>("Pages");
  EXPECT_EQ(tabs->tabText(tabs->currentIndex()), "Messages");
  EXPECT_EQ(messages(), world_.refusal({"register", "/nonexistent"}) + "\n");
}

TEST_F(WindowTest, ProgressIsShownAndCancelStopsTheWork) {
  register_by_command(world_.copy("sqlite3.dynamic"), "app");
  press("Optimize", [](QDialog& dialog) { accept(dialog); });
  ASSERT_TRUE(wait_for([&] {
    const auto* bar = window_->findChild<QProgressBar*>();
    return bar->isVisible() && bar->value() > 0;
  }));
  press("Cancel");
  EXPECT_EQ(end_of(1), Task::State::cancelled);
  EXPECT_FALSE(window_->findChild<QProgressBar*>()->isVisible());
  EXPECT_TRUE(messages().contains("cancelled"));
}

TEST_F(WindowTest, OneImageOfSeveralIsChosen) {
  register_by_command(world_.copy("calls.dynamic"), "app");
  press("Instrument", [&](QDialog& dialog) {
    auto* images = find<QListWidget>("Images", &dialog);
    ASSERT_EQ(images->count(), 1);  // libraries of the system cannot be optimized
    auto* button = find<QPushButton>("Instrument", &dialog);
    images->item(0)->setCheckState(Qt::Unchecked);
    EXPECT_FALSE(button->isEnabled());
    images->item(0)->setCheckState(Qt::Checked);
    EXPECT_TRUE(button->isEnabled());
    find<QComboBox>("Counters", &dialog)->setCurrentIndex(1);
    accept(dialog);
  });
  EXPECT_EQ(end_of(1), Task::State::done);
  EXPECT_TRUE(commands().endsWith("instrument app --counters atomic"));
}

// ---- the window keeps its state ----

TEST_F(WindowTest, SelectionAndOpenBranchesSurviveWhatOthersDo) {
  register_by_command(world_.copy("calls.dynamic"), "m");
  auto* tree = find<QTreeView>("Applications");
  tree->expand(tree->model()->index(0, 0));
  const QModelIndex image = tree->model()->index(0, 0, tree->model()->index(0, 0));
  tree->selectionModel()->setCurrentIndex(
      image, QItemSelectionModel::ClearAndSelect | QItemSelectionModel::Rows);
  for (const char* name : {"a", "z", "b"})
    world_.ok({"register", world_.copy("calls.dynamic", name)});
  ASSERT_TRUE(wait_for([&] { return tree->model()->rowCount() == 4; }));
  EXPECT_EQ(window_->application(), "m");
  const QModelIndex now = tree->currentIndex();
  EXPECT_EQ(now.parent().data().toString(), "m");
  EXPECT_TRUE(tree->isExpanded(now.parent()));
  EXPECT_TRUE(tree->selectionModel()->isRowSelected(now.row(), now.parent()));
  world_.ok({"unregister", "a"});
  world_.ok({"unregister", "m"});
  ASSERT_TRUE(wait_for([&] { return tree->model()->rowCount() == 2; }));
  EXPECT_NE(window_->application(), "m");
}

TEST_F(WindowTest, ArgumentsAreRemembered) {
  register_by_command(world_.build_echo(), "echo");
  page("Run");
  find<QLineEdit>("Arguments")->setText("a 'b");
  press("Run");
  EXPECT_TRUE(std::ranges::any_of(window_->findChildren<QLabel*>(), [](const QLabel* label) {
    return label->text() == "a quote in the arguments is not closed";
  }));
  find<QLineEdit>("Arguments")->setText("a 'b c'");
  find<QLineEdit>("Environment")->setText("WARN=careful");
  QTest::keyClick(find<QLineEdit>("Arguments"), Qt::Key_Return);
  auto* output = find<QPlainTextEdit>("Output of the program");
  for (const char* text : {"careful", "[a][b c]"})
    ASSERT_TRUE(wait_for([&] { return output->toPlainText().contains(text); })) << text;
  ASSERT_TRUE(wait_for([&] { return !find<QPushButton>("Stop")->isEnabled(); }));
  EXPECT_TRUE(window_->close());
  open();
  ASSERT_TRUE(wait_for([&] { return window_->application() == "echo"; }));
  EXPECT_EQ(find<QLineEdit>("Arguments")->text(), "a 'b c'");  // the page is also remembered
}

TEST_F(WindowTest, ClosingWhileWorkGoesOnAsks) {
  register_by_command(world_.copy("sqlite3.dynamic"), "app");
  press("Optimize", [](QDialog& dialog) { accept(dialog); });
  bool closed = true;
  with_dialog([&] { closed = window_->close(); },
              [](QDialog& dialog) {
                QTest::mouseClick(static_cast<QMessageBox&>(dialog).button(QMessageBox::No),
                                  Qt::LeftButton);
              });
  EXPECT_FALSE(closed);
  EXPECT_TRUE(manager_->busy());
  with_dialog([&] { closed = window_->close(); }, [](QDialog& dialog) { accept(dialog); });
  EXPECT_TRUE(closed);
  window_.reset();
  manager_.reset();
  EXPECT_TRUE(world_.ok({"list"}).contains("original"));
}

TEST_F(WindowTest, ClosingWhileAProgramRunsAsks) {
  register_by_command(world_.build_echo(), "echo");
  page("Run");
  find<QLineEdit>("Arguments")->setText("sleep 60");
  press("Run");
  ASSERT_TRUE(wait_for([&] { return find<QPushButton>("Stop")->isEnabled(); }));
  bool closed = true;
  with_dialog([&] { closed = window_->close(); }, [](QDialog& dialog) { dialog.reject(); });
  EXPECT_FALSE(closed);
  press("Stop");
  ASSERT_TRUE(wait_for([&] { return !find<QPushButton>("Stop")->isEnabled(); }));
  EXPECT_TRUE(window_->close());
}

TEST_F(WindowTest, HundredApplicationsDoNotBlockTheWindow) {
  {
    Environment environment(world_.database());
    for (int i = 0; i < 100; ++i)
      environment.register_application(
          {world_.copy("calls.dynamic", "app" + std::to_string(i)).toStdString()}, {});
  }
  milliseconds least_first = milliseconds::max(), least = least_first;
  QTreeView* tree = nullptr;
  for (int i = 0; i < 3; ++i) {
    open();
    tree = window_->findChild<QTreeView*>();
    least_first =
        std::min(least_first, longest_block([&] { return tree->model()->rowCount() == 100; }));
  }
  EXPECT_TRUE(least_first <= milliseconds(100) || !times_apply()) << least_first.count() << " ms";
  tree->expandAll();
  for (int i = 0; i < 3; ++i) {
    int snapshots = 0;
    QObject::connect(manager_.get(), &Manager::snapshot_changed, tree, [&] { ++snapshots; });
    manager_->refresh();
    least = std::min(least, longest_block([&] { return snapshots != 0; }));
    QObject::disconnect(manager_.get(), nullptr, tree, nullptr);
  }
  EXPECT_TRUE(least <= milliseconds(100) || !times_apply()) << least.count() << " ms";
}

// ---- for everybody ----

/// The text that describes a control to a user who cannot see the window.
QString spoken_name(const QWidget* widget) {
  if (!widget->accessibleName().isEmpty()) return widget->accessibleName();
  if (const auto* button = qobject_cast<const QAbstractButton*>(widget))
    if (!button->text().isEmpty()) return button->text();
  for (const QLabel* label : widget->window()->findChildren<QLabel*>())
    if (label->buddy() == widget) return label->text();
  return {};
}

/// Names the properties that users of a widget tree would miss.
QStringList faults_of(const QWidget& root) {
  QStringList faults;
  for (QWidget* widget : root.findChildren<QWidget*>()) {
    const bool part = qobject_cast<QAbstractSpinBox*>(widget->parent()) != nullptr ||
                      qobject_cast<QLineEdit*>(widget->parent()) != nullptr ||
                      qobject_cast<QComboBox*>(widget->parent()) != nullptr ||
                      widget->objectName().startsWith("qt_");
    const bool frame =
        widget->parent() != nullptr &&
        (widget->parent()->inherits("QComboBoxPrivateContainer") ||
         widget->parent()->inherits("QTabBar") || widget->parent()->inherits("QAbstractItemView") ||
         widget->parent()->inherits("QToolBar"));
    const bool interactive =
        qobject_cast<QAbstractButton*>(widget) != nullptr ||
        qobject_cast<QLineEdit*>(widget) != nullptr ||
        qobject_cast<QComboBox*>(widget) != nullptr ||
        qobject_cast<QAbstractSpinBox*>(widget) != nullptr ||
        qobject_cast<QPlainTextEdit*>(widget) != nullptr ||
        (qobject_cast<QAbstractItemView*>(widget) != nullptr && !widget->inherits("QHeaderView"));
    const bool inside_toolbar = widget->inherits("QToolBarExtension");
    if (!interactive || part || (frame && !qobject_cast<QComboBox*>(widget)) || inside_toolbar)
      continue;
    const QString name = spoken_name(widget);
    const QString what = QString(widget->metaObject()->className()) + " \"" + name + "\"";
    if (name.isEmpty()) faults << what + " has no name";
    const bool list = qobject_cast<QAbstractItemView*>(widget) != nullptr;
    const bool text = qobject_cast<QPlainTextEdit*>(widget) != nullptr;
    const bool answers =
        widget->parent() != nullptr && widget->parent()->inherits("QDialogButtonBox");
    QString tip = widget->toolTip();
    if (const auto* line = qobject_cast<QLineEdit*>(widget); line && tip.isEmpty())
      tip = line->placeholderText();
    if (!list && !text && !answers && tip.isEmpty()) faults << what + " has no tooltip";
    if (widget->focusPolicy() == Qt::NoFocus) faults << what + " cannot be reached by the keyboard";
  }
  return faults;
}

TEST_F(WindowTest, EveryControlHasANameAndATip) {
  register_by_command(world_.copy("calls.dynamic"), "app");
  EXPECT_EQ(faults_of(*window_).join('\n').toStdString(), "");
  const auto check = [](QDialog& dialog) {
    EXPECT_EQ(faults_of(dialog).join('\n').toStdString(), "") << dialog.windowTitle().toStdString();
    dialog.reject();
  };
  world_.ok({"optimize", "app"});
  manager_->refresh();
  ASSERT_TRUE(wait_for([&] { return image().optimized.has_value(); }));
  for (const char* button : {"Register", "Instrument", "Optimize", "Export", "Prune"})
    press(button, check);
}

TEST_F(WindowTest, EveryMenuEntryHasALetterAndNoShortcutMeansTwoThings) {
  QStringList shortcuts;
  const std::function<void(const QMenu*)> look = [&](const QMenu* menu) {
    for (const QAction* action : menu->actions()) {
      if (action->isSeparator()) continue;
      if (!action->shortcut().isEmpty()) shortcuts << action->shortcut().toString();
      if (action->menu() != nullptr) look(action->menu());
    }
  };
  for (const QAction* action : window_->menuBar()->actions()) {
    EXPECT_TRUE(action->text().contains('&'));
    look(action->menu());
  }
  const QSet<QString> different(shortcuts.begin(), shortcuts.end());
  EXPECT_EQ(different.size(), shortcuts.size()) << shortcuts.join(' ').toStdString();
}

}  // namespace
}  // namespace respike::gui
