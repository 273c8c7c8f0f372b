#pragma once
// Loops on several threads.

#include <cstddef>
#include <functional>

namespace respike {

/// How many threads are useful: at most one for each processor.
size_t worker_count();

/// Calls work(i) for each i below `count`, in no particular order and on up to `workers` threads,
/// including the calling thread. Each call must write only data that belongs to its i, so that the
/// outcome does not depend on the threads (elements of std::vector<bool> share bytes). When some
/// calls throw, all others are still made, and the exception of the lowest i is thrown again.
void parallel_for(size_t count, const std::function<void(size_t)>& work,
                  size_t workers = worker_count());

}  // namespace respike
