// What Itanium instructions do to registers and to the flow of control.
//
// Uses and defs come from the roles of the rows: operands, and the implicit registers after the
// syntax. Only what a row cannot say is written here.
//
// Example: (p6) ld8 r14=[r15],8 uses p6, r14 and r15 and defines r14 and r15. It uses r14 since r14
// keeps its value when p6 is false.
//
// Modelled simply: an instruction that only names a register to the ALAT (chk.a, invala.e) uses the
// register; floating-point arithmetic reads and writes ar.fpsr as a whole, with its four status
// fields; psr is one register, and only instructions that name psr use or define it; mov to pr,
// whose mask selects the predicates it writes, writes the predicate file, which contains p1 to p63.
// Control registers, the ALAT, memory and the system's indexed registers are not registers here.
// The name of a stacked register depends on the frame marker, and its contents on the register
// stack engine; both are left to frame_effect().
//
// Source: Intel Itanium Architecture Software Developer's Manual, volume 1, sections 3.1
// (registers), 4.1 and 4.5 (register stack, rotation); volume 3, chapter 2 (instructions) and 5
// (dependences).

#include "optimizer/machine/ia64/meaning.h"

#include <fmt/format.h>

#include "optimizer/machine/ia64/text.h"

namespace respike::ia64 {
namespace {

// In the order of Implicit.
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

/// The number of the register that an operand names; nullopt when it names no numbered register.
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

// ---- facts ----

/// The property of an instruction that selects among the facts of an Op.
enum class Choice : uint8_t { none, predicate, linkage, zero, stop_or_call, load, plain_load };

/// The facts of an Op in all variants; variant_of() chooses one. Variants are whole words, since
/// compilers make slow code of changes to bit-fields.
struct OpFacts {
  std::array<InstructionFacts, 4> facts;
  Choice choice = Choice::none;
};

constexpr bool is_nop_op(Op op) {
  return op == Op::nop_m || op == Op::nop_i || op == Op::nop_f || op == Op::nop_b ||
         op == Op::nop_x;
}

/// The flow of an instruction without a predicate; set_variants() handles branches under a
/// predicate and breaks that stop.
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

constexpr Choice choice_of(Op op, ControlFlow flow) {
  switch (flow) {
    case ControlFlow::branch:
    case ControlFlow::indirect_jump:
    case ControlFlow::return_jump:
      return Choice::predicate;
    case ControlFlow::indirect_call:
      return Choice::linkage;
    default:
      break;
  }
  if (op == Op::adds) return Choice::zero;
  if (is_break(op)) return Choice::stop_or_call;
  if (is_plain_load(op)) return Choice::plain_load;
  return has_load_type(kEncodings[opcode(op)]) ? Choice::load : Choice::none;
}

/// The fact `source` of a load that also changes its base register describes only the loaded
/// register.
constexpr void set_variants(OpFacts& op) {
  auto& facts = op.facts;
  switch (op.choice) {
    case Choice::predicate:
      facts[1].falls_through = true;
      if (facts[1].flow == ControlFlow::branch) facts[1].flow = ControlFlow::conditional_branch;
      break;
    case Choice::linkage:
      facts[1].system_call = true;
      break;
    case Choice::zero:
      facts[1].source = ValueSource::copied;
      break;
    case Choice::stop_or_call:
      facts[1].flow = ControlFlow::stop;
      facts[1].falls_through = false;
      facts[2].system_call = true;
      break;
    case Choice::load:
    case Choice::plain_load:
      facts[1].defers_faults = facts[3].defers_faults = true;
      facts[2].source = facts[3].source = ValueSource::loaded;
      break;
    case Choice::none:
      break;
  }
}

consteval std::array<OpFacts, kOpCount> make_facts() {
  std::array<OpFacts, kOpCount> all;
  for (size_t i = kFirstRow; i < kOpCount; ++i) {
    const auto op = static_cast<Op>(i);
    InstructionFacts facts;
    facts.flow = flow_of(op);
    facts.falls_through = goes_on(facts.flow);
    facts.nop = is_nop_op(op);
    facts.get_pc = op == Op::mov_ip;
    if (op == Op::mov_to_br_sptk || op == Op::mov_to_br || op == Op::mov_to_br_dptk ||
        op == Op::mov_from_br)
      facts.source = ValueSource::copied;
    all[i].facts.fill(facts);
    all[i].choice = choice_of(op, facts.flow);
    set_variants(all[i]);
  }
  all[opcode(Op::long_half)].facts[0].prefix = true;
  return all;
}

constexpr std::array<OpFacts, kOpCount> kFacts = make_facts();

bool is_speculative(const Instruction& load) {
  constexpr unsigned kSpeculative = 1, kSpeculativeAdvanced = 3;
  const unsigned type = load.registers[3] >> 4u;
  return type == kSpeculative || type == kSpeculativeAdvanced;
}

/// Whether the instruction is a load that keeps its register when the ALAT has an entry for the
/// register.
bool is_check_load(const Instruction& instruction) {
  const Choice choice = kFacts[instruction.opcode].choice;
  return (choice == Choice::load || choice == Choice::plain_load) &&
         instruction.registers[3] >> 4u >= 8;
}

/// Compilers put a break with the number 0 where control never comes, and programs call Linux by a
/// break with 0x100000. break.b ignores its number, so it is neither.
unsigned break_variant(const Instruction& instruction) {
  if (instruction.immediate == 0) return instruction.predicate == 0 ? 1 : 0;
  const Op op = op_of(instruction);
  return (op == Op::break_m || op == Op::break_i) && instruction.immediate == 0x100000 ? 2 : 0;
}

unsigned variant_of(const Instruction& instruction, Choice choice) {
  switch (choice) {
    case Choice::predicate:
      return instruction.predicate != 0 ? 1 : 0;
    case Choice::linkage:  // through b7, back through b6: into the kernel's own page
      return instruction.registers[0] == 6 && instruction.registers[1] == 7 ? 1 : 0;
    case Choice::zero:
      return instruction.immediate == 0 ? 1 : 0;
    case Choice::stop_or_call:
      return break_variant(instruction);
    case Choice::plain_load:
      return (is_speculative(instruction) ? 1 : 0) |
             (completer_value(instruction, completer('z')) == 3 ? 2 : 0);
    case Choice::load:
      return is_speculative(instruction) ? 1 : 0;
    case Choice::none:
      break;
  }
  return 0;
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
      is_check_load(instruction);
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
  const OpFacts& op = kFacts[instruction.opcode];
  if (op.choice == Choice::none) return op.facts[0];
  return op.facts[variant_of(instruction, op.choice)];
}

bool invert(Instruction& branch, std::span<const Instruction> before) {
  if (op_of(branch) != Op::br_cond || branch.predicate == 0) return false;
  uint64_t changed = 0;  // predicates that change between before[i] and the branch
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
    if (count == 1) {  // frcpa and similar instructions have no opposite
      if (set[0] == branch.predicate) return false;
      changed |= uint64_t{1} << set[0];
      continue;
    }
    if (set[0] == branch.predicate || set[1] == branch.predicate) {
      const uint8_t other = set[set[0] == branch.predicate ? 1 : 0];
      if (!whole || set[0] == set[1] || other == 0 || (changed >> other & 1) != 0) return false;
      branch.predicate = other;
      branch.registers[completer('w').field] ^= 1;  // the prediction
      return true;
    }
    changed |= uint64_t{1} << set[0] | uint64_t{1} << set[1];
  }
  return false;
}

/// Always a dynamic prediction: a wrong static prediction stays wrong.
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
  // All instructions that access memory have their base in field c.
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
