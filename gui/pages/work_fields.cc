#include "gui/pages/work_fields.h"

namespace respike::gui {

void WorkFields::fill(const LastRun& run) {
  filled_ = run;
  arguments_->setText(QString::fromStdString(run.arguments));
  folder_->setText(QString::fromStdString(run.folder));
  input_->setText(QString::fromStdString(run.input));
}

void WorkFields::follow(const std::optional<LastRun>& run) {
  if (run && !same_work(*run, filled_) && same_work(shown(), filled_)) fill(*run);
}

void WorkFields::remember(QSettings& settings) const {
  settings.setValue("arguments", arguments_->text());
  settings.setValue("folder", folder_->text());
  settings.setValue("input", input_->text());
}

LastRun WorkFields::recall(const QSettings& settings) {
  const auto text = [&](const char* key) { return settings.value(key).toString().toStdString(); };
  return {.arguments = text("arguments"), .folder = text("folder"), .input = text("input")};
}

LastRun WorkFields::shown() const {
  return {.arguments = arguments_->text().toStdString(),
          .folder = folder_->text().toStdString(),
          .input = input_->text().toStdString()};
}

}  // namespace respike::gui
