#pragma once
// The views of the page "Profiles": one profile, two side by side, and losses between builds.

#include <QLabel>
#include <QStackedWidget>
#include <QWidget>

#include "gui/models/profile_tables.h"
#include "gui/pages/table_box.h"

namespace respike::gui {

/// A summary above tables, or a text that says what the user can do.
class ProfilePart : public QWidget {
  Q_OBJECT

 public:
  void show_nothing(const QString& text);
  /// The key of what the view shows, or was last asked to show.
  const QString& key() const { return key_; }
  void set_key(const QString& key) { key_ = key; }

 protected:
  explicit ProfilePart(QWidget* parent);
  void set_content(QWidget* content) { stack_->addWidget(content); }
  void show_content(const QString& summary);

 private:
  QString key_;
  QLabel* summary_;
  QLabel* empty_;
  QStackedWidget* stack_;
};

/// The executed code of one profile: procedures, and the blocks of the chosen procedure.
class WhatRanView : public ProfilePart {
  Q_OBJECT

 public:
  explicit WhatRanView(QWidget* parent = nullptr);
  void show(const ProfileContent& content);

 private:
  void show_procedure();

  ProfileContent content_;
  TableBox* procedures_;
  TableBox* blocks_;
  TableBox* ways_;
};

/// Two profiles, procedure by procedure.
class SideBySideView : public ProfilePart {
  Q_OBJECT

 public:
  explicit SideBySideView(QWidget* parent = nullptr);
  void show(const QString& a, const QString& b, std::shared_ptr<const CellRows> rows);

 private:
  TableBox* differences_;
};

/// The losses of a profile that was carried over to another build.
class FoundAgainView : public ProfilePart {
  Q_OBJECT

 public:
  explicit FoundAgainView(QWidget* parent = nullptr);
  void show(const LossAnswer& answer);

 private:
  TableBox* losses_;
};

}  // namespace respike::gui
