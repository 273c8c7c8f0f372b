#pragma once
// How many cycles the Itanium 2 takes to issue straight code, and why. See issue.cc for the rules.

#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <vector>

#include "models/itanium2/instruction.h"

namespace respike::measure::itanium2 {

/// Cycles of issue: one for each instruction group, and bubbles by their cause.
struct IssueCycles {
  uint32_t groups = 0;   // instruction groups that began
  uint32_t splits = 0;   // further cycles of groups: ports, or the window of two bundles
  uint32_t targets = 0;  // the same after a branch to the second bundle of a pair
  std::array<uint32_t, kBubbles> waits{};  // waits for results, by Bubble

  uint32_t total() const {
    uint32_t sum = groups + splits + targets;
    for (uint32_t wait : waits) sum += wait;
    return sum;
  }
};

/// The instructions that one cycle has dispersed so far.
struct Window {
  uint8_t bundles = 0;  // bundles that began
  uint8_t limit = 2;    // 1 after a branch to an odd bundle: see IssueCycles::targets
  uint8_t m = 0, load = 0, store = 0, m0 = 0, m2 = 0, i = 0, f = 0;  // ports by kind
  bool had_branch_slot = false, reads_bsp = false;
  bool closed = false;  // no instruction can enter any more

  auto operator<=>(const Window&) const = default;
};

/// The state of issue between two instructions, relative to the cycle of the first. Equal states
/// have equal futures.
class IssueState {
 public:
  /// Issues instructions. `odd`: the first is in a bundle with an odd number.
  IssueCycles issue(std::span<const IssueInstruction> code, bool odd);

  /// Notes a taken branch: the group ends, and fetch restarts.
  void branch();
  /// Forgets results in flight to stacked registers, whose names refer to other registers from now
  /// on.
  void forget_stacked();
  /// Renames results in flight to rotating registers, which have the next number from now on.
  void rotate();
  /// Forgets results for which hardly any instruction waits, so that few different states remain.
  void simplify();

  auto operator<=>(const IssueState&) const = default;

 private:
  /// A result that may not have arrived yet.
  struct Flight {
    uint16_t number = 0;
    IssueClass writer{};
    uint8_t age = 0;        // cycles since it was issued
    bool in_group = false;  // by an instruction of the present group
    auto operator<=>(const Flight&) const = default;
  };
  /// An instruction of a kind in pair_rows().
  struct Recent {
    KindSet kind = 0;
    uint8_t age = 0;
    auto operator<=>(const Recent&) const = default;
  };

  void next_cycle(unsigned cycles);
  void new_window();
  void begin_group();
  void disperse(const IssueInstruction& instruction, bool odd, IssueCycles& cycles);
  bool enters_bundle(const IssueInstruction& instruction, bool odd);
  bool fits(const IssueInstruction& instruction) const;
  void take_ports(const IssueInstruction& instruction);
  void wait_for_operands(const IssueInstruction& instruction, IssueCycles& cycles);
  void wait_for_kinds(const IssueInstruction& instruction, IssueCycles& cycles);
  void deliver(const IssueInstruction& instruction);

  Window window_;
  bool group_open_ = false;
  bool fetching_ = false;        // a taken branch came just before
  std::vector<Flight> flights_;  // by number
  std::vector<Recent> recent_;   // by kind
};

}  // namespace respike::measure::itanium2
