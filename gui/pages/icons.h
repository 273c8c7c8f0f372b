#pragma once
// Icons of buttons and pages.

#include <QIcon>

#include <cstdint>

namespace respike::gui {

enum class Icon : uint8_t {
  overview,
  applications,
  run,
  clock,
  graph,
  layout,
  gain,
  image,
  profile,
  commands,
  messages,
  settings,
  add,
  counter,
  speed,
  check,
  ship,
  forget,
  broom,
  save,
  stop,
  back,
  folder,
  done,
  next,
  later,
  count
};

/// The icon of the desktop's theme; where the theme has none, one of Respike's own, in the colour
/// of text, also when the colours change.
QIcon icon(Icon which);

}  // namespace respike::gui
