#pragma once
// The page of one image: its contents, the procedures left alone, its builds over time.

#include <QComboBox>
#include <QLabel>
#include <QStackedWidget>
#include <QTableView>

#include "gui/models/build_model.h"
#include "gui/models/code_cache.h"
#include "gui/models/manager.h"
#include "gui/pictures/figure.h"

namespace respike::gui {

class ImagePage : public QWidget {
  Q_OBJECT

 public:
  ImagePage(Manager& manager, std::shared_ptr<CodeCache> cache, QWidget* parent = nullptr);

  void choose(const QString& application);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  void take_snapshot();
  void ask();
  QWidget* make_builds();
  void show(const ImageInfo& info);
  void show_builds(const std::vector<BuildLine>& builds);
  void ask_what_was_found();

  Manager& manager_;
  std::shared_ptr<CodeCache> cache_;  // used by questions only
  std::shared_ptr<BuildHistory> history_ = std::make_shared<BuildHistory>();  // used by questions
                                                                              // only
  QString application_;
  QString shown_;  // state of the page's inputs when the page was last read
  int asked_ = 0;  // number of the last questions: only their answers are shown
  BuildModel builds_;
  LeftAloneModel left_alone_;
  QComboBox* images_ = nullptr;
  QLabel* info_ = nullptr;
  QTableView* build_table_ = nullptr;
  FigureWidget* time_line_ = nullptr;
  QTableView* left_alone_table_ = nullptr;
};

}  // namespace respike::gui
