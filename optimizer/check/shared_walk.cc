// Comparing two programs on several threads; see same_program.cc.
//
// Each thread has a comparison of its own. It also compares everything except code, so all threads
// find all entries at once, and no thread waits for another. If a thread finds a difference or
// fails, one thread walks again, so that the message does not depend on the threads.
//
// Example: of two threads, the first owns procedures 0 to 63, 128 to 191 and so on. When it finds a
// pair whose block of the input is in procedure 70, it sends the pair to the second thread.

#include "optimizer/check/shared_walk.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <thread>

#include "optimizer/base/parallel.h"

namespace respike {

size_t walkers_for(const Program& before) {
  constexpr uint64_t kWorth = 1 << 19;  // bytes of code
  constexpr size_t kMost = 4;
  const auto& ranges = before.ranges;
  const bool is_large = !ranges.empty() && ranges.back().end - ranges.front().start >= kWorth;
  return is_large && before.machine->gp == nullptr ? std::min(worker_count(), kMost) : 1;
}

std::unique_ptr<Comparison> walk_together(const Program& before, const Program& after,
                                          const std::vector<GpLoad>* needless, AddedCode* added,
                                          size_t workers) {
  SharedWalk shared(workers);
  std::vector<std::unique_ptr<AddedCode>> added_of(workers);  // the first has `added`
  for (size_t worker = 1; worker < workers && added != nullptr; ++worker)
    added_of[worker] = added->for_another_walk();
  std::vector<std::unique_ptr<Comparison>> walks(workers);
  std::atomic<bool> failed = false;
  const auto walk = [&](size_t worker) {
    try {
      walks[worker] = std::make_unique<Comparison>(
          before, after, needless, worker == 0 ? added : added_of[worker].get(), &shared, worker);
      walks[worker]->run();
    } catch (const std::exception&) {  // thrown again when one thread walks
      failed = true;
      shared.stop();
    }
  };
  {
    std::vector<std::jthread> others;
    try {
      others.reserve(workers);
      for (size_t worker = 1; worker < workers; ++worker) others.emplace_back(walk, worker);
      walk(0);
    } catch (const std::exception&) {  // no more threads are available
      failed = true;
      shared.stop();
    }
  }
  if (failed) return nullptr;
  for (size_t worker = 1; worker < workers; ++worker) {
    walks[0]->join(*walks[worker]);
    walks[worker].reset();
  }
  return std::move(walks[0]);
}

}  // namespace respike
