// Comparing two programs: what the walk (same_program.cc) has to know about each of them.
//
// Unwind states and the actions of LSDAs are numbered by content, in one numbering for both
// programs, so that the walk compares numbers. The content of an LSDA is what the runtime does with
// it: a rewritten LSDA may leave out types and actions that its call sites do not use. Example:
// action 1 of the input and action 3 of the output get one number if both say "catch int, then
// clean up". A personality routine that is not reached through a slot of data is code, and is
// compared by the name of its procedure.
//
// Source: Itanium C++ ABI, exception handling tables, as GCC's runtime (gcc/libgcc/unwind-pe.h,
// libstdc++ eh_personality.cc) reads them.

#include <fmt/format.h>

#include <algorithm>

#include "optimizer/base/bytes.h"
#include "optimizer/check/same_program_internal.h"

namespace respike {
namespace {

constexpr uint8_t kIndirectPointer = 0x80;  // DW_EH_PE_indirect
constexpr uint8_t kNoPointer = 0xff;        // DW_EH_PE_omit

/// A string of bytes that stands for contents: equal strings mean equal contents.
class Key {
 public:
  explicit Key(char kind) { writer_.write(kind); }
  Key& add(uint64_t value) {
    writer_.uleb128(value);
    return *this;
  }
  Key& add(const std::vector<uint8_t>& bytes) {
    add(bytes.size());
    writer_.append(bytes);
    return *this;
  }
  Key& add(std::string_view text) {
    writer_.uleb128(text.size());
    for (const char c : text) writer_.write(c);
    return *this;
  }
  std::string take() const { return {writer_.bytes().begin(), writer_.bytes().end()}; }

