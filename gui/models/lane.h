#pragma once
// A thread that does jobs one after another.

#include <QObject>
#include <QThread>

#include <atomic>
#include <functional>

namespace respike::gui {

class Lane {
 public:
  Lane();
  /// Waits for the present job, and drops the waiting jobs.
  ~Lane();
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  /// Runs `job` in the thread, after all jobs that were posted before.
  void post(std::function<void()> job);

 private:
  QThread thread_;
  QObject* inside_;  // lives in the thread
  std::atomic<bool> ending_ = false;
};

}  // namespace respike::gui
