#pragma once
// Dialogs that ask for options before actions start.

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

/// Asks which images to instrument or optimize, and with which options.
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

/// Asks which images to export, and where.
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

/// Asks how much to prune, after showing what would be removed.
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

/// Asks which programs, or which library, to register as one application, and under which name.
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
