// Example: a program has two procedures of 12 and 20 bytes, one block each; the second ran seven
// times. Its pieces are {0x120000400, 12, 0, "f", 0} and {0x12000040c, 20, 7, "g", 0}. The code
// that runs is in one 32-byte line, or in two.

#include "views/layout_view.h"

#include <algorithm>

#include "optimizer/image/image.h"
#include "optimizer/machine/machine.h"
#include "optimizer/machine/machines.h"

namespace respike {
namespace {

/// The number of aligned units of `unit` bytes in which code runs. The pieces are sorted by
/// address.
uint64_t touched_units(const std::vector<LayoutPiece>& pieces, uint64_t unit) {
  uint64_t touched = 0, free = 0;  // units below `free` are done: counted, or known to be idle
  for (const LayoutPiece& piece : pieces) {
    if (piece.count == 0 || piece.size == 0) continue;
    const uint64_t first = std::max(free, piece.address / unit);
    const uint64_t end = (piece.address + piece.size - 1) / unit + 1;
    if (end <= first) continue;
    touched += end - first;
    free = end;
  }
  return touched;
}

void finish(LayoutView& view, const Program& program) {
  std::ranges::sort(view.pieces, {}, &LayoutPiece::address);
  const CacheShape& cache = program.machine->icache;
  view.line = cache.line;
  view.cache = uint64_t{cache.line} * cache.sets;
  view.page = program.machine->page_size;
  for (const LayoutPiece& piece : view.pieces) {
    view.touched.text += piece.size;
    if (piece.count != 0) view.touched.bytes += piece.size;
  }
  view.touched.lines = touched_units(view.pieces, view.line);
  view.touched.pages = touched_units(view.pieces, view.page);
}

/// Names the procedures of the original.
void add_procedures(LayoutView& view, const Program& original) {
  for (const Procedure& procedure : original.procedures) {
    view.procedures.push_back(procedure.name);
    view.addresses.push_back(procedure.address);
  }
}

}  // namespace

LayoutView view_layout(const Program& program) {
  LayoutView view;
  add_procedures(view, program);
  for (ProcedureId id = 0; id < program.procedures.size(); ++id)
    for (BlockId b = 0; b < program[id].blocks.size(); ++b) {
      const BasicBlock& block = program[id].blocks[b];
      view.pieces.push_back({.address = program.address_of(block),
                             .size = block.origin_size,
                             .count = block.count,
                             .procedure = id,
                             .block = b,
                             .part = {}});
    }
  finish(view, program);
  return view;
}

LayoutView view_layout(const RewrittenProgram& rewritten) {
  LayoutView view;
  add_procedures(view, rewritten.before);
  const auto before = static_cast<uint32_t>(view.procedures.size());
  for (const Procedure& added : rewritten.after.procedures) view.procedures.push_back(added.name);
  view.addresses.resize(view.procedures.size());
  for (const CodePiece& piece : rewritten.pieces)
    view.pieces.push_back(
        {.address = piece.address,
         .size = piece.size,
         .count = piece.count,
         .procedure = piece.procedure != kNone ? piece.procedure : before + piece.after_procedure,
         .block = piece.block,
         .part = piece.part});
  finish(view, rewritten.after);
  return view;
}

std::string_view name_of(SplitProcedure::Part part) {
  switch (part) {
    case SplitProcedure::Part::hot:
      return "hot part";
    case SplitProcedure::Part::cold:
      return "cold part";
    case SplitProcedure::Part::clone:
      return "clone";
    case SplitProcedure::Part::stub:
      return "stub";
  }
  return {};
}

}  // namespace respike
