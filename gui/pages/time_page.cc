#include "gui/pages/time_page.h"

#include <QFileInfo>
#include <QVBoxLayout>

#include <algorithm>

#include "gui/pages/character_view.h"
#include "gui/pages/loops_view.h"
#include "gui/pages/procedures_view.h"

namespace respike::gui {

TimePage::TimePage(Manager& manager, std::shared_ptr<CodeCache> cache, QWidget* parent)
    : QWidget(parent), manager_(manager) {
  images_ = new QComboBox(this);
  images_->setAccessibleName("Image");
  images_->setToolTip("Show all images, or one");
  images_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  tabs_ = new QTabWidget(this);
  tabs_->setDocumentMode(true);
  tabs_->setAccessibleName("Views");
  tabs_->setCornerWidget(images_);
  add(new ProceduresView(manager_, this), "Procedures", "Procedures by executed instructions");
  add(new LoopsView(manager_, cache, this), "Loops", "Loops by executed instructions");
  add(new CharacterView(manager_, cache, this), "Character",
      "What kind of program it is: loops, sizes of procedures, the cost of calls");
  auto* layout = new QVBoxLayout(this);
  layout->setContentsMargins({});
  layout->addWidget(tabs_);
  connect(images_, &QComboBox::activated, this, &TimePage::pass_on);
  connect(&manager_, &Manager::snapshot_changed, this, &TimePage::take_snapshot);
  take_snapshot();
}

void TimePage::add(TimeView* view, const QString& title, const QString& tip) {
  tabs_->setTabToolTip(tabs_->addTab(view, title), tip);
  views_.push_back(view);
  connect(view, &TimeView::procedure_wanted, this, &TimePage::procedure_wanted);
}

void TimePage::choose(const QString& application) {
  if (application == application_) return;
  application_ = application;
  images_->clear();
  take_snapshot();
}

QString TimePage::stamp() const {
  QString text = application_ + '\n' + images_->currentData().toString();
  if (const ApplicationView* application = manager_.application(application_))
    for (const ImageView& view : application->images)
      if (view.build) text += QString("\n%1 %2").arg(view.build->id).arg(view.profile.version);
  return text;
}

void TimePage::take_snapshot() {
  const ApplicationView* application = manager_.application(application_);
  const QString before = images_->currentData().toString();
  images_->clear();
  if (application != nullptr) {
    images_->addItem("all images", QString());
    for (const ImageView& view : application->images)
      if (view.build) {
        const QString path = QString::fromStdString(view.image.path);
        images_->addItem(QFileInfo(path).fileName(), path);
      }
    images_->setCurrentIndex(std::max(0, images_->findData(before)));
  }
  pass_on();
}

void TimePage::pass_on() {
  TimeChoice choice{.application = {}, .images = {}, .stamp = stamp()};
  if (manager_.application(application_) != nullptr) choice.application = application_;
  if (const QString image = images_->currentData().toString(); !image.isEmpty())
    choice.images.push_back(image.toStdString());
  for (TimeView* view : views_) view->choose(choice);
}

}  // namespace respike::gui
