// Hardware counters by perf_event_open(2).
//
// A counter is opened for this process before the program is started; it is off, is inherited, and
// is switched on when an inheritor executes a program (enable_on_exec). So it counts the program
// and the processes that the program makes, but not this process. The counts are complete when the
// program has been waited for: the kernel adds an inheritor's counts when the inheritor ends.
//
// Only user code is counted (exclude_kernel): the kernel allows this for all users if
// /proc/sys/kernel/perf_event_paranoid is at most 2. Most virtual machines have no counters.
//
// Example: for value 500, enabled 2 ms, running 1 ms, the event was counted half of the time, and
// happened about 1,000 times.

#include "measure/counters.h"

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace respike::measure {
namespace {

constexpr uint64_t cache_event(uint64_t cache, uint64_t operation, uint64_t result) {
  return cache | operation << 8 | result << 16;
}

constexpr std::array<CountedEvent, kHardwareEvents> kEvents = {{
    {"cycles", "cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"instructions", "instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"mispredicts", "mispredicts", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"icache misses", "icache_misses", PERF_TYPE_HW_CACHE,
     cache_event(PERF_COUNT_HW_CACHE_L1I, PERF_COUNT_HW_CACHE_OP_READ,
                 PERF_COUNT_HW_CACHE_RESULT_MISS)},
    {"itlb misses", "itb_misses", PERF_TYPE_HW_CACHE,
     cache_event(PERF_COUNT_HW_CACHE_ITLB, PERF_COUNT_HW_CACHE_OP_READ,
                 PERF_COUNT_HW_CACHE_RESULT_MISS)},
}};

struct Reading {
  uint64_t value, enabled, running;
};

int open_counter(const CountedEvent& event) {
  perf_event_attr attributes{};
  attributes.size = sizeof attributes;
  attributes.type = event.type;
  attributes.config = event.config;
  attributes.disabled = 1;
  attributes.inherit = 1;
  attributes.enable_on_exec = 1;
  attributes.exclude_kernel = 1;
  attributes.exclude_hv = 1;
  attributes.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return int(syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}

}  // namespace

std::span<const CountedEvent> hardware_events() {
  return kEvents;
}

std::optional<uint64_t> count_of(std::span<const uint8_t> bytes) {
  Reading reading{};
  if (bytes.size() != sizeof reading) return std::nullopt;
  std::memcpy(&reading, bytes.data(), sizeof reading);
  if (reading.running == 0 || reading.running > reading.enabled) return std::nullopt;
  if (reading.running == reading.enabled) return reading.value;
  return uint64_t(double(reading.value) * double(reading.enabled) / double(reading.running) + 0.5);
}

std::optional<uint64_t> median_of(std::span<const Counts> runs, size_t event) {
  std::vector<uint64_t> values;
  for (const Counts& run : runs)
    if (const auto value = run.at(event)) values.push_back(*value);
  if (values.empty() || values.size() != runs.size()) return std::nullopt;
  const auto middle = values.begin() + ptrdiff_t(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

Counters::Counters(std::span<const CountedEvent> events) {
  for (const CountedEvent& event : events.first(std::min(events.size(), kHardwareEvents))) {
    files_.push_back(open_counter(event));
    if (files_.size() == 1 && files_.front() < 0)
      problem_ = fmt::format("the {} of the processor cannot be counted here ({})", event.label,
                             std::strerror(errno));
  }
}

Counters::~Counters() {
  for (const int file : files_)
    if (file >= 0) close(file);
}

Counts Counters::read() const {
  Counts counts;
  for (size_t i = 0; i < files_.size(); ++i) {
    std::array<uint8_t, sizeof(Reading)> bytes{};
    if (files_[i] < 0) continue;
    const ssize_t got = ::read(files_[i], bytes.data(), bytes.size());
    const auto count = count_of(std::span(bytes).first(size_t(std::max<ssize_t>(got, 0))));
    counts.known[i] = count.has_value();
    counts.values[i] = count.value_or(0);
  }
  return counts;
}

}  // namespace respike::measure
