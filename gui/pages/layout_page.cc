#include "gui/pages/layout_page.h"

#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QMessageBox>
#include <QVBoxLayout>

#include <algorithm>

#include "gui/pages/controls.h"

namespace respike::gui {
namespace {

constexpr const char* kNotOptimized =
    "<b>Optimize</b> the application, and its new layout is here.";

/// Why there is no image to show, as on the page Applications.
QString why_no_image(const ApplicationView* application) {
  if (application == nullptr) return "Choose an application above.";
  for (const ImageView& view : application->images)
    if (!view.problem.empty())
      return verbatim(QString::fromStdString(view.image.path + ": " + view.problem));
  return "None of the application's images can be optimized.";
}

QWidget* with_title(const QString& title, QWidget* below) {
  auto* both = new QWidget(below->parentWidget());
  auto* layout = new QVBoxLayout(both);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(new QLabel(title, both));
  layout->addWidget(below, 1);
  return both;
}

}  // namespace

LayoutPage::LayoutPage(Manager& manager, std::shared_ptr<CodeCache> cache, QWidget* parent)
    : QWidget(parent), manager_(manager), cache_(std::move(cache)) {
  images_ = new QComboBox(this);
  images_->setAccessibleName("Image");
  images_->setToolTip("The image whose text is shown");
  images_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
  rows_ = new QComboBox(this);
  rows_->setAccessibleName("Rows");
  rows_->addItems({"a page in a row", "a pass of the cache in a row"});
  rows_->setToolTip(
      "How many bytes a row has: in passes of the instruction cache, lines in one column meet in "
      "the cache");
  only_executed_ = new QCheckBox("only rows that &ran", this);
  only_executed_->setToolTip("Leave rows out in which nothing runs");
  auto* top = new QHBoxLayout;
  top->addWidget(images_);
  top->addWidget(rows_);
  top->addWidget(only_executed_);
  top->addStretch(1);
  top->addWidget(make_button(Icon::save, "Save &picture…", "Save both maps as SVG or PNG", this,
                             [this] { save(); }));
  top->addWidget(
      make_button(Icon::save, "Save &CSV…", "Save the figures as comma-separated values", this,
                  [this] { save_csv(touched_, application_shown_ + "-layout.csv", this); }));

  before_ = make_map("Map of the original text");
  after_ = make_map("Map of the optimized text");
  not_optimized_ = make_empty_state(kNotOptimized, this);
  right_ = new QStackedWidget(this);
  right_->addWidget(not_optimized_);
  right_->addWidget(after_);
  auto* maps = new QSplitter(this);
  maps->addWidget(with_title("Original: grey never ran, red runs most often", before_));
  maps->addWidget(with_title("Optimized", right_));
  maps->setSizes({1000, 1000});
  pointed_ = new QLabel(this);
  pointed_->setTextFormat(Qt::PlainText);
  pointed_->setTextInteractionFlags(Qt::TextSelectableByMouse);
  pointed_->setMinimumWidth(1);
  table_ = make_table("Code that runs", &touched_, this);
  table_->horizontalHeader()->setSectionResizeMode(TouchedModel::name, QHeaderView::Stretch);
  table_->horizontalHeader()->setStretchLastSection(false);
  splitter_ = new QSplitter(Qt::Vertical, this);
  splitter_->addWidget(maps);
  splitter_->addWidget(table_);
  splitter_->setSizes({500, 170});
  empty_ = make_empty_state("", this);
  stack_ = new QStackedWidget(this);
  stack_->addWidget(empty_);
  stack_->addWidget(splitter_);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(top);
  layout->addWidget(stack_, 1);
  layout->addWidget(pointed_);

  connect(images_, &QComboBox::activated, this, &LayoutPage::ask);
  connect(rows_, &QComboBox::activated, this, &LayoutPage::draw);
  connect(only_executed_, &QCheckBox::toggled, this, &LayoutPage::draw);
  connect(&manager_, &Manager::snapshot_changed, this, &LayoutPage::take_snapshot);
  take_snapshot();
}

LayoutMapView* LayoutPage::make_map(const QString& name) {
  auto* map = new LayoutMapView(this);
  map->setAccessibleName(name);
  map->setAccessibleDescription(
      "The arrow keys move over cache lines; the line below says what is there. The table below "
      "has the figures.");
  connect(map, &LayoutMapView::pointed, this,
          [this](const QString& text) { pointed_->setText(text); });
  connect(map, &LayoutMapView::piece_wanted, this, [this, map](const LayoutPiece& piece) {
    if (piece.procedure == kNone) return;
    const LayoutView& view = map->map().view();
    if (const uint64_t address = view.addresses[piece.procedure]; address != 0)
      Q_EMIT procedure_wanted(image_shown_.toStdString(),
                              QString::fromStdString(view.procedures[piece.procedure]), address);
  });
  return map;
}

void LayoutPage::choose(const QString& application) {
  if (application == application_) return;
  application_ = application;
  images_->clear();
  take_snapshot();
}

QString LayoutPage::stamp() const {
  const ApplicationView* application = manager_.application(application_);
  const QString image = images_->currentData().toString();
  if (application != nullptr)
    for (const ImageView& view : application->images)
      if (QString::fromStdString(view.image.path) == image)
        return QString("%1\n%2 %3 %4")
            .arg(image)
            .arg(view.build ? view.build->id : 0)
            .arg(view.profile.version)
            .arg(view.optimized ? view.optimized->id : 0);
  return application_;
}

void LayoutPage::take_snapshot() {
  const ApplicationView* application = manager_.application(application_);
  const QString before = images_->currentData().toString();
  images_->clear();
  if (application != nullptr)
    for (const ImageView& view : application->images)
      if (view.build) {
        const QString path = QString::fromStdString(view.image.path);
        images_->addItem(QFileInfo(path).fileName(), path);
      }
  images_->setCurrentIndex(std::max(0, images_->findData(before)));
  if (isVisible() && stamp() != shown_) ask();
}

/// Lifting a large image takes a second, so the page asks for layouts when it is shown.
void LayoutPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  take_snapshot();
}

