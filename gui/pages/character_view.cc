#include "gui/pages/character_view.h"

#include <QHBoxLayout>
#include <QHeaderView>
#include <QScrollArea>
#include <QSplitter>
#include <QVBoxLayout>

#include "gui/pages/controls.h"

namespace respike::gui {

CharacterView::CharacterView(Manager& manager, std::shared_ptr<CodeCache> cache, QWidget* parent)
    : TimeView(manager, parent), cache_(std::move(cache)) {
  auto* figures = new QWidget(this);
  auto* column = new QVBoxLayout(figures);
  for (const Figure& figure : character_figures({})) {
    Place place;
    place.title = new QLabel("<b>" + figure.title + "</b>", figures);
    place.picture = new FigureWidget(figures);
    place.text = new QLabel(figures);
    place.text->setWordWrap(true);
    place.text->setTextInteractionFlags(Qt::TextSelectableByMouse);
    auto* head = new QHBoxLayout;
    head->addWidget(place.title, 1);
    place.picture->set(figure);
    head->addWidget(make_save_button(
        *place.picture, [this] { return choice().application; }, this));
    column->addLayout(head);
    column->addWidget(place.text);
    column->addWidget(place.picture);
    column->addSpacing(12);
    places_.push_back(place);
  }
  column->addStretch(1);
  auto* scroll = new QScrollArea(this);
  scroll->setWidgetResizable(true);
  scroll->setFrameShape(QFrame::NoFrame);
  scroll->setWidget(figures);
  scroll->setAccessibleName("Figures");

  table_ = make_table("Numbers of the figures", &model_, this);
  table_->horizontalHeader()->setStretchLastSection(false);
  table_->horizontalHeader()->setSectionResizeMode(CharacterModel::measure, QHeaderView::Stretch);
  table_->setColumnWidth(CharacterModel::bound, 60);
  table_->setColumnWidth(CharacterModel::share, 80);
  auto* numbers = new QWidget(this);
  auto* side = new QVBoxLayout(numbers);
  side->setContentsMargins({});
  side->addWidget(table_, 1);
  side->addWidget(
      make_button(Icon::save, "Save as &CSV…", "Save the numbers as comma-separated values", this,
                  [this] { save_csv(model_, choice().application + "-character.csv", this); }),
      0, Qt::AlignRight);
  auto* splitter = new QSplitter(this);
  splitter->addWidget(scroll);
  splitter->addWidget(numbers);
  splitter->setStretchFactor(0, 1);
  splitter->setSizes({700, 380});
  set_content(splitter);
  auto* layout = new QVBoxLayout(this);
  layout->addWidget(stack(), 1);
}

void CharacterView::clear() {
  model_.set({});
}

void CharacterView::read() {
  show_nothing("Reading the code …");
  ask<Characteristics>(
      [cache = cache_, name = choice().application.toStdString(),
       images = choice().images](Environment& environment) {
        return read_characteristics(environment, *cache, name, images);
      },
      [this](const Characteristics& program) { show(program); });
}

void CharacterView::show(const Characteristics& program) {
  if (program.executed == 0) return show_uncounted();
  const std::vector<Figure> figures = character_figures(program);
  for (size_t i = 0; i < figures.size(); ++i) {
    places_[i].picture->set(figures[i]);
    places_[i].text->setText(figures[i].text);
  }
  model_.set(program);
  show_content();
}

}  // namespace respike::gui
