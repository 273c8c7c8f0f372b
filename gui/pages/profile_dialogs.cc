#include "gui/pages/profile_dialogs.h"

#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLabel>
#include <QMessageBox>
#include <QPushButton>
#include <QVBoxLayout>

#include "gui/models/verbatim.h"

namespace respike::gui {
namespace {

constexpr double kMostWeight = 1e6;

/// A field beside a button that asks for a file.
template <typename F>
QWidget* with_browse(QWidget* field, const QString& name, QWidget* parent, F ask) {
  auto* both = new QWidget(parent);
  auto* layout = new QHBoxLayout(both);
  layout->setContentsMargins({});
  layout->addWidget(field, 1);
  auto* browse = new QPushButton("Browse…", both);
  browse->setAccessibleName(name);
  browse->setToolTip("Choose from a list of files");
  browse->setAutoDefault(false);
  layout->addWidget(browse);
  QObject::connect(browse, &QPushButton::clicked, field, ask);
  return both;
}

/// Lays out a dialog with buttons; returns the accepting button.
QPushButton* lay_out(QDialog* dialog, QFormLayout* form, const QString& verb, const QString& hint) {
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, dialog);
  QPushButton* accept = buttons->addButton(verb, QDialogButtonBox::AcceptRole);
  accept->setDefault(true);
  QObject::connect(buttons, &QDialogButtonBox::accepted, dialog, &QDialog::accept);
  QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
  auto* text = new QLabel(hint, dialog);
  text->setWordWrap(true);
  auto* layout = new QVBoxLayout(dialog);
  layout->addLayout(form);
  layout->addWidget(text);
  layout->addWidget(buttons);
  return accept;
}

}  // namespace

// ---- WritingDialog ----

WritingDialog::WritingDialog(QWidget* parent) : QDialog(parent) {
  output_ = new QLineEdit(this);
  output_->setAccessibleName("Profile to write");
  output_->setMinimumWidth(360);
}

QWidget* WritingDialog::make_output(const QString& tip) {
  output_->setToolTip(tip);
  return with_browse(output_, "Browse for the profile to write", this, [this] {
    const QString path =
        QFileDialog::getSaveFileName(this, "Profile to write", output_->text(), "All files (*)",
                                     nullptr, QFileDialog::DontConfirmOverwrite);
    if (!path.isEmpty()) output_->setText(path);
  });
}

void WritingDialog::accept() {
  if (!output().isEmpty() && QFileInfo::exists(output()) &&
      QMessageBox::question(this, windowTitle(),
                            verbatim(output() + " is there already. Replace it?")) !=
          QMessageBox::Yes)
    return;
  QDialog::accept();
}

// ---- MergeDialog ----

MergeDialog::MergeDialog(const std::vector<ProfileSource>& sources, QWidget* parent)
    : WritingDialog(parent), sources_(sources) {
  setWindowTitle("Merge profiles");
  auto* form = new QFormLayout;
  build_ = new QComboBox(this);
  build_->setAccessibleName("Build to merge for");
  build_->setToolTip("The others are carried over to the build of this profile first");
  for (const ProfileSource& source : sources_) {
    auto* weight = new QDoubleSpinBox(this);
    weight->setAccessibleName("Weight of " + source.name);
    weight->setToolTip("What the counts of this profile are multiplied by");
    weight->setRange(0, kMostWeight);
    weight->setDecimals(3);
    weight->setValue(1);
    form->addRow(source.name, weight);
    weights_.push_back(weight);
    build_->addItem(source.name);
  }
  build_->setCurrentIndex(build_->count() - 1);
  form->addRow("&Build to merge for", build_);
  form->addRow("&Profile to write", make_output("The file that gets the sum of the profiles"));
  QPushButton* accept = lay_out(this, form, "Merge",
                                "Counts are multiplied by the weights and added up. One profile "
                                "alone, with weight 1, is written as it is.");
  const auto enable = [this, accept] { accept->setEnabled(!output().isEmpty()); };
  connect(output_, &QLineEdit::textChanged, this, enable);
  enable();
}

std::vector<WeightedSource> MergeDialog::inputs() const {
  std::vector<WeightedSource> result;
  const auto last = size_t(build_->currentIndex());
  for (size_t i = 0; i < sources_.size(); ++i)
    if (i != last) result.push_back({sources_[i], weights_[i]->value()});
  result.push_back({sources_[last], weights_[last]->value()});
  return result;
}

// ---- MatchDialog ----

MatchDialog::MatchDialog(const ProfileSource& source, const QStringList& images, QWidget* parent)
    : WritingDialog(parent) {
  setWindowTitle("Match " + source.name);
  auto* form = new QFormLayout;
  image_ = new QComboBox(this);
  image_->setAccessibleName("Image");
  image_->setToolTip("The build to carry the profile over to");
  image_->setEditable(true);
  image_->addItems(images);
  image_->setMinimumWidth(360);
  form->addRow("&Image", with_browse(image_, "Browse for the image", this, [this] {
                 const QString path = QFileDialog::getOpenFileName(this, "Image", image());
                 if (!path.isEmpty()) image_->setEditText(path);
               }));
  form->addRow("&Profile to write",
               make_output("The file that gets the profile in terms of the image; empty: none"));
  output_->setPlaceholderText("none: only say what fits");
  QPushButton* accept =
      lay_out(this, form, "Match",
              "Carries the profile over to another build, and says what was lost on the way.");
  const auto enable = [this, accept] { accept->setEnabled(!image().isEmpty()); };
  connect(image_, &QComboBox::editTextChanged, this, enable);
  enable();
}

}  // namespace respike::gui
