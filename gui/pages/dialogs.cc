#include "gui/pages/dialogs.h"

#include <QDialogButtonBox>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

#include "applications/descriptions.h"
#include "gui/models/action.h"
#include "gui/models/program_run.h"
#include "gui/pages/controls.h"

namespace respike::gui {
namespace {

QDialogButtonBox* add_buttons(QDialog* dialog, const QString& verb) {
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel, dialog);
  auto* accept = buttons->addButton(verb, QDialogButtonBox::AcceptRole);
  accept->setDefault(true);
  QObject::connect(buttons, &QDialogButtonBox::accepted, dialog, &QDialog::accept);
  QObject::connect(buttons, &QDialogButtonBox::rejected, dialog, &QDialog::reject);
  return buttons;
}

QPushButton* accept_button(QDialogButtonBox* buttons) {
  for (QAbstractButton* button : buttons->buttons())
    if (buttons->buttonRole(button) == QDialogButtonBox::AcceptRole)
      return static_cast<QPushButton*>(button);
  return nullptr;
}

/// A line for a path, with a button that asks for the path.
QWidget* with_browse(QLineEdit* line, QWidget* parent, const std::function<QString()>& ask) {
  auto* row = new QWidget(parent);
  auto* layout = new QHBoxLayout(row);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(line, 1);
  auto* browse = new QPushButton("Browse…", row);
  browse->setAutoDefault(false);
  browse->setToolTip("Choose from a list of files");
  layout->addWidget(browse);
  QObject::connect(browse, &QPushButton::clicked, line, [line, ask] {
    if (const QString path = ask(); !path.isEmpty()) line->setText(path);
  });
  return row;
}

}  // namespace

// ---- ImageList ----

ImageList::ImageList(const ApplicationView& application, const std::vector<std::string>& chosen,
                     QWidget* parent)
    : QListWidget(parent) {
  setAccessibleName("Images");
  setMinimumWidth(520);
  for (const ImageView& view : application.images) {
    if (!view.image.optimizable) continue;
    auto* item = new QListWidgetItem(QString::fromStdString(view.image.path), this);
    item->setToolTip(QString::fromStdString(profile_text(view.profile) + "; " + made_text(view)));
    const bool on = chosen.empty() || std::ranges::find(chosen, view.image.path) != chosen.end();
    item->setFlags(Qt::ItemIsEnabled | Qt::ItemIsSelectable | Qt::ItemIsUserCheckable);
    item->setCheckState(on ? Qt::Checked : Qt::Unchecked);
  }
  if (count() == 0) {
    auto* item = new QListWidgetItem("no image of this application can be optimized", this);
    item->setFlags(Qt::NoItemFlags);
  }
}

std::vector<std::string> ImageList::images() const {
  std::vector<std::string> result;
  bool all = true;
  for (int i = 0; i < count(); ++i) {
    if (item(i)->checkState() == Qt::Checked)
      result.push_back(item(i)->text().toStdString());
    else
      all = false;
  }
  return all ? std::vector<std::string>() : result;
}

bool ImageList::any_checked() const {
  for (int i = 0; i < count(); ++i)
    if (item(i)->checkState() == Qt::Checked && (item(i)->flags() & Qt::ItemIsEnabled) != 0)
      return true;
  return false;
}

QWidget* ImageList::with_buttons() {
  auto* both = new QWidget(parentWidget());
  auto* buttons = new QHBoxLayout;
  buttons->addWidget(make_button("&All", "Check all images", both, [this] { check_all(true); }));
  buttons->addWidget(make_button("N&one", "Check no image", both, [this] { check_all(false); }));
  for (auto* button : both->findChildren<QPushButton*>()) button->setAutoDefault(false);
  buttons->addStretch(1);
  auto* layout = new QVBoxLayout(both);
  layout->setContentsMargins({});
  layout->addWidget(this);
  layout->addLayout(buttons);
  return both;
}

void ImageList::check_all(bool on) {
  for (int i = 0; i < count(); ++i)
    if ((item(i)->flags() & Qt::ItemIsUserCheckable) != 0)
      item(i)->setCheckState(on ? Qt::Checked : Qt::Unchecked);
}

// ---- MakingDialog ----

