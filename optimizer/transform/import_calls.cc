// A call of a procedure of another image leads to a stub, which jumps through a pointer that the
// dynamic linker has filled in or, the first time, through the pointer to the linker. A call
// through the same pointer goes to the same place with the same stack and registers, without the
// stub's jump and its cache line. It reads the pointer as late as the stub does, so lazy binding,
// preloading and auditing see no difference.
//
// Example: `call strlen@plt`, of 5 bytes, becomes `call *strlen@got(%rip)`, of 6 bytes. In a C++
// program one of eight taken jumps is the jump of a stub.
//
// Calls after which control may not come back stay: the lifter recognizes them by the stub's name.
// Code that did not run stays as short as it is.

#include "optimizer/transform/import_calls.h"

#include "optimizer/analysis/import_stubs.h"
#include "optimizer/base/bytes.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/machine/imports.h"
#include "optimizer/machine/machine.h"

namespace respike {
uint64_t call_imports_directly(Program& program) {
  const Imports* imports = program.machine->imports;
  if (imports == nullptr) return 0;
  uint64_t changed = 0;
  for (Procedure& procedure : program.procedures) {
    if (!procedure.movable()) continue;
    for (BasicBlock& block : procedure.blocks) {
      if (block.count == 0 || block.edge(Edge::Kind::fall_through) == nullptr ||
          block.has(BasicBlock::kGluedToNext) || block.instructions.empty())
        continue;
      Instruction& call = block.instructions.back();
      if (call.is_pseudo() || call.opcode == kInvalid || call.origin == kNone ||
          program.machine->facts(call).flow != ControlFlow::call)
        continue;
      const Reference* reference = branch_of(procedure, call);
      if (reference == nullptr) continue;
      const auto pointer = pointer_of_stub(program, reference->target);
      if (!pointer) continue;
      const auto place = static_cast<int64_t>(*pointer - program.origin_base);
      if (!fits_signed(place, 32)) continue;
      if (imports->call_through(call, static_cast<int32_t>(place))) ++changed;
    }
  }
  return changed;
}

}  // namespace respike
