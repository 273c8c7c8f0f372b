// Comparing two programs on several threads; see same_program.cc.
//
// Each thread has a comparison of its own and compares what is not code, too: all threads find all
// entries at once, and none waits for another. If a thread finds a difference or fails, one thread
// walks again, so that the message does not depend on the threads.

#include "optimizer/check/shared_walk.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <system_error>
#include <thread>

#include "optimizer/base/parallel.h"

namespace respike {

std::unique_ptr<Comparison> walk_together(const Program& before, const Program& after,
                                          const std::vector<GpLoad>* needless) {
  constexpr uint64_t kWorth = 1 << 19;  // bytes of code
  constexpr size_t kMost = 4;           // threads
  const auto& ranges = before.ranges;
  const size_t workers = std::min(worker_count(), kMost);
  if (before.machine->gp != nullptr || workers < 2 || ranges.empty() ||
      ranges.back().end - ranges.front().start < kWorth)
    return nullptr;
  SharedWalk shared(workers);
  std::vector<std::unique_ptr<Comparison>> walks(workers);
  std::atomic<bool> failed = false;
  const auto walk = [&](size_t worker) {
    try {
      walks[worker] = std::make_unique<Comparison>(before, after, needless, &shared, worker);
      walks[worker]->run();
    } catch (const std::exception&) {  // is thrown again when one thread walks
      failed = true;
      shared.stop();
    }
  };
  {
    std::vector<std::jthread> others;
    try {
      for (size_t worker = 1; worker < workers; ++worker) others.emplace_back(walk, worker);
      walk(0);
    } catch (const std::system_error&) {  // no more threads are to be had
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
