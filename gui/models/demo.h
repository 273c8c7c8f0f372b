#pragma once
// A program that comes with Respike, for users who have none at hand.

#include <QString>

#include <filesystem>
#include <optional>

namespace respike::gui {

/// A word counter with a library of its own, and a text to count (examples/cmake), for this machine
/// if Respike optimizes its programs, else for Alpha.
struct Demo {
  std::filesystem::path program;
  QString arguments;  // arguments of a run, quoted as in a shell
};

/// The demo of this Respike: beside the command `respike` in a build, or in the installed folder.
/// nullopt: the build had no compiler for the demo's machine.
std::optional<Demo> find_demo(const QString& respike);

}  // namespace respike::gui
