#pragma once
// The base of the views of the page "Time": they read when they are shown, and say what to do when
// there is nothing to show.

#include <QLabel>
#include <QStackedWidget>
#include <QWidget>

#include <string>
#include <vector>

#include "gui/models/manager.h"

namespace respike::gui {

/// The choice of what a view shows.
struct TimeChoice {
  QString application;              // empty: none
  std::vector<std::string> images;  // paths; empty: all
  QString stamp;                    // changes when counts or images do
};

class TimeView : public QWidget {
  Q_OBJECT

 public:
  TimeView(Manager& manager, QWidget* parent);

  void choose(const TimeChoice& choice);

 Q_SIGNALS:
  /// The user wants to see a procedure, at a block if `block` is not 0. Both are addresses in the
  /// original image.
  void procedure_wanted(const std::string& image, const QString& name, uint64_t address,
                        uint64_t block);

 protected:
  /// Asks for the data of choice(), and shows it.
  virtual void read() = 0;
  /// Forgets what is shown: it belongs to another application or image.
  virtual void clear() = 0;

  const TimeChoice& choice() const { return choice_; }
  /// Asks a question about the choice. The answer is dropped if the choice has changed by then.
  template <typename T>
  void ask(std::function<T(Environment&)> question, std::function<void(const T&)> answer) {
    manager_.ask<T>(
        this, std::move(question),
        [this, asked = choice_.stamp, answer = std::move(answer)](const T& result) {
          if (asked == choice_.stamp) answer(result);
        },
        [this, asked = choice_.stamp](const QString& failure) {
          if (asked == choice_.stamp) show_failure(failure);
        });
  }
  /// Puts the content below the view's other controls.
  void set_content(QWidget* content) { stack_->addWidget(content); }
  QWidget* stack() { return stack_; }
  void show_content() { stack_->setCurrentIndex(1); }
  /// Shows a text instead of the content.
  void show_nothing(const QString& text);
  /// The same when nothing was counted.
  void show_uncounted();

  void showEvent(QShowEvent* event) override;

 private:
  void read_if_seen();
  void show_failure(const QString& text);

  Manager& manager_;
  TimeChoice choice_;
  QString read_;  // the stamp of the last question
  QLabel* empty_;
  QStackedWidget* stack_;
};

}  // namespace respike::gui
