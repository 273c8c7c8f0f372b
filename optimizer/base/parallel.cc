// Threads take shares of the work from a common counter, so a thread with light shares takes more
// of them. A share is large enough to make the counter's cost negligible, and small enough that no
// thread waits long for the last share. Threads are started anew each time, which takes some ten
// microseconds: callers use them only for at least a millisecond of work.

#include "optimizer/base/parallel.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace respike {
namespace {

constexpr size_t kSharesOfWorker = 64;

class Job {
 public:
  Job(size_t count, const std::function<void(size_t)>& work, size_t workers)
      : count_(count),
        share_(std::max<size_t>(1, count / (workers * kSharesOfWorker))),
        work_(work) {}

  void run() {
    for (;;) {
      const size_t first = next_.fetch_add(share_);
      if (first >= count_) return;
      for (size_t i = first; i < std::min(first + share_, count_); ++i) run(i);
    }
  }

  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  void run(size_t i) {
    try {
      work_(i);
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (error_ && failed_ < i) return;
      error_ = std::current_exception();
      failed_ = i;
    }
  }

  const size_t count_, share_;
  const std::function<void(size_t)>& work_;
  std::atomic<size_t> next_ = 0;
  std::mutex mutex_;
  std::exception_ptr error_;
  size_t failed_ = 0;  // the i whose call threw it
};

}  // namespace

size_t worker_count() {
  constexpr unsigned kMost = 8;  // most work takes a fraction of a second
  static const size_t count = std::clamp(std::thread::hardware_concurrency(), 1u, kMost);
  return count;
}

void parallel_for(size_t count, const std::function<void(size_t)>& work, size_t workers) {
  workers = std::min(workers, count);
  Job job(count, work, std::max<size_t>(1, workers));
  {
    std::vector<std::jthread> others;
    try {
      for (size_t w = 1; w < workers; ++w) others.emplace_back([&] { job.run(); });
    } catch (const std::system_error&) {  // no more threads are available: continue with fewer
    }
    job.run();
  }
  job.rethrow();
}

}  // namespace respike
