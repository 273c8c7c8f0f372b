// Work on several threads: all of it is done once, whatever the number of threads, and the
// exception is the same as when working in order.

#include "optimizer/base/parallel.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

namespace respike {
namespace {

TEST(Parallel, EachIsDoneOnce) {
  for (const size_t count : {0, 1, 2, 3, 64, 1000, 100'000})
    for (const size_t workers : {1, 2, 3, 8}) {
      std::vector<int> done(count);
      parallel_for(
          count, [&](size_t i) { ++done[i]; }, workers);
      EXPECT_EQ(std::accumulate(done.begin(), done.end(), size_t{0}), count);
      EXPECT_EQ(std::count(done.begin(), done.end(), 1), static_cast<ptrdiff_t>(count));
    }
}

TEST(Parallel, TheLowestExceptionComesOutAndTheRestIsDone) {
  for (const size_t workers : {1, 2, 8}) {
    std::vector<int> done(1000);
    std::string caught;
    try {
      parallel_for(
          done.size(),
          [&](size_t i) {
            done[i] = 1;
            if (i % 100 == 37) throw std::runtime_error(std::to_string(i));
          },
          workers);
    } catch (const std::runtime_error& error) {
      caught = error.what();
    }
    EXPECT_EQ(caught, "37") << workers;
    EXPECT_EQ(std::accumulate(done.begin(), done.end(), 0), 1000);
  }
}

/// A container may allow no more threads. Root may always make threads, so the test becomes another
/// user.
TEST(Parallel, WorksWithTheThreadsThereAre) {
  const pid_t child = fork();
  if (child == 0) {
    constexpr rlimit kNone = {1, 1};
    if (geteuid() == 0 && setuid(65534) != 0) _exit(2);
    if (setrlimit(RLIMIT_NPROC, &kNone) != 0) _exit(2);
    std::vector<int> done(1000);
    parallel_for(
        done.size(), [&](size_t i) { done[i] = 1; }, 8);
    _exit(std::accumulate(done.begin(), done.end(), 0) == 1000 ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace respike
