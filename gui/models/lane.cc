#include "gui/models/lane.h"

namespace respike::gui {

Lane::Lane() : inside_(new QObject) {
  inside_->moveToThread(&thread_);
  QObject::connect(&thread_, &QThread::finished, inside_, &QObject::deleteLater);
  thread_.start();
}

// Without `ending_` the thread would do all waiting jobs: Qt delivers all posted events before
// quit() takes effect.
Lane::~Lane() {
  ending_ = true;
  thread_.quit();
  thread_.wait();
}

void Lane::post(std::function<void()> job) {
  const auto do_job = [this, job = std::move(job)] {
    if (!ending_) job();
  };
  QMetaObject::invokeMethod(inside_, do_job, Qt::QueuedConnection);
}

}  // namespace respike::gui
