#include "host/process_watch.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

namespace respike {
namespace {

/// A child that waits for a child of its own, which sleeps.
pid_t start_family() {
  const pid_t child = fork();
  if (child != 0) return child;
  if (fork() == 0) {
    sleep(60);
    _exit(0);
  }
  while (wait(nullptr) > 0) {
  }
  pause();
  _exit(0);
}

TEST(ProcessWatch, SeesDescendantsEnd) {
  const pid_t child = start_family();
  ASSERT_GT(child, 0);
  ProcessWatch watch;
  const auto belongs = [&](pid_t process) {
    return process == child || watch.contains(parent_of(process));
  };
  const auto look_until = [&](auto condition) {
    std::vector<ProcessWatch::End> ends;
    for (int i = 0; i < 1000 && !condition(); ++i) {
      for (const auto& end : watch.look(belongs)) ends.push_back(end);
      usleep(10'000);
    }
    return ends;
  };
  EXPECT_TRUE(look_until([&] { return watch.members().size() == 2; }).empty());
  ASSERT_EQ(watch.members().size(), 2u);
  EXPECT_EQ(parent_of(child), getpid());
  EXPECT_FALSE(watch.contains(getpid()));
  const auto [first, second] = std::pair(*watch.members().begin(), *watch.members().rbegin());
  const pid_t grandchild = first.first == child ? second.first : first.first;
  EXPECT_EQ(parent_of(grandchild), child);
  kill(grandchild, SIGSEGV);
  const auto ends = look_until([&] { return !watch.contains(grandchild); });
  EXPECT_FALSE(watch.contains(grandchild));
  EXPECT_TRUE(watch.contains(child));
  if (kernel_tells_ends()) {
    ASSERT_EQ(ends.size(), 1u);
    EXPECT_EQ(ends[0].process, grandchild);
    EXPECT_TRUE(WIFSIGNALED(ends[0].status) && WTERMSIG(ends[0].status) == SIGSEGV);
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
}

TEST(ProcessWatch, ParentOfNobody) {
  EXPECT_EQ(parent_of(-1), 0);
}

}  // namespace
}  // namespace respike
