#pragma once
// Which registers an unwinder reads at each point, and which registers' values it reads from the
// frame instead. Private to this folder, for one size of register sets. Exceptions, cancellation of
// threads, debuggers and profilers unwind, some of them at any instruction.

#include <algorithm>
#include <vector>

#include "optimizer/analysis/frame_shape.h"
#include "optimizer/analysis/register_set.h"
#include "optimizer/base/parallel.h"
#include "optimizer/machine/machine.h"
#include "optimizer/unwind/unwind.h"

namespace respike {

template <size_t W>
class UnwindNeeds {
 public:
  using Set = BasicRegisterSet<W>;

  /// Blocks have flat numbers: first[procedure] + block.
  UnwindNeeds(const Program& program, const CallGraph& calls, const std::vector<uint32_t>& first)
      : program_(program),
        machine_(*program.machine),
        return_address_(machine_.abi.return_address),
        all_(Set::first(machine_.register_count)),
        in_frame_(first.back()),
        needs_(first.back()),
        holders_(first.back()),
        restored_(program.procedures.size()),
        prolog_(std::span(machine_.abi.preserved)),
        reads_prologs_(program.image != nullptr && unwind_format_of(*program.image) != nullptr &&
                       unwind_format_of(*program.image)->reads_prologs) {
    prolog_.add(machine_.abi.stack_pointer);
    prolog_.add(return_address_);
    parallel_for(program_.procedures.size(), [&](size_t number) {
      const auto p = static_cast<ProcedureId>(number);
      if (program_[p].state != Procedure::State::opaque) restored_[p] = find(p, calls, first[p]);
    });
    for (ProcedureId p = 0; p < program_.procedures.size(); ++p)
      if (program_[p].state != Procedure::State::opaque) find_holders(p, first[p]);
  }

  /// Finds the needs of a procedure, which must not be opaque, anew. Its blocks have flat numbers
  /// from `first` on, higher than all others.
  void update(ProcedureId p, const CallGraph& calls, uint32_t first) {
    const size_t end = first + program_[p].blocks.size();
    in_frame_.resize(end);
    needs_.resize(end);
    holders_.resize(end);
    find(p, calls, first);
    find_holders(p, first);
  }

  /// FrameShape::restored of all procedures. May be called only once.
  std::vector<Set> take_restored() { return std::move(restored_); }

  /// Registers that an unwinder may read at any point of a block. `callers`: among the registers
  /// that unwinding restores, those that the procedure's callers need.
  Set everywhere(uint32_t node, const Set& callers) const {
    const uint8_t needs = needs_[node];
    if ((needs & kEverything) != 0) return all_;
    if ((needs & kProlog) != 0) return prolog_;
    Set read = callers - in_frame_[node];
    if ((needs & kReturnAddress) != 0) read.add(return_address_);
    if (holders_[node] != kNone) read |= holder_sets_[holders_[node]];
    return read;
  }

  /// Registers that an unwinder may read after the last instruction, besides everywhere().
  Set at_end(uint32_t node, const Set& callers) const {
    Set read;
    if ((needs_[node] & kChanges) != 0) read = callers;
    if ((needs_[node] & kReturnAddressAtEnd) != 0) read.add(return_address_);
    return read;
  }

  /// The registers of `callers` that the callee of the call at the end of a block has to keep.
  Set passed_on(uint32_t node, const Set& callers) const {
    return (needs_[node] & kChanges) != 0 ? callers : callers - in_frame_[node];
  }

 private:
  enum Needs : uint8_t {
    kReturnAddress = 1,  // at all points
    kReturnAddressAtEnd = 2,
    kEverything = 4,
    kChanges = 8,  // the unwind state changes within the block
    kProlog = 16,  // unwinders undo the prolog, which may save any preserved register
  };

  static bool changes_state(const BasicBlock& block) {
    return std::any_of(block.instructions.begin(), block.instructions.end(),
                       [](const Instruction& i) { return i.is_pseudo(); });
  }

  Set defined_in(const BasicBlock& block) const {
    Set defined;
    for (const Instruction& i : block.instructions)
      if (!i.is_pseudo() && i.predicate == 0) defined |= defs_of<W>(machine_.operands(i));
    return defined;
  }

  /// Finds all needs except the holders; returns FrameShape::restored.
  Set find(ProcedureId p, const CallGraph& calls, uint32_t first) {
    FrameShape shape;
    if (may_have_slots(program_, program_[p])) {
      shape = find_frame_shape(program_, p, calls.calls_of(p), calls.entries_of(p));
      find_saved(p, first, shape);
    }
    find_needs(p, first, shape);
    return Set(shape.restored);
  }

