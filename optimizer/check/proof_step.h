#pragma once
// One step of the proof of a hot procedure (hot_cold_proof.h): a pair of blocks runs on the known
// values, and the effects of both sides are compared. Private to this folder.

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "optimizer/check/known_values.h"
#include "optimizer/check/procedure_before.h"
#include "optimizer/check/proof_operations.h"
#include "optimizer/machine/machine.h"

namespace respike {

/// An event: both sides have to do it in the same way.
struct SharedEvent {
  uint32_t operation = 0;
  std::vector<ValueId> reads, results;
  RegisterSet unwinds;  // the registers whose caller's value an unwinder would find
};

/// Two blocks that run together, or one block that runs while the other side waits before its own.
struct ProvenPair {
  BlockId before = kNone, after = kNone;
  auto operator<=>(const ProvenPair&) const = default;
};

/// Runs pairs of blocks on known values, and compares.
class PairRun {
 public:
  PairRun(const Program& program, const ProcedureBefore& before, std::span<const BlockId> copies);

  /// What is known at an entry of the procedure.
  KnownValues at_entry() const;

  /// `known` without computations that the changed procedure could not repeat.
  KnownValues simplified(const KnownValues& known) const;

  using Reached = std::vector<std::pair<ProvenPair, KnownValues>>;

  /// The pairs that follow a pair. `check`: also notes the first fault.
  Reached run(const ProvenPair& pair, const KnownValues& known, bool check);

  /// Whether the changed procedure waited in the last run.
  bool skips() const { return skips_; }
  const std::optional<std::string>& fault() const { return fault_; }

 private:
  // Places: registers, slots and a counter of calls (a value that each call changes) of each side;
  // then the registers and the counter of calls at the entry.
  size_t places_of_side() const { return used_.size() + before_.slots.size() + 1; }
  size_t place(Side side, Register r) const { return side * places_of_side() + number_[r]; }
  size_t slot_place(Side side, size_t slot) const;
  size_t calls_place(Side side) const { return (side + 1) * places_of_side() - 1; }
  size_t entry_place(Register r) const { return 2 * places_of_side() + number_[r]; }
  /// Whether something may have been called since the entry.
  bool called(Side side) const { return at_[calls_place(side)] != at_.back(); }
  ValueId& at(Side side, Register r) { return at_[place(side, r)]; }
  bool equal(Register r) { return at(kBefore, r) == at(kAfter, r); }
  const Procedure& procedure(Side side) const;
  void expect(bool condition, std::string_view fault);
  Reached run_stub();
  Reached run_skipped();
  Reached run_both();
  KnownValues result() const { return simplified(table_->known(at_)); }

  // Conditional branches that end a block.

  struct Branch {
    std::optional<ValueId> value;  // that decides the branch; nullopt: not understood
    ValueClasses taken = 0;        // the classes of values for which it is taken
  };

  bool is_decided(Side side) const;

  /// Where control may go on.
  std::vector<Edge> ways_of(Side side, const BasicBlock& block) const;

  /// After a branch of both sides, more is known about the value that decided it. Returns what was
  /// known before.
  ValueClasses narrow(const Edge& edge);
  ValueClasses narrow(ValueId value, unsigned to);

  /// Notes the value that decides a block's last instruction; true when its direction is known.
  bool branch(Side side, const Instruction& i, const Operands& operands);

  // One side.

  void execute(Side side, const BasicBlock& block);
  void step(Side side, const Instruction& i);

  /// Forgets what slots below the stack pointer hold.
  void forget_slots(Side side);
  std::optional<int64_t> constant_added(const Instruction& i, const Operands& operands) const;
  bool is_copy(const Instruction& i, const Operands& operands) const;
  void compute(Side side, const Instruction& i, const Operands& operands);

  /// Executes a save or restore; false when the instruction does not access a slot.
  bool access_slot(Side side, const Instruction& i, const Operands& operands);

  /// The value that an instruction stores when it names no register to store.
  ValueId zero(Side side, const Instruction& i);
  void note_event(Side side, const Instruction& i, const Operands& operands);

  /// The places of the frame's private slots, if the instruction enters code that may read and
  /// write them.
  std::vector<size_t> slots_seen_by(Side side, const Instruction& i) const;

  // Unwind information.

  void note_unwinding(Side side, uint32_t state);

  /// The registers whose caller's value an unwinder would find.
  RegisterSet unwound_by(Side side, uint32_t state);

  /// What an unwinder would take for the caller's value of a register.
  std::optional<ValueId> unwound(Side side, uint32_t number, Register r);
  void compare_unwinding(const RegisterSet& before, const RegisterSet& after);
  void compare_unwinding() { compare_unwinding(unwinds_[kBefore], unwinds_[kAfter]); }

  void compare_call_sites(const BasicBlock& before, const BasicBlock& after);

  // After the last instruction.

  /// Jumps through tables of their own go where the edges say, other jumps where they went.
  void compare_tables(const BasicBlock& before, const BasicBlock& after);

  const Call* call() const;
  bool calls_at_end() const { return call() != nullptr && call()->kind == Call::Kind::call; }

  /// False where the callee never returns. If so, its summary is that every path back writes all
  /// registers (`defined`) while nothing is changed (`killed`).
  bool comes_back() const;
  void compare_end();

  /// Sets the registers to the values that the callee leaves or, before a landing pad, the
  /// unwinder.
  void return_to(const Edge& edge);

  const Program& program_;
  const Machine& machine_;
  const Abi& abi_;
  const ProcedureBefore& before_;
  const Procedure& after_;
  const std::span<const BlockId> copies_;
  Operations operations_;
  std::vector<Register> used_;    // registers that either side uses, by their number in places
  std::vector<uint32_t> number_;  // per register
  RegisterSet preserved_;         // of used_: the registers that unwinding restores

  ProvenPair pair_;
  bool checks_ = false;
  std::optional<ValueTable> table_;
  std::vector<ValueId> at_;
  ValueId stack_ = 0;  // the stack pointer at the entry
  std::vector<SharedEvent> events_;
  size_t next_event_ = 0;
  bool skips_ = false;
  std::array<Branch, 2> branches_;  // per side, at the end of the block
  uint32_t state_ = kNone;          // the unwind state of the side that runs
  RegisterSet unwinds_[2];          // of preserved_: found at every instruction so far
  std::optional<std::string> fault_;
};

}  // namespace respike
