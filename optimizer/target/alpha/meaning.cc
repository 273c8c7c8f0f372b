// What Alpha instructions do to registers and to the flow of control.
//
// Uses and defs of ordinary instructions come from the roles of their rows. Only what a row cannot
// say is written here: PALcode functions, jumps whose kind is a hint, and the calling standard.
//
// The floating-point control register is modelled simply: arithmetic reads it (rounding mode, trap
// disables), mt_fpcr writes it; that arithmetic also sets sticky status bits is left out, since
// programs order those by barriers. PALcode functions, loads, stores and barriers have effects
// beyond registers. PALmode instructions (pal19 to pal1f) trap in a user's image: no operands.
//
// A system call writes v0 (the result), a3 (whether it failed) and, for pipe and its like, a4. The
// kernel reserves the right to treat temporaries as at a procedure call, but restores them; so they
// are neither used nor defined, and what a program assumes shows in its own code. Other PALcode
// functions may or may not change what OSF/1 lets its privileged ones change: such registers are
// both used and defined, so that a value survives in an analysis whichever is true.
//
// Sources: Alpha Architecture Handbook, version 4: sections 4.3 (jumps and their hints), 4.7.7.3
// (trap shadows), 4.9 (floating-point branches), appendices A (no-ops) and C (PALcode functions);
// Tru64 UNIX Calling Standard for Alpha Systems; Linux, arch/alpha/kernel/entry.S (entSys).

#include "optimizer/target/alpha/meaning.h"

#include <algorithm>
#include <iterator>

#include "optimizer/target/alpha/codec.h"

