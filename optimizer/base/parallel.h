#pragma once
// Doing the same for many things at once.

#include <cstddef>
#include <functional>

namespace respike {

/// How many threads are worth having: one for each processor, at most.
size_t worker_count();

/// Calls work(i) for each i below `count`, in no particular order and on up to `workers` threads,
/// the calling thread among them. What `work` writes has to belong to its i alone, so that the
/// outcome does not depend on the threads (elements of std::vector<bool> share bytes). When some
/// calls throw, all others are still made, and the exception of the lowest i is thrown again.
void parallel_for(size_t count, const std::function<void(size_t)>& work,
                  size_t workers = worker_count());

}  // namespace respike
