#pragma once
// Several threads that walk over one program: what they send each other, and when all have ended.
// Private to this folder.

#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

#include "optimizer/check/same_program_internal.h"

namespace respike {

class SharedWalk {
 public:
  using Items = std::vector<Comparison::Item>;

  explicit SharedWalk(size_t workers) : inboxes_(workers) {}

  size_t workers() const { return inboxes_.size(); }

  /// Sends items to a worker, and leaves none.
  void send(size_t to, Items& items) {
    if (items.empty()) return;
    const std::lock_guard lock(mutex_);
    inboxes_[to].insert(inboxes_[to].end(), items.begin(), items.end());
    items.clear();
    changed_.notify_all();
  }

  /// Waits until there are items for a worker that has none, and adds them to its work. Adds none
  /// when all workers wait, which ends the walk, and after stop().
  void receive(size_t worker, Items& work) {
    std::unique_lock lock(mutex_);
    ++waiting_;
    for (;;) {
      if (waiting_ == workers() && all_empty()) ended_ = true, changed_.notify_all();
      if (ended_) return;
      if (!inboxes_[worker].empty()) break;
      changed_.wait(lock);
    }
    --waiting_;
    work.swap(inboxes_[worker]);
  }

  /// Ends the walk for all.
  void stop() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

 private:
  bool all_empty() const {
    for (const Items& items : inboxes_)
      if (!items.empty()) return false;
    return true;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Items> inboxes_;  // by worker
  size_t waiting_ = 0;          // workers
  bool ended_ = false;
};

/// How many threads are worth having: more than one for large programs, but where loads of gp may
/// be dropped, since the order of the walk matters there.
size_t walkers_for(const Program& before);

/// Walks on several threads; the result has what all of them found. Nothing when one failed.
std::unique_ptr<Comparison> walk_together(const Program& before, const Program& after,
                                          const std::vector<GpLoad>* needless, AddedCode* added,
                                          size_t workers);

}  // namespace respike
