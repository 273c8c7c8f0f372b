#pragma once
// Shown by a window without applications: how to begin.

#include <QScrollArea>

namespace respike::gui {

class FirstSteps : public QScrollArea {
  Q_OBJECT

 public:
  /// `has_demo`: offers the program that came with Respike.
  explicit FirstSteps(bool has_demo, QWidget* parent = nullptr);

 Q_SIGNALS:
  void register_wanted();
  void demo_wanted();
};

}  // namespace respike::gui
