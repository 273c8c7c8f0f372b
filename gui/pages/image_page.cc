#include "gui/pages/image_page.h"

#include <QGroupBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QScrollArea>
#include <QSplitter>
#include <QVBoxLayout>

#include <algorithm>
#include <optional>

#include "applications/descriptions.h"
#include "gui/pages/controls.h"
#include "gui/pages/remembering.h"
#include "optimizer/base/number_text.h"

namespace respike::gui {
namespace {

QGroupBox* make_box(const QString& title, QTableView* table, const QAbstractItemModel& model,
                    QWidget* parent) {
  auto* box = new QGroupBox(title, parent);
  auto* layout = new QVBoxLayout(box);
  layout->addWidget(table, 1);
  layout->addWidget(
      make_button(Icon::save, "Save as CSV…", "Save this table as comma-separated values", box,
                  [&model, title, box] { save_csv(model, title.toLower() + ".csv", box); }),
      0, Qt::AlignLeft);
  return box;
}

}  // namespace

ImagePage::ImagePage(Manager& manager, std::shared_ptr<CodeCache> cache, QWidget* parent)
    : QWidget(parent), manager_(manager), cache_(std::move(cache)) {
  images_ = new QComboBox(this);
  images_->setAccessibleName("Image");
  images_->setToolTip("An image of the application");
  images_->setMinimumContentsLength(40);
  info_ = new QLabel(this);
  info_->setWordWrap(true);
  info_->setTextFormat(Qt::PlainText);
  info_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  build_table_ = make_table("Builds", &builds_, this);
  left_alone_table_ = make_table("Procedures left alone", &left_alone_, this);
  left_alone_table_->setColumnWidth(LeftAloneModel::name, 260);
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(images_, 0, Qt::AlignLeft);
  layout->addWidget(info_);
  layout->addWidget(
      make_box("Procedures that are left alone", left_alone_table_, left_alone_, this), 3);
  layout->addWidget(make_builds(), 2);
  connect(images_, &QComboBox::activated, this, &ImagePage::ask);
  connect(&manager_, &Manager::snapshot_changed, this, &ImagePage::take_snapshot);
  take_snapshot();
}

/// The table of builds, and the time line beside it.
QWidget* ImagePage::make_builds() {
  time_line_ = new FigureWidget(this);
  time_line_->set(build_figure({}));
  auto* scrolled = new QScrollArea(this);
  scrolled->setWidgetResizable(true);
  scrolled->setFrameShape(QFrame::NoFrame);
  scrolled->setWidget(time_line_);
  scrolled->setAccessibleName("Time line");
  auto* box = new QGroupBox("Builds over time", this);
  auto* layout = new QVBoxLayout(box);
  layout->addWidget(scrolled, 1);
  layout->addWidget(make_save_button(
                        *time_line_, [this] { return application_; }, box),
                    0, Qt::AlignLeft);
  auto* splitter = new QSplitter(this);
  splitter->addWidget(make_box("Builds", build_table_, builds_, this));
  splitter->addWidget(box);
  return splitter;
}

void ImagePage::choose(const QString& application) {
  if (application == application_) return;
  application_ = application;
  take_snapshot();
}

void ImagePage::take_snapshot() {
  const ApplicationView* application = manager_.application(application_);
  const QString before = images_->currentData().toString();
  images_->clear();
  if (application != nullptr)
    for (const ImageView& view : application->images) {
      const QString path = QString::fromStdString(view.image.path);
      images_->addItem(path, path);
    }
  images_->setCurrentIndex(std::max(0, images_->findData(before)));
  QString stamp = images_->currentData().toString();
  if (application != nullptr)
    for (const ImageView& view : application->images)
      if (QString::fromStdString(view.image.path) == stamp)
        stamp += QString("\n%1 %2 %3 %4")
                     .arg(view.builds)
                     .arg(view.profile.version)
                     .arg(view.optimized.has_value())
                     .arg(view.instrumented.has_value());
  if (stamp == shown_ || !isVisible()) return;
  shown_ = stamp;
  ask();
}

/// Lifting a large image takes a second, so the page asks for the image when it is shown.
void ImagePage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  take_snapshot();
}

void ImagePage::ask() {
  const QString image = images_->currentData().toString();
  const int number = ++asked_;
  show_builds({});
  left_alone_.set({});
  if (image.isEmpty()) {
    info_->setText("Choose an application above.");
    return;
  }
  info_->setText("…");
  using Builds = std::vector<BuildLine>;
  manager_.ask<Builds>(
      this,
      [application = application_.toStdString(), path = image.toStdString()](
          Environment& environment) { return read_builds(environment, application, path); },
      [this, number](const Builds& builds) {
        if (number != asked_) return;
        show_builds(builds);
        ask_what_was_found();
      },
      [](const QString&) {});
  manager_.ask<ImageInfo>(
      this,
      [cache = cache_, application = application_.toStdString(), path = image.toStdString()](
          Environment& environment) { return cache->info(environment, application, path); },
      [this, number](const ImageInfo& info) {
        if (number == asked_) show(info);
      },
      [this, number](const QString& failure) {
        if (number != asked_) return;
        info_->setText(failure);
        shown_.clear();  // asked again at the next change, or when the page is shown
      });
}

void ImagePage::show_builds(const std::vector<BuildLine>& builds) {
  builds_.set(builds);
  fit_columns(*build_table_);
  time_line_->set(build_figure(builds));
}

/// One question for each build of the time line, since each takes the time of a match.
void ImagePage::ask_what_was_found() {
  using Answer = std::optional<FoundAgain>;
  for (size_t row = 0; row < std::min(builds_.builds().size(), kBuildsShown); ++row)
    manager_.ask<Answer>(
        this,
        [history = history_, build = builds_.builds()[row].build.id](Environment& environment) {
          return history->found(environment, build);
        },
        [this, row, number = asked_](const Answer& found) {
          if (number != asked_ || !found) return;
          builds_.set_found(row, *found);
          time_line_->set(build_figure(builds_.builds()));
        },
        [](const QString&) {});
}

void ImagePage::show(const ImageInfo& info) {
  const ProgramSummary& s = info.summary;
  left_alone_.set(s);
  info_->setText(
      QString("%1, %2, for %3: %4 procedures, %5 basic blocks, %6 instructions, %7 bytes of text, "
              "%8 relocations. Opaque are %9 procedures with %10 bytes, %12 of the text; pinned "
              "are %11.")
          .arg(QString::fromStdString(info.format), QString::fromStdString(info.kind),
               QString::fromStdString(info.machine), number(s.procedures), number(s.blocks),
               number(s.instructions), number(s.text_bytes), number(s.relocations),
               number(s.opaque.size()))
          .arg(number(s.opaque_bytes), number(s.pinned.size()),
               QString::fromStdString(percent(double(s.opaque_bytes), double(s.text_bytes)))));
}

}  // namespace respike::gui
