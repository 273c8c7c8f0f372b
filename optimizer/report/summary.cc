// Counts what a program holds. Example: `image info` of a program with two procedures, one of them
// with an unknown jump, prints "opaque procedures 1 (50.00%)" and the reason.

#include "optimizer/report/summary.h"

#include "optimizer/image/image.h"
#include "optimizer/report/left_out.h"

namespace respike {

ProgramSummary summarize(const Program& program) {
  ProgramSummary summary;
  summary.procedures = program.procedures.size();
  for (const Procedure& procedure : program.procedures) {
    summary.text_bytes += procedure.size;
    summary.blocks += procedure.blocks.size();
    for (const BasicBlock& block : procedure.blocks)
      for (const Instruction& instruction : block.instructions)
        summary.instructions += instruction.is_pseudo() ? 0 : 1;
    if (procedure.state == Procedure::State::opaque) {
      summary.opaque_bytes += procedure.size;
      summary.opaque.push_back({procedure.name, procedure.reason});
    } else if (procedure.state == Procedure::State::pinned) {
      summary.pinned.push_back({procedure.name, procedure.reason});
    }
  }
  for (const RelocationTable& table : program.image->relocations)
    summary.relocations += table.relocations.size();
  return summary;
}

std::optional<std::string> describe_opaque(const Program& program) {
  std::vector<LeftOut> opaque;
  std::vector<uint64_t> others;
  for (const Procedure& procedure : program.procedures)
    if (is_worth_telling(program, procedure))
      opaque.push_back({procedure.name, procedure.size});
    else
      others.push_back(procedure.size);
  const auto text = describe_left_out(std::move(opaque), others, "is opaque and stays as it is");
  if (!text) return std::nullopt;
  return *text + "; image info says why";
}

}  // namespace respike
