// What a decoded instruction reads and writes, from the operands of its form.
//
// Each operand is a field of the instruction, a register that the row names, or memory. A write of
// 8 or 16 bits keeps the rest of a general register; a write of 32 bits clears the upper half
// (Software Developer's Manual, volume 1, 3.4.1.1). An EVEX instruction with a mask and without
// zeroing keeps elements of its destination (volume 2, 2.7.4), so it also reads the destination.
//
// Example: 01 4b 08, add %ecx,0x8(%rbx), reads rcx and rbx, reads and writes 4 bytes at rbx + 8,
// and writes all status flags.

#include "optimizer/machine/x86_64/meaning.h"

#include <algorithm>
#include <cstring>

namespace respike::x86_64 {

RegisterSet& RegisterSet::operator|=(const RegisterSet& other) {
  vector |= other.vector;
  general |= other.general;
  mask |= other.mask;
  mmx |= other.mmx;
  return *this;
}

namespace {

class Reader {
 public:
  Reader(const Decoded& decoded, const uint8_t* code)
      : decoded_(decoded),
        form_(form_of(decoded)),
        code_(code),
        size_index_(operand_size_index(form_, decoded)) {}

  Effects run();

 private:
  unsigned size_of(char type) const;
  unsigned vector_bytes() const { return 16u << decoded_.vector_length; }
  void add(const RegisterSet& set, uint8_t access, bool keeps);
  void add_general(unsigned number, unsigned size, uint8_t access);
  void add_byte(unsigned number, uint8_t access);
  void add_vector(unsigned number, uint8_t access);
  void add_mmx(unsigned number, uint8_t access) {
    add({.mmx = static_cast<uint8_t>(1 << number)}, access, false);
  }
  void add_mask(unsigned number, uint8_t access) {
    add({.mask = static_cast<uint8_t>(1 << (number & 7))}, access, false);
  }
  void add_memory(const MemoryOperand& operand);
  void add_operand(const OperandForm& operand);
  void add_register(const OperandForm& operand);
  void add_string(const OperandForm& operand);
  MemoryOperand modrm_memory(const OperandForm& operand) const;
  int64_t displacement(unsigned unit) const;
  void add_stack();
  void add_masking();
  void add_repetition();
  void add_whole_files();

