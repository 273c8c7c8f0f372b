// Consecutive words of data that lead to blocks of one procedure are a table. In the order of the
// table, cases of a switch keep their places from build to build, whatever code the compiler makes
// of them.
//
// Example: gcc's build of an interpreter jumps through a table of labels, clang's build of the same
// source through a jump table. In both, the 13th word leads to the code for the 13th operation.

#include "optimizer/profile/switches.h"

#include "optimizer/ir/lookup.h"
#include "optimizer/profile/records.h"

namespace respike {
namespace {

bool leads_to_block(const CodePointer& pointer) {
  return pointer.target.where == CodeLocation::Where::block_start &&
         pointer.target.procedure != kNone;
}

}  // namespace

std::vector<std::vector<Switch>> find_switches(const Program& program) {
  std::vector<std::vector<Switch>> found(program.procedures.size());
  const auto& pointers = program.code_pointers;
  for (size_t first = 0, last = 0; first < pointers.size(); first = last) {
    const CodePointer& start = pointers[first];
    Switch table;
    uint64_t at = start.address;
    for (last = first; last < pointers.size(); ++last) {
      const CodePointer& word = pointers[last];
      if (!leads_to_block(word) || word.address != at || word.kind != start.kind ||
          word.base != start.base || word.target.procedure != start.target.procedure)
        break;
      table.push_back(word.target.block);
      at += pointer_size(word.kind);
    }
    if (last == first) last = first + 1;
    if (table.size() >= kLeastSwitch) found[start.target.procedure].push_back(std::move(table));
  }
  return found;
}

void write_switches(ByteWriter& out, const std::vector<Switch>& switches) {
  out.uleb128(switches.size());
  for (const Switch& table : switches) {
    out.uleb128(table.size());
    BlockId before = 0;
    for (const BlockId target : table) {
      write_difference(out, target, before);
      before = target;
    }
  }
}

std::vector<Switch> read_switches(ByteReader& in, size_t blocks) {
  std::vector<Switch> switches(read_count(in, 2));
  for (Switch& table : switches) {
    table.resize(read_count(in));
    if (table.empty()) throw Error("a switch has no cases");
    BlockId before = 0;
    for (BlockId& target : table) {
      target = before = read_difference(in, before);
      if (target >= blocks) throw Error("a switch leads to no block");
    }
  }
  return switches;
}

}  // namespace respike