namespace respike::alpha {
namespace {

// Major opcodes that are asked for.
constexpr unsigned kCallPal = 0x00, kJump = 0x1a, kPal1e = 0x1e, kBr = 0x30, kBsr = 0x34;

// PALcode functions of OSF/1 and Linux that unprivileged code may call (Handbook, appendix C).
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

/// Appends the registers that the fields in the set `fields` name.
void append_fields(Operands& operands, const Instruction& instruction, unsigned fields,
                   unsigned floating) {
  for (unsigned field = 0; field < 3; ++field) {
    const unsigned bit = 1u << field;
    const uint8_t number = instruction.registers[field];
    if ((fields & bit) == 0 || number == kZero) continue;
    const bool is_floating = (floating & bit) != 0;
    operands.registers[operands.size++] =
        static_cast<Register>(is_floating ? kFloating + number : number);
  }
}

/// A jump is what its hint says, unless the register for the return address says otherwise.
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

std::vector<Register> register_range(Register first, Register last) {
  std::vector<Register> range;
  for (Register r = first; r <= last; ++r) range.push_back(r);
  return range;
}

std::vector<Register> join(std::vector<Register> left, const std::vector<Register>& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

/// The control register belongs to the preserved ones: it holds the caller's modes, live forever.
Abi make_abi() {
  const auto floating = [](Register first, Register last) {
    return register_range(kFloating + first, kFloating + last);
  };
  Abi abi;
  abi.stack_pointer = kSp;
  abi.return_address = kRa;
  abi.global_pointer = kGp;
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
  return abi;
}

}  // namespace

bool is_get_pc(const Instruction& instruction) {
  return instruction.opcode >= kFirstTargetOpcode && major_opcode(instruction) == kBr &&
         instruction.registers[0] != kZero && !instruction.has_reference() &&
         instruction.immediate == 4;
}

ControlFlow control_flow(const Instruction& instruction) {
  if (instruction.opcode < kFirstTargetOpcode) return ControlFlow::none;
  const unsigned major = major_opcode(instruction);
  if (major > kBr) {
    return major == kBsr ? ControlFlow::call : ControlFlow::conditional_branch;
  }
  switch (major) {
    case kBr:
      if (instruction.registers[0] == kZero) return ControlFlow::branch;
      return is_get_pc(instruction) ? ControlFlow::none : ControlFlow::call;
    case kJump:
      return jump_flow(instruction);
    case kCallPal:
      return instruction.immediate == kHalt ? ControlFlow::stop : ControlFlow::none;
    case kPal1e:  // jumps of PALmode
      return ControlFlow::stop;
    default:
      return ControlFlow::none;
  }
}

Operands operands(const Instruction& instruction) {
  Operands result;
  if (instruction.opcode < kFirstTargetOpcode) return result;
  if (instruction.opcode == opcode("call_pal")) {
    const PalOperands pal = pal_operands(instruction.immediate);
    append(result, pal.uses);
    result.uses = result.size;
    append(result, pal.defs);
    return result;
  }
  const Roles& roles = encoding_of(instruction).roles;
  append_fields(result, instruction, roles.reads, roles.floating);
  if (roles.reads_fpcr) result.registers[result.size++] = kFpcr;
  if (roles.reads_lock) result.registers[result.size++] = kLockFlag;
  result.uses = result.size;
  append_fields(result, instruction, roles.writes, roles.floating);
  if (roles.writes_fpcr) result.registers[result.size++] = kFpcr;
  if (roles.writes_lock) result.registers[result.size++] = kLockFlag;
  return result;
}

/// Loads to register 31 are not among them: but for ldq_u they prefetch.
bool is_system_call(const Instruction& instruction) {
  return instruction.opcode >= kFirstTargetOpcode &&
         encoding_of(instruction).format == Format::palcode &&
         encode_word(instruction) == static_cast<uint32_t>(kCallsys);
}

bool is_nop(const Instruction& instruction) {
  if (instruction.opcode < kFirstTargetOpcode) return false;
  const Encoding& encoding = encoding_of(instruction);
  switch (encoding.format) {
    case Format::memory: {
      const uint16_t op = instruction.opcode;
      return instruction.registers[0] == kZero &&
             (op == opcode("lda") || op == opcode("ldah") || op == opcode("ldq_u"));
    }
    case Format::operate:
    case Format::literal:
    case Format::floating: {
      const bool qualified = std::string_view(encoding.name).find('/') != std::string_view::npos;
      const Roles& roles = encoding.roles;
      return instruction.registers[2] == kZero && !qualified && !roles.reads_fpcr &&
             !roles.writes_fpcr;
    }
    default:
      return false;
  }
}

ValueSource value_source(const Instruction& instruction) {
  const uint16_t op = instruction.opcode;
  if (op == opcode("ldq")) return ValueSource::loaded;
  if (op == opcode("cmpeq")) return ValueSource::equality;
  if (op == opcode("lda") && instruction.immediate == 0 && !instruction.has_reference())
    return ValueSource::copied;
  const auto is_zero = [&](unsigned field) { return instruction.registers[field] == kZero; };
  if (op == opcode("bis") &&
      (is_zero(0) || is_zero(1) || instruction.registers[0] == instruction.registers[1]))
    return ValueSource::copied;
  for (const uint16_t select :
       {opcode("cmoveq"), opcode("cmovne"), opcode("cmovlt"), opcode("cmovge"), opcode("cmovle"),
        opcode("cmovgt"), opcode("cmovlbs"), opcode("cmovlbc")})
    if (op == select) return ValueSource::selected;
  return ValueSource::computed;
}

SequenceRole sequence_role(const Instruction& instruction) {
  switch (instruction.opcode) {
    case opcode("ldl_l"):
    case opcode("ldq_l"):
      return SequenceRole::reservation_begin;
    case opcode("stl_c"):
    case opcode("stq_c"):
      return SequenceRole::reservation_end;
    case opcode("trapb"):
    case opcode("excb"):
      return SequenceRole::shadow_end;
    case kCfiState:
      return SequenceRole::none;
    default:
      return encoding_of(instruction).software_completion ? SequenceRole::shadow_begin
                                                          : SequenceRole::none;
  }
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

const Abi& abi() {
  static const Abi abi = make_abi();
  return abi;
}

/// Floating-point branches test sign and zero bits of the register, so opposites are exact for
/// every value (Handbook, section 4.9).
bool invert(Instruction& instruction) {
  if (control_flow(instruction) != ControlFlow::conditional_branch) return false;
  const unsigned inverse = (instruction.opcode - opcode("br")) ^ 4;
  instruction.opcode = static_cast<uint16_t>(opcode("br") + inverse);
  return true;
}

}  // namespace respike::alpha
