#pragma once
// Places in code where a probe may stand.

#include <vector>

#include "instrument/counter_placement.h"
#include "optimizer/ir/program.h"
#include "optimizer/machine/machine.h"

namespace respike {

/// Whether the block ends in a call.
bool is_call(const Machine& machine, const BasicBlock& block);

/// By block: whether a sequence that must stay as it is may enter the block from the block that it
/// is glued to.
std::vector<bool> glued_before(const Machine& machine, const Procedure& procedure);

/// Whether code may be inserted before each instruction of a block. Not inside of sequences that
/// must stay as they are, which may enter from the previous block where blocks are glued
/// (`glued_before`); not after a system call, where more or fewer processes may continue than made
/// the call; not before a mark that the target of indirect branches has to start with.
std::vector<bool> open_places(const Machine& machine, const BasicBlock& block, bool glued_before);

/// Where probes can be put in a procedure: not between a load-locked and its store-conditional, not
/// in the shadow of a trap, and not where a reader of the code would mistake the place for
/// something else.
ProbePlaces find_probe_places(const Program& program, ProcedureId procedure);

}  // namespace respike
