// Where control goes after stops: instructions that raise a signal, such as ud2, hlt, halt.
//
// A handler of the signal may skip the stop. Control then goes on after the stop, in the next block
// of the same range; only padding, which is in no block, lies between the two. So the stop's block
// has a fall-through edge, and a layout that parts the two puts a branch after the stop.
//
// The edges are made last. Compilers put unrelated code after the stop of a call that does not
// return ("call panic; ud2"). Analyses that followed values along such an edge would see sums of
// addresses that are never computed, and would take a label that is reached by a distance for code
// to which the stop leads. The edges are not counted either (profile/flow_graph.cc).
//
// Example: "ud2; add $1,%eax; ret", where a handler adds 2 to the saved rip: the output may be
// "ud2; jmp elsewhere", and elsewhere "add $1,%eax; ret".
//
// Limits. A handler that skips more than the stop finds other code: no-ops are dropped, branches
// added. Where the range ends with the stop, nothing follows in an output either, and other code
// may be placed there. In code to which only a skipped stop leads, jumps to computed addresses are
// understood as if control never came there.

#include "optimizer/lift/lifter.h"

namespace respike {

void follow_stops(Program& program, const Machine& machine) {
  for (const CodeRange& range : program.ranges) {
    Procedure& procedure = program[range.procedure];
    for (BlockId id = range.first_block; id + 1 < range.end_block; ++id) {
      BasicBlock& block = procedure.blocks[id];
      const InstructionFacts facts = machine.facts(block.instructions.back());
      if (facts.flow == ControlFlow::stop && !facts.falls_through)
        block.successors.push_back(*program.arena,
                                   Edge{.target = id + 1, .kind = Edge::Kind::fall_through});
    }
  }
}

}  // namespace respike