void LayoutPage::ask() {
  shown_ = stamp();
  const QString image = images_->currentData().toString();
  if (image.isEmpty()) return show_nothing(why_no_image(manager_.application(application_)));
  if (application_ != application_shown_ || image != image_shown_) show_nothing("…");
  manager_.ask<LayoutAnswer>(
      this,
      [cache = cache_, application = application_.toStdString(), path = image.toStdString()](
          Environment& environment) { return cache->layouts(environment, application, path); },
      [this, asked = shown_, application = application_, image](const LayoutAnswer& answer) {
        if (asked != shown_) return;
        application_shown_ = application;
        image_shown_ = image;
        show_layouts(answer);
      },
      [this, asked = shown_](const QString& failure) {
        if (asked != shown_) return;
        show_nothing(verbatim(failure));
        shown_.clear();  // asked again at the next change, or when the page is shown
      });
}

/// Also forgets the maps, so that the user cannot save the picture of another image.
void LayoutPage::show_nothing(const QString& text) {
  application_shown_.clear();
  image_shown_.clear();
  layouts_ = {};
  touched_.set({}, {});
  draw();
  empty_->setText(text);
  stack_->setCurrentIndex(0);
}

void LayoutPage::show_layouts(const LayoutAnswer& answer) {
  if (answer.before.touched.lines == 0)
    return show_nothing(
        "Nothing was counted yet: <b>instrument</b> the application, and <b>run</b> it.");
  layouts_ = answer;
  touched_.set(layouts_.before, layouts_.after);
  table_->resizeRowsToContents();
  not_optimized_->setText(layouts_.not_followed.empty()
                              ? kNotOptimized
                              : verbatim(QString::fromStdString(layouts_.not_followed)));
  draw();
  stack_->setCurrentIndex(1);
}

void LayoutPage::draw() {
  const auto row = LayoutMap::Row(rows_->currentIndex());
  const bool only = only_executed_->isChecked();
  before_->set(LayoutMap(layouts_.before, row, only, layouts_.lines_before));
  after_->set(LayoutMap(layouts_.after, row, only, layouts_.lines_after));
  right_->setCurrentIndex(after_->map().rows() == 0 ? 0 : 1);
}

void LayoutPage::save() {
  if (before_->map().rows() == 0) return;
  const QString path = QFileDialog::getSaveFileName(
      this, "Save the maps", application_shown_ + "-layout.svg", "SVG (*.svg);;PNG (*.png)");
  if (path.isEmpty()) return;
  const QString failure = save_layouts(before_->map(), after_->map(), path,
                                       "Layout of " + QFileInfo(image_shown_).fileName());
  if (!failure.isEmpty()) QMessageBox::warning(this, "Save the maps", verbatim(failure));
}

}  // namespace respike::gui
