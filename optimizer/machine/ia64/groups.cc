// Stops that nothing needs.
//
// Compilers end instruction groups where their schedule continues in the next cycle, and some
// compilers end them after each branch, though nothing in the next group depends on the previous
// group. A group takes at least a cycle, and stops leave slots empty.
//
// Example: in add r14=r15,r16;; add r17=r18,r19;; the first stop is removed, since the second add
// neither reads nor writes r14.
//
// Within a group no register may be read or written after an instruction that writes the register;
// memory may. There are exceptions both ways, which are not used, and resources without a name. So
// groups are joined only if all their instructions are known to touch nothing but their operands:
// instructions of the formats below. Any number of floating-point instructions in a group may add
// to the flags of fpsr, and no instruction of these formats reads the flags.
//
// A group that continues after the code, or that may have begun before the code, is left as it is:
// its other instructions are not known here.
//
// Source: Intel Itanium Architecture Software Developer's Manual, volume 1, section 3.4
// (dependences in groups); volume 3, chapter 5 (resources and their dependences). GNU as -xexplicit
// is a second implementation of these rules.

#include "optimizer/machine/ia64/groups.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <string_view>

#include "optimizer/machine/ia64/codec.h"
#include "optimizer/machine/ia64/encoding.h"
#include "optimizer/machine/ia64/meaning.h"

namespace respike::ia64 {
namespace {

constexpr size_t kLongest = 6;  // instructions that issue in one cycle

constexpr std::array<std::string_view, 56> kPlainFormats = {
    "A1",  "A2", "A3", "A4", "A5", "A6",  "A7",  "A8",  "A9",  "A10", "I1",  "I2",  "I3",  "I4",
    "I5",  "I6", "I7", "I8", "I9", "I10", "I11", "I12", "I13", "I14", "I15", "I16", "I17", "I22",
    "I29", "M1", "M2", "M3", "M4", "M5",  "M6",  "M7",  "M8",  "M9",  "M10", "M11", "M12", "M18",
    "M19", "F1", "F2", "F3", "F4", "F5",  "F6",  "F7",  "F8",  "F9",  "F10", "F11", "B1",  "X2"};

bool is_plain_format(std::string_view format) {
  return std::find(kPlainFormats.begin(), kPlainFormats.end(), format) != kPlainFormats.end();
}

constexpr Register kFpsrFlags = kApplication + 40;
constexpr uint16_t kFpsr = 1u << static_cast<unsigned>(Implicit::fpsr);

/// Whether all dependences between this and other instructions are through its operands.
bool is_plain(const Instruction& instruction) {
  const Op op = op_of(instruction);
  if (op == Op::long_half) return true;  // its other half decides
  if (instruction.opcode < kFirstRow || is_loop_branch(op)) return false;
  const Encoding& encoding = encoding_of(instruction);
  const bool arithmetic = encoding.type() == 'F';
  const uint16_t implicit = encoding.implicit_reads | encoding.implicit_writes;
  return (implicit & ~(arithmetic ? kFpsr : 0u)) == 0 && is_plain_format(encoding.format);
}

using Registers = std::bitset<kRegisterCount>;

struct Group {
  size_t end = 0;   // after its last instruction
  size_t size = 0;  // without no-ops
  bool plain = true;
  bool complete = false;  // no instruction after the code belongs to the group
  Registers touched, written;
};

Group read_group(const std::vector<Instruction>& code, size_t at) {
  Group group;
  for (bool stop = false; at < code.size() && !stop; ++at) {
    const Instruction& instruction = code[at];
    stop = has_stop(instruction);
    group.complete = stop || control_flow(instruction) == ControlFlow::branch;
    if (is_nop(instruction)) continue;
    ++group.size;
    group.plain = group.plain && is_plain(instruction);
    const Operands operands = ia64::operands(instruction);
    for (unsigned i = 0; i < operands.size; ++i) {
      const Register r = operands.registers[i];
      if (r == kFpsrFlags) continue;
      group.touched.set(r);
      if (i >= operands.uses) group.written.set(r);
    }
  }
  group.end = at;
  return group;
}

}  // namespace

void join_groups(std::vector<Instruction>& code, bool starts_group) {
  Group before;
  for (size_t at = 0; at < code.size();) {
    Group group = read_group(code, at);
    const bool joins = at != 0 && before.plain && group.plain && group.complete &&
                       before.size + group.size <= kLongest &&
                       (before.written & group.touched).none();
    if (joins) {
      set_stop(code[at - 1], false);
      group.size += before.size;
      group.touched |= before.touched;
      group.written |= before.written;
    }
    if (at == 0) group.plain = group.plain && starts_group;
    at = group.end;
    before = group;
  }
}

}  // namespace respike::ia64