MakingDialog::MakingDialog(What what, const ApplicationView& application,
                           const std::vector<std::string>& chosen, QWidget* parent)
    : QDialog(parent), application_(QString::fromStdString(application.name)) {
  const bool instruments = what == What::instrument;
  setWindowTitle((instruments ? "Instrument " : "Optimize ") + application_);
  auto* form = new QFormLayout;
  images_ = new ImageList(application, chosen, this);
  auto* label = new QLabel("&Images", this);
  label->setBuddy(images_);
  form->addRow(label, images_->with_buttons());
  if (instruments) {
    counters_ = new QComboBox(this);
    counters_->setAccessibleName("Counters");
    counters_->addItem("for one thread", int(Counters::shared));
    counters_->addItem("exact with threads and forked children, slower", int(Counters::atomic));
    counters_->addItem("each thread counts by itself", int(Counters::threads));
    counters_->setToolTip(
        "Where threads count (--counters shared, atomic or threads); by itself: dynamically linked "
        "x86-64 programs, whose libraries get the exact ones");
    form->addRow("&Counters", counters_);
  } else {
    half_life_ = new QDoubleSpinBox(this);
    half_life_->setRange(0, 100000);
    half_life_->setSuffix(" days");
    half_life_->setSpecialValueText("counts do not age");
    half_life_->setToolTip(
        "Counts weigh half after so many days, seen from the newest ones (--half-life)");
    form->addRow("&Half-life", half_life_);
    older_weight_ = new QDoubleSpinBox(this);
    older_weight_->setRange(0, 1e6);
    older_weight_->setValue(1);
    older_weight_->setToolTip(
        "Weight of the profiles of older builds; 0: without them (--older-weight)");
    form->addRow("&Weight of older builds", older_weight_);
  }
  auto* buttons = add_buttons(this, instruments ? "Instrument" : "Optimize");
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(form);
  layout->addWidget(buttons);
  auto* accept = accept_button(buttons);
  const auto enable = [this, accept] { accept->setEnabled(images_->any_checked()); };
  connect(images_, &QListWidget::itemChanged, this, enable);
  enable();
}

MakingOptions MakingDialog::options() const {
  MakingOptions options;
  options.images = images_->images();
  if (counters_ != nullptr) options.counters = Counters(counters_->currentData().toInt());
  if (half_life_ != nullptr) options.profile.half_life_days = half_life_->value();
  if (older_weight_ != nullptr) options.profile.carried_weight = older_weight_->value();
  return options;
}

// ---- ExportDialog ----

ExportDialog::ExportDialog(const ApplicationView& application,
                           const std::vector<std::string>& chosen, QWidget* parent)
    : QDialog(parent), application_(QString::fromStdString(application.name)) {
  setWindowTitle("Export " + application_);
  auto* form = new QFormLayout;
  images_ = new ImageList(application, chosen, this);
  auto* label = new QLabel("&Images", this);
  label->setBuddy(images_);
  form->addRow(label, images_->with_buttons());
  folder_ = new QLineEdit(this);
  folder_->setAccessibleName("Folder");
  folder_->setToolTip("Where the images go; made if there is none");
  form->addRow("&Folder", with_browse(folder_, this, [this] {
                 return QFileDialog::getExistingDirectory(this, "Export into", folder_->text());
               }));
  keeps_paths_ =
      new QCheckBox("each image below the folder under its original's &path (like DESTDIR)", this);
  keeps_paths_->setToolTip("Else all images go into the folder itself (--root)");
  form->addRow("", keeps_paths_);
  replaces_ = new QCheckBox("&replace files that Respike did not make", this);
  replaces_->setToolTip(
      "Else nothing is exported when a file is in the way that Respike did not make. Images that "
      "were exported before are replaced in any case.");
  form->addRow("", replaces_);
  auto* buttons = add_buttons(this, "Export");
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(form);
  layout->addWidget(buttons);
  auto* accept = accept_button(buttons);
  const auto enable = [this, accept] {
    accept->setEnabled(images_->any_checked() && !folder_->text().isEmpty());
  };
  connect(images_, &QListWidget::itemChanged, this, enable);
  connect(folder_, &QLineEdit::textChanged, this, enable);
  enable();
}

