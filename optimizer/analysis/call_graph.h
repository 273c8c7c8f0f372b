#pragma once
// The call graph: who calls whom, and which procedures unknown code may enter.

#include <cstdint>
#include <span>
#include <vector>

#include "optimizer/ir/program.h"

namespace respike {

/// A way out of a procedure at the end of a block: a call, a branch into another procedure, or a
/// jump that may leave.
struct Call {
  enum class Kind : uint8_t {
    call,  // the callee returns to the block's fall-through successor
    tail,  // the callee returns to this procedure's caller
  };
  ProcedureId caller = kNone;
  BlockId block = kNone;
  ProcedureId callee = kNone;  // kNone: unknown
  BlockId entry = kNone;       // of the callee
  Kind kind = Kind::call;
  /// Whether the call follows the calling standard: a call leaves the return address in
  /// Abi::return_address, a tail jump goes through Abi::procedure_value or is direct; system calls
  /// count as standard. If false, the expectations of an unknown callee are unknown.
  bool standard = true;

  bool known() const { return callee != kNone; }
};

class CallGraph {
 public:
  /// How unknown code may enter a procedure.
  enum class Outside : uint8_t {
    none,
    standard,  // by a standard call: the procedure's address is taken, it is exported, ...
    anything,  // from an opaque procedure, in any way
  };

  explicit CallGraph(const Program& program);

  /// Finds the calls of a procedure anew, after its blocks changed. Changes calls_of() and calls(),
  /// which also keeps the old calls; all else stays as it was. So the change must not add ways into
  /// a procedure, and the entries of the changed procedure must keep their numbers.
  void update(const Program& program, ProcedureId id);

  /// The calls of a procedure, at most one per block, in the order of blocks.
  std::span<const Call> calls_of(ProcedureId caller) const {
    return {calls_.data() + first_call_[caller], calls_.data() + end_call_[caller]};
  }
  std::span<const Call> calls() const { return calls_; }
  /// The calls of a procedure's entries, as indices of calls().
  std::span<const uint32_t> callers_of(ProcedureId callee) const {
    return {callers_.data() + first_caller_[callee], callers_.data() + first_caller_[callee + 1]};
  }
  Outside outside(ProcedureId id) const { return outside_[id]; }
  /// Whether only unused procedures refer to the procedure, or none, so that no run gets there.
  /// Unused code is common, since archives bring whole object files. To be careful, outside() is
  /// `standard` for unused procedures without callers.
  bool unused(ProcedureId id) const { return unused_[id]; }
  /// Blocks that control may enter from outside of the procedure, ascending: block 0, targets of
  /// calls and branches (including recursive ones), and blocks that unknown code may enter.
  std::span<const BlockId> entries_of(ProcedureId id) const {
    return {entries_.data() + first_entry_[id], entries_.data() + first_entry_[id + 1]};
  }
  /// The entries_of() that unknown code may use; none when outside() is none.
  std::span<const BlockId> outside_entries_of(ProcedureId id) const {
    return {outside_entries_.data() + first_outside_entry_[id],
            outside_entries_.data() + first_outside_entry_[id + 1]};
  }
  /// All procedures, callees before callers except for recursion.
  std::span<const ProcedureId> bottom_up() const { return bottom_up_; }
  /// Per procedure, the number of its strongly connected component. Callees have no higher number.
  std::span<const uint32_t> components() const { return components_; }

 private:
  friend class CallGraphBuilder;

  std::vector<Call> calls_;  // by caller; calls of updated procedures come last
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
