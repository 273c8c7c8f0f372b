// Issue of the 21164: up to four instructions a cycle, in order.
//
// Two steps, as in the hardware (PC, section 2.3; HRM, section 2.3). *Slotting* takes instructions
// of one naturally aligned group of 16 bytes, in order, and gives each instruction a pipeline,
// until an instruction finds no free pipeline or a rule forbids it. E0 and E1 are the integer
// pipelines, FA and FM the floating-point pipelines. An instruction that can go to E0 or E1 goes to
// E0, unless E0 is taken or the next integer instruction of the group can only go to E0. An
// instruction that can go to FA or FM goes to FA if FA is free. A load and a store are never in one
// set. *Issue* then sends the instructions of the set off in order, each when its operands are
// ready; the rest of the set waits for it. The next set starts at the earliest in the cycle after
// the last instruction of this set.
//
// Example: `addq r1, r2, r3; addq r3, r4, r5` in one group go to E0 and E1 as one set, but the
// second addq issues a cycle after the first, whose result it reads.
//
// Latencies are those of data-cache hits. A multiplication reads its operands from the register
// file, since bypasses do not reach the multiplier; an operand that reaches the register file up to
// two cycles late lengthens the multiplication by as much. The multiplier and the divider are not
// pipelined, and each needs its pipeline once more before it ends.
//
// Not modelled: instructions in flight where a taken branch enters a piece of code (the bubble of
// the branch covers most of their latency); write-after-write delays; loads after stores, which the
// hardware replays or holds; the miss address file and the write buffer; traps; division times that
// depend on the data (the model takes the shortest); PALcode.
//
// Sources of the rows: PC is the 21164PC Hardware Reference Manual (1997), section 2.3, pages 2-21
// and 2-25, whose integer core is that of the 21164; GCC is the machine description
// gcc/config/alpha/ev5.md of GCC, written from the 21164's manual; "assumed" is our own assumption.

#include "optimizer/machine/alpha/issue.h"

#include <algorithm>
#include <iterator>

#include "optimizer/machine/alpha/codec.h"
#include "optimizer/machine/alpha/meaning.h"

