// Hardware counters: the meaning of the kernel's bytes, medians of runs, and the way from a counter
// to a program, which is tested with an event that every kernel counts.

#include "measure/counters.h"

#include <gtest/gtest.h>
#include <linux/perf_event.h>
#include <spawn.h>
#include <sys/wait.h>

#include <cstring>
#include <limits>

extern char** environ;

namespace respike::measure {
namespace {

std::optional<uint64_t> count(uint64_t value, uint64_t enabled, uint64_t running) {
  const uint64_t words[] = {value, enabled, running};
  uint8_t bytes[sizeof words];
  std::memcpy(bytes, words, sizeof words);
  return count_of(bytes);
}

TEST(Counters, CountsOfTheKernel) {
  EXPECT_EQ(count(1234, 500, 500), 1234u);
  EXPECT_EQ(count(1234, 1000, 500), 2468u) << "counted half of the time";
  EXPECT_EQ(count(10, 3, 2), 15u);
  EXPECT_EQ(count(0, 500, 500), 0u);
  EXPECT_EQ(count(0, 500, 0), std::nullopt) << "never counted";
  EXPECT_EQ(count(0, 0, 0), std::nullopt);
  EXPECT_EQ(count(5, 500, 501), std::nullopt) << "longer than it was to be counted";
  const uint8_t few[16] = {};
  EXPECT_EQ(count_of(few), std::nullopt);
  EXPECT_EQ(count_of({}), std::nullopt);
}

TEST(Counters, MediansOfRuns) {
  std::vector<Counts> runs(3);
  for (size_t i = 0; i < runs.size(); ++i) {
    runs[i].values = {10 * (i + 1), 7, 0, 0, 0};
    runs[i].known = {true, i != 1, false, false, false};
  }
  EXPECT_EQ(median_of(runs, 0), 20u);
  EXPECT_EQ(median_of(runs, 1), std::nullopt) << "one run has no count";
  EXPECT_EQ(median_of(runs, 2), std::nullopt);
  EXPECT_EQ(median_of({}, 0), std::nullopt);
}

TEST(Counters, EventsHaveNames) {
  EXPECT_EQ(hardware_events().size(), kHardwareEvents);
  EXPECT_EQ(hardware_events().front().key, "cycles");
  for (const CountedEvent& event : hardware_events()) EXPECT_FALSE(event.label.empty());
}

TEST(Counters, WhatCannotBeCountedIsTold) {
  const CountedEvent none{"unicorns", "unicorns", PERF_TYPE_SOFTWARE, 0xfffff};
  const Counters counters({&none, 1});
  EXPECT_EQ(counters.problem().find("the unicorns of the processor cannot be counted here ("), 0u)
      << counters.problem();
  EXPECT_FALSE(counters.read().known[0]);
}

void run_true() {
  pid_t process = 0;
  std::string name = "/bin/true";
  char* words[] = {name.data(), nullptr};
  ASSERT_EQ(posix_spawn(&process, name.c_str(), nullptr, nullptr, words, environ), 0);
  int status = 0;
  ASSERT_EQ(waitpid(process, &status, 0), process);
  ASSERT_EQ(status, 0);
}

TEST(Counters, CountTheNextProgram) {
  const CountedEvent faults{"page faults", "faults", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS};
  const Counters counters({&faults, 1});
  if (!counters.problem().empty()) GTEST_SKIP() << counters.problem();
  EXPECT_FALSE(counters.read().known[0]) << "nothing has run yet";
  run_true();
  const auto once = counters.read().at(0);
  ASSERT_TRUE(once.has_value());
  EXPECT_GT(*once, 10u);
  EXPECT_LT(*once, 10000u);
  std::vector<char> memory(100 << 20, 1);  // faults of this process do not count
  EXPECT_EQ(counters.read().at(0), once) << unsigned(memory.back());
}

}  // namespace
}  // namespace respike::measure
