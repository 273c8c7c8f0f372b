// Runs the tests of the models, which need no display and draw nothing.

#include <QCoreApplication>

#include <gtest/gtest.h>

#include "tests/gui/support.h"

int main(int argc, char** argv) {
  return respike::gui::run_tests(argc, argv, [&] {
    const QCoreApplication application(argc, argv);
    return RUN_ALL_TESTS();
  });
}
