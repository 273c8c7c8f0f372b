// Expectations of users on all pages: their arrangement is remembered, the keyboard reaches
// everything, letters mean one thing, placeholders can be read in dark colours, tables and pictures
// can be exported; no page is empty or cut, names with `<` appear unchanged, and all this also at
// 200% (CMakeLists.txt sets QT_SCALE_FACTOR). Each test walks over all pages, so a new page cannot
// forget a habit. RESPIKE_GUI_SHOTS: a folder for pictures of the pages.

#include <QAbstractItemModelTester>
#include <QAbstractProxyModel>
#include <QFileDialog>
#include <QGroupBox>
#include <QHeaderView>
#include <QLabel>
#include <QListWidget>
#include <QMenuBar>
#include <QSplitter>
#include <QTreeView>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "tests/gui/window_test.h"

namespace respike::gui {
namespace {

constexpr const char* kName = "<u>app";  // labels could take that for a tag

/// A window on an application that was counted, optimized and compared: no page is empty.
class HabitsTest : public WindowTest {
 protected:
  /// Has all models of the window checked, from now on.
  void watch_models() {
    using Tester = QAbstractItemModelTester;
    std::set<QAbstractItemModel*> models;
    for (const auto* view : window_->findChildren<QAbstractItemView*>()) {
      if (view->inherits("QHeaderView") || view->inherits("QListView") || !view->model() ||
          view->accessibleName().isEmpty())
        continue;
      QAbstractItemModel* model = view->model();
      models.insert(model);
      while (const auto* proxy = qobject_cast<QAbstractProxyModel*>(model))
        models.insert(model = proxy->sourceModel());
    }
    EXPECT_GT(models.size(), 15u);
    for (QAbstractItemModel* model : models)
      new Tester(model, Tester::FailureReportingMode::Fatal, window_.get());
  }

  void fill_pages() {
    watch_models();
    const QString program = world_.copy("calls.O0.dynamic");  // with debug information
    register_by_command(program, kName);
    world_.ok({"instrument", kName});
    world_.respike({"run", kName});  // this program does not end with 0
    world_.ok({"optimize", kName});
    manager_->refresh();
    ASSERT_TRUE(wait_for([&] { return image().optimized.has_value(); }));
    page("Gain");
    ASSERT_TRUE(wait_for([&] { return find<QAbstractButton>("Compare")->isEnabled(); }));
    press("Compare");
    ASSERT_EQ(end_of(1), Task::State::done);
    page("Time");
    ASSERT_TRUE(wait_for([&] { return !visible<QTableView>(*window_).empty(); }));
    auto* procedures = find<QTableView>("Procedures");
    ASSERT_TRUE(wait_for([&] { return procedures->model()->rowCount() > 3; }));
    Q_EMIT procedures->activated(procedures->model()->index(0, 0));
    const auto is_listing = [](const QTableView* table) {
      return table->isVisible() && table->accessibleName() == "Listing";
    };
    ASSERT_TRUE(wait_for(
        [&] { return std::ranges::any_of(window_->findChildren<QTableView*>(), is_listing); }));
    const auto is_source = [](const QTableView* table) {
      return table->isVisible() && table->accessibleName() == "Source";
    };
    ASSERT_TRUE(wait_for(
        [&] { return std::ranges::any_of(window_->findChildren<QTableView*>(), is_source); }));
  }

  /// Until all questions of pages are answered, including the questions that answers led to.
  void wait_for_answers() {
    for (int i = 0; i < 3; ++i) {
      bool answered = false;
      manager_->ask<int>(
          manager_.get(), [](Environment&) { return 0; }, [&](const int&) { answered = true; },
          [&](const QString&) { answered = true; });
      ASSERT_TRUE(wait_for([&] { return answered; }));
    }
  }

