// respike-manager [--db PATH]: opens the window. With --report NAME --output FILE, writes a report
// and opens no window.

#include <QApplication>
#include <QCommandLineParser>
#include <QFileInfo>
#include <QIcon>
#include <QMessageBox>
#include <QSaveFile>
#include <QSettings>
#include <QStandardPaths>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "gui/models/manager.h"
#include "gui/pages/main_window.h"
#include "gui/pictures/report.h"
#include "optimizer/base/error.h"
#include "profiledb/database.h"
#include "respike_version.h"

namespace {

/// The command `respike`: beside this program, else in PATH.
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

/// Writes a report; returns the exit status.
int write_report(const QCommandLineParser& options) {
  try {
    respike::Environment environment(database_of(options));
    const auto data = respike::gui::read_report(environment, options.value("report").toStdString());
    for (const std::string& note : environment.notes())
      std::fprintf(stderr, "respike: note: %s\n", note.c_str());
    for (const std::string& warning : environment.warnings().warnings())
      std::fprintf(stderr, "respike: warning: %s\n", warning.c_str());
    const QByteArray page = respike::gui::make_report(data);
    const QString path = options.value("output");
    QSaveFile file(path);
    if (!file.open(QIODevice::WriteOnly) || file.write(page) < 0 || !file.commit())
      throw respike::Error(file.errorString().toStdString(), path.toStdString());
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "respike: %s\n", error.what());
    return 1;
  }
}

}  // namespace

int main(int argc, char** argv) {
  // A report needs no display.
  for (int i = 1; i < argc; ++i)
    if (std::string_view(argv[i]) == "--report") {
      qputenv("QT_QPA_PLATFORM", "offscreen");
      qInstallMessageHandler([](QtMsgType, const QMessageLogContext&, const QString&) {});
    }
  QApplication application(argc, argv);
  QCoreApplication::setOrganizationName("respike");
  QCoreApplication::setApplicationName("respike-manager");
  QCoreApplication::setApplicationVersion(respike::kVersion);
  QApplication::setDesktopFileName("respike-manager");
  QApplication::setWindowIcon(QIcon(":/respike-manager.svg"));
  std::signal(SIGXFSZ, SIG_IGN);  // a write beyond the file size limit fails instead of killing

  QCommandLineParser options;
  options.setApplicationDescription("Registers, trains and optimizes programs in a window.");
  options.addHelpOption();
  options.addVersionOption();
  options.addOption({"db", "The database of applications.", "PATH"});
  options.addOption({"report", "Write a report on this application, and open no window.", "NAME"});
  options.addOption({"output", "The file of the report.", "FILE"});
  options.process(application);
  if (options.isSet("report")) return write_report(options);

  // Programs and their libraries are searched for below this folder (host/platform.h).
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
