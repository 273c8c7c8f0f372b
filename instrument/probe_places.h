#pragma once
// Places in code where a probe may stand.

#include <vector>

#include "instrument/counter_placement.h"
#include "optimizer/ir/program.h"
#include "optimizer/machine/machine.h"

namespace respike {

/// Whether the block ends in a call.
bool is_call(const Machine& machine, const BasicBlock& block);

/// By block: whether a sequence that must stay as it is may run into the block from one that is
/// glued to it.
std::vector<bool> glued_before(const Machine& machine, const Procedure& procedure);

/// Whether code may be put in front of each instruction of a block. Not inside of sequences that
/// must stay as they are, which may come in from the block before where blocks are glued
/// (`glued_before`); nor behind a system call, where more or fewer processes may go on than made
/// the call; nor in front of a mark that the target of indirect branches has to start with.
std::vector<bool> open_places(const Machine& machine, const BasicBlock& block, bool glued_before);

/// Where probes can be put in a procedure: not between a load-locked and its store-conditional, nor
/// in the shadow of a trap, nor where a reader of the code takes the place for something else.
ProbePlaces find_probe_places(const Program& program, ProcedureId procedure);

}  // namespace respike
