#pragma once
// The page of profiles: of the application's builds, and of files.

#include <QLabel>
#include <QPushButton>
#include <QStackedWidget>
#include <QTabWidget>
#include <QTableView>

#include <vector>

#include "gui/models/manager.h"
#include "gui/models/profile_action.h"
#include "gui/pages/profile_views.h"

namespace respike::gui {

class ProfilesPage : public QWidget {
  Q_OBJECT

 public:
  explicit ProfilesPage(Manager& manager, QWidget* parent = nullptr);

  void choose(const QString& application);
  /// Adds files to the list, and chooses the last one.
  void open_files(const QStringList& files);

 protected:
  void showEvent(QShowEvent* event) override;

 private:
  QLayout* make_buttons();
  void take_snapshot();
  QString stamp() const;
  void read_builds();
  /// Shows builds and files in the list; keeps the selection.
  void show_lines();
  std::vector<ProfileSource> chosen() const;
  void choose_rows(const std::vector<ProfileSource>& sources);
  void show_chosen();
  void show_view();
  void show_one(const ProfileSource& source);
  void show_two(const ProfileSource& a, const ProfileSource& b);
  void show_losses(const ProfileSource& source);
  void open();
  void add_file(ProfileLine line);
  void close_files();
  void merge();
  void match();
  void end(const Task& task);
  /// Asks a question for a view. The answer is dropped if the view shows something else by then.
  template <typename T>
  void ask(ProfilePart* view, std::function<T(Environment&)> question,
           std::function<void(const T&)> answer);

  Manager& manager_;
  QString application_;
  QString shown_;  // the stamp of the builds that are shown or asked for
  std::vector<ProfileLine> builds_, files_;
  std::vector<ProfileLine> lines_;  // builds and files, as rows of the list
  CellModel list_;
  struct Pending {
    int task = 0;  // 0: none
    ProfileSource source;
    QString output;
    std::shared_ptr<LossAnswer> answer;  // answer of a match
  };
  Pending pending_;
  Pending matched_;  // the last match that ended
  QTableView* table_ = nullptr;
  QPushButton* close_ = nullptr;
  QPushButton* merge_ = nullptr;
  QPushButton* match_ = nullptr;
  QLabel* empty_ = nullptr;
  QStackedWidget* stack_ = nullptr;
  QTabWidget* tabs_ = nullptr;
  WhatRanView* what_ran_ = nullptr;
  SideBySideView* side_by_side_ = nullptr;
  FoundAgainView* found_again_ = nullptr;
};

}  // namespace respike::gui
