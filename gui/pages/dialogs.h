#pragma once
// The questions that actions ask before they start.

#include <QCheckBox>
#include <QComboBox>
#include <QDialog>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QSpinBox>

#include "gui/models/manager.h"

namespace respike::gui {

/// A list of the images that can be optimized, each with a check box. Without `chosen` all are
/// checked.
class ImageList : public QListWidget {
  Q_OBJECT

 public:
  ImageList(const ApplicationView& application, const std::vector<std::string>& chosen,
            QWidget* parent);
  /// Paths of the checked images; empty: all are checked.
  std::vector<std::string> images() const;
  bool any_checked() const;
  /// The list, with buttons below it that check all images or none.
  QWidget* with_buttons();

 private:
  void check_all(bool on);
};

/// Which images, and with which options, to instrument or to optimize.
class MakingDialog : public QDialog {
  Q_OBJECT

 public:
  enum class What { instrument, optimize };
  MakingDialog(What what, const ApplicationView& application,
               const std::vector<std::string>& chosen, QWidget* parent);
  QString application() const { return application_; }
  MakingOptions options() const;

 private:
  QString application_;
  ImageList* images_;
  QComboBox* counters_ = nullptr;
  QDoubleSpinBox* half_life_ = nullptr;
  QDoubleSpinBox* older_weight_ = nullptr;
};

/// Which images to export, and where to.
class ExportDialog : public QDialog {
  Q_OBJECT

 public:
  ExportDialog(const ApplicationView& application, const std::vector<std::string>& chosen,
               QWidget* parent);
  QString application() const { return application_; }
  std::vector<std::string> images() const { return images_->images(); }
  ExportPlace place() const;

 private:
  QString application_;
  ImageList* images_;
  QLineEdit* folder_;
  QCheckBox* keeps_paths_;
  QCheckBox* replaces_;
};

/// How much to prune, after a look at what would go.
class PruneDialog : public QDialog {
  Q_OBJECT

 public:
  PruneDialog(Manager& manager, QWidget* parent);
  unsigned keep() const { return unsigned(keep_->value()); }

 private:
  void look();

  Manager& manager_;
  QSpinBox* keep_;
  QListWidget* rows_;
  QLabel* sum_;
  QPushButton* remove_ = nullptr;
};

/// What to register, and under which name.
/// Which programs, or which library, to register as one application.
class RegisterDialog : public QDialog {
  Q_OBJECT

 public:
  RegisterDialog(const QString& program, QWidget* parent);
  std::vector<std::filesystem::path> programs() const;
  QString name() const { return name_->text().trimmed(); }

 private:
  QLineEdit* program_;
  QLineEdit* name_;
};

}  // namespace respike::gui
