// What Itanium instructions do to registers and to the flow of control.
//
// Uses and defs come from the roles of the rows: operands, and the implicit registers behind the
// syntax. Only what a row cannot say is written here.
//
// Modelled simply: an instruction that only names a register to the ALAT (chk.a, invala.e) uses it;
// floating-point arithmetic reads and writes ar.fpsr as a whole, with its four status fields; psr
// is one register, and only instructions that name it have it; mov to pr, which writes what its
// mask says, writes the predicate file, of which p1 to p63 are parts. Control registers, the ALAT,
// memory and the system's registers behind an index are not registers here. That a stacked
// register's name depends on the frame marker, and its contents on the register stack engine, is
// left to frame_effect().
//
// Source: Intel Itanium Architecture Software Developer's Manual, volume 1, sections 3.1
// (registers), 4.1 and 4.5 (register stack, rotation); volume 3, chapter 2 (instructions) and 5
// (dependences).

#include "optimizer/machine/ia64/meaning.h"

#include <fmt/format.h>

#include "optimizer/machine/ia64/text.h"

namespace respike::ia64 {
namespace {

// Of application registers.
constexpr Register kImplicitRegisters[] = {
    kApplication + 36,  // unat
    kApplication + 25,  // csd
    kApplication + 32,  // ccv
    kApplication + 64,  // pfs
    kApplication + 65,  // lc
    kApplication + 66,  // ec
    kApplication + 40,  // fpsr
    kApplication + 16,  // rsc
    kApplication + 17,  // bsp
    kApplication + 18,  // bspstore
    kFrameMarker,      kProcessorStatus, kPredicateFile, kPredicate + 63,
};
static_assert(std::size(kImplicitRegisters) == static_cast<size_t>(Implicit::count));
static_assert(std::size(kImplicitNames) == static_cast<size_t>(Implicit::count));

/// The number of the register an operand names; nullopt when it has none.
std::optional<Register> register_of(char kind, unsigned number) {
  const auto at = [&](Register first) { return static_cast<Register>(first + number); };
  switch (kind) {
    case 'R':
      return number == 0 ? std::nullopt : std::optional(at(kGeneral));
    case 'F':
      return number < 2 ? std::nullopt : std::optional(at(kFloating));
    case 'P':
      return number == 0 ? std::nullopt : std::optional(at(kPredicate));
    case 'B':
      return at(kBranch);
    case 'A':
      return at(kApplication);
    default:
      return std::nullopt;
  }
}

void append(Operands& operands, Register r) {
  if (operands.size < std::size(operands.registers)) operands.registers[operands.size++] = r;
}

void append_implicit(Operands& operands, unsigned set) {
  for (size_t i = 0; i < std::size(kImplicitRegisters); ++i)
    if ((set >> i & 1) != 0) append(operands, kImplicitRegisters[i]);
}

/// Whether the completer %t or %u gives a load a type.
constexpr bool has_load_type(const Encoding& encoding) {
  return encoding.name.find("%t") != std::string_view::npos ||
         encoding.name.find("%u") != std::string_view::npos;
}

/// The type of a load (the completer %t or %u); nullopt: it has none.
std::optional<unsigned> load_type(const Instruction& instruction, const Encoding& encoding) {
  return has_load_type(encoding) ? std::optional(instruction.registers[3] >> 4u) : std::nullopt;
}

/// Loads that leave their registers alone when the ALAT still knows them.
bool is_check_load(const Instruction& instruction, const Encoding& encoding) {
  return load_type(instruction, encoding).value_or(0) >= 8;
}

// ---- facts ----

/// What can be told from the Op alone.
struct OpFacts {
  InstructionFacts facts;
  bool depends = false;  // some fact depends on fields or the predicate: dependent_facts()
};

constexpr bool is_nop_op(Op op) {
  return op == Op::nop_m || op == Op::nop_i || op == Op::nop_f || op == Op::nop_b ||
         op == Op::nop_x;
}

/// Of instructions that are not skipped. Branches on a predicate are conditional, and breaks that
/// stop are those with the number 0: dependent_facts().
constexpr ControlFlow flow_of(Op op) {
  if (is_check(op) || is_loop_branch(op)) return ControlFlow::conditional_branch;
  switch (op) {
    case Op::br_cond:
    case Op::brl_cond:
      return ControlFlow::branch;
    case Op::br_call:
    case Op::brl_call:
      return ControlFlow::call;
    case Op::br_call_ind:
      return ControlFlow::indirect_call;
    case Op::br_cond_ind:
    case Op::br_ia:
      return ControlFlow::indirect_jump;
    case Op::br_ret:
      return ControlFlow::return_jump;
    case Op::rfi:
      return ControlFlow::stop;
    default:
      return ControlFlow::none;
  }
}

constexpr bool is_break(Op op) {
  return op == Op::break_m || op == Op::break_i || op == Op::break_f || op == Op::break_x;
}

constexpr bool is_plain_load(Op op) {
  return op == Op::ld || op == Op::ld_reg || op == Op::ld_imm;
}

constexpr bool goes_on(ControlFlow flow) {
  return flow == ControlFlow::none || flow == ControlFlow::conditional_branch || is_call(flow);
}

consteval std::array<OpFacts, kOpCount> make_facts() {
  std::array<OpFacts, kOpCount> all;
  all[opcode(Op::long_half)].facts.prefix = true;
  for (size_t i = kFirstRow; i < kOpCount; ++i) {
    const auto op = static_cast<Op>(i);
    InstructionFacts& facts = all[i].facts;
    facts.flow = flow_of(op);
    facts.falls_through = goes_on(facts.flow);
    facts.nop = is_nop_op(op);
    facts.get_pc = op == Op::mov_ip;
    if (op == Op::mov_to_br_sptk || op == Op::mov_to_br || op == Op::mov_to_br_dptk ||
        op == Op::mov_from_br)
      facts.source = ValueSource::copied;
    all[i].depends = facts.flow == ControlFlow::branch ||
                     facts.flow == ControlFlow::indirect_jump ||
                     facts.flow == ControlFlow::return_jump || op == Op::br_call_ind ||
                     is_break(op) || op == Op::adds || has_load_type(kEncodings[i]);
  }
  return all;
}

constexpr std::array<OpFacts, kOpCount> kFacts = make_facts();

/// A break is what compilers put where control never comes, with the number 0, and how programs
/// call Linux, with 0x100000; break.b ignores the number.
void add_facts_of_break(const Instruction& instruction, InstructionFacts& facts) {
  const Op op = op_of(instruction);
  if (instruction.immediate == 0 && instruction.predicate == 0) {
    facts.flow = ControlFlow::stop;
    facts.falls_through = false;
  }
  facts.system_call = (op == Op::break_m || op == Op::break_i) && instruction.immediate == 0x100000;
}

/// Of a load that moves its base register, too, the source is that of the loaded register alone.
void add_facts_of_load(const Instruction& instruction, InstructionFacts& facts) {
  constexpr unsigned kSpeculative = 1, kSpeculativeAdvanced = 3;
  const unsigned type = instruction.registers[3] >> 4u;
  facts.defers_faults = type == kSpeculative || type == kSpeculativeAdvanced;
  if (is_plain_load(op_of(instruction)) && completer_value(instruction, completer('z')) == 3)
    facts.source = ValueSource::loaded;
}

InstructionFacts dependent_facts(const Instruction& instruction, InstructionFacts facts) {
  const Op op = op_of(instruction);
  switch (facts.flow) {
    case ControlFlow::branch:
      if (instruction.predicate != 0) facts.flow = ControlFlow::conditional_branch;
      facts.falls_through = instruction.predicate != 0;
      return facts;
    case ControlFlow::indirect_jump:
    case ControlFlow::return_jump:
      facts.falls_through = instruction.predicate != 0;
      return facts;
    case ControlFlow::indirect_call:  // through b7, back through b6: a page of the kernel's
      facts.system_call = instruction.registers[0] == 6 && instruction.registers[1] == 7;
      return facts;
    default:
      break;
  }
  if (op == Op::adds) {
    if (instruction.immediate == 0) facts.source = ValueSource::copied;
  } else if (is_break(op)) {
    add_facts_of_break(instruction, facts);
  } else {
    add_facts_of_load(instruction, facts);
  }
  return facts;
}

}  // namespace

std::string register_name(Register r) {
  if (r < kFloating) return fmt::format("r{}", r - kGeneral);
  if (r < kPredicate) return fmt::format("f{}", r - kFloating);
  if (r < kBranch) return fmt::format("p{}", r - kPredicate);
  if (r < kApplication) return fmt::format("b{}", r - kBranch);
  if (r < kFrameMarker) return application_register_name(r - kApplication);
  constexpr std::string_view kOthers[] = {"cfm", "psr", "pr"};
  return std::string(kOthers[r - kFrameMarker]);
}

Operands operands(const Instruction& instruction) {
  Operands result;
  if (instruction.opcode < kFirstRow) return result;
  const Encoding& encoding = encoding_of(instruction);
  const std::span roles(encoding.operands, encoding.operand_count);
  const bool partial =
      (instruction.predicate != 0 && !is_unconditional_compare(op_of(instruction))) ||
      is_check_load(instruction, encoding);
  if (instruction.predicate != 0)
    append(result, static_cast<Register>(kPredicate + instruction.predicate));
  const auto append_operands = [&](auto&& wanted) {
    for (const OperandRole& role : roles) {
      if (!wanted(role) || role.field == kImmediateField) continue;
      if (const auto r = register_of(role.kind, instruction.registers[role.field]))
        append(result, *r);
    }
  };
  append_operands([&](const OperandRole& role) { return role.reads || partial; });
  append_implicit(result, encoding.implicit_reads | (partial ? encoding.implicit_writes : 0u));
  result.uses = result.size;
  append_operands([](const OperandRole& role) { return role.writes; });
  append_implicit(result, encoding.implicit_writes);
  return result;
}

bool is_unconditional_compare(Op op) {
  return kEncodings[static_cast<size_t>(op)].name.find(".unc") != std::string_view::npos;
}

InstructionFacts facts(const Instruction& instruction) {
  const OpFacts& facts = kFacts[instruction.opcode];
  return facts.depends ? dependent_facts(instruction, facts.facts) : facts.facts;
}

bool invert(Instruction& branch, std::span<const Instruction> before) {
  if (op_of(branch) != Op::br_cond || branch.predicate == 0) return false;
  uint64_t changed = 0;  // predicates, behind the instruction that is looked at
  for (size_t i = before.size(); i-- > 0;) {
    const Instruction& instruction = before[i];
    if (instruction.opcode < kFirstRow) continue;
    const Encoding& encoding = encoding_of(instruction);
    if ((encoding.implicit_writes >> static_cast<unsigned>(Implicit::pr) & 1) != 0) return false;
    uint8_t set[2];
    unsigned count = 0;
    bool whole = instruction.predicate == 0;
    for (const OperandRole& role : std::span(encoding.operands, encoding.operand_count)) {
      if (role.kind != 'P' || !role.writes || count == std::size(set)) continue;
      set[count++] = instruction.registers[role.field];
      whole = whole && !role.reads;
    }
    if (count == 0) continue;
    if (count == 1) {  // frcpa and its kin
      if (set[0] == branch.predicate) return false;
      changed |= uint64_t{1} << set[0];
      continue;
    }
    if (set[0] == branch.predicate || set[1] == branch.predicate) {
      const uint8_t other = set[set[0] == branch.predicate ? 1 : 0];
      if (!whole || set[0] == set[1] || other == 0 || (changed >> other & 1) != 0) return false;
      branch.predicate = other;
      branch.registers[completer('w').field] ^= 1;  // what is predicted
      return true;
    }
    changed |= uint64_t{1} << set[0] | uint64_t{1} << set[1];
  }
  return false;
}

/// Static predictions are for what never changes: a wrong one stays wrong.
void predict(Instruction& branch, uint64_t taken, uint64_t executed) {
  if (op_of(branch) != Op::br_cond && op_of(branch) != Op::brl_cond) return;
  constexpr unsigned kNotTaken = 1, kDynamic = 2, kBoth = 3;
  const bool mostly_taken = taken > executed - taken;
  uint8_t& field = branch.registers[completer('w').field];
  field = static_cast<uint8_t>((field & ~kBoth) | (mostly_taken ? 0 : kNotTaken) | kDynamic);
}

bool uses_as_pointer(const Instruction& instruction, Register r) {
  if (instruction.opcode < kFirstRow || instruction.registers[2] != r) return false;
  const Op op = op_of(instruction);
  if (op == Op::adds || op == Op::addp4_imm14) return instruction.immediate != 0;
  // All instructions of memory have their base in the same field.
  const std::string_view syntax = encoding_of(instruction).syntax;
  return syntax.find("[Rc]") != syntax.npos || syntax.find("[&Rc]") != syntax.npos;
}

std::optional<RegisterRange> kept_registers(const Instruction& instruction) {
  const FrameEffect effect = frame_effect(instruction);
  if (effect == FrameEffect::cover) return RegisterRange{};
  if (effect != FrameEffect::allocate) return std::nullopt;
  const unsigned local = instruction.registers[2], rotating = 8u * instruction.registers[3];
  return RegisterRange{static_cast<Register>(kStacked.first + rotating),
                       static_cast<Register>(kStacked.first + local)};
}

FrameEffect frame_effect(const Instruction& instruction) {
  switch (op_of(instruction)) {
    case Op::alloc:
      return FrameEffect::allocate;
    case Op::br_call:
    case Op::brl_call:
    case Op::br_call_ind:
      return FrameEffect::call;
    case Op::br_ret:
    case Op::rfi:
      return FrameEffect::restore;
    case Op::br_wexit:
    case Op::br_wtop:
    case Op::br_cexit:
    case Op::br_ctop:
      return FrameEffect::rotate;
    case Op::clrrrb:
    case Op::clrrrb_pr:
      return FrameEffect::unrotate;
    case Op::cover:
      return FrameEffect::cover;
    default:
      return FrameEffect::none;
  }
}

}  // namespace respike::ia64
