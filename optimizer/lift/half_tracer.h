#pragma once
// Which upper half a lower half of an address adds to. Private to this folder.

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "optimizer/lift/lifter.h"

namespace respike {

/// Searches the code of one procedure backwards, before blocks exist.
class HalfTracer {
 public:
  /// `ranges`: the ranges of the procedure, as indices of Program::ranges. `labels`: sorted
  /// addresses to which indirect jumps may lead, besides marked addresses. `effort`: the number of
  /// instructions that the search may still look at.
  HalfTracer(const Lifter& lifter, ProcedureId procedure, std::span<const uint32_t> ranges,
             std::span<const uint64_t> labels, uint64_t& effort);

  /// The upper halves at some of the places `highs` (sorted) whose value `base` may hold before the
  /// instruction at `place`. Empty where `base` may hold any other value.
  std::vector<uint64_t> sources(uint64_t place, Register base, std::span<const uint64_t> highs);

 private:
  using Value = std::pair<uint64_t, Register>;  // what a register holds before an address

  bool in_procedure(uint64_t address) const;
  void note_flow(uint64_t place, const Instruction& instruction);
  /// The instructions from which control may come to `address`.
  std::vector<uint64_t> before(uint64_t address) const;
  bool may_call_itself(uint64_t place, const Instruction& call) const;
  /// False when the instruction at `place` gives `wanted` a value that is not an upper half.
  bool step_back(uint64_t place, Register wanted, std::span<const uint64_t> highs,
                 std::vector<uint64_t>& found, std::vector<Value>& work) const;

  const Lifter& lifter_;
  const ProcedureId procedure_;
  const std::span<const uint64_t> labels_;
  uint64_t& effort_;
  std::vector<std::pair<uint64_t, uint64_t>> branches_;  // to, from; sorted
  std::vector<uint64_t> jumps_;                          // indirect jumps
  std::vector<uint64_t> calls_;
};

}  // namespace respike