  void find_holders(ProcedureId p, uint32_t first) {
    for (BlockId b = 0; b < program_[p].blocks.size(); ++b)
      holders_[first + b] = holders_in(program_[p].blocks[b]);
  }

  void find_saved(ProcedureId p, uint32_t first, const FrameShape& shape) {
    uint32_t state = kNone;
    Set saved;
    for (BlockId b = 0; b < shape.overwritten.size(); ++b) {
      const BasicBlock& block = program_[p].blocks[b];
      if (block.cfi_state != state || b == 0) {
        state = block.cfi_state;
        saved = Set(saved_in(shape, program_, program_[p], state));
      }
      in_frame_[first + b] = saved & Set(shape.overwritten[b]);
      // If the state changes, the frame counts only for registers that the block writes; after
      // their restores, at_end() adds them.
      if (changes_state(block)) in_frame_[first + b] &= defined_in(block);
    }
  }

  void find_needs(ProcedureId p, uint32_t first, const FrameShape& shape) {
    uint32_t last = kNone;
    uint8_t last_needs = 0;
    const auto needs_of = [&](uint32_t state) {
      if (state != last) last_needs = needs_in(p, shape, last = state);
      return last_needs;
    };
    for (BlockId b = 0; b < program_[p].blocks.size(); ++b) {
      const BasicBlock& block = program_[p].blocks[b];
      uint8_t& needs = needs_[first + b];
      needs = needs_of(block.cfi_state);
      if (!changes_state(block)) continue;
      uint8_t later = kChanges;
      for (const Instruction& i : block.instructions)
        if (i.is_pseudo()) later |= needs_of(static_cast<uint32_t>(i.immediate));
      if ((later & kReturnAddress) != 0) {
        later |= kReturnAddressAtEnd;
        if (return_address_ && defined_in(block).contains(*return_address_))
          later &= ~kReturnAddress;
      }
      needs |= later;
    }
  }

  /// The needs of an unwinder to find the frame and the return address in an unwind state.
  uint8_t needs_in(ProcedureId p, const FrameShape& shape, uint32_t number) const {
    const auto& states = program_.unwind.states;
    if (number >= states.size()) return 0;
    const CfiState& state = states[number];
    if (reads_prologs_ && !state.opaque) return kProlog;
    if (state.cfa_is_expression || !is_register(state.cfa_register)) return kEverything;
    uint8_t needs = 0;
    for (const auto& [reg, rule] : state.rules)
      if (rule.kind != CfiRule::Kind::offset && rule.kind != CfiRule::Kind::undefined &&
          rule.kind != CfiRule::Kind::same_value && !holder_of(rule))
        needs |= kEverything;
    if (return_address_ &&
        !saved_in(shape, program_, program_[p], number).contains(*return_address_))
      needs |= kReturnAddress;
    return needs;
  }

  /// Unwind tables number general registers as the machine does.
  bool is_register(uint64_t number) const { return number < machine_.register_count; }

  /// The register that holds the value of another register by a rule of kind in_register.
  std::optional<Register> holder_of(const CfiRule& rule) const {
    if (rule.kind != CfiRule::Kind::in_register || !is_register(static_cast<uint64_t>(rule.value)))
      return std::nullopt;
    return static_cast<Register>(rule.value);
  }

  /// Finds the registers that, by the unwind states of a block, hold the CFA or the values of other
  /// registers. Returns an index of `holder_sets_`; kNone when there are no such registers.
  uint32_t holders_in(const BasicBlock& block) {
    Set holders;
    const auto add = [&](uint32_t state) {
      if (state >= program_.unwind.states.size()) return;
      const uint64_t cfa = program_.unwind.states[state].cfa_register;
      if (is_register(cfa)) holders.add(static_cast<Register>(cfa));
      for (const auto& [reg, rule] : program_.unwind.states[state].rules)
        if (const auto holder = holder_of(rule)) holders.add(*holder);
    };
    add(block.cfi_state);
    for (const Instruction& i : block.instructions)
      if (i.is_pseudo()) add(static_cast<uint32_t>(i.immediate));
    if (holders.empty()) return kNone;
    if (holder_sets_.empty() || holder_sets_.back() != holders) holder_sets_.push_back(holders);
    return static_cast<uint32_t>(holder_sets_.size() - 1);
  }

  const Program& program_;
  const Machine& machine_;
  const std::optional<Register> return_address_;  // absent: always in memory
  const Set all_;
  // Per block.
  std::vector<Set> in_frame_;
  std::vector<uint8_t> needs_;
  std::vector<uint32_t> holders_;  // see holders_in()
  std::vector<Set> holder_sets_;
  // Per procedure.
  std::vector<Set> restored_;
  Set prolog_;  // registers needed by unwinders that read prologs
  const bool reads_prologs_;
};

}  // namespace respike
