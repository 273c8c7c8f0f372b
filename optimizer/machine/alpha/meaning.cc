// What Alpha instructions do to registers and to the flow of control.
//
// Uses and defs of ordinary instructions come from the roles of their rows. Only what a row cannot
// say is written here: PALcode functions, jumps whose kind is a hint, and the calling standard.
//
// Example: addq has the syntax "a,b|#,=c". So addq t0,t1,t2 reads t0 and t1 and writes t2, and
// addq t0,t1,zero, which writes nothing, is a no-op.
//
// The floating-point control register is modelled simply: arithmetic reads the register (rounding
// mode, trap disables), mt_fpcr writes it. Arithmetic also sets sticky status bits; this is left
// out, since programs put barriers between arithmetic and reads of these bits. PALcode functions,
// loads, stores and barriers have effects beyond registers. PALmode instructions (pal19 to pal1f)
// trap in a user's image: no operands.
//
// A system call writes v0 (the result), a3 (whether the call failed) and, for pipe and similar
// calls, a4. The kernel reserves the right to change temporaries as a procedure call does, but
// restores them. So a system call neither uses nor defines temporaries, and the assumptions of a
// program show in its own code. Other PALcode functions may or may not change the registers that
// OSF/1 lets privileged functions change: such registers are both used and defined, so that an
// analysis keeps their values alive in either case.
//
// Sources: Alpha Architecture Handbook, version 4: sections 4.3 (jumps and their hints), 4.7.7.3
// (trap shadows), 4.9 (floating-point branches), appendices A (no-ops) and C (PALcode functions);
// Tru64 UNIX Calling Standard for Alpha Systems; Linux, arch/alpha/kernel/entry.S (entSys).

#include "optimizer/machine/alpha/meaning.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "optimizer/machine/alpha/codec.h"