  const Decoded& decoded_;
  const Form& form_;
  const uint8_t* code_;
  unsigned size_index_;
  Effects out_;
};

unsigned Reader::size_of(char type) const {
  constexpr unsigned kByOperandSize[] = {2, 4, 8};
  const unsigned v = kByOperandSize[size_index_];
  switch (type) {
    case 'b':
      return 1;
    case 'w':
      return 2;
    case 'd':
      return 4;
    case 'q':
      return 8;
    case 'o':
      return 16;
    case 't':
      return 10;
    case 'Q':
      return 32;
    case 'v':
      return v;
    case 'z':
      return std::min(v, 4u);
    case 'y':
      return size_index_ == 2 ? 8 : 4;
    case 'c':
      return v + 2;
    case 'k':
      return size_index_ == 0 ? 14 : 28;
    case 's':
      return size_index_ == 0 ? 94 : 108;
    case 'x':
      return vector_bytes();
    case 'h':
      return vector_bytes() / 2;
    case 'f':
      return vector_bytes() / 4;
    case 'e':
      return vector_bytes() / 8;
    default:
      return 0;
  }
}

void Reader::add(const RegisterSet& set, uint8_t access, bool keeps) {
  if ((access & kRead) != 0) out_.reads |= set;
  if ((access & kWrite) == 0) return;
  out_.writes |= set;
  if (keeps || (access & kMayKeep) != 0) out_.keeps |= set;
}

void Reader::add_general(unsigned number, unsigned size, uint8_t access) {
  add({.general = static_cast<uint16_t>(1u << number)}, access, size < 4);
}

/// Without REX, the numbers 4 to 7 are ah, ch, dh, bh.
void Reader::add_byte(unsigned number, uint8_t access) {
  const bool high = number >= 4 && number < 8 && (decoded_.prefixes & Decoded::kRex) == 0 &&
                    form_.space == Space::legacy;
  add_general(high ? number - 4 : number, 1, access);
}

void Reader::add_vector(unsigned number, uint8_t access) {
  add({.vector = 1u << number}, access, false);
}

/// In EVEX encodings, displacements of one byte count in units.
int64_t Reader::displacement(unsigned unit) const {
  if (decoded_.displacement_size == 0) return 0;
  const int64_t value = read_signed(code_ + decoded_.displacement_at, decoded_.displacement_size);
  if (form_.space != Space::evex || decoded_.displacement_size != 1) return value;
  return value * (form_.compression != 0 ? form_.compression : unit);
}

MemoryOperand Reader::modrm_memory(const OperandForm& operand) const {
  MemoryOperand memory;
  if (operand.type != 'n') memory.segment = decoded_.segment;
  memory.access = operand.access;
  memory.size = static_cast<uint16_t>(size_of(operand.type));
  if (decoded_.broadcast && operand.broadcast != 0)
    memory.size = operand.broadcast > 1 ? operand.broadcast : decoded_.w != 0 ? 8 : 4;
  const unsigned mode = decoded_.modrm >> 6;
  if (decoded_.rm() == 4) {
    const unsigned base = decoded_.sib & 7, index = (decoded_.sib >> 3 & 7) | decoded_.x;
    if (base != 5 || mode != 0) memory.base = static_cast<uint8_t>(base | decoded_.b);
    memory.scale = static_cast<uint8_t>(1 << (decoded_.sib >> 6));
    memory.vector_index = form_.vector_index;
    if (form_.vector_index)
      memory.index = static_cast<uint8_t>(index | decoded_.v4);
    else if (index != 4)
      memory.index = static_cast<uint8_t>(index);
    if (memory.index == kNoRegister) memory.scale = 1;
  } else if (decoded_.is_rip_relative()) {
    memory.base = kRip;
  } else {
    memory.base = static_cast<uint8_t>(decoded_.rm() | decoded_.b);
  }
  memory.displacement = displacement(memory.size);
  return memory;
}

void Reader::add_memory(const MemoryOperand& operand) {
  if (operand.base < kRip) add_general(operand.base, 8, kRead);
  if (operand.index != kNoRegister) {
    if (operand.vector_index)
      add_vector(operand.index, kRead);
    else
      add_general(operand.index, 8, kRead);
  }
  out_.memory[out_.memory_operands++] = operand;
}

/// Memory at rsi, rdi, or a register that the row names. String instructions advance their
/// register.
void Reader::add_string(const OperandForm& operand) {
  MemoryOperand memory;
  memory.access = operand.access;
  memory.size = static_cast<uint16_t>(size_of(operand.type));
  memory.base = operand.number;
  if (operand.method == 'X') memory.base = kRsi;
  if (operand.method == 'Y') memory.base = kRdi;
  if (operand.method != 'Y') memory.segment = decoded_.segment;
  if (operand.method == '@' && operand.number == kRbx) memory.index = kRax;
  add_memory(memory);
  if (operand.method != '@') add_general(memory.base, 8, kRead | kWrite);
}

void Reader::add_register(const OperandForm& operand) {
  const unsigned reg = decoded_.reg() | decoded_.r;
  const unsigned rm = decoded_.rm() | decoded_.b;
  const unsigned size = size_of(operand.type);
  const auto general = [&](unsigned number) {
    if (size == 1)
      add_byte(number, operand.access);
    else
      add_general(number, size, operand.access);
  };
  switch (operand.method) {
    case 'E':
    case 'R':
      return general(rm);
    case 'G':
      return general(reg);
    case 'B':
      return general(decoded_.vvvv);
    case 'Z':
      return general((decoded_.opcode & 7u) | decoded_.b);
    case 'r':
      return add_general(operand.number, size, operand.access);
    case 'a':
      return add_general(kRax, size, operand.access);
    case 'x':
      return add_vector(0, operand.access);
    case 'V':
      return add_vector(reg | decoded_.r4, operand.access);
    case 'H':
      return add_vector(decoded_.vvvv | unsigned{decoded_.v4}, operand.access);
    case 'W':
    case 'U':
      return add_vector(rm | (form_.space == Space::evex ? decoded_.x << 1 : 0), operand.access);
    case 'L':
      return add_vector(code_[decoded_.immediate_at] >> 4, operand.access);
    case 'P':
      return add_mmx(decoded_.reg(), operand.access);
    case 'Q':
    case 'N':
      return add_mmx(decoded_.rm(), operand.access);
    case 'K':
      return add_mask(decoded_.reg(), operand.access);
    case 'T':
      return add_mask(decoded_.rm(), operand.access);
    case 'J':
      return add_mask(decoded_.vvvv, operand.access);
    default:  // immediates; segment, control and debug registers, which no analysis asks for
      return;
  }
}

void Reader::add_operand(const OperandForm& operand) {
  switch (operand.method) {
    case 'X':
    case 'Y':
    case '@':
      return add_string(operand);
    case 'O': {
      MemoryOperand memory;
      memory.access = operand.access;
      memory.segment = decoded_.segment;
      memory.size = static_cast<uint16_t>(size_of(operand.type));
      memory.displacement = displacement(1);
      return add_memory(memory);
    }
    case 'E':
    case 'M':
    case 'W':
    case 'Q':
    case 'T':
      if (decoded_.has_memory()) return add_memory(modrm_memory(operand));
      [[fallthrough]];
    default:
      return add_register(operand);
  }
}

void Reader::add_stack() {
  if (!form_.push && !form_.pop && !form_.leave) return;
  const auto size = static_cast<uint16_t>(size_index_ == 0 ? 2 : 8);
  MemoryOperand memory{.base = kRsp, .stack = true, .access = kRead, .size = size};
  if (form_.push) {
    memory.access = kWrite;
    memory.displacement = -int64_t{size};
  }
  if (form_.leave) memory.base = kRbp;
  add_memory(memory);
  add_general(kRsp, 8, kRead | kWrite);
}

/// The mask register, and its effect on destinations.
void Reader::add_masking() {
  if (decoded_.mask == 0) return;
  add_mask(decoded_.mask, form_.vector_index ? kRead | kWrite : kRead);
  for (MemoryOperand& memory : std::span(out_.memory, out_.memory_operands))
    if ((memory.access & kWrite) != 0) memory.access |= kMayKeep;
  if (decoded_.zeroing || form_.selects) return;
  out_.reads.vector |= out_.writes.vector;
  out_.keeps.vector |= out_.writes.vector;
}

/// A string instruction that repeats 0 times changes no register.
void Reader::add_repetition() {
  out_.keeps = out_.writes;
  out_.keeps_flags = true;
  add_general(kRcx, 8, kRead | kWrite | kMayKeep);
}

void Reader::add_whole_files() {
  if (form_.zeroes) {
    out_.writes.vector |= 0xffff;
    if (decoded_.vector_length == 0) out_.keeps.vector |= 0xffff;
  }
  if (!form_.x87) return;
  out_.x87 = true;
  add({.mmx = 0xff}, kRead | kWrite, true);
}

Effects Reader::run() {
  out_.described = !form_.any && !form_.sees;
  out_.sees = form_.sees;
  for (const OperandForm& operand : std::span(form_.operands, form_.operand_count))
    add_operand(operand);
  add_stack();
  add_masking();
  add_whole_files();
  if (form_.repeats && (decoded_.prefixes & (Decoded::kRepeat | Decoded::kRepeatNot)) != 0)
    add_repetition();
  out_.flags_read = form_.reads;
  if (form_.condition) out_.flags_read |= condition_flags(decoded_.opcode);
  out_.flags_written = form_.writes;
  out_.flags_undefined = form_.undefined;
  out_.keeps_flags = form_.keeps_flags;
  return out_;
}

}  // namespace

Effects effects_of(const Decoded& decoded, const uint8_t* code) {
  return Reader(decoded, code).run();
}

bool is_direct(const Form& form) {
  return form.operand_count != 0 && form.operands[0].method == 'A';
}

int64_t branch_distance(const Decoded& decoded, const uint8_t* code) {
  return read_signed(code + decoded.immediate_at, decoded.immediate_size);
}

std::optional<uint8_t> inverse_condition(const Decoded& decoded) {
  const Form& form = form_of(decoded);
  if (form.flow != Flow::branch || !form.condition) return {};
  return decoded.opcode ^ 1;
}

uint8_t condition_flags(uint8_t opcode) {
  constexpr uint8_t kFlags[] = {kOverflow,
                                kCarry,
                                kZero,
                                kCarry | kZero,
                                kSign,
                                kParity,
                                kSign | kOverflow,
                                kZero | kSign | kOverflow};
  return kFlags[opcode >> 1 & 7];
}

}  // namespace respike::x86_64
