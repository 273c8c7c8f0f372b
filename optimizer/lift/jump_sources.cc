// Where the target addresses of indirect jumps come from.
//
// Where instructions hold whole addresses, an indirect jump may lead to all labels of its procedure
// whose addresses are kept: as whole words, or as distances from their table. That is right as long
// as emission writes all these words again. A sum of other parts is wrong as soon as the parts do
// not move together: the distance between two labels that the assembler computed has no relocation.
//
// So the register of the jump is followed back over all paths. The definition that ends a path
// gives a whole address: a load, an address that an instruction forms, a number, a value that a
// caller passes or a callee returns. A sum is understood where one of its parts is, on all paths,
// the address of a table of distances. A label to which only indirect jumps lead ends a path if
// another path finds the table; otherwise registers keep their values from any of the jumps to the
// label.
//
// Example: "lea table(%rip),%rdx; movslq (%rdx,%rax,4),%rax; add %rdx,%rax; jmp *%rax": rax is a
// sum with rdx, which holds the address of a table whose words have relocations. In "mov
// base(%rip),%rdx; add distances(,%rax,8),%rdx; jmp *%rdx" no part is such an address.
//
// Limits: tables whose addresses went through memory are not found, so their jumps are not
// understood.

#include "optimizer/lift/jump_sources.h"

#include <algorithm>
#include <iterator>
#include <set>

#include "optimizer/base/equal_span.h"
#include "optimizer/ir/lookup.h"

