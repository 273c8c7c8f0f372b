#pragma once
// Dialogs before profiles are merged or matched.

#include <QComboBox>
#include <QDialog>
#include <QDoubleSpinBox>
#include <QLineEdit>

#include <vector>

#include "gui/models/profile_action.h"

namespace respike::gui {

/// A dialog that writes a file: asks before it replaces an existing file.
class WritingDialog : public QDialog {
  Q_OBJECT

 public:
  QString output() const { return output_->text(); }
  void accept() override;

 protected:
  explicit WritingDialog(QWidget* parent);
  /// The line for the file with its button; `tip`: describes the file's contents.
  QWidget* make_output(const QString& tip);
  QLineEdit* output_ = nullptr;
};

/// Weights of profiles, the build for which they are added up, and the file to write.
class MergeDialog : public WritingDialog {
  Q_OBJECT

 public:
  MergeDialog(const std::vector<ProfileSource>& sources, QWidget* parent);
  /// The source whose build counts comes last.
  std::vector<WeightedSource> inputs() const;

 private:
  std::vector<ProfileSource> sources_;
  std::vector<QDoubleSpinBox*> weights_;
  QComboBox* build_;
};

/// The image to match a profile with, and the file to write, if any.
class MatchDialog : public WritingDialog {
  Q_OBJECT

 public:
  /// `images`: paths to choose from.
  MatchDialog(const ProfileSource& source, const QStringList& images, QWidget* parent);
  QString image() const { return image_->currentText(); }

 private:
  QComboBox* image_;
};

}  // namespace respike::gui
