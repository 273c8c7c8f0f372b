#include "gui/models/lane.h"

namespace respike::gui {

Lane::Lane() : inside_(new QObject) {
  inside_->moveToThread(&thread_);
  QObject::connect(&thread_, &QThread::finished, inside_, &QObject::deleteLater);
  thread_.start();
}

Lane::~Lane() {
  thread_.quit();
  thread_.wait();
}

void Lane::post(std::function<void()> job) {
  QMetaObject::invokeMethod(inside_, std::move(job), Qt::QueuedConnection);
}

}  // namespace respike::gui
