#pragma once
// What the processor of this host counts while a program runs.

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

/// Cycles first; user code alone.
std::span<const CountedEvent> hardware_events();
inline constexpr size_t kHardwareEvents = 5;

/// Counts of a run by event. Plain data, so that a process can send it to another one.
struct Counts {
  std::array<uint64_t, kHardwareEvents> values{};
  std::array<bool, kHardwareEvents> known{};

  std::optional<uint64_t> at(size_t event) const {
    return known[event] ? std::optional(values[event]) : std::nullopt;
  }
};

/// A count as the kernel tells it: value, nanoseconds for which the event was to be counted and for
/// which it was, 8 bytes each. If there were more events than counters, each was counted a part of
/// the time, and the whole is estimated. Nothing if it was not counted at all, or the bytes are no
/// such count.
std::optional<uint64_t> count_of(std::span<const uint8_t> bytes);

/// The median of an event over several runs; nothing unless all of the runs have it.
std::optional<uint64_t> median_of(std::span<const Counts> runs, size_t event);

/// Counts events of the next program that this process starts, from its first instruction to its
/// last, and of the processes that it makes. What cannot be counted here is left out.
class Counters {
 public:
  /// `events`: at most kHardwareEvents.
  explicit Counters(std::span<const CountedEvent> events = hardware_events());
  ~Counters();
  Counters(const Counters&) = delete;
  Counters& operator=(const Counters&) = delete;

  /// When the program has ended.
  Counts read() const;
  /// Why the first event cannot be counted here, a clause; empty: it is counted.
  const std::string& problem() const { return problem_; }

 private:
  std::vector<int> files_;  // by event; -1: not counted
  std::string problem_;
};

}  // namespace respike::measure
