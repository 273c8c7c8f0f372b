#include "gui/pages/time_view.h"

#include "gui/pages/controls.h"

namespace respike::gui {

TimeView::TimeView(Manager& manager, QWidget* parent) : QWidget(parent), manager_(manager) {
  empty_ = make_empty_state("", this);
  stack_ = new QStackedWidget(this);
  stack_->addWidget(empty_);
}

void TimeView::choose(const TimeChoice& choice) {
  const bool another = choice.application != choice_.application || choice.images != choice_.images;
  choice_ = choice;
  if (another) clear();
  read_if_seen();
}

void TimeView::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  read_if_seen();
}

void TimeView::read_if_seen() {
  if (!isVisible() || choice_.stamp == read_) return;
  read_ = choice_.stamp;
  if (choice_.application.isEmpty())
    show_nothing("Choose an application above.");
  else
    read();
}

void TimeView::show_nothing(const QString& text) {
  empty_->setText(text);
  stack_->setCurrentIndex(0);
}

void TimeView::show_failure(const QString& text) {
  clear();
  show_nothing(verbatim(text));
  read_.clear();  // asked again at the next change, or when the view is shown
}

void TimeView::show_uncounted() {
  show_nothing("Nothing was counted yet: <b>instrument</b> the application, and <b>run</b> it.");
}

}  // namespace respike::gui
