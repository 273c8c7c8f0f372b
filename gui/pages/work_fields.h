#pragma once
// The fields that say what a program is to do, on the pages that run programs.

#include <QLineEdit>
#include <QSettings>

#include <optional>

#include "profiledb/database.h"

namespace respike::gui {

/// Arguments, folder and input. Filled in with the last run that was counted, as long as the user
/// has changed nothing.
class WorkFields {
 public:
  WorkFields() = default;
  WorkFields(QLineEdit* arguments, QLineEdit* folder, QLineEdit* input)
      : arguments_(arguments), folder_(folder), input_(input) {}

  void fill(const LastRun& run);
  /// Fills in a newer run, unless the user has changed what was filled in.
  void follow(const std::optional<LastRun>& run);
  /// To and from the group of settings that is open.
  void remember(QSettings& settings) const;
  static LastRun recall(const QSettings& settings);

 private:
  LastRun shown() const;

  QLineEdit* arguments_ = nullptr;
  QLineEdit* folder_ = nullptr;
  QLineEdit* input_ = nullptr;
  LastRun filled_;
};

}  // namespace respike::gui
