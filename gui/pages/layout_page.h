#pragma once
// The page of an image's layout: maps of its text before and after.

#include <QCheckBox>
#include <QComboBox>
#include <QLabel>
#include <QSplitter>
#include <QStackedWidget>
#include <QTableView>

#include <memory>

#include "gui/models/code_cache.h"
#include "gui/models/layout_map.h"
#include "gui/models/manager.h"
#include "gui/pictures/layout_picture.h"

namespace respike::gui {

class LayoutPage : public QWidget {
  Q_OBJECT

 public:
  LayoutPage(Manager& manager, std::shared_ptr<CodeCache> cache, QWidget* parent = nullptr);

  void choose(const QString& application);

 Q_SIGNALS:
  void procedure_wanted(const std::string& image, const QString& name, uint64_t address);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void take_snapshot();
  QString stamp() const;
  void ask();
  void show_nothing(const QString& text);
  void show_layouts(const LayoutAnswer& answer);
  void draw();
  void save();
  LayoutMapView* make_map(const QString& name);

  Manager& manager_;
  std::shared_ptr<CodeCache> cache_;  // used by questions only
  QString application_;
  QString shown_;                            // the stamp of the last question
  QString application_shown_, image_shown_;  // the image of layouts_: name, path
  LayoutAnswer layouts_;
  TouchedModel touched_;
  QComboBox* images_ = nullptr;
  QComboBox* rows_ = nullptr;
  QCheckBox* only_executed_ = nullptr;
  QLabel* pointed_ = nullptr;
  LayoutMapView* before_ = nullptr;
  LayoutMapView* after_ = nullptr;
  QLabel* not_optimized_ = nullptr;
  QStackedWidget* right_ = nullptr;
  QTableView* table_ = nullptr;
  QSplitter* splitter_ = nullptr;
  QStackedWidget* stack_ = nullptr;
  QLabel* empty_ = nullptr;
};

}  // namespace respike::gui
