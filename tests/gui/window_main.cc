// Runs the tests of the window without a display.

#include <QApplication>

#include <gtest/gtest.h>

#include "tests/gui/support.h"

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  return respike::gui::run_tests(argc, argv, [&] {
    const QApplication application(argc, argv);
    QCoreApplication::setOrganizationName("respike");
    QCoreApplication::setApplicationName("respike-manager");
    return RUN_ALL_TESTS();
  });
}