ExportPlace ExportDialog::place() const {
  return {.folder = folder_->text().toStdString(),
          .names = keeps_paths_->isChecked() ? ExportPlace::Names::paths
                                             : ExportPlace::Names::file_names,
          .replaces = replaces_->isChecked()};
}

// ---- PruneDialog ----

PruneDialog::PruneDialog(Manager& manager, QWidget* parent) : QDialog(parent), manager_(manager) {
  setWindowTitle("Prune");
  keep_ = new QSpinBox(this);
  keep_->setRange(1, 1000000);
  keep_->setValue(3);
  keep_->setToolTip("How many builds of each image to keep (--keep)");
  rows_ = new QListWidget(this);
  rows_->setAccessibleName("What would be removed");
  rows_->setMinimumWidth(520);
  sum_ = new QLabel("…", this);
  auto* form = new QFormLayout;
  form->addRow("&Keep builds of each image", keep_);
  auto* buttons = add_buttons(this, "Remove");
  remove_ = accept_button(buttons);
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(form);
  layout->addWidget(rows_, 1);
  layout->addWidget(sum_);
  layout->addWidget(buttons);
  connect(keep_, &QSpinBox::valueChanged, this, &PruneDialog::look);
  look();
}

void PruneDialog::look() {
  remove_->setEnabled(false);  // until it is known what would be removed
  manager_.ask<PruneResult>(
      this, [keep = keep()](Environment& environment) { return environment.prune(keep, true); },
      [this](const PruneResult& result) {
        rows_->clear();
        for (const std::string& row : result.rows) rows_->addItem(QString::fromStdString(row));
        sum_->setText(QString::fromStdString(pruned_text(result, true)));
        remove_->setEnabled(result.builds + result.images + result.derived + result.bytes != 0);
      },
      [this](const QString& failure) { sum_->setText(verbatim(failure)); });
}

// ---- RegisterDialog ----

RegisterDialog::RegisterDialog(const QString& program, QWidget* parent) : QDialog(parent) {
  setWindowTitle("Register programs");
  program_ = new QLineEdit(program, this);
  program_->setAccessibleName("Program");
  program_->setToolTip(
      "The file of the program or library; several programs of one application with blanks between "
      "them, quoted as in a shell");
  program_->setMinimumWidth(420);
  name_ = new QLineEdit(this);
  name_->setAccessibleName("Name");
  name_->setToolTip(
      "What the application is called here; else its file name, if there is one only (--name)");
  auto* form = new QFormLayout;
  form->addRow("&Program", with_browse(program_, this, [this] {
                 const QStringList files =
                     QFileDialog::getOpenFileNames(this, "Register programs", program_->text());
                 return files.size() == 1 ? files.front() : shell_line(files);
               }));
  form->addRow("&Name", name_);
  auto* buttons = add_buttons(this, "Register");
  auto* layout = new QVBoxLayout(this);
  layout->addLayout(form);
  auto* hint = new QLabel(
      "Respike finds the libraries that the programs load. Images that were not "
      "linked with -Wl,-q are left alone.",
      this);
  hint->setWordWrap(true);
  layout->addWidget(hint);
  layout->addWidget(buttons);
  auto* accept = accept_button(buttons);
  const auto show_name = [this, accept] {
    const auto files = programs();
    const QString first = files.empty() ? "" : QString::fromStdString(files.front().filename());
    name_->setPlaceholderText(files.size() > 1 ? "needed for several programs" : first);
    accept->setEnabled(files.size() == 1 || (files.size() > 1 && !name_->text().isEmpty()));
  };
  connect(program_, &QLineEdit::textChanged, this, show_name);
  connect(name_, &QLineEdit::textChanged, this, show_name);
  show_name();
}

/// A text that names an existing file is not split.
std::vector<std::filesystem::path> RegisterDialog::programs() const {
  const QString text = program_->text();
  const auto words = split_words(text);
  if (!words || words->size() < 2 || QFileInfo::exists(text))
    return text.isEmpty() ? std::vector<std::filesystem::path>()
                          : std::vector<std::filesystem::path>{text.toStdString()};
  std::vector<std::filesystem::path> files;
  for (const QString& word : *words) files.emplace_back(word.toStdString());
  return files;
}

}  // namespace respike::gui