  /// Shows each page in turn, after it has read its contents.
  void on_each_page(const std::function<void(const QString& title, QWidget& page)>& look) {
    auto* tabs = find<QTabWidget>("Pages");
    for (int i = 0; i < tabs->count(); ++i) {
      tabs->setCurrentIndex(i);
      wait_for_answers();
      wait(std::chrono::milliseconds(100));
      look(tabs->tabText(i), *tabs->currentWidget());
    }
  }

  template <typename T>
  static std::vector<T*> visible(const QWidget& in) {
    std::vector<T*> found;
    for (T* widget : in.findChildren<T*>())
      if (widget->isVisible()) found.push_back(widget);
    return found;
  }
};

// ---- the user's arrangement ----

std::map<QString, QByteArray> arrangement(const QWidget& window) {
  std::map<QString, QByteArray> states;
  for (const QHeaderView* header : window.findChildren<QHeaderView*>())
    if (header->orientation() == Qt::Horizontal)
      states[static_cast<QWidget*>(header->parent())->accessibleName()] = header->saveState();
  int splitters = 0;
  for (const QSplitter* splitter : window.findChildren<QSplitter*>())
    states[QString("splitter %1").arg(splitters++)] = splitter->saveState();
  return states;
}

TEST_F(HabitsTest, ColumnsAndSplittersAreRemembered) {
  const auto before = arrangement(*window_);
  for (QHeaderView* header : window_->findChildren<QHeaderView*>())
    if (header->orientation() == Qt::Horizontal) {
      header->resizeSection(0, header->sectionSize(0) + 37);
      if (header->isSortIndicatorShown()) header->setSortIndicator(1, Qt::DescendingOrder);
    }
  for (QSplitter* splitter : window_->findChildren<QSplitter*>()) {
    QList<int> sizes = splitter->sizes();
    for (qsizetype i = 0; i < sizes.size(); ++i) sizes[i] = 200 + 100 * int(i);
    splitter->setSizes(sizes);
  }
  const auto arranged = arrangement(*window_);
  EXPECT_NE(arranged, before);
  EXPECT_TRUE(window_->close());
  open();
  for (const auto& [name, state] : arrangement(*window_))
    EXPECT_EQ(state, arranged.at(name)) << name.toStdString();
}

// ---- the keyboard ----

QStringList letters_twice(const QStringList& texts) {
  std::map<QString, QString> owners;
  QStringList twice;
  for (const QString& text : texts) {
    const QString letter = QKeySequence::mnemonic(text).toString();
    if (letter.isEmpty()) continue;
    const auto [owner, is_new] = owners.emplace(letter, text);
    if (!is_new) twice << letter + " means " + owner->second + " and " + text;
  }
  return twice;
}

QStringList texts_with_letters(const QWidget& root) {
  QStringList texts;
  for (const auto* button : root.findChildren<QAbstractButton*>())
    if (button->isVisible()) texts << button->text();
  for (const auto* label : root.findChildren<QLabel*>())
    if (label->isVisible() && label->buddy() != nullptr) texts << label->text();
  for (const auto* box : root.findChildren<QGroupBox*>())
    if (box->isVisible()) texts << box->title();
  return texts;
}

TEST_F(HabitsTest, ALetterMeansOneThing) {
  fill_pages();
  QStringList menus;
  for (const QAction* action : window_->menuBar()->actions()) menus << action->text();
  for (const char* number : {"&1", "&2", "&3", "&4", "&5", "&6", "&7", "&8", "&9", "&0"})
    menus << number;  // of pages
  on_each_page([&](const QString& title, QWidget&) {
    EXPECT_EQ(letters_twice(menus + texts_with_letters(*window_)), QStringList())
        << title.toStdString();
  });
  page("Applications");
  for (const char* button : {"Register", "Instrument", "Optimize", "Export", "Prune"})
    press(button, [&](QDialog& dialog) {
      EXPECT_EQ(letters_twice(texts_with_letters(dialog)), QStringList())
          << dialog.windowTitle().toStdString();
      dialog.reject();
    });
}

/// Whether Tab has to stop at a widget.
bool is_stop(const QWidget* widget) {
  const bool part_of_another = qobject_cast<QWidget*>(widget->parent()) != nullptr &&
                               widget->parentWidget()->focusProxy() == widget;
  return widget->isVisible() && widget->isEnabled() && !part_of_another &&
         (widget->focusPolicy() & Qt::TabFocus) != 0 && widget->focusProxy() == nullptr &&
         !widget->objectName().startsWith("qt_");
}

TEST_F(HabitsTest, TabReachesEveryControlOfAPage) {
  fill_pages();
  on_each_page([&](const QString& title, QWidget& shown) {
    QApplication::setActiveWindow(window_.get());
    std::set<QWidget*> reached;
    for (int i = 0; i < 200; ++i) {
      QWidget* focus = QApplication::focusWidget();
      if (focus != nullptr && !reached.insert(focus).second && reached.size() > 3 && i > 100) break;
      QTest::keyClick(focus != nullptr ? focus : window_.get(), Qt::Key_Tab);
    }
    for (QWidget* widget : shown.findChildren<QWidget*>()) {
      if (!is_stop(widget) || widget->parent()->inherits("QAbstractSpinBox") ||
          widget->parent()->inherits("QComboBox"))
        continue;
      EXPECT_TRUE(reached.contains(widget))
          << title.toStdString() << ": " << widget->metaObject()->className() << " "
          << widget->accessibleName().toStdString() << " is not reached";
    }
  });
}

// ---- colours ----

double light_of(const QColor& colour) {
  const auto part = [](double v) {
    return v <= 0.03928 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
  };
  return 0.2126 * part(colour.redF()) + 0.7152 * part(colour.greenF()) +
         0.0722 * part(colour.blueF());
}

/// The contrast of text on a background (Web Content Accessibility Guidelines 2.1).
double contrast(const QColor& text, const QColor& back) {
  const double a = text.alphaF();
  const auto mixed = [&](double front, double behind) { return a * front + (1 - a) * behind; };
  const QColor seen = QColor::fromRgbF(float(mixed(text.redF(), back.redF())),
                                       float(mixed(text.greenF(), back.greenF())),
                                       float(mixed(text.blueF(), back.blueF())));
  const double one = light_of(seen), other = light_of(back);
  return (std::max(one, other) + 0.05) / (std::min(one, other) + 0.05);
}

QPalette dark_colours() {
  QPalette dark(QColor(49, 54, 59));
  dark.setColor(QPalette::Base, QColor(27, 30, 32));
  dark.setColor(QPalette::AlternateBase, QColor(35, 38, 41));
  dark.setColor(QPalette::Text, QColor(252, 252, 252));
  dark.setColor(QPalette::PlaceholderText, QColor(0, 0, 0, 128));  // as Qt leaves it for KDE
  return dark;
}

TEST_F(HabitsTest, PlaceholdersAreReadableInDarkColours) {
  const QPalette before = QApplication::palette();
  const QPalette dark = dark_colours();
  QPalette light(QColor(239, 240, 241));
  light.setColor(QPalette::PlaceholderText, QColor(0, 0, 0, 128));
  const auto contrast_of = [](const QLineEdit* line) {
    const QPalette& palette = line->palette();
    return contrast(palette.color(QPalette::PlaceholderText), palette.color(QPalette::Base));
  };
  // Widgets hear of a palette by events, which a busy machine delivers late.
  const auto look = [&](const char* when) {
    const auto lines = window_->findChildren<QLineEdit*>();
    wait_for(
        [&] { return std::ranges::all_of(lines, [&](auto* l) { return contrast_of(l) >= 4.5; }); });
    for (const auto* line : lines)
      EXPECT_GE(contrast_of(line), 4.5) << when << line->placeholderText().toStdString();
  };
  for (const QPalette& palette : {dark, light}) {
    QApplication::setPalette(palette);
    wait(std::chrono::milliseconds(50));
    look("the palette changes: ");
    open();
    look("the window opens: ");
  }
  QApplication::setPalette(before);
}

/// Shares of a picture's points: of the commonest colour, and of light colours.
struct Colours {
  explicit Colours(const QImage& picture) {
    std::map<QRgb, int> points;
    int all = 0, bright = 0;
    for (int y = 0; y < picture.height(); y += 3)
      for (int x = 0; x < picture.width(); x += 3) {
        const QRgb colour = picture.pixel(x, y);
        ++all;
        ++points[colour];
        bright += light_of(QColor(colour)) > 0.3;
      }
    for (const auto& [colour, count] : points) commonest = std::max(commonest, double(count) / all);
    light = double(bright) / all;
  }
  double commonest = 0, light = 0;
};

/// Whether a label or a button shows all of its text, as far as it means to.
bool has_room(const QLabel& label) {
  if (dynamic_cast<const ElidedLabel*>(&label) != nullptr) return true;
  if (label.wordWrap()) return label.height() >= label.heightForWidth(label.width());
  return label.sizePolicy().horizontalPolicy() == QSizePolicy::Ignored ||
         label.minimumWidth() > 0 || label.width() >= label.sizeHint().width();
}
bool has_room(const QAbstractButton& button) {
  return button.text().isEmpty() || button.width() >= button.sizeHint().width();
}

TEST_F(HabitsTest, NoPageIsEmptyOrCutInDarkColoursAt200Percent) {
  const QPalette before = QApplication::palette();
  QApplication::setPalette(dark_colours());
  const QSize half_of_full_hd(960, 540);  // the rest of 1920 x 1080 at 200%
  window_->resize(half_of_full_hd);
  fill_pages();
  on_each_page([&](const QString& title, QWidget& shown) {
    EXPECT_TRUE(window_->size() == half_of_full_hd) << title.toStdString() << " makes it larger";
    const QImage picture = window_->grab().toImage();
    if (const QString folder = qEnvironmentVariable("RESPIKE_GUI_SHOTS"); !folder.isEmpty())
      picture.save(folder + "/" + title.toLower().replace(' ', '-') + "-habits.png");
    const Colours colours(shown.grab().toImage());
    EXPECT_LT(colours.commonest, 0.985) << title.toStdString() << " is empty";
    EXPECT_LT(colours.light, 0.25) << title.toStdString() << " is not dark";
    for (const auto* label : visible<QLabel>(shown)) {
      EXPECT_TRUE(has_room(*label)) << title.toStdString() << ": " << label->text().toStdString();
      EXPECT_TRUE(!label->text().contains(kName) || label->textFormat() == Qt::PlainText)
          << title.toStdString() << ": " << label->text().toStdString();
    }
    for (const auto* button : visible<QAbstractButton>(shown))
      EXPECT_TRUE(has_room(*button)) << title.toStdString() << ": " << button->text().toStdString();
  });
  QApplication::setPalette(before);
}

// ---- databases ----

TEST_F(HabitsTest, AReadOnlyFileSystemIsSaidAndPagesShowWhatIsThere) {
  fill_pages();
  window_.reset();  // no process may have the database open
  manager_.reset();
  {
    const ReadOnlyMount mount(world_.folder());
    if (!mount.is_mounted()) GTEST_SKIP() << "this user may not mount";
    open();
    page("Applications");
    EXPECT_TRUE(
        wait_for([&] { return find<QTreeView>("Applications")->model()->rowCount() == 1; }));
    const QString said = find<QLabel>("State of the database")->text();
    EXPECT_TRUE(said.contains("cannot be written: Read-only file system")) << said.toStdString();
    EXPECT_TRUE(image().optimized.has_value() && image().profile.runs == 1);
    page("Time");
    EXPECT_TRUE(wait_for([&] { return find<QTableView>("Procedures")->model()->rowCount() > 0; }));
    page("Gain");
    EXPECT_TRUE(
        wait_for([&] { return find<QTableView>("Comparisons")->model()->rowCount() == 1; }));
    const int task = manager_->start(mode_action(kName, Mode::original));
    EXPECT_TRUE(wait_for([&] { return !manager_->busy(); }));
    EXPECT_EQ(manager_->tasks().back().number, task);
    EXPECT_EQ(manager_->tasks().back().state, Task::State::failed);
    wait(std::chrono::seconds(2));
    EXPECT_EQ(messages().count("Read-only file system"), 2) << messages().toStdString();
  }
  EXPECT_TRUE(wait_for([&] { return manager_->snapshot().problem.isEmpty(); }));
  page("Applications");
  for (const QLabel* label : window_->findChildren<QLabel*>())
    EXPECT_FALSE(label->isVisible() && label->accessibleName() == "State of the database");
}

// ---- files ----

/// Whether a widget is a picture: painted by us, and without controls inside.
bool is_picture(const QWidget* widget) {
  return QString(widget->metaObject()->className()).startsWith("respike::gui::") &&
         widget->layout() == nullptr && !widget->accessibleName().isEmpty();
}

QString headers_of(const QAbstractItemModel& model) {
  QStringList titles;
  for (int i = 0; i < model.columnCount(); ++i)
    titles << model.headerData(i, Qt::Horizontal).toString();
  return titles.join(',');
}

class FilesTest : public HabitsTest {
 protected:
  /// Presses a button and saves a file of this kind, ".svg"; returns the file's path.
  QString save(QAbstractButton* button, const QString& kind) {
    const QString path =
        QString("%1/saved %2%3").arg(world_.folder().c_str(), QString::number(++files_), kind);
    with_dialog([&] { button->click(); },
                [&](QDialog& dialog) {
                  auto& files = static_cast<QFileDialog&>(dialog);
                  const QStringList filters = files.nameFilters().filter("*" + kind);
                  EXPECT_FALSE(filters.isEmpty())
                      << button->text().toStdString() << " offers no " << kind.toStdString();
                  if (filters.isEmpty()) return dialog.reject();
                  files.selectNameFilter(filters.front());
                  files.findChild<QLineEdit*>("fileNameEdit")->setText(path);
                  dialog.accept();
                });
    return path;
  }

