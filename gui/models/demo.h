#pragma once
// The program that Respike brings along for people who have none at hand.

#include <QString>

#include <filesystem>
#include <optional>

namespace respike::gui {

/// A word counter with a library of its own, and a text to count (examples/cmake, for Alpha).
struct Demo {
  std::filesystem::path program;
  QString arguments;  // of a run, quoted as in a shell
};

/// The demo of this Respike: beside the command `respike` where it was built, or where it was
/// installed. nullopt: the build had no compiler for the demo's machine.
std::optional<Demo> find_demo(const QString& respike);

}  // namespace respike::gui
