#pragma once
// The starting point of the proof of a hot procedure: the procedure as it was, and what the
// analyses of the original know about it.

#include <map>
#include <set>
#include <vector>

#include "optimizer/analysis/call_graph.h"
#include "optimizer/analysis/register_flow.h"
#include "optimizer/ir/program.h"

namespace respike {

struct ProcedureBefore {
  /// Makes a copy that later changes of the program do not affect.
  ProcedureBefore(const Program& program, ProcedureId id, const CallGraph& calls,
                  const RegisterFlow& flow);
  ProcedureBefore(const ProcedureBefore&) = delete;
  ProcedureBefore& operator=(const ProcedureBefore&) = delete;

  /// Undoes all changes of the procedure and its jump tables.
  void restore(Program& program) const;

  /// An entry of a jump table.
  struct TableEntry {
    size_t pointer = 0;    // index of Program::code_pointers
    BlockId jump = kNone;  // see JumpTable
    CodeLocation target;
  };

  ProcedureId id = kNone;
  Procedure procedure;
  Arena arena;  // holds the procedure's lists
  std::vector<BlockId> entries;
  std::vector<RegisterSet> live_in, live_at_end;  // per block
  std::vector<TableEntry> table_entries;
  std::map<BlockId, Call> calls;                         // by block
  std::map<BlockId, RegisterSet> read, defined, killed;  // by the callee of a block's call
  RegisterSet kept;  // preserved registers that callers find unchanged
  /// The places of saved registers and private slots, ascending: bytes from the stack pointer at
  /// the entry.
  std::vector<int64_t> slots;
  std::vector<bool> is_private;        // per slot
  std::set<uint16_t> saves, restores;  // opcodes that access slots of saved registers
  int64_t cfa_at_entry = 0;            // offset of the canonical frame address, bytes
};

}  // namespace respike
