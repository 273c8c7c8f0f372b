#pragma once
// Who calls whom, and which procedures anybody may call.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/ir/program.h"

namespace respike {

/// A way out of a procedure at the end of a block: a call, a branch into another procedure, or a
/// jump that may leave.
struct Call {
  enum class Kind : uint8_t {
    call,  // comes back to the block's fall-through successor
    tail,  // does not: the callee returns to this procedure's caller
  };
  ProcedureId caller = kNone;
  BlockId block = kNone;
  ProcedureId callee = kNone;  // kNone: unknown
  BlockId entry = kNone;       // of the callee
  Kind kind = Kind::call;
  /// Follows the calling standard's way of passing the return address: a call leaves it in
  /// Abi::return_address, a tail jump goes through Abi::procedure_value or is direct. A call of the
  /// operating system expects no more. Otherwise nothing is known of what an unknown callee expects.
  bool standard = true;

  bool known() const { return callee != kNone; }
};

class CallGraph {
 public:
  /// How control may come into a procedure other than by a Call of the graph.
  enum class Outside : uint8_t {
    none,
    standard,  // by an unknown call: its address is taken, it is exported, ...
    anything,  // from code that is not understood
  };

  explicit CallGraph(const Program& program);

  /// Finds the calls of a procedure anew, after its blocks changed: calls_of() and calls(), which
  /// keeps the old ones, too. All else stays as it was: the change must not add ways into a
  /// procedure, and the entries of the changed one keep their numbers.
  void update(const Program& program, ProcedureId id);

  /// At most one per block, in the order of blocks.
  std::span<const Call> calls_of(ProcedureId caller) const {
    return {calls_.data() + first_call_[caller], calls_.data() + end_call_[caller]};
  }
  std::span<const Call> calls() const { return calls_; }
  /// Indices of calls().
  std::span<const uint32_t> callers_of(ProcedureId callee) const {
    return {callers_.data() + first_caller_[callee], callers_.data() + first_caller_[callee + 1]};
  }
  Outside outside(ProcedureId id) const { return outside_[id]; }
  /// Whether nothing refers to a procedure but procedures of which the same holds, so that no run
  /// gets there. Such code is common: archives bring whole object files. outside() gives it the
  /// benefit of the doubt.
  bool unused(ProcedureId id) const { return unused_[id]; }
  /// Blocks where control may come in from outside of the procedure, ascending: 0, targets of calls
  /// and branches (recursive ones, too), and what is reached in ways not known.
  std::span<const BlockId> entries_of(ProcedureId id) const {
    return {entries_.data() + first_entry_[id], entries_.data() + first_entry_[id + 1]};
  }
  /// Those of entries_of() that unknown code may use; none when outside() is none.
  std::span<const BlockId> outside_entries_of(ProcedureId id) const {
    return {outside_entries_.data() + first_outside_entry_[id],
            outside_entries_.data() + first_outside_entry_[id + 1]};
  }
  /// Callees before callers, but for recursion.
  std::span<const ProcedureId> bottom_up() const { return bottom_up_; }
  /// Per procedure, the number of its strongly connected component; callees' are not higher.
  std::span<const uint32_t> components() const { return components_; }

 private:
  friend class CallGraphBuilder;

  std::vector<Call> calls_;  // by caller, and behind all others those of updated procedures
  std::vector<uint32_t> first_call_, end_call_;
  std::vector<uint32_t> callers_, first_caller_;
  std::vector<Outside> outside_;
  std::vector<bool> unused_;
  std::vector<BlockId> entries_, outside_entries_;
  std::vector<uint32_t> first_entry_, first_outside_entry_;
  std::vector<ProcedureId> bottom_up_;
  std::vector<uint32_t> components_;
};

}  // namespace respike