namespace respike::alpha {
namespace {

// Major opcodes that need separate code.
constexpr unsigned kCallPal = 0x00, kJump = 0x1a, kPal1e = 0x1e, kBr = 0x30, kBsr = 0x34;

// PALcode functions that unprivileged code of OSF/1, Linux and Windows NT may call (Handbook,
// appendix C).
enum PalFunction : int32_t {
  kHalt = 0x00,
  kDraina = 0x02,
  kBpt = 0x80,
  kBugchk = 0x81,
  kCallsys = 0x83,
  kImb = 0x86,
  kRduniq = 0x9e,
  kWruniq = 0x9f,
  kGentrap = 0xaa,
  kRdteb = 0xab,  // only in Windows NT
};

struct PalOperands {
  std::span<const Register> uses, defs;
};

constexpr Register kResult[] = {kV0};
constexpr Register kFirstArgument[] = {kA0};
constexpr Register kCallsysUses[] = {kV0, kA0, kA1, kA2, kA3, kA4, kA5};
constexpr Register kCallsysDefs[] = {kV0, kA3, kA4};
constexpr Register kOtherUses[] = {kV0, kT0, kA0, kA1, kA2, kT8, kT9, kT10, kT11};
constexpr Register kOtherDefs[] = {kV0, kT0, kA0, kT8, kT9, kT10, kT11};
static_assert(std::size(kOtherUses) + std::size(kOtherDefs) <=
              std::size(decltype(Operands::registers){}));

PalOperands pal_operands(int32_t function) {
  switch (function) {
    case kHalt:
    case kDraina:
    case kBpt:
    case kImb:
      return {};
    case kBugchk:
    case kGentrap:
    case kWruniq:
      return {kFirstArgument, {}};
    case kRduniq:
    case kRdteb:
      return {{}, kResult};
    case kCallsys:
      return {kCallsysUses, kCallsysDefs};
    default:
      return {kOtherUses, kOtherDefs};
  }
}

void append(Operands& operands, std::span<const Register> registers) {
  for (Register r : registers) operands.registers[operands.size++] = r;
}

/// The number of a register that an instruction reads or writes: base + (registers[field] & mask).
/// The mask of a register that no field names is 0.
struct OperandPlace {
  uint8_t field = 0, mask = 0, base = 0;
};

/// The operands of a row, in few bytes: analyses ask for operands all the time.
struct Meaning {
  std::array<OperandPlace, 6> places;
  uint8_t uses = 0, size = 0;  // of places, reads first
};

/// The facts of an opcode: facts[1] when field `result` is 31, else facts[0]. Analyses ask for
/// facts more often than for anything else, so this choice takes no branch.
struct OpcodeFacts {
  std::array<InstructionFacts, 2> facts;
  uint8_t result = 0;
  bool depends = false;  // some facts depend on other fields: dependent_facts()
};

/// Field b, the base of an address, comes last, even after the lock flag.
constexpr void add_places(Meaning& meaning, const Roles& roles, unsigned fields, bool fpcr,
                          bool lock) {
  const auto add = [&](OperandPlace place) { meaning.places.at(meaning.size++) = place; };
  for (uint8_t field = 0; field < 3; ++field)
    if ((fields >> field & 1) != 0)
      add({field, 31, static_cast<uint8_t>((roles.floating >> field & 1) != 0 ? kFloating : 0)});
  if (fpcr) add({0, 0, kFpcr});
  if (!lock) return;
  add({0, 0, kLockFlag});
  if ((fields & 2) != 0)
    std::swap(meaning.places[meaning.size - 2], meaning.places[meaning.size - 1]);
}

constexpr bool goes_on(ControlFlow flow) {
  return flow == ControlFlow::none || flow == ControlFlow::conditional_branch || is_call(flow);
}

constexpr void set_flow(InstructionFacts& facts, ControlFlow flow) {
  facts.flow = flow;
  facts.falls_through = goes_on(flow);
}

constexpr ControlFlow flow_of(unsigned major) {
  if (major == kPal1e) return ControlFlow::stop;  // jumps of PALmode
  if (major > kBr) return major == kBsr ? ControlFlow::call : ControlFlow::conditional_branch;
  return ControlFlow::none;
}

constexpr SequenceRole role_of(const Encoding& encoding) {
  const std::string_view name = encoding.name;
  if (name == "ldl_l" || name == "ldq_l") return SequenceRole::reservation_begin;
  if (name == "stl_c" || name == "stq_c") return SequenceRole::reservation_end;
  if (name == "trapb" || name == "excb") return SequenceRole::shadow_end;
  return encoding.software_completion ? SequenceRole::shadow_begin : SequenceRole::none;
}

constexpr ValueSource source_of(const Encoding& encoding) {
  const std::string_view name = encoding.name;
  if (name == "ldq") return ValueSource::loaded;
  if (encoding.format == Format::literal) return ValueSource::computed;
  if (name == "cmpeq") return ValueSource::equality;
  return name.starts_with("cmov") ? ValueSource::selected : ValueSource::computed;
}

/// The field that makes the instruction a no-op by holding 31; nullopt: no such field. Loads to
/// register 31, except ldq_u, are not no-ops: they prefetch.
constexpr std::optional<uint8_t> nop_field(const Encoding& encoding) {
  const Roles& roles = encoding.roles;
  const std::string_view name = encoding.name;
  switch (encoding.format) {
    case Format::memory:
      if (name == "lda" || name == "ldah" || name == "ldq_u") return uint8_t{0};
      return std::nullopt;
    case Format::operate:
    case Format::literal:
    case Format::floating:
      if (encoding.qualified || roles.reads_fpcr || roles.writes_fpcr) return std::nullopt;
      return uint8_t{2};
    default:
      return std::nullopt;
  }
}

constexpr OpcodeFacts make_facts(const Encoding& encoding) {
  const unsigned major = encoding.codec.match >> 26;
  const std::string_view name = encoding.name;
  InstructionFacts facts;
  set_flow(facts, flow_of(major));
  facts.role = role_of(encoding);
  facts.source = source_of(encoding);
  OpcodeFacts result{.facts = {facts, facts}};
  if (const auto field = nop_field(encoding)) {
    result.result = *field;
    result.facts[1].nop = true;
  }
  result.depends = major == kBr || major == kJump || major == kCallPal || name == "lda" ||
                   (name == "bis" && encoding.format != Format::literal);
  return result;
}

/// By opcode; pseudo-instructions and words that do not decode have the default facts.
consteval std::array<OpcodeFacts, kEncodingCount + 1> make_all_facts() {
  std::array<OpcodeFacts, kEncodingCount + 1> all;
  for (size_t row = 1; row < kEncodingCount; ++row)
    all[opcode_of_row(row)] = make_facts(kEncodings[row]);
  return all;
}

constexpr std::array<OpcodeFacts, kEncodingCount + 1> kFacts = make_all_facts();

consteval std::array<Meaning, kEncodingCount> make_meanings() {
  std::array<Meaning, kEncodingCount> meanings;
  for (size_t row = 1; row < kEncodingCount; ++row) {
    const Encoding& encoding = kEncodings[row];
    const Roles& roles = encoding.roles;
    Meaning& meaning = meanings[row];
    add_places(meaning, roles, roles.reads, roles.reads_fpcr, roles.reads_lock);
    meaning.uses = meaning.size;
    add_places(meaning, roles, roles.writes, roles.writes_fpcr, roles.writes_lock);
  }
  return meanings;
}

constexpr std::array<Meaning, kEncodingCount> kMeanings = make_meanings();

/// Pseudo-instructions have row 0, which has no operands.
const Meaning& meaning_of(const Instruction& instruction) {
  return kMeanings[row_of(instruction.opcode)];
}

/// Appends the registers at some places, except registers that are always zero.
void append(Operands& operands, const Instruction& instruction,
            std::span<const OperandPlace> places) {
  for (const OperandPlace& place : places) {
    const unsigned number = instruction.registers[place.field] & place.mask;
    operands.registers[operands.size] = static_cast<Register>(place.base + number);
    operands.size += number != kZero;
  }
}

/// A jump that keeps a return address is a call; the hint determines the kind of other jumps.
ControlFlow jump_flow(const Instruction& instruction) {
  if (instruction.registers[0] != kZero) return ControlFlow::indirect_call;
  switch (instruction.opcode) {
    case opcode("jmp"):
      return ControlFlow::indirect_jump;
    case opcode("ret"):
      return ControlFlow::return_jump;
    default:
      return ControlFlow::indirect_call;
  }
}

/// A br that keeps a return address is a call, unless it branches to the next instruction.
InstructionFacts branch_facts(const Instruction& instruction, InstructionFacts facts) {
  if (instruction.registers[0] == kZero) {
    set_flow(facts, ControlFlow::branch);
  } else {
    facts.get_pc = !instruction.has_reference() && instruction.immediate == 4;
    set_flow(facts, facts.get_pc ? ControlFlow::none : ControlFlow::call);
  }
  return facts;
}

bool is_copy(const Instruction& instruction) {
  if (instruction.opcode == opcode("lda"))
    return instruction.immediate == 0 && !instruction.has_reference();
  const auto [a, b] = std::pair(instruction.registers[0], instruction.registers[1]);
  return a == kZero || b == kZero || a == b;
}

InstructionFacts dependent_facts(const Instruction& instruction, InstructionFacts facts) {
  switch (major_opcode(instruction)) {
    case kBr:
      return branch_facts(instruction, facts);
    case kJump:
      set_flow(facts, jump_flow(instruction));
      return facts;
    case kCallPal:
      if (instruction.immediate == kHalt) set_flow(facts, ControlFlow::stop);
      facts.system_call = encode_word(instruction) == static_cast<uint32_t>(kCallsys);
      return facts;
    default:
      if (is_copy(instruction)) facts.source = ValueSource::copied;
      return facts;
  }
}

std::vector<Register> register_range(Register first, Register last) {
  std::vector<Register> range;
  for (Register r = first; r <= last; ++r) range.push_back(r);
  return range;
}

std::vector<Register> join(std::vector<Register> left, const std::vector<Register>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

}  // namespace

InstructionFacts facts(const Instruction& instruction) {
  const OpcodeFacts& row = kFacts[instruction.opcode];
  const InstructionFacts facts = row.facts[instruction.registers[row.result] == kZero];
  return row.depends ? dependent_facts(instruction, facts) : facts;
}

Operands operands(const Instruction& instruction) {
  Operands result;
  if (instruction.opcode < kFirstMachineOpcode) return result;
  if (instruction.opcode == opcode("call_pal")) {
    const PalOperands pal = pal_operands(instruction.immediate);
    append(result, pal.uses);
    result.uses = result.size;
    append(result, pal.defs);
    return result;
  }
  const Meaning& meaning = meaning_of(instruction);
  const auto places = std::span(meaning.places).first(meaning.size);
  append(result, instruction, places.first(meaning.uses));
  result.uses = result.size;
  append(result, instruction, places.subspan(meaning.uses));
  return result;
}

/// mov sp,a0; lda v0,103 (sigreturn) or 351 (rt_sigreturn); callsys.
bool is_signal_return(std::span<const Instruction> instructions) {
  for (size_t i = 0; i + 3 <= instructions.size(); ++i) {
    if (std::ranges::any_of(instructions.subspan(i, 3), &Instruction::is_pseudo)) continue;
    const uint32_t number = encode_word(instructions[i + 1]);
    if (encode_word(instructions[i]) == 0x47fe0410 &&
        (number == 0x201f0067 || number == 0x201f015f) &&
        encode_word(instructions[i + 2]) == 0x00000083) {
      return true;
    }
  }
  return false;
}

/// The floating-point control register counts as preserved: it holds the caller's modes and is live
/// everywhere.
Abi make_abi() {
  const auto floating = [](Register first, Register last) {
    return register_range(kFloating + first, kFloating + last);
  };
  Abi abi;
  abi.zero_in_tables = 31;
  abi.stack_pointer = kSp;
  abi.return_address = kRa;
  abi.procedure_value = kPv;
  abi.arguments = join(register_range(kA0, kA5), floating(16, 21));
  abi.results = join({kV0}, floating(0, 1));
  abi.preserved = join(join(register_range(kS0, kFp), {kSp}), join(floating(2, 9), {kFpcr}));
  for (Register r = 0; r < kRegisterCount; ++r) {
    if (std::ranges::find(abi.preserved, r) == abi.preserved.end()) abi.scratch.push_back(r);
  }
  // GCC's alpha.md, pattern divmoddi_internal; glibc's sysdeps/alpha/div_libc.h.
  abi.support_calls.push_back({.link = kT9,
                               .names = {"__divl", "__divlu", "__divq", "__divqu", "__reml",
                                         "__remlu", "__remq", "__remqu"},
                               .changed = {kT9, kT10, kT11, kPv, kAt}});
  abi.jump_table_entry = RelocationRole::gp_relative32;
  return abi;
}

/// Windows NT for Alpha Systems Calling Standard, table 2-1: a procedure value is the address of
/// the first instruction. Calls do not leave it in a register, and there is no global pointer. GP
/// (29) "should not be altered".
Abi make_windows_abi() {
  Abi abi = make_abi();
  abi.procedure_value = std::nullopt;
  abi.jump_table_entry = RelocationRole::address32;
  return abi;
}

/// Floating-point branches test sign and zero bits of the register, so opposite branches are exact
/// for every value (Handbook, section 4.9).
bool invert(Instruction& instruction) {
  if (control_flow(instruction) != ControlFlow::conditional_branch) return false;
  const unsigned inverse = (instruction.opcode - opcode("br")) ^ 4;
  instruction.opcode = static_cast<uint16_t>(opcode("br") + inverse);
  return true;
}

}  // namespace respike::alpha
