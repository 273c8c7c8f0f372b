#pragma once
// The characteristics of an application: pictures, their meaning, and their numbers.

#include <QTableView>

#include <memory>
#include <vector>

#include "gui/models/character_model.h"
#include "gui/pages/time_view.h"
#include "gui/pictures/figure.h"

namespace respike::gui {

class CharacterView : public TimeView {
  Q_OBJECT

 public:
  CharacterView(Manager& manager, std::shared_ptr<CodeCache> cache, QWidget* parent = nullptr);

 protected:
  void read() override;
  void clear() override;

 private:
  struct Place {  // place of a figure
    QLabel* title = nullptr;
    FigureWidget* picture = nullptr;
    QLabel* text = nullptr;
  };
  void show(const Characteristics& program);

  std::shared_ptr<CodeCache> cache_;  // used by questions only
  CharacterModel model_;
  std::vector<Place> places_;
  QTableView* table_ = nullptr;
};

}  // namespace respike::gui
