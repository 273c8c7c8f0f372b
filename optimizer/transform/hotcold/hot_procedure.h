#pragma once
// The hot procedure while it is being optimized: a copy of the hot blocks, and the stubs that lead
// from it into the middle of the original.

#include <optional>
#include <vector>

#include "optimizer/analysis/block_graph.h"
#include "optimizer/analysis/frame_shape.h"
#include "optimizer/analysis/private_slots.h"
#include "optimizer/analysis/register_flow.h"
#include "optimizer/analysis/register_set.h"
#include "optimizer/ir/program.h"
#include "optimizer/machine/machine.h"
#include "optimizer/transform/hotcold/region.h"

namespace respike {

struct HotInstruction {
  Instruction instruction;
  uint32_t state = kNone;  // unwind state before it, an index of UnwindTables::states
  std::optional<FrameShape::Role> role;
  Register saved = 0;  // save, restore: which register
};

/// A block of the hot procedure, or a stub.
struct HotBlock {
  BlockId place = kNone;  // the original block; for a stub: the cold block after the stub
  bool untouchable = false;
  /// A stub before a landing pad, or before the padding of a pad. It must have no code: unwinding
  /// leads to the pad itself, and no other code may seem to lead there.
  bool stays_empty = false;
  std::vector<HotInstruction> code;
  uint32_t end_state = kNone;        // unwind state after the last instruction
  std::vector<uint32_t> successors;  // numbers of blocks; of a stub: none
  /// If the branch was removed: the remaining edge of the original.
  std::optional<uint32_t> only_edge;
  uint64_t count = 0;
};

/// Blocks [0, hot) are copies; the others are stubs, one per edge to a block that was not copied.
struct HotProcedure {
  const Program* program = nullptr;
  ProcedureId id = kNone;
  FrameShape shape;
  PrivateSlots slots;
  std::vector<HotBlock> blocks;
  uint32_t hot = 0;
  std::vector<uint32_t> entries;  // numbers of blocks
  BlockGraph graph;
  std::vector<std::optional<Call>> calls;  // per hot block: the call or tail jump at its end
  /// Per hot block: registers that are live after its last instruction whatever follows in the hot
  /// procedure, since a callee, a caller or an unwinder reads them.
  std::vector<RegisterSet> used_at_end;
  std::vector<RegisterSet> live_in;     // per stub: live at the start of the cold block after it
  std::vector<RegisterSet> changed_by;  // per hot block: registers that the call at its end changes
  RegisterSet live_anywhere;            // live at any point of the hot blocks in the original
  RegisterSet unsaved;     // hot code no longer saves these, and leaves them as they are
  bool frameless = false;  // hot code leaves the stack pointer as it is

  const Machine& machine() const { return *program->machine; }
  bool is_stub(uint32_t block) const { return block >= hot; }
  const RegisterSet& live_behind_stub(uint32_t stub) const { return live_in[stub - hot]; }
  bool calls_at_end(uint32_t block) const {
    return calls[block] && calls[block]->kind == Call::Kind::call;
  }
  /// Registers that are live before the call at a block's end if they are live after it.
  RegisterSet kept_at_end(uint32_t block) const;
};

/// Copies the hot blocks of a region.
HotProcedure make_hot_procedure(const Program& program, const Region& region,
                                const CallGraph& calls, const RegisterFlow& flow);

/// The stack pointer, the return address and gp, which no other register can replace.
RegisterSet registers_with_a_role(const Machine& machine);

/// An instruction that copies one whole register and does nothing else.
struct Copy {
  Register from = 0, to = 0;
};
std::optional<Copy> as_copy(const Machine& machine, const Instruction& instruction);

/// Computes `graph` anew from the successors of blocks and from the entries.
void renew_graph(HotProcedure& procedure);

/// Registers live at the start of each block and stub. `cold`: includes the registers that the cold
/// part reads; otherwise as if stubs were never entered.
std::vector<RegisterSet> live_at_starts(const HotProcedure& procedure, bool cold);

/// Registers live after the last instruction of a block, given those live at the starts of blocks.
RegisterSet live_at_end(const HotProcedure& procedure, uint32_t block,
                        const std::vector<RegisterSet>& at_starts);

/// Turns the registers live after an instruction into those live before it.
void step_back(const HotProcedure& procedure, const HotInstruction& instruction, RegisterSet& live);

}  // namespace respike
