#pragma once
// The page of applications: a list, and the possible actions.

#include <QComboBox>
#include <QLabel>
#include <QLineEdit>
#include <QSortFilterProxyModel>
#include <QStackedWidget>
#include <QTreeView>

#include "gui/models/application_model.h"
#include "gui/models/manager.h"

namespace respike::gui {

class ApplicationsPage : public QWidget {
  Q_OBJECT

 public:
  /// `has_demo`: the first page, shown when there are no applications, offers the demo.
  ApplicationsPage(Manager& manager, bool has_demo, QWidget* parent = nullptr);

  void choose(const QString& application);
  QTreeView* tree() { return tree_; }

 public Q_SLOTS:
  void instrument();
  void optimize();
  void export_images();
  void verify();
  void forget();
  void prune();
  void set_mode(respike::Mode mode);

 Q_SIGNALS:
  /// The user unregisters an application.
  void forgetting(const QString& application);
  void chosen(const QString& application);
  void register_wanted();
  void demo_wanted();
  void details_wanted();  // a double click: show where time goes

 private:
  void take_snapshot();
  void show_buttons();
  /// The application of the selected row; nullptr: nothing is selected.
  const ApplicationView* selected() const;
  /// Paths of the selected images of that application; empty: the application itself is selected.
  std::vector<std::string> selected_images() const;

  Manager& manager_;
  ApplicationModel model_;
  QSortFilterProxyModel sorted_;
  QStackedWidget* stack_ = nullptr;
  QLabel* database_ = nullptr;  // on the first page
  QLabel* problem_ = nullptr;   // why the database cannot be read or written
  QTreeView* tree_ = nullptr;
  QLineEdit* filter_ = nullptr;
  QComboBox* mode_ = nullptr;
  std::vector<QWidget*> needs_selection_, needs_optimized_;
};

}  // namespace respike::gui
