// respike-manager [--db PATH]: opens the window.

#include <QApplication>
#include <QCommandLineParser>
#include <QFileInfo>
#include <QMessageBox>
#include <QSettings>
#include <QStandardPaths>

#include <csignal>
#include <cstdlib>
#include <exception>

#include "gui/models/manager.h"
#include "gui/pages/main_window.h"
#include "profiledb/database.h"

namespace {

/// The command `respike`: the one beside this program, else the one in PATH.
QString find_respike() {
  const QString beside = QCoreApplication::applicationDirPath() + "/respike";
  if (QFileInfo(beside).isExecutable()) return beside;
  return QStandardPaths::findExecutable("respike");
}

std::filesystem::path database_of(const QCommandLineParser& options) {
  if (options.isSet("db")) return std::filesystem::absolute(options.value("db").toStdString());
  const QString last = QSettings().value("database").toString();
  if (std::getenv("RESPIKE_DB") == nullptr && !last.isEmpty()) return last.toStdString();
  return respike::default_database_path();
}

}  // namespace

int main(int argc, char** argv) {
  QApplication application(argc, argv);
  QCoreApplication::setOrganizationName("respike");
  QCoreApplication::setApplicationName("respike-manager");
  QCoreApplication::setApplicationVersion("0.1.0");
  QApplication::setDesktopFileName("respike-manager");
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond the file size limit fails instead of killing

  QCommandLineParser options;
  options.setApplicationDescription("Registers, trains and optimizes programs in a window.");
  options.addHelpOption();
  options.addVersionOption();
  options.addOption({"db", "The database of applications.", "PATH"});
  options.process(application);

  // Programs and their libraries are looked for below this folder (host/platform.h).
  const QString sysroot = QSettings().value("sysroot").toString();
  if (!sysroot.isEmpty() && !qEnvironmentVariableIsSet("QEMU_LD_PREFIX"))
    qputenv("QEMU_LD_PREFIX", sysroot.toLocal8Bit());
  try {
    respike::gui::Manager manager(database_of(options));
    respike::gui::MainWindow window(manager, find_respike());
    window.show();
    return QApplication::exec();
  } catch (const std::exception& error) {
    QMessageBox::critical(nullptr, "Respike Manager", QString::fromUtf8(error.what()));
    return 1;
  }
}
