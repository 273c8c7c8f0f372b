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

/// The icon of the desktop's theme; if the theme has none, Respike's own icon in the colour of
/// text, which follows changes of the colours.
QIcon icon(Icon which);

}  // namespace respike::gui