 private:
  ByteWriter writer_;
};

void add_personality(Key& key, const ComparedProgram& side, const Cie& cie) {
  if (cie.personality_encoding == kNoPointer) {
    key.add(0);
  } else if ((cie.personality_encoding & kIndirectPointer) != 0) {
    key.add(1).add(cie.personality);
  } else if (const auto code = side.block_at(cie.personality)) {
    key.add(2).add(side.program[code->procedure].name).add(code->block);
  } else {
    key.add(3).add(cie.personality);
  }
}

std::string state_key(const ComparedProgram& side, const CfiState& state) {
  Key key('s');
  if (state.cie < side.program.unwind.cies.size()) {
    const Cie& cie = side.program.unwind.cies[state.cie];
    key.add(cie.return_register).add(cie.signal_frame ? 1 : 0);
    add_personality(key, side, cie);
  }
  key.add(state.cfa_is_expression ? 1 : 0).add(state.opaque ? 1 : 0).add(state.cfa_register);
  key.add(static_cast<uint64_t>(state.cfa_offset)).add(state.cfa_expression);
  key.add(state.args_size).add(state.rules.size());
  for (const auto& [reg, rule] : state.rules)
    key.add(reg)
        .add(static_cast<uint64_t>(rule.kind))
        .add(static_cast<uint64_t>(rule.value))
        .add(rule.expression);
  return key.take();
}

void add_type(Key& key, const Lsda& lsda, uint64_t index) {
  if (index == 0 || index > lsda.types.size())
    throw Error("an LSDA names a type that it does not have");
  key.add(lsda.type_encoding & kIndirectPointer).add(lsda.types[index - 1]);
}

/// What the runtime does with an exception: the chain of catch clauses, specifications and cleanups
/// that an action stands for.
std::string action_key(const Lsda& lsda, uint64_t action) {
  Key key('a');
  ByteReader reader(lsda.actions, "the action table of an LSDA");
  for (size_t steps = 0; action != 0; ++steps) {
    if (steps > lsda.actions.size()) throw Error("an LSDA's actions form a cycle");
    reader.seek(action - 1);
    const int64_t filter = reader.sleb128();
    const auto next_field = static_cast<int64_t>(reader.position());
    const int64_t next = reader.sleb128();
    key.add(filter > 0 ? 1 : filter == 0 ? 2 : 3);
    if (filter > 0) add_type(key, lsda, static_cast<uint64_t>(filter));
    if (filter < 0) {
      ByteReader list(lsda.specifications, "the exception specifications of an LSDA");
      list.seek(static_cast<uint64_t>(-(filter + 1)));
      while (const uint64_t type = list.uleb128()) add_type(key, lsda, type);
      key.add(kNoPointer);
    }
    action = next == 0 ? 0 : static_cast<uint64_t>(next_field + next) + 1;
  }
  return key.take();
}

/// The key of an action whose table cannot be read: the bytes of the table.
std::string raw_action_key(const Lsda& lsda, uint64_t action) {
  Key key('r');
  key.add(action).add(lsda.type_encoding).add(lsda.actions).add(lsda.types.size());
  for (const uint64_t type : lsda.types) key.add(type);
  return key.add(lsda.specifications).take();
}

}  // namespace

ComparedProgram::ComparedProgram(const Program& p, ContentClasses& classes)
    : program(p), machine(*p.machine), numbers(p), classes_(classes) {
  if (p.image != nullptr) regions_ = ReturnRegions(*p.image);
  for (const CfiState& state : program.unwind.states)
    state_classes.push_back(class_of(state_key(*this, state)));
}

uint32_t ComparedProgram::class_of(std::string key) {
  return classes_.emplace(std::move(key), static_cast<uint32_t>(classes_.size())).first->second;
}

uint32_t ComparedProgram::action_class(uint32_t lsda, uint64_t action) {
  const auto [known, fresh] = actions_.try_emplace({lsda, action}, 0);
  if (!fresh) return known->second;
  const Lsda& table = program.unwind.lsdas[lsda];
  std::string key;
  try {
    key = action_key(table, action);
  } catch (const Error&) {
    key = raw_action_key(table, action);
  }
  // The keys of many actions may repeat one long chain.
  if (key.size() > action_budget_) throw Error("exception tables are too entangled to be compared");
  action_budget_ -= key.size();
  return known->second = class_of(std::move(key));
}

bool ComparedProgram::describes_return(const CodeCursor& call) const {
  const Instruction& instruction = block(call).instructions[call.index];
  if (block(call).origin == kNone) return true;  // a call that hot-cold optimization made
  const uint64_t place = program.origin_base + instruction.origin;
  return regions_.start_of(place) == regions_.start_of(program.map.group_end(place));
}

const CodeRange* ComparedProgram::range_at(uint64_t address) const {
  const uint32_t range = respike::range_at(program, address);
  return range == kNone ? nullptr : &program.ranges[range];
}

std::optional<CodeCursor> ComparedProgram::find(uint64_t address) const {
  const CodeRange* range = range_at(address);
  if (range == nullptr) return std::nullopt;
  const auto& blocks = program[range->procedure].blocks;
  const auto origin = static_cast<uint32_t>(address - program.origin_base);
  const auto first = blocks.begin() + range->first_block;
  auto found = std::upper_bound(first, blocks.begin() + range->end_block, origin,
                                [](uint32_t o, const BasicBlock& b) { return o < b.origin; });
  if (found == first) return std::nullopt;
  --found;
  if (origin - found->origin >= std::max(found->origin_size, 1u)) return std::nullopt;
  CodeCursor at{range->procedure, static_cast<BlockId>(found - blocks.begin()), 0};
  if (origin == found->origin) return at;
  for (const Instruction& instruction : found->instructions) {
    if (instruction.origin == origin && !instruction.is_pseudo()) return at;
    ++at.index;
  }
  return std::nullopt;
}

std::optional<CodeLocation> ComparedProgram::block_at(uint64_t address) const {
  const auto at = find(address);
  if (!at || at->index != 0) return std::nullopt;
  return CodeLocation{.procedure = at->procedure, .block = at->block};
}

/// Finds the procedures that may return, by their instructions. Edges are ignored: they may be
/// wrong.
void ComparedProgram::find_returns() {
  may_return_.assign(program.procedures.size(), false);
  std::vector<std::vector<ProcedureId>> callers(program.procedures.size());  // by tail calls
  std::vector<ProcedureId> work;
  for (ProcedureId id = 0; id < program.procedures.size(); ++id) {
    const Procedure& procedure = program[id];
    bool returns = procedure.state == Procedure::State::opaque;
    for (const BasicBlock& block : procedure.blocks)
      for (const Instruction& instruction : block.instructions) {
        if (instruction.is_pseudo()) continue;
        const ControlFlow flow = machine.facts(instruction).flow;
        if (flow == ControlFlow::return_jump) returns = true;
        if (flow == ControlFlow::indirect_jump && block.edge(Edge::Kind::indirect) == nullptr)
          returns = true;
        if (flow != ControlFlow::branch && flow != ControlFlow::conditional_branch) continue;
        const Reference* reference = reference_of(procedure, instruction);
        if (reference == nullptr) continue;
        const CodeLocation& to = reference->target;
        if (to.where == CodeLocation::Where::block_start && to.procedure < callers.size())
          callers[to.procedure].push_back(id);
        else
          returns = true;
      }
    if (!returns) continue;
    may_return_[id] = true;
    work.push_back(id);
  }
  while (!work.empty()) {
    const ProcedureId id = work.back();
    work.pop_back();
    for (const ProcedureId caller : callers[id]) {
      if (may_return_[caller]) continue;
      may_return_[caller] = true;
      work.push_back(caller);
    }
  }
}

bool ComparedProgram::may_return(ProcedureId procedure) {
  if (may_return_.size() != program.procedures.size()) find_returns();
  return procedure >= may_return_.size() || may_return_[procedure];
}

std::string ComparedProgram::describe(const CodeCursor& at) const {
  const Procedure& procedure = program[at.procedure];
  const BasicBlock& block = procedure.blocks[at.block];
  const uint64_t start = program.address_of(block);
  if (at.index >= block.instructions.size())
    return fmt::format("end of the block at {:#x} in {}", start, procedure.name);
  Instruction instruction = block.instructions[at.index];
  const uint64_t address =
      instruction.origin == kNone ? start : program.origin_base + instruction.origin;
  if (instruction.has_reference()) instruction.immediate = 0;  // it is an index
  std::string text = instruction.opcode == kInvalid
                         ? fmt::format("{:#010x}", static_cast<uint32_t>(instruction.immediate))
                         : machine.text.print(instruction, address);
  std::ranges::replace(text, '\t', ' ');
  return fmt::format("{:#x} in {} ({})", address, procedure.name, text);
}

}  // namespace respike
