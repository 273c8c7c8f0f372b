// Hashes of straight-line code.
//
// Hashes say which node of a new build corresponds to which node of an older build. A node has two
// hashes: the strict hash finds the same code, the loose hash code of the same kind. Both are sums
// over the node's instructions, so a compiler's schedule does not matter: the loose hash sums only
// mnemonics, the strict hash mnemonics with registers, numbers and names. Example: `addq $1,8,$2`
// and `addq $3,16,$4` have the same loose hash, but not the same strict hash.
//
// Addresses are in neither hash. A linker is free to turn the load of an address into its
// computation, a use of that address into an access relative to gp, and a superfluous instruction
// into a no-op. So for an instruction with a relocation only the name of the data counts, and the
// operation as well where one instruction can both hold an address and work (`cmpl $8, x(%rip)`).
// The computation of gp does not count: it depends on the caller whether a call enters after it.
// For a call only the callee's name counts, whether the call is direct or goes through the linkage
// table.

#include "optimizer/profile/node_hash.h"

#include <algorithm>

#include "optimizer/base/bytes.h"
#include "optimizer/base/hash.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/machine/machine.h"
#include "optimizer/profile/names.h"

namespace respike {
namespace {

uint64_t hash_of(std::string_view text) {
  return hash64({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

/// Folds 64 bits to 16; all 64 matter.
uint16_t folded(uint64_t sum) {
  uint8_t bytes[8];
  store<uint64_t>(bytes, sum);
  return static_cast<uint16_t>(hash64(bytes));
}

}  // namespace

NodeHasher::NodeHasher(const Program& program) : program_(program) {
  for (const RelocationTable& table : program.image->relocations)
    if (!table.relocations.empty() && program.image->sections[table.target].executable())
      relocations_.push_back(table.relocations);
}

uint64_t NodeHasher::mnemonic(uint16_t opcode) {
  if (opcode >= mnemonics_.size()) mnemonics_.resize(opcode + 1);
  uint64_t& hash = mnemonics_[opcode];
  if (hash == 0) {
    const Instruction bare{.opcode = opcode};
    const std::string text = program_.machine->text.print(bare, 0);
    hash = hash_of(text.substr(0, text.find_first_of(" \t")));
  }
  return hash;
}

void NodeHasher::add_name(std::string_view name) {
  if (!name.empty()) strict_ += hash_of(source_name(name));
}

/// The place of the instruction's bytes in the input. A relocation of the instruction is at the
/// instruction's address or, where instructions have many lengths, at one of their fields.
NodeHasher::Range NodeHasher::range_of(const Instruction& instruction) const {
  const Codec& codec = program_.machine->codec;
  const uint64_t address = program_.origin_base + instruction.origin;
  return {address, address + (codec.groups.bytes == 0 ? codec.size({&instruction, 1}) : 1)};
}

/// The relocations in a range, from the relocations of one section.
NodeHasher::Relocations NodeHasher::relocations_in(Range range, Relocations section) {
  const auto is_before = [](const Relocation& r, uint64_t a) { return r.address < a; };
  const auto first = std::lower_bound(section.begin(), section.end(), range.first, is_before);
  auto end = first;
  while (end != section.end() && end->address < range.second) ++end;
  return {first, end};
}

/// Adds the names of the data that an instruction's relocations refer to; returns whether it has
/// relocations.
bool NodeHasher::add_relocated(const Instruction& instruction) {
  const Range range = range_of(instruction);
  const auto holds = [&](const Relocations& section) {
    return !section.empty() && section.front().address < range.second &&
           range.first <= section.back().address;
  };
  if (!holds(section_)) {
    const auto section = std::find_if(relocations_.begin(), relocations_.end(), holds);
    if (section == relocations_.end()) return false;
    section_ = *section;
  }
  const Relocations found = relocations_in(range, section_);
  for (const Relocation& relocation : found) {
    if (relocation.symbol >= program_.image->symbols.size()) continue;
    const Symbol& symbol = program_.image->symbols[relocation.symbol];
    if (symbol.type == Symbol::Type::object || symbol.type == Symbol::Type::tls)
      add_name(symbol.name);
  }
  return !found.empty();
}

/// Adds the name of the procedure that a call, or a branch out of the procedure, leads to.
void NodeHasher::add_target(const Procedure& procedure, const Instruction& instruction) {
  if (const Reference* reference = reference_of(procedure, instruction);
      reference != nullptr && reference->target.procedure != kNone)
    return add_name(program_[reference->target.procedure].name);
  if (instruction.origin == kNone) return;
  for (const Relocations& section : relocations_)
    for (const Relocation& relocation : relocations_in(range_of(instruction), section))
      if (relocation.symbol < program_.image->symbols.size() &&
          program_.image->symbols[relocation.symbol].type != Symbol::Type::section)
        return add_name(program_.image->symbols[relocation.symbol].name);
}

void NodeHasher::add(const Procedure& procedure, const BasicBlock& block) {
  const Machine& machine = *program_.machine;
  for (const Instruction& instruction : block.instructions) {
    if (instruction.is_pseudo() || machine.facts(instruction).nop) continue;
    const ControlFlow flow = machine.facts(instruction).flow;
    if (flow != ControlFlow::none) {
      if (is_call(flow) || block.successors.empty()) add_target(procedure, instruction);
      continue;
    }
    if (is_gp_load(procedure, instruction)) continue;
    const bool relocated =
        instruction.has_reference() || (instruction.origin != kNone && add_relocated(instruction));
    if (relocated && !machine.codec.relocates_fields()) continue;  // half of an address
    const uint64_t kind = mnemonic(instruction.opcode);
    loose_ += kind;
    uint8_t text[17];
    store(text, kind);
    text[8] = instruction.predicate;
    std::ranges::copy(instruction.registers, text + 9);
    store(text + 13, relocated ? 0 : instruction.immediate);
    strict_ += hash64(text);
  }
}

NodeHash NodeHasher::take(std::string_view end) {
  const uint64_t how = hash_of(end);
  const NodeHash hash{folded(strict_ + how), folded(loose_ + how)};
  strict_ = loose_ = 0;
  return hash;
}

}  // namespace respike