namespace respike::alpha {
namespace {

constexpr ClassRow kClassRows[] = {
    {IssueClass::unop, "UNOP: ldq_u r31", 0, 0, "PC 2-21: takes no pipeline"},
    {IssueClass::load, "LD", kE0 | kE1, 2, "GCC: data-cache hit in two cycles"},
    {IssueClass::store, "ST", kE0, 1, "GCC; not with a load"},
    {IssueClass::locked, "MBX: ldx_l, stx_c, mb, wmb, fetch", kE0, 2, "GCC; stx_c assumed"},
    {IssueClass::integer_branch, "IBR", kE1, 1, "GCC"},
    {IssueClass::floating_branch, "FBR", kFA, 1, "GCC"},
    {IssueClass::jump, "JSR: jmp, jsr, ret, br, bsr", kE1, 1, "GCC"},
    {IssueClass::call_pal, "CALL_PAL", kE1, 1, "GCC"},
    {IssueClass::add, "IADD: add, subtract, lda, ldah", kE0 | kE1, 1, "GCC"},
    {IssueClass::logic, "ILOG", kE0 | kE1, 1, "GCC, PC 2-25: 0 to a test in the same cycle"},
    {IssueClass::compare, "ICMP", kE0 | kE1, 1, "GCC, PC 2-25: 0 to a test in the same cycle"},
    {IssueClass::shift, "SHIFT: shifts and bytes", kE0, 1, "GCC"},
    {IssueClass::conditional_move, "CMOV", kE0 | kE1, 2, "GCC"},
    {IssueClass::multimedia, "MVI", kE0, 2, "GCC; 21164PC only"},
    {IssueClass::multiply_long, "IMULL", kE0, 8, "PC 2-25, GCC; next after 4"},
    {IssueClass::multiply_quad, "IMULQ", kE0, 12, "PC 2-25, GCC; next after 8"},
    {IssueClass::multiply_high, "IMULH", kE0, 14, "PC 2-25, GCC; next after 8"},
    {IssueClass::floating_add, "FADD", kFA, 4, "GCC"},
    {IssueClass::floating_multiply, "FMUL", kFM, 4, "GCC"},
    {IssueClass::floating_copy, "FCPYS: cpys", kFA | kFM, 4, "PC 2-21, GCC"},
    {IssueClass::divide_single, "FDIV, single", kFA, 15, "GCC: the shortest"},
    {IssueClass::divide_double, "FDIV, double", kFA, 22, "GCC: the shortest"},
    {IssueClass::misc, "MISC: rpcc, trapb, excb", kE0, 2, "PC 2-21, GCC"},
};

consteval bool rows_are_in_order() {
  for (size_t i = 0; i < std::size(kClassRows); ++i)
    if (static_cast<size_t>(kClassRows[i].id) != i) return false;
  return std::size(kClassRows) == static_cast<size_t>(IssueClass::misc) + 1;
}
static_assert(rows_are_in_order());

const ClassRow& row_of(const IssueInstruction& instruction) {
  return kClassRows[static_cast<size_t>(instruction.issue_class)];
}

bool is_integer(const IssueInstruction& instruction) {
  return (row_of(instruction).pipelines & (kE0 | kE1)) != 0;
}

/// Cycles between the delivery of a result by bypasses and its arrival in the register file.
constexpr uint32_t kFileDelay = 2;

bool is_multiply(IssueClass c) {
  return c >= IssueClass::multiply_long && c <= IssueClass::multiply_high;
}

bool is_divide(IssueClass c) {
  return c == IssueClass::divide_single || c == IssueClass::divide_double;
}

/// Issue class of an instruction of major opcode 11: logic, except for conditional moves.
IssueClass class_of_logic(unsigned function) {
  switch (function) {
    case 0x14:
    case 0x16:
    case 0x24:
    case 0x26:
    case 0x44:
    case 0x46:
    case 0x64:
    case 0x66:
      return IssueClass::conditional_move;
    default:
      return IssueClass::logic;
  }
}

/// The classes of major opcode 10: the functions that end in d or f compare.
IssueClass class_of_arithmetic(unsigned function) {
  const unsigned low = function & 0xf;
  return low == 0xd || low == 0xf ? IssueClass::compare : IssueClass::add;
}

IssueClass class_of_multiply(unsigned function) {
  switch (function & 0x3f) {
    case 0x00:
      return IssueClass::multiply_long;
    case 0x30:
      return IssueClass::multiply_high;
    default:
      return IssueClass::multiply_quad;
  }
}

/// Major opcodes 14 to 16; square roots, which the 21164 lacks, count as divisions.
IssueClass class_of_floating(unsigned major, unsigned function) {
  const bool is_double = (function & 0x20) != 0;
  const IssueClass divide = is_double ? IssueClass::divide_double : IssueClass::divide_single;
  if (major == 0x14) return (function & 0xf) == 4 ? IssueClass::floating_add : divide;
  switch (function & 0x1f) {
    case 0x02:
      return IssueClass::floating_multiply;
    case 0x03:
      return divide;
    default:
      return IssueClass::floating_add;
  }
}

IssueClass class_of(uint32_t word) {
  const unsigned major = word >> 26, operate = word >> 5 & 0x7f, floating = word >> 5 & 0x7ff;
  const bool to_nowhere = (word >> 21 & 31) == 31;
  switch (major) {
    case 0x08:
    case 0x09:
      return IssueClass::add;
    case 0x0b:
      return to_nowhere ? IssueClass::unop : IssueClass::load;
    case 0x0a:
    case 0x0c:
    case 0x20:
    case 0x21:
    case 0x22:
    case 0x23:
    case 0x28:
    case 0x29:
      return IssueClass::load;
    case 0x0d:
    case 0x0e:
    case 0x0f:
    case 0x24:
    case 0x25:
    case 0x26:
    case 0x27:
    case 0x2c:
    case 0x2d:
      return IssueClass::store;
    case 0x2a:
    case 0x2b:
    case 0x2e:
    case 0x2f:
      return IssueClass::locked;
    case 0x10:
      return class_of_arithmetic(operate);
    case 0x11:
      return class_of_logic(operate);
    case 0x12:
      return IssueClass::shift;
    case 0x13:
      return class_of_multiply(operate);
    case 0x14:
    case 0x15:
    case 0x16:
      return class_of_floating(major, floating);
    case 0x17:
      return floating == 0x020 ? IssueClass::floating_copy : IssueClass::floating_add;
    case 0x18: {
      const unsigned function = word & 0xffff;
      const bool is_misc = function == 0x0000 || function == 0x0400 || function == 0xc000;
      return is_misc ? IssueClass::misc : IssueClass::locked;
    }
    case 0x1a:
    case 0x30:
    case 0x34:
      return IssueClass::jump;
    case 0x1c:
      return operate < 0x30 ? IssueClass::shift : IssueClass::multimedia;
    case 0x31:
    case 0x32:
    case 0x33:
    case 0x35:
    case 0x36:
    case 0x37:
      return IssueClass::floating_branch;
    default:
      return major >= 0x38 ? IssueClass::integer_branch : IssueClass::call_pal;
  }
}

IssueInstruction read_instruction(const Instruction& instruction) {
  IssueInstruction result;
  result.issue_class = class_of(encode_word(instruction));
  if (instruction.opcode == kInvalid || result.issue_class == IssueClass::call_pal ||
      result.issue_class == IssueClass::unop)
    return result;
  const Operands operands = alpha::operands(instruction);
  result.used = std::min<uint8_t>(operands.uses, uint8_t(result.uses.size()));
  std::copy_n(operands.registers, result.used, result.uses.begin());
  if (operands.uses < operands.size)
    result.def = static_cast<uint8_t>(operands.registers[operands.uses]);
  result.tests =
      instruction.registers[0] != kZero && (result.issue_class == IssueClass::integer_branch ||
                                            result.issue_class == IssueClass::conditional_move);
  return result;
}

}  // namespace

std::span<const ClassRow> class_rows() {
  return kClassRows;
}

std::vector<IssueInstruction> read_for_issue(std::span<const Instruction> code) {
  std::vector<IssueInstruction> result;
  result.reserve(code.size());
  for (const Instruction& instruction : code) result.push_back(read_instruction(instruction));
  return result;
}

std::vector<IssueInstruction> read_for_issue(std::span<const uint8_t> code) {
  std::vector<Instruction> instructions(code.size() / 4);
  decode_words(code.data(), instructions.size(), 0, instructions.data());
  return read_for_issue(instructions);
}

/// Gives the instruction a pipeline of the current set, or starts a new set with it; returns
/// whether it joined the current set.
bool IssueState::slot(const IssueInstruction& instruction, uint64_t group, bool only_e0_follows) {
  const uint8_t wanted = row_of(instruction).pipelines;
  const bool is_load = instruction.issue_class == IssueClass::load;
  const bool is_store = instruction.issue_class == IssueClass::store;
  const bool joins = group == group_ && (wanted == 0 || (wanted & ~taken_) != 0) &&
                     !(is_load && has_store_) && !(is_store && has_load_);
  if (!joins) {
    group_ = group;
    taken_ = 0;
    has_load_ = has_store_ = false;
  }
  const uint8_t free = wanted & ~taken_;
  const uint8_t second = kE1 | kFM;
  pipeline_ = free & ~second;  // E0 or FA
  if (pipeline_ == 0 || (pipeline_ == kE0 && only_e0_follows && (free & kE1) != 0))
    pipeline_ = free & second;
  taken_ |= pipeline_;
  has_load_ |= is_load;
  has_store_ |= is_store;
  return joins;
}

/// The cycle in which the instruction can issue, `earliest` or later.
uint32_t IssueState::cycle_of(const IssueInstruction& instruction, uint32_t earliest) const {
  uint32_t cycle = earliest;
  for (unsigned i = 0; i < instruction.used; ++i) {
    const uint8_t r = instruction.uses[i];
    const bool early = i == 0 && instruction.tests && (tested_early_ >> r & 1) != 0;
    const uint32_t before_file = kFileDelay + early;
    if (in_file_[r] > before_file) cycle = std::max(cycle, in_file_[r] - before_file);
  }
  if (is_multiply(instruction.issue_class)) cycle = std::max<uint32_t>(cycle, multiplier_free_);
  if (is_divide(instruction.issue_class)) cycle = std::max<uint32_t>(cycle, divider_free_);
  const uint32_t reserved = pipeline_ == kE0 ? e0_reserved_ : pipeline_ == kFA ? fa_reserved_ : 0;
  if (reserved != 0 && cycle == reserved) ++cycle;
  return cycle;
}

/// Notes the results that an instruction issued in `cycle` leaves in flight.
void IssueState::start(const IssueInstruction& instruction, uint32_t cycle) {
  const IssueClass c = instruction.issue_class;
  uint32_t latency = row_of(instruction).latency;
  if (is_multiply(c)) {
    uint32_t late = 0;  // until all operands are in the register file
    for (unsigned i = 0; i < instruction.used; ++i)
      if (const uint32_t ready = in_file_[instruction.uses[i]]; ready > cycle)
        late = std::max(late, ready - cycle);
    latency += late;
    multiplier_free_ = uint8_t(cycle + (c == IssueClass::multiply_long ? 4 : 8) + late);
    e0_reserved_ = uint8_t(cycle + latency - 2);
  } else if (is_divide(c)) {
    divider_free_ = uint8_t(cycle + latency);
    fa_reserved_ = uint8_t(cycle + latency - 5);
  }
  if (instruction.def == IssueInstruction::kNoRegister) return;
  const uint64_t bit = uint64_t{1} << instruction.def;
  in_file_[instruction.def] = uint8_t(cycle + latency + kFileDelay);
  if (c == IssueClass::compare || c == IssueClass::logic)
    tested_early_ |= bit;
  else
    tested_early_ &= ~bit;
}

/// Counts from `cycle` on.
void IssueState::rebase(uint32_t cycle) {
  const auto shift = [cycle](uint8_t& time) { time = uint8_t(time > cycle ? time - cycle : 0); };
  std::for_each(in_file_.begin(), in_file_.end(), shift);
  shift(multiplier_free_);
  shift(divider_free_);
  shift(e0_reserved_);
  shift(fa_reserved_);
}

uint32_t IssueState::issue(std::span<const IssueInstruction> code, uint64_t address) {
  uint32_t cycles = 0;
  for (size_t i = 0; i < code.size(); ++i) {
    const uint64_t group = (address + 4 * i) / 16;
    bool only_e0_follows = false;
    for (size_t next = i + 1; next < code.size() && (address + 4 * next) / 16 == group; ++next) {
      if (!is_integer(code[next])) continue;
      only_e0_follows = row_of(code[next]).pipelines == kE0;
      break;
    }
    const bool joins = slot(code[i], group, only_e0_follows);
    const uint32_t cycle = cycle_of(code[i], joins ? 0 : 1);
    start(code[i], cycle);
    rebase(cycle);
    cycles += cycle;
  }
  return cycles;
}

uint32_t issue_cycles(std::span<const Instruction> before, std::span<const Instruction> code,
                      uint64_t address) {
  IssueState state;
  if (!before.empty()) state.issue(read_for_issue(before), address - 4 * before.size());
  return state.issue(read_for_issue(code), address);
}

}  // namespace respike::alpha