namespace respike {

/// Whether the register can hold an address that is followed.
bool JumpSources::is_plain(Register r) const {
  return r != lifter_.machine.abi.stack_pointer &&
         std::ranges::find(lifter_.machine.abi.flags, r) == lifter_.machine.abi.flags.end();
}

void JumpSources::find_predecessors() {
  predecessors_.resize(procedure_.blocks.size());
  has_other_ways_.resize(procedure_.blocks.size());
  for (BlockId id = 0; id < procedure_.blocks.size(); ++id) {
    const BasicBlock& block = procedure_.blocks[id];
    for (const Edge& edge : block.successors)
      if (edge.kind != Edge::Kind::landing_pad && edge.kind != Edge::Kind::indirect)
        predecessors_[edge.target].push_back(id);
      else
        has_other_ways_[edge.target] = true;
    if (lifter_.machine.facts(block.instructions.back()).flow == ControlFlow::indirect_jump)
      jumps_.push_back(id);
  }
}

std::vector<Register> JumpSources::plain_uses(const Operands& operands) const {
  std::vector<Register> registers;
  for (unsigned u = 0; u < operands.uses; ++u)
    if (is_plain(operands.registers[u])) registers.push_back(operands.registers[u]);
  return registers;
}

// ---- ways back ----

/// Follows values back to the instructions that define them. define(instruction, place, next) adds
/// to `next` the registers that the definition passes on; the search ends when it returns false.
/// Paths also end at calls that change the register, at the entry, and at labels to which no known
/// edge leads. False when the search ended early.
template <typename F>
bool JumpSources::follow(Walk& walk, const std::vector<Place>& from, F define) {
  if (predecessors_.empty()) find_predecessors();
  std::vector<Place> work;
  const auto visit = [&](const Place& place) {
    if (walk.seen.insert(place).second) work.push_back(place);
  };
  for (const Place& place : from) visit(place);
  std::vector<Register> next;
  while (!work.empty()) {
    const Place place = work.back();
    work.pop_back();
    const BasicBlock& block = procedure_.blocks[place.block];
    if (!Effort::spend(effort_.instructions, place.index + 16 + predecessors_[place.block].size()))
      return complete_ = false;
    bool open = true;
    for (uint32_t i = place.index; open && i-- > 0;) {
      const Instruction& instruction = block.instructions[i];
      if (instruction.is_pseudo() || instruction.origin == kNone) continue;
      const Operands operands = lifter_.machine.operands(instruction);
      const auto defs = std::span(operands.registers).first(operands.size).subspan(operands.uses);
      if (std::ranges::find(defs, place.value) == defs.end()) continue;
      open = false;
      next.clear();
      if (!define(instruction, Place{place.block, i, place.value}, next)) return false;
      walk.found |= next.empty();
      for (const Register r : next) visit({place.block, i, r});
    }
    if (!open) continue;
    const bool entry = block.has(BasicBlock::kEntry) || place.block == 0;
    if (predecessors_[place.block].empty() && !entry) walk.at_labels.insert(place.value);
    complete_ &= !entry && !predecessors_[place.block].empty() && !has_other_ways_[place.block];
    for (const BlockId before : predecessors_[place.block]) {
      const auto& list = procedure_.blocks[before].instructions;
      const bool call = is_call(lifter_.machine.facts(list.back()).flow);
      const auto& preserved = lifter_.machine.abi.preserved;
      if (!call || std::ranges::find(preserved, place.value) != preserved.end())
        visit({before, list.size(), place.value});
      else
        complete_ = false;
    }
  }
  return true;
}

/// Follows the values that the registers have at the jumps, and repeats this for labels on the way,
/// until a path ends at a definition.
template <typename F>
bool JumpSources::follow_from_jumps(Registers registers, F define) {
  complete_ = false;
  Walk walk;
  Registers followed;
  while (!walk.found && !registers.empty()) {
    std::vector<Place> from;
    for (const Register r : registers)
      for (const BlockId jump : jumps_)
        from.push_back({jump, procedure_.blocks[jump].instructions.size(), r});
    if (!follow(walk, from, define)) return false;
    followed.insert(registers.begin(), registers.end());
    registers.clear();
    std::ranges::set_difference(walk.at_labels, followed,
                                std::inserter(registers, registers.end()));
  }
  return true;
}

// ---- tables ----

/// Whether the register holds the address of a table of distances on all paths. Adds the addresses
/// to `tables`.
bool JumpSources::is_table(const Place& place, std::vector<uint64_t>& tables) {
  bool found = false;
  Walk walk;
  if (!follow(walk, {place},
              [&](const Instruction& instruction, const Place&, std::vector<Register>& next) {
                return define_table(instruction, next, tables, found);
              }))
    return false;
  if (walk.found || walk.at_labels.empty()) return found;
  complete_ = false;
  const auto& at_labels = tables_from_jumps(walk.at_labels);
  if (!at_labels) return false;
  tables.insert(tables.end(), at_labels->begin(), at_labels->end());
  return true;
}

/// The tables whose addresses the registers hold at the jumps; nullopt when they hold other values.
const std::optional<std::vector<uint64_t>>& JumpSources::tables_from_jumps(
    const Registers& registers) {
  const auto [known, fresh] = tables_from_jumps_.try_emplace(registers);
  if (!fresh) return known->second;
  bool found = false;
  std::vector<uint64_t> tables;
  if (follow_from_jumps(
          registers,
          [&](const Instruction& instruction, const Place&, std::vector<Register>& next) {
            return define_table(instruction, next, tables, found);
          }) &&
      found)
    known->second = std::move(tables);
  return known->second;
}

/// The registers that a definition of a table's address passes on. False when it makes no such
/// address.
bool JumpSources::define_table(const Instruction& instruction, std::vector<Register>& next,
                               std::vector<uint64_t>& tables, bool& found) const {
  const uint64_t at = program_.origin_base + instruction.origin;
  bool is_base = false;
  for (const TableReference& table : equal_span(lifter_.tables, at, &TableReference::place))
    if (std::ranges::binary_search(bases_, table.table)) {
      tables.push_back(table.table);
      is_base = true;
    }
  if (is_base) return found = true;
  const ValueSource source = lifter_.machine.facts(instruction).source;
  if (source != ValueSource::copied && source != ValueSource::selected) return false;
  next = plain_uses(lifter_.machine.operands(instruction));
  return true;
}

// ---- targets ----

JumpSources::Sources JumpSources::of(BlockId jump) {
  Sources sources;
  complete_ = true;
  bool only_tables = true;
  const uint32_t end = procedure_.blocks[jump].instructions.size() - 1;
  std::vector<Register> used;
  if (!define_target(procedure_.blocks[jump].instructions.back(), {jump, end, 0}, used, sources,
                     only_tables))
    return sources;
  std::vector<Place> from;
  for (const Register r : used) from.push_back({jump, end, r});
  Walk walk;
  if (!follow(walk, from,
              [&](const Instruction& instruction, const Place& place, std::vector<Register>& next) {
                return define_target(instruction, place, next, sources, only_tables);
              })) {
    sources.unknown_sum = true;
  } else if (!walk.found && !walk.at_labels.empty()) {
    complete_ = false;
    const Sources& at_labels = from_jumps(walk.at_labels);
    sources.unknown_sum |= at_labels.unknown_sum;
    sources.memory |= at_labels.memory;
  }
  if (!only_tables || !complete_ || sources.unknown_sum) sources.tables.clear();
  return sources;
}

std::vector<uint64_t> JumpSources::words_at_labels() const {
  std::vector<uint64_t> words;
  for (const auto& [registers, sources] : from_jumps_)
    words.insert(words.end(), sources.words.begin(), sources.words.end());
  return words;
}

/// What the registers hold at the jumps.
const JumpSources::Sources& JumpSources::from_jumps(const Registers& registers) {
  const auto [known, fresh] = from_jumps_.try_emplace(registers);
  Sources& sources = known->second;
  bool only_tables = true;
  if (fresh && !follow_from_jumps(registers, [&](const Instruction& instruction, const Place& place,
                                                 std::vector<Register>& next) {
        return define_target(instruction, place, next, sources, only_tables);
      }))
    sources.unknown_sum = true;
  return sources;
}

/// The registers that a definition of a jump's target passes on. `only_tables` becomes false where
/// the target is not an entry of a table.
bool JumpSources::define_target(const Instruction& instruction, const Place& place,
                                std::vector<Register>& next, Sources& sources, bool& only_tables) {
  const bool forms = lifter_.machine.whole->forms_address(instruction);
  const auto relative =
      instruction.has_reference() ? std::nullopt : lifter_.machine.relative_address(instruction);
  switch (lifter_.machine.facts(instruction).source) {
    case ValueSource::loaded:
      only_tables = false;
      if (relative)
        sources.words.push_back(program_.origin_base + static_cast<uint64_t>(*relative));
      else
        sources.memory = true;
      return true;
    case ValueSource::copied:
    case ValueSource::selected:
      next = plain_uses(lifter_.machine.operands(instruction));
      return true;
    case ValueSource::equality:
      only_tables = false;
      return true;
    case ValueSource::computed:
      break;
  }
  if (forms && (relative || instruction.has_reference())) {
    only_tables = false;
    return true;
  }
  const std::vector<Register> parts = plain_uses(lifter_.machine.operands(instruction));
  const bool sum_of_table = std::ranges::any_of(parts, [&](Register r) {
    const bool complete = complete_;
    const bool found = is_table({place.block, place.index, r}, sources.tables);
    if (!found) complete_ = complete;  // the other part of the sum may decide
    return found;
  });
  only_tables &= sum_of_table;
  if (!parts.empty() && !sum_of_table) sources.unknown_sum = true;
  return true;
}

}  // namespace respike
