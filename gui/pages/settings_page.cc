#include "gui/pages/settings_page.h"

#include <QFormLayout>
#include <QGroupBox>
#include <QLineEdit>
#include <QSettings>
#include <QVBoxLayout>

#include "gui/pages/controls.h"
#include "host/platform.h"

namespace respike::gui {
namespace {

constexpr int kRecent = 10;  // databases that are remembered

}  // namespace

SettingsPage::SettingsPage(Manager& manager, QWidget* parent) : QWidget(parent), manager_(manager) {
  auto* databases = new QGroupBox("Databases", this);
  database_ = new QLabel(databases);
  database_->setTextFormat(Qt::PlainText);
  database_->setWordWrap(true);
  database_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
  recent_ = new QListWidget(databases);
  recent_->setAccessibleName("Recent databases");
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
  layout->addStretch(1);
  connect(&manager_, &Manager::database_changed, this, &SettingsPage::show_database);
  show_database();
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
