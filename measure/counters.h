#pragma once
// Events that the processor of this host counts while a program runs.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace respike::measure {

/// An event that the kernel counts for a process; numbers of perf_event_open(2).
struct CountedEvent {
  std::string_view label, key;  // for tables and for JSON
  uint32_t type = 0;
  uint64_t config = 0;
};

/// Cycles first; only user code is counted.
std::span<const CountedEvent> hardware_events();
inline constexpr size_t kHardwareEvents = 5;

/// Counts of a run by event. Plain data, so that processes can send it to each other.
struct Counts {
  std::array<uint64_t, kHardwareEvents> values{};
  std::array<bool, kHardwareEvents> known{};

  std::optional<uint64_t> at(size_t event) const {
    return known[event] ? std::optional(values[event]) : std::nullopt;
  }
};

/// A count from the kernel's bytes: value, nanoseconds for which the event was to be counted,
/// nanoseconds for which it was counted, 8 bytes each. If there were more events than counters,
/// each was counted part of the time, and the total is estimated. nullopt if the event was never
/// counted, or if the bytes are not such a count.
std::optional<uint64_t> count_of(std::span<const uint8_t> bytes);

/// The median of an event over several runs; nullopt unless all runs have it.
std::optional<uint64_t> median_of(std::span<const Counts> runs, size_t event);

/// Counts events of the next program that this process starts, from its first instruction to its
/// last, and of the processes that it makes. Events that cannot be counted here are left out.
class Counters {
 public:
  /// `events`: at most kHardwareEvents.
  explicit Counters(std::span<const CountedEvent> events = hardware_events());
  ~Counters();
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;

  /// To be called when the program has ended.
  Counts read() const;
  /// Why the first event cannot be counted here, a clause; empty: it is counted.
  const std::string& problem() const { return problem_; }

 private:
  std::vector<int> files_;  // by event; -1: not counted
  std::string problem_;
};

}  // namespace respike::measure