  static std::string content(const QString& path) {
    QFile file(path);
    EXPECT_TRUE(file.open(QIODevice::ReadOnly)) << path.toStdString();
    return file.readAll().toStdString();
  }

  int files_ = 0;
};

TEST_F(FilesTest, EveryTableAndEveryPictureIsSaved) {
  fill_pages();
  on_each_page([&](const QString& title, QWidget& shown) {
    std::vector<QAbstractButton*> tables, pictures;
    for (auto* button : visible<QAbstractButton>(shown)) {
      if (button->toolTip().contains("comma-separated")) tables.push_back(button);
      if (button->text().contains("picture")) pictures.push_back(button);
    }
    std::vector<QString> headers;
    for (auto* view : visible<QAbstractItemView>(shown))
      if (!view->inherits("QHeaderView") && !view->inherits("QListView") &&
          !view->accessibleName().isEmpty())
        headers.push_back(headers_of(*view->model()));
    EXPECT_GE(tables.size(), headers.size()) << title.toStdString() << ": a table stays here";
    for (auto* button : tables) {
      const QString csv = QString::fromStdString(content(save(button, ".csv")));
      EXPECT_TRUE(std::ranges::count(headers, csv.section("\r\n", 0, 0)))
          << title.toStdString() << ": " << csv.left(100).toStdString();
    }
    if (std::ranges::any_of(visible<QWidget>(shown), is_picture)) {
      EXPECT_FALSE(pictures.empty()) << title.toStdString() << ": a picture stays here";
    }
    for (auto* button : pictures) {
      const std::string svg = content(save(button, ".svg"));
      EXPECT_TRUE(svg.find("<svg") != std::string::npos && svg.find("<title>") != std::string::npos)
          << title.toStdString();
      EXPECT_FALSE(QImage(save(button, ".png")).isNull()) << title.toStdString();
    }
  });
  EXPECT_GT(files_, 10);
}

}  // namespace
}  // namespace respike::gui
