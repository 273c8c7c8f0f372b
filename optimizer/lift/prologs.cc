// Which procedures may be taken apart, where unwinders read the code of prologs.
//
// A prolog has to stay in one piece, and each piece of code needs a prolog in front that can be
// copied (transform/prolog_copies.h). So a prolog has to lie in one block, which starts at the entry.
// Otherwise the procedure stays.
//
// Example: a branch back to the second instruction of the prolog cuts the prolog in two.

#include <algorithm>

#include "optimizer/lift/lifter.h"

namespace respike {

void keep_odd_prologs(Lifter& lifter) {
  const UnwindFormat* format = unwind_format_of(lifter.image);
  if (format == nullptr || !format->reads_prologs) return;
  Program& program = lifter.program;
  std::vector<bool> described(program.procedures.size());
  for (const Fde& fde : lifter.unwind.fdes) {
    const uint32_t range = lifter.range_at(fde.start);
    if (range == kNone) continue;
    described[program.ranges[range].procedure] = true;
    if (fde.rows.size() < 2) continue;
    Procedure& procedure = program[program.ranges[range].procedure];
    const auto location = block_at(program, fde.start);
    const uint64_t prolog_end = fde.rows.back().address;
    const bool whole =
        location && program.address_of(procedure.blocks[location->block]) +
                            procedure.blocks[location->block].origin_size >=
                        prolog_end;
    if (!whole) lifter.pin(procedure, "its prolog has several blocks");
  }
  // Where a part of a procedure has no entry in the table, its frame is not known there.
  for (ProcedureId id = 0; id < program.procedures.size(); ++id) {
    const auto& blocks = program[id].blocks;
    if (described[id] && std::ranges::any_of(blocks, [](const BasicBlock& block) {
          return block.origin != kNone && block.cfi_state == kNone;
        }))
      lifter.pin(program[id], "the function table describes only a part of it");
  }
}

}  // namespace respike
