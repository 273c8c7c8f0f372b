#include "gui/pages/first_steps.h"

#include <QVBoxLayout>

#include "gui/pages/controls.h"

namespace respike::gui {
namespace {

constexpr const char* kFirstSteps =
    "<h2>Make a program faster in four steps</h2>"
    "<p>1. Link the program with <b>-Wl,-q</b>, so that the linker keeps relocations. The source "
    "may stay as it is.</p>"
    "<p>2. <b>Register</b> the program: press the button below, or drop the file on this window. "
    "Respike finds the libraries.</p>"
    "<p>3. <b>Instrument</b> the program, and <b>run</b> it on typical work. It runs as before, "
    "and counts.</p>"
    "<p>4. <b>Optimize</b>, <b>check</b> what is gained, and <b>export</b> the faster images.</p>"
    "<p>The original files are never changed.</p>";

constexpr const char* kDemo =
    "The demo is a word counter with a library of its own. The arguments of its run are prepared.";
constexpr const char* kNoDemo =
    "This Respike was built without a compiler for the demo's machine, so that there is no demo.";

}  // namespace

FirstSteps::FirstSteps(bool has_demo, QWidget* parent) : QScrollArea(parent) {
  auto* page = new QWidget(this);
  auto* layout = new QVBoxLayout(page);
  layout->addStretch(1);
  layout->addWidget(make_empty_state(kFirstSteps, this));
  auto* button = make_button(Icon::add, "Register a program…",
                             "Register a program and the libraries that it loads", this,
                             [this] { Q_EMIT register_wanted(); });
  show_as_next(*button, true);
  layout->addWidget(button, 0, Qt::AlignHCenter);
  if (has_demo)
    layout->addWidget(make_button("Try the &demo", "Register a word counter that came with Respike",
                                  this, [this] { Q_EMIT demo_wanted(); }),
                      0, Qt::AlignHCenter);
  layout->addWidget(make_empty_state(has_demo ? kDemo : kNoDemo, this));
  layout->addStretch(2);
  setWidget(page);
  setWidgetResizable(true);
  setFrameShape(QFrame::NoFrame);
  setAccessibleName("First steps");
}

}  // namespace respike::gui
