// A program that is compiled with -fnon-call-exceptions may turn a fault into an exception: its
// handler of SIGSEGV throws, and a landing pad finds the registers as they were at the load that
// faulted. Hot-cold optimization moves such loads and changes registers between calls, so it must
// not change procedures that may catch faults.
//
// Exception tables do not say which instructions throw; they give a landing pad to a range of code,
// which may hold calls and other instructions. But a compiler's range begins and ends with
// instructions that throw (GCC, except.cc, convert_to_eh_region_ranges). So a range whose last
// instruction is not a call shows that the program was compiled with -fnon-call-exceptions.
// Example: in `int get(H h, int* p) { return *p; }` the range is only the load. When there is such
// a range in the program, all procedures with landing pads count as catching faults.
//
// Limits. A program whose ranges all end with calls is not recognized. In images that were
// rewritten before, ranges may end anywhere, so procedures may be left alone unnecessarily.

#include "optimizer/transform/hotcold/caught_faults.h"

#include <algorithm>

#include "optimizer/machine/machine.h"

namespace respike {
namespace {

uint32_t landing_pad_of(const Procedure& procedure, const BasicBlock& block) {
  return block.call_site == kNone ? kNone : procedure.call_sites[block.call_site].landing_pad;
}

/// Whether a block has only no-ops and halves of gp loads, which may belong to the range of the
/// call before them.
bool only_loads_gp(const Machine& machine, const Procedure& procedure, const BasicBlock& block) {
  return std::ranges::all_of(block.instructions, [&](const Instruction& i) {
    return i.is_pseudo() || machine.facts(i).nop ||
           (i.has_reference() &&
            procedure.references[i.immediate].kind == ReferenceKind::gp_load_high);
  });
}

}  // namespace

CaughtFaults::CaughtFaults(const Program& program) {
  const Machine& machine = *program.machine;
  for (const CodeRange& range : program.ranges) {
    const Procedure& procedure = program[range.procedure];
    bool calls = false;  // the last block that does more than load gp ends in a call
    for (BlockId b = range.first_block; b < range.end_block; ++b) {
      const BasicBlock& block = procedure.blocks[b];
      if (block.instructions.empty()) continue;
      if (!only_loads_gp(machine, procedure, block))
        calls = is_call(machine.facts(block.instructions.back()).flow);
      const bool ends =
          b + 1 == range.end_block || procedure.blocks[b + 1].call_site != block.call_site;
      if (ends && landing_pad_of(procedure, block) != kNone && !calls) {
        found_ = true;
        return;
      }
    }
  }
}

bool CaughtFaults::concern(const Procedure& procedure) const {
  return found_ && std::ranges::any_of(procedure.call_sites, [](const CallSite& site) {
           return site.landing_pad != kNone;
         });
}

}  // namespace respike
