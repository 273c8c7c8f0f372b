#pragma once
// Code that tests of the main window share: a window on a database of its own, and ways to find and
// press its controls, as a user does.

#include <QAbstractButton>
#include <QApplication>
#include <QDialog>
#include <QDialogButtonBox>
#include <QLineEdit>
#include <QPlainTextEdit>
#include <QSettings>
#include <QTabWidget>
#include <QTableView>
#include <QTest>
#include <QTimer>

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "gui/pages/main_window.h"
#include "tests/gui/support.h"

namespace respike::gui {

/// The text of a control without the mark of its letter.
inline QString plain(QString text) {
  return text.remove('&').remove("…");
}

/// A window on a database of its own.
class WindowTest : public testing::Test {
 protected:
  WindowTest() {
    QSettings().clear();
    open();
    page("Applications");
  }
  ~WindowTest() override {
    if (QWidget* left = QApplication::activeModalWidget()) left->close();
  }

  void open() {
    window_.reset();
    manager_ = std::make_unique<Manager>(world_.database());
    QObject::connect(manager_.get(), &Manager::task_ended,
                     [this](const Task& task) { ended_.push_back(task); });
    window_ = std::make_unique<MainWindow>(*manager_, respike_command());
    window_->resize(1200, 800);
    window_->show();
    ASSERT_TRUE(QTest::qWaitForWindowExposed(window_.get()));
  }

  /// The widget of a type whose name, text or placeholder is `name`, on the page that is shown.
  template <typename T>
  T* find(const QString& name, QWidget* in = nullptr) {
    if (in == nullptr) in = window_.get();
    for (T* widget : in->findChildren<T*>()) {
      if (!widget->isVisible()) continue;
      QString text = widget->accessibleName();
      if (const auto* button = qobject_cast<QAbstractButton*>(widget); button && text.isEmpty())
        text = plain(button->text());
      if (text == name) return widget;
    }
    ADD_FAILURE() << "there is no " << T::staticMetaObject.className() << " " << name.toStdString();
    return nullptr;
  }

  void page(const QString& title) {
    auto* tabs = find<QTabWidget>("Pages");
    for (int i = 0; i < tabs->count(); ++i)
      if (tabs->tabText(i) == title) return tabs->setCurrentIndex(i);
    FAIL() << "there is no page " << title.toStdString();
  }

  void press(const QString& button, QWidget* in = nullptr) {
    auto* found = find<QAbstractButton>(button, in);
    ASSERT_TRUE(found != nullptr);
    // The changes of an action show a moment after the action's end.
    ASSERT_TRUE(wait_for([&] { return found->isEnabled(); })) << button.toStdString();
    QTest::mouseClick(found, Qt::LeftButton, {}, {10, found->height() / 2});
  }

  /// Presses a button that opens a dialog, does something in the dialog, and waits for its end.
  void press(const QString& button, const std::function<void(QDialog&)>& in_dialog) {
    with_dialog([&] { press(button); }, in_dialog);
  }

  void with_dialog(const std::function<void()>& open_dialog,
                   const std::function<void(QDialog&)>& in_dialog) {
    bool seen = false;
    QTimer timer;
    QObject::connect(&timer, &QTimer::timeout, &timer, [&] {
      auto* dialog = qobject_cast<QDialog*>(QApplication::activeModalWidget());
      if (dialog == nullptr || seen) return;
      seen = true;
      timer.stop();
      in_dialog(*dialog);
      if (dialog->isVisible()) {
        ADD_FAILURE() << dialog->windowTitle().toStdString() << " is still open";
        dialog->reject();
      }
    });
    timer.start(10);
    open_dialog();
    EXPECT_TRUE(seen) << "no dialog was opened";
  }

  static void accept(QDialog& dialog) {
    auto* buttons = dialog.findChild<QDialogButtonBox*>();
    for (QAbstractButton* button : buttons->buttons()) {
      const auto role = buttons->buttonRole(button);
      if (role != QDialogButtonBox::AcceptRole && role != QDialogButtonBox::YesRole) continue;
      EXPECT_TRUE(button->isEnabled());
      return QTest::mouseClick(button, Qt::LeftButton);
    }
    ADD_FAILURE() << "the dialog has no button that accepts";
  }

  /// Waits until so many actions ended since the start; returns how the last one ended.
  Task::State end_of(size_t actions) {
    EXPECT_TRUE(wait_for([&] { return ended_.size() >= actions; }));
    return ended_.empty() ? Task::State::failed : ended_.back().state;
  }

  void register_by_command(const QString& program, const QString& name) {
    world_.ok({"register", program, "--name", name});
    manager_->refresh();  // which otherwise looks once a second
    ASSERT_TRUE(wait_for([&] { return window_->application() == name; }));
  }

  const ApplicationView& application() { return *manager_->application(window_->application()); }
  const ImageView& image() { return application().images.front(); }
  QString messages() {
    page("Messages");
    QString all;
    const QAbstractItemModel& model = *find<QTableView>("Messages")->model();
    for (int row = 0; row < model.rowCount(); ++row)
      all += model.index(row, 3).data().toString() + "\n";
    return all;
  }
  QString commands() {
    page("Commands");
    return find<QPlainTextEdit>("Command lines")->toPlainText();
  }

  World world_;
  std::vector<Task> ended_;
  std::unique_ptr<Manager> manager_;
  std::unique_ptr<MainWindow> window_;
};

}  // namespace respike::gui
