#include "gui/pages/settings_page.h"

#include <QFormLayout>
#include <QGroupBox>
#include <QLineEdit>
#include <QSettings>
#include <QVBoxLayout>

#include "gui/models/editor.h"
#include "gui/models/source_paths.h"
#include "gui/pages/controls.h"
#include "host/platform.h"

namespace respike::gui {
namespace {

constexpr int kRecent = 10;  // databases that are remembered

/// Lets a list be two rows high where the window is small.
void let_shrink(QListWidget& list) {
  list.setMinimumHeight(2 * list.fontMetrics().height() + 10);
}

}  // namespace

SettingsPage::SettingsPage(Manager& manager, QWidget* parent) : QWidget(parent), manager_(manager) {
  auto* databases = new QGroupBox("Databases", this);
  database_ = new QLabel(databases);
  database_->setTextFormat(Qt::PlainText);
  database_->setWordWrap(true);
  database_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  recent_ = new QListWidget(databases);
  recent_->setAccessibleName("Recent databases");
  let_shrink(*recent_);
  recent_->setToolTip("A double click, or Enter, opens a database");
  auto* box = new QVBoxLayout(databases);
  box->addWidget(database_);
  box->addWidget(recent_);
  box->addWidget(make_button("&Open another database…", "Open a database, or make one", databases,
                             [this] { Q_EMIT open_wanted(); }),
                 0, Qt::AlignLeft);
  connect(recent_, &QListWidget::itemActivated, this,
          [this](const QListWidgetItem* item) { manager_.open(item->text().toStdString()); });

  auto* machines = new QGroupBox("Programs of other machines", this);
  auto* form = new QFormLayout(machines);
  for (const Platform& platform : platforms()) {
    if (platform.native()) continue;
    QString text;
    try {
      text = QString::fromStdString(find_emulator(platform, "runs its programs").string());
    } catch (const std::exception& error) {
      text = QString::fromUtf8(error.what());
    }
    auto* label = new QLabel(text, machines);
    label->setTextFormat(Qt::PlainText);
    label->setTextInteractionFlags(Qt::TextSelectableByMouse);
    label->setWordWrap(true);
    form->addRow(QString::fromUtf8(platform.name.data(), qsizetype(platform.name.size())), label);
  }
  auto* sysroot = new QLineEdit(QSettings().value("sysroot").toString(), machines);
  sysroot->setAccessibleName("Sysroot");
  sysroot->setPlaceholderText("that of the cross compiler's packages");
  sysroot->setToolTip(
      "The folder that stands for / when such programs open files (QEMU_LD_PREFIX); "
      "counts from the next start of this window");
  connect(sysroot, &QLineEdit::editingFinished, this,
          [sysroot] { QSettings().setValue("sysroot", sysroot->text().trimmed()); });
  form->addRow("&Sysroot", sysroot);

  auto* layout = new QVBoxLayout(this);
  layout->addWidget(databases);
  layout->addWidget(machines);
  layout->addWidget(make_sources());
  layout->addStretch(1);
  connect(&manager_, &Manager::database_changed, this, &SettingsPage::show_database);
  show_database();
}

QWidget* SettingsPage::make_sources() {
  auto* sources = new QGroupBox("Sources of blocks", this);
  auto* editor = new QLineEdit(read_editor(), sources);
  editor->setAccessibleName("Editor");
  editor->setPlaceholderText(kDefaultEditor);
  editor->setToolTip(
      "What opens a source, such as: code -g {file}:{line}; or: $VISUAL +{line} {file}; an editor "
      "of terminals needs one: x-terminal-emulator -e vim +{line} {file}. No shell reads this "
      "line");
  connect(editor, &QLineEdit::editingFinished, this, [editor] { keep_editor(editor->text()); });
  auto* form = new QFormLayout;
  form->addRow("&Editor", editor);
  places_ = new QListWidget(sources);
  places_->setAccessibleName("Folders of sources");
  let_shrink(*places_);
  places_->setToolTip("Folders that stand for others in which sources were compiled");
  remove_ = make_button("Re&move", "Forget the chosen folder of sources", sources, [this] {
    PathSubstitutions places = read_substitutions();
    const int row = places_->currentRow();
    if (row >= 0 && row < int(places.size())) places.erase(places.begin() + row);
    keep_substitutions(places);
    show_places();
  });
  connect(places_, &QListWidget::currentRowChanged, this,
          [this](int row) { remove_->setEnabled(row >= 0); });
  auto* box = new QVBoxLayout(sources);
  box->addLayout(form);
  box->addWidget(places_);
  box->addWidget(remove_, 0, Qt::AlignLeft);
  show_places();
  return sources;
}

void SettingsPage::show_places() {
  places_->clear();
  for (const PathSubstitution& place : read_substitutions())
    places_->addItem(place.from + " is at " + place.to);
  const bool any = places_->count() != 0;
  places_->setVisible(any);  // the page is small
  remove_->setVisible(any);
  remove_->setEnabled(places_->currentRow() >= 0);
}

void SettingsPage::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  show_places();
}

void SettingsPage::show_database() {
  const QString path = QString::fromStdString(manager_.database().string());
  database_->setText("Open: " + path);
  QSettings settings;
  QStringList recent = settings.value("databases").toStringList();
  recent.removeAll(path);
  recent.prepend(path);
  settings.setValue("databases", QStringList(recent.mid(0, kRecent)));
  recent_->clear();
  recent_->addItems(recent.mid(0, kRecent));
}

}  // namespace respike::gui
