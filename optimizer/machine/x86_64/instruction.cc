// Bytes to Instruction and back.
//
// An Instruction keeps the form, the registers of the operands, the length and one number: for a
// direct branch, the displacement from its own start; for an operand relative to rip, the operand's
// address minus Program::origin_base; else the immediate operand, if it has at most 32 bits. With
// the address instead of the displacement, equal instructions of two programs are equal
// Instructions at any address.
//
// Respike never encodes an instruction of the input again: the encoder copies its bytes and patches
// a displacement or an immediate operand. Only jumps, whose length changes, are written anew.
//
// `registers` are 32 bits: reg, rm or base, index, vvvv (5 bits each); mask (3); whether there is a
// memory operand; operand size (2); REX; zeroing; the lowest bits of the opcode (4). A base of 16
// is rip, 31 is none. Forms without a mask reuse mask and zeroing: instructions whose fourth
// operand is in the immediate keep its number there, string instructions keep whether they repeat
// (in zeroing), VEX encodings the vector length (in the mask).
//
// Example: 48 8b 05 10 00 00 00 at 0x1000 with an origin_base of 0x1000 is mov with reg 0, base 16,
// length 7 and the number 0x17. At 0x1100 the encoder writes the displacement 0x17 - 0x107 = -0xf0.

#include "optimizer/machine/x86_64/instruction.h"

#include "optimizer/machine/x86_64/imports.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>

#include <fmt/format.h>

#include "optimizer/base/bytes.h"
#include "optimizer/image/image.h"
#include "optimizer/machine/x86_64/added.h"
#include "optimizer/machine/x86_64/meaning.h"

namespace respike::x86_64 {
namespace {

constexpr unsigned kNoNumber = 31;  // of a base or an index

// ---- the forms that the encoder knows ----

unsigned form_of_bytes(std::initializer_list<uint8_t> bytes) {
  return decode(std::span(bytes.begin(), bytes.size())).form;
}

struct KnownForms {
  unsigned jump = form_of_bytes({0xe9, 0, 0, 0, 0});
  unsigned short_jump = form_of_bytes({0xeb, 0});
  unsigned conditional = form_of_bytes({0x0f, 0x80, 0, 0, 0, 0});
  unsigned short_conditional = form_of_bytes({0x70, 0});
  unsigned call = form_of_bytes({0xe8, 0, 0, 0, 0});
  unsigned call_through = form_of_bytes({0xff, 0x15, 0, 0, 0, 0});
  unsigned nop = form_of_bytes({0x90});
  unsigned long_nop = form_of_bytes({0x0f, 0x1f, 0x00});  // and prefetches
  unsigned end_branch = form_of_bytes({0xf3, 0x0f, 0x1e, 0xfa});
  unsigned move_immediate = form_of_bytes({0x48, 0xc7, 0xc0, 0, 0, 0, 0});
  unsigned system_call = form_of_bytes({0x0f, 0x05});
};

const KnownForms& known() {
  static const KnownForms forms;
  return forms;
}

bool is_jump(const Instruction& i) {
  return form_number(i) == known().jump;
}
bool is_conditional_jump(const Instruction& i) {
  return form_number(i) == known().conditional;
}
bool is_added_call(const Instruction& i) {
  return i.origin == kNone && form_number(i) == known().call;
}
/// Whether the encoder writes the instruction itself: jumps without prefixes.
bool has_two_lengths(const Instruction& i) {
  return (is_jump(i) || is_conditional_jump(i)) && (i.flags & kKeepsBytes) == 0;
}

void set_bytes(Instruction& instruction, unsigned length) {
  instruction.flags = static_cast<uint8_t>((instruction.flags & 0x0f) | length << kLengthShift);
}

Instruction make(unsigned form, unsigned length) {
  Instruction result;
  result.opcode = static_cast<uint16_t>(kFirstMachineOpcode + form);
  set_bytes(result, length);
  return result;
}

// ---- bytes to Instruction ----

bool has_fourth_operand(const Form& form) {
  return std::any_of(form.operands, form.operands + form.operand_count,
                     [](const OperandForm& operand) { return operand.method == 'L'; });
}

bool repeats(const Form& form, const Decoded& d) {
  return form.repeats && (d.prefixes & (Decoded::kRepeat | Decoded::kRepeatNot)) != 0;
}

uint32_t pack_fields(const Decoded& d, const Form& form, const uint8_t* code) {
  unsigned base = d.rm() | d.b, index = kNoNumber;
  if (!d.has_memory()) {
    if (form.space == Space::evex) base |= d.x << 1;
  } else if (d.is_rip_relative()) {
    base = kRip;
  } else if (d.rm() == 4) {
    index = (d.sib >> 3 & 7) | d.x;
    if (form.vector_index)
      index |= d.v4;
    else if (index == 4)
      index = kNoNumber;
    base = (d.sib & 7) == 5 && d.modrm >> 6 == 0 ? kNoNumber : (d.sib & 7u) | d.b;
  }
  unsigned mask = d.mask, zeroing = d.zeroing ? 1 : 0;
  if (has_fourth_operand(form)) {
    mask = code[d.immediate_at] >> 4 & 7;
    zeroing = code[d.immediate_at] >> 7;
  } else if (form.space == Space::vex) {
    mask = d.vector_length;
  } else if (repeats(form, d)) {
    zeroing = 1;
  }
  return (d.reg() | d.r | d.r4) | base << 5 | index << 10 | (d.vvvv | unsigned{d.v4}) << 15 |
         mask << 20 | (d.has_memory() ? 1u : 0u) << 23 | operand_size_index(form, d) << 24 |
         ((d.prefixes & Decoded::kRex) != 0 ? 1u : 0u) << 26 | zeroing << 27 |
         (d.opcode & 15u) << 28;
}

void pack_branch(const Decoded& d, const uint8_t* code, Instruction& out) {
  out.immediate = static_cast<int32_t>(d.length + branch_distance(d, code));
  uint32_t fields = 0;
  const bool short_form = d.form == known().short_jump || d.form == known().short_conditional;
  const bool jump = short_form || is_jump(out) || is_conditional_jump(out);
  if (form_of(d).condition) fields = (d.opcode & 15u) << 28;
  std::memcpy(out.registers, &fields, sizeof fields);
  if (!jump) return;
  const bool prefixed = d.length != d.immediate_size + (d.form == known().conditional ? 2 : 1);
  if (prefixed)
    out.flags |= kKeepsBytes;
  else if (short_form)
    out.opcode = static_cast<uint16_t>(
        kFirstMachineOpcode + (d.form == known().short_jump ? known().jump : known().conditional));
}

/// False when an Instruction cannot hold the decoded instruction.
bool pack(const Decoded& d, const uint8_t* code, uint32_t origin, Instruction& out) {
  const Form& form = form_of(d);
  out = make(d.form, d.length);
  out.origin = origin;
  if (d.jumps_over_lock) out.flags |= kJumpsOverLock;
  if (is_direct(form)) {
    if (d.immediate_size == 2) return false;  // processors differ
    pack_branch(d, code, out);
    return true;
  }
  const uint32_t fields = pack_fields(d, form, code);
  std::memcpy(out.registers, &fields, sizeof fields);
  if (!d.is_rip_relative()) {
    if (d.immediate_size != 0 && d.immediate_size <= 4)
      out.immediate = static_cast<int32_t>(read_signed(code + d.immediate_at, d.immediate_size));
    return true;
  }
  if ((d.prefixes & Decoded::kAddressSize) != 0) return false;  // addresses of 32 bits
  const int64_t target =
      int64_t{origin} + d.length + read_signed(code + d.displacement_at, d.displacement_size);
  out.immediate = static_cast<int32_t>(target);
  return out.immediate == target;
}

// ---- Instruction to bytes ----

class Encoder {
 public:
  Encoder(const CodePlace& place, std::vector<uint8_t>& out)
      : place_(place), out_(out), start_(out.size()) {}

  void write(const Instruction& instruction) {
    at_ = out_.size();
    if (instruction.opcode == kInvalid)
      out_.push_back(static_cast<uint8_t>(instruction.immediate));
    else if (has_two_lengths(instruction) || is_added_call(instruction))
      write_jump(instruction);
    else if (instruction.origin == kNone)
      write_added(instruction, address(), place_.origin_base, out_);
    else
      write_copy(instruction);
    assert(out_.size() - at_ == length_of(instruction));
  }

 private:
  uint64_t address() const { return place_.address + (at_ - start_); }

  void write_number(size_t at, unsigned size, int64_t value) {
    if (!fits_signed(value, 8 * size))
      throw Error(fmt::format("an instruction at {:#x} cannot refer so far", address()));
    std::memcpy(&out_[at], &value, size);
  }

  void write_jump(const Instruction& jump) {
    const unsigned length = length_of(jump);
    const bool is_short = length == 2;
    const uint8_t condition = opcode_bits(jump);
    if (is_added_call(jump)) {
      out_.push_back(0xe8);
    } else if (is_jump(jump)) {
      out_.push_back(is_short ? 0xeb : 0xe9);
    } else if (is_short) {
      out_.push_back(0x70 | condition);
    } else {
      out_.insert(out_.end(), {0x0f, static_cast<uint8_t>(0x80 | condition)});
    }
    out_.resize(at_ + length);
    const unsigned size = is_short ? 1 : 4;
    write_number(out_.size() - size, size, int64_t{jump.immediate} - length);
  }

  /// Whether the instruction is a call of an import that was a call of a stub, see kImports.
  bool was_direct(const Instruction& instruction) const {
    return form_number(instruction) == known().call_through &&
           bytes_at(place_.origin_base + instruction.origin, 1)[0] == 0xe8;
  }

  void write_call_through(const Instruction& call) {
    out_.insert(out_.end(), {0xff, 0x15, 0, 0, 0, 0});
    write_number(at_ + 2, 4,
                 int64_t{call.immediate} - static_cast<int64_t>(address() - place_.origin_base) -
                     length_of(call));
  }

  void write_copy(const Instruction& instruction) {
    if (was_direct(instruction)) return write_call_through(instruction);
    const uint64_t origin = place_.origin_base + instruction.origin;
    const unsigned length = length_of(instruction);
    const std::span<const uint8_t> bytes = bytes_at(origin, length);
    out_.insert(out_.end(), bytes.begin(), bytes.end());
    if (!kWholeAddresses.relative(instruction) && !is_patched(instruction)) return;
    const Decoded d = decode_unit(bytes);
    if (d.length != length) throw Error("internal error: the bytes of an instruction changed");
    if (is_direct(form_of(d)))
      return write_number(at_ + d.immediate_at, d.immediate_size,
                          int64_t{instruction.immediate} - length);
    if ((instruction.flags & kHasAddress) != 0)
      write_number(at_ + d.immediate_at, d.immediate_size, instruction.immediate);
    if (!d.is_rip_relative()) return;
    int64_t target = static_cast<int64_t>(place_.origin_base) + instruction.immediate;
    if ((instruction.flags & kFromPlace) != 0)
      target = static_cast<int64_t>(address()) + instruction.immediate;
    else if ((instruction.flags & kHasAddress) != 0)
      target = static_cast<int64_t>(origin) + length +
               read_signed(bytes.data() + d.displacement_at, d.displacement_size);
    write_number(at_ + d.displacement_at, d.displacement_size,
                 target - static_cast<int64_t>(address() + length));
  }

  /// The bytes as the lifter has read them.
  std::span<const uint8_t> bytes_at(uint64_t address, unsigned length) const {
    const Section* section = place_.input == nullptr ? nullptr : place_.input->section_at(address);
    if (section == nullptr || section->contents.size() < address - section->address + length)
      throw Error("internal error: an instruction has no bytes");
    return section->contents.subspan(address - section->address, length);
  }

  static bool is_patched(const Instruction& instruction) {
    return (instruction.flags & kHasAddress) != 0 ||
           is_direct(forms().forms[form_number(instruction)]);
  }

  const CodePlace& place_;
  std::vector<uint8_t>& out_;
  const size_t start_;  // of the run in out_
  size_t at_ = 0;       // of the instruction
};

// ---- facts ----

InstructionFacts facts_of(const Form& form) {
  InstructionFacts facts;
  const bool direct = is_direct(form);
  switch (form.flow) {
    case Flow::none:
      break;
    case Flow::branch:
      facts.flow = ControlFlow::conditional_branch;
      facts.stays_near = form.operands[0].type == 'b';
      break;
    case Flow::jump:
      facts.flow = direct ? ControlFlow::branch : ControlFlow::indirect_jump;
      facts.stays_near = direct && form.operands[0].type == 'b';
      facts.falls_through = false;
      break;
    case Flow::call:
      facts.flow = direct ? ControlFlow::call : ControlFlow::indirect_call;
      break;
    case Flow::ret:
      facts.flow = ControlFlow::return_jump;
      facts.falls_through = false;
      break;
    case Flow::stop:
      facts.flow = ControlFlow::stop;
      facts.falls_through = false;
      break;
    case Flow::system:
      facts.system_call = true;
      break;
  }
  return facts;
}

/// How the fields of an instruction determine the source of the value that it writes or jumps to.
enum class Passing : uint8_t {
  none,      // the form alone says it
  target,    // of a jump or call: a register or memory
  move,      // to a register or memory, from a register
  load,      // from a register or memory, to a register
  select,    // a conditional move
  bits,      // or, and, xor; compilers clear registers by xor
  subtract,  // and add, with carry or without; sbb makes 0 or -1 of a register and itself
  number,    // or, and, xor of a register and a number; compilers make -1 by or
};

struct FormFacts {
  InstructionFacts facts;
  bool differ = false;  // instructions of the form differ in them
  Passing passing = Passing::none;
};

Passing passing_of(const Form& form) {
  if ((form.flow == Flow::jump || form.flow == Flow::call) && !is_direct(form))
    return Passing::target;
  if (form.name == "cmov") return Passing::select;
  if (form.operand_count != 2 || form.operands[0].type != 'v') return Passing::none;
  const char from = form.operands[1].method;
  if (form.name == "or and xor" && from == 'I' && form.operands[0].method == 'E')
    return Passing::number;
  if (from != 'E' && from != 'G') return Passing::none;
  if (form.name == "mov") return from == 'E' ? Passing::load : Passing::move;
  if (form.name == "or and xor") return Passing::bits;
  return form.name == "add sub" || form.name == "adc sbb" ? Passing::subtract : Passing::none;
}

/// Only whole addresses count, of 64 bits. The result of an operation on 32 bits of a register with
/// itself is not an address.
ValueSource source_of(Passing passing, const Instruction& instruction) {
  constexpr unsigned kOr = 8;  // of the opcode's lowest bits: or, rather than and, xor
  uint32_t fields;
  std::memcpy(&fields, instruction.registers, sizeof fields);
  const bool memory = (fields >> 23 & 1) != 0, whole = (fields >> 24 & 3) == 2;
  if (passing == Passing::number) {
    constexpr unsigned kOrNumber = 1;  // ModRM.reg
    const bool constant = !memory && (fields & 31) == kOrNumber && instruction.immediate == -1;
    return constant ? ValueSource::equality : ValueSource::computed;
  }
  if (passing == Passing::target) return memory ? ValueSource::loaded : ValueSource::copied;
  if (passing == Passing::bits || passing == Passing::subtract) {
    const bool keeps = passing == Passing::bits && (fields >> 28) >= kOr;
    const bool same = !memory && (fields & 31) == (fields >> 5 & 31);
    return !whole && same && !keeps ? ValueSource::equality : ValueSource::computed;
  }
  if (!whole) return ValueSource::computed;
  if (!memory) return passing == Passing::select ? ValueSource::selected : ValueSource::copied;
  return passing == Passing::load ? ValueSource::loaded : ValueSource::computed;
}

/// By form. Not inlined, since facts() is called several times for each instruction of an image.
[[gnu::noinline]] std::vector<FormFacts> make_facts() {
  std::vector<FormFacts> result;
  for (const Form& form : forms().forms) {
    FormFacts row{.facts = facts_of(form)};
    row.facts.nop = result.size() == known().nop;
    row.facts.marks_target = result.size() == known().end_branch;
    row.passing = passing_of(form);
    row.differ = row.passing != Passing::none || result.size() == known().long_nop ||
                 row.facts.flow == ControlFlow::call;
    if (form.name == "pop") row.facts.source = ValueSource::loaded;
    result.push_back(row);
  }
  return result;
}

// ---- operands ----

template <typename F>
void for_each_register(const RegisterSet& set, F f) {
  const auto each = [&](uint32_t bits, unsigned first) {
    for (; bits != 0; bits &= bits - 1)
      f(static_cast<Register>(first + static_cast<unsigned>(__builtin_ctz(bits))));
  };
  for (uint32_t bits = set.general; bits != 0; bits &= bits - 1)
    f(register_of(static_cast<unsigned>(__builtin_ctz(bits))));
  each(set.vector, kVectors);
  each(set.mask, kMasks);
  if (set.mmx != 0) f(kMmx);
}

template <typename F>
void for_each_flag(unsigned flags, F f) {
  for (; flags != 0; flags &= flags - 1)
    f(static_cast<Register>(kFlags + static_cast<unsigned>(__builtin_ctz(flags))));
}

constexpr uint8_t kAllFlags = 127;

/// For instructions whose effects are not described: everything that compilers keep in registers.
Effects everything() {
  Effects effects;
  effects.reads.general = effects.writes.general = effects.keeps.general = 0xffff;
  effects.flags_read = effects.flags_written = kAllFlags;
  effects.keeps_flags = true;
  return effects;
}

}  // namespace

// ---- codec ----

unsigned length(std::span<const uint8_t> code) {
  const Decoded decoded = decode_unit(code);
  return decoded.valid() ? decoded.length : 1;
}

void decode_all(std::span<const uint8_t> code, uint32_t origin, Instruction* out) {
  while (!code.empty()) {
    const Decoded decoded = decode_unit(code);
    if (!decoded.valid() || !pack(decoded, code.data(), origin, *out)) {
      *out = {.immediate = code[0], .origin = origin};
      set_bytes(*out, decoded.valid() ? decoded.length : 1);
    }
    const unsigned size = length_of(*out++);
    code = code.subspan(size);
    origin += size;
  }
}

void encode_all(std::span<const Instruction> run, const CodePlace& place,
                std::vector<uint8_t>& out) {
  Encoder encoder(place, out);
  for (const Instruction& instruction : run) encoder.write(instruction);
}

Decoded unpack(const Instruction& instruction) {
  Decoded d;
  d.form = static_cast<uint16_t>(form_number(instruction));
  const Form& form = form_of(d);
  uint32_t fields;
  std::memcpy(&fields, instruction.registers, sizeof fields);
  const unsigned reg = fields & 31, base = fields >> 5 & 31, index = fields >> 10 & 31,
                 vvvv = fields >> 15 & 31, mask = fields >> 20 & 7, size = fields >> 24 & 3,
                 zeroing = fields >> 27 & 1;
  const bool memory = (fields >> 23 & 1) != 0;
  d.length = static_cast<uint8_t>(length_of(instruction));
  d.modrm_at = 1;
  d.r = reg & 8;
  d.r4 = reg & 16;
  d.vvvv = vvvv & 15;
  d.v4 = vvvv & 16;
  if (size == 2) d.w = 1;
  if (size == 0) d.prefixes |= Decoded::kOperandSize;
  if ((fields >> 26 & 1) != 0) d.prefixes |= Decoded::kRex;
  d.opcode = static_cast<uint8_t>(fields >> 28);
  d.modrm = static_cast<uint8_t>((reg & 7) << 3);
  if (!memory) {
    d.modrm |= 0xc0 | (base & 7);
    d.b = base & 8;
    d.x = (base & 16) >> 1;
  } else if (base == kRip) {
    d.modrm |= 5;
  } else {  // in SIB form, with a displacement where there is a base
    d.modrm |= base == kNoNumber ? 4 : 0x44;
    d.sib = static_cast<uint8_t>((base == kNoNumber ? 5 : base & 7) |
                                 (index == kNoNumber ? 4 : index & 7) << 3);
    if (base != kNoNumber) d.b = base & 8;
    if (index != kNoNumber) d.x = index & 8;
    if (form.vector_index) d.v4 = index & 16;
  }
  if (has_fourth_operand(form)) return d;
  if (form.space == Space::vex) {
    d.vector_length = static_cast<uint8_t>(mask);
  } else if (form.space == Space::evex) {
    d.mask = static_cast<uint8_t>(mask);
    d.zeroing = zeroing != 0;
  } else if (zeroing != 0) {
    d.prefixes |= Decoded::kRepeat;
  }
  return d;
}

// ---- facts ----

/// The facts of an instruction of a form whose instructions have different facts.
[[gnu::noinline]] InstructionFacts different_facts(const FormFacts& row,
                                                   const Instruction& instruction) {
  InstructionFacts facts = row.facts;
  if (row.passing != Passing::none) {
    facts.source = source_of(row.passing, instruction);
    return facts;
  }
  // A reserved hint is not padding: it may do something on some processor.
  if (facts.flow != ControlFlow::call) facts.nop = opcode_bits(instruction) == 15;
  // A call of the next instruction.
  if (facts.flow == ControlFlow::call && !instruction.has_reference() &&
      static_cast<unsigned>(instruction.immediate) == length_of(instruction))
    facts.get_pc = true;
  return facts;
}

InstructionFacts facts(const Instruction& instruction) {
  static const std::vector<FormFacts> by_form = make_facts();
  const FormFacts& row = by_form[form_number(instruction)];
  return row.differ ? different_facts(row, instruction) : row.facts;
}

Operands operands(const Instruction& instruction) {
  Operands result;
  if (instruction.opcode < kFirstMachineOpcode) return result;
  const Decoded decoded = unpack(instruction);
  // The bytes are read only for the number of a fourth operand.
  const uint8_t fourth[16] = {static_cast<uint8_t>((instruction.registers[2] >> 4 & 7) << 4 |
                                                   (instruction.registers[3] >> 3 & 1) << 7)};
  Effects effects = effects_of(decoded, fourth);
  if (effects.sees) {
    effects.reads = everything().reads;
    effects.flags_read = kAllFlags;
  } else if (!effects.described) {
    effects = everything();
  }
  const auto add = [&](Register r) { result.registers[result.size++] = r; };
  RegisterSet reads = effects.reads;
  reads |= effects.keeps;
  constexpr uint8_t kEqual = 0x74;  // je and jne read the same flag
  if ((instruction.flags & kJumpsOverLock) != 0 && !is_direct(form_of(decoded)))
    effects.flags_read |= condition_flags(kEqual);
  const uint8_t written = effects.flags_written | effects.flags_undefined;
  for_each_register(reads, add);
  for_each_flag(effects.flags_read | (effects.keeps_flags ? written : 0u), add);
  result.uses = result.size;
  for_each_register(effects.writes, add);
  for_each_flag(written, add);
  assert(result.size <= std::size(result.registers));
  return result;
}

/// mov $15,%rax; syscall: libgcc's unwinder looks for these bytes at a return address.
bool is_signal_return(std::span<const Instruction> instructions) {
  constexpr int kSignalReturn = 15;  // of rt_sigreturn
  const Instruction* before = nullptr;
  for (const Instruction& instruction : instructions) {
    if (instruction.is_pseudo()) continue;
    if (before != nullptr && form_number(instruction) == known().system_call &&
        form_number(*before) == known().move_immediate && before->immediate == kSignalReturn)
      return true;
    before = &instruction;
  }
  return false;
}

// ---- branches and references ----

Instruction jump() {
  return make(known().jump, 5);
}

Instruction call() {
  return make(known().call, 5);
}

namespace {

/// ff 25, a jump through memory, after endbr64 or the prefix bnd where a compiler wants these.
std::optional<uint64_t> stub_pointer(std::span<const uint8_t> code, uint64_t address) {
  constexpr uint8_t kEndBranch[] = {0xf3, 0x0f, 0x1e, 0xfa};
  size_t at = 0;
  if (code.size() >= 4 && std::ranges::equal(code.first(4), kEndBranch)) at = 4;
  if (at < code.size() && code[at] == 0xf2) ++at;
  if (code.size() < at + 6 || code[at] != 0xff || code[at + 1] != 0x25) return std::nullopt;
  int32_t distance;
  std::memcpy(&distance, &code[at + 2], sizeof distance);
  return address + at + 6 + static_cast<uint64_t>(int64_t{distance});
}

constexpr std::array<uint8_t, 6> kCallThrough = {0xff, 0x15, 0, 0, 0, 0};

bool call_through(Instruction& call, int32_t pointer) {
  if (length_of(call) != 5) return false;  // prefixes, as linkers need for calls of __tls_get_addr
  decode_all(kCallThrough, call.origin, &call);
  call.flags &= static_cast<uint8_t>(~kFromPlace);
  call.immediate = pointer;
  return true;
}

std::optional<int64_t> pointer_of_call(const Instruction& call) {
  if (form_number(call) != known().call_through || length_of(call) != kCallThrough.size() ||
      call.has_reference())
    return std::nullopt;
  return kWholeAddresses.relative(call);
}

}  // namespace

const Imports kImports = {
    .pointer_of = stub_pointer, .call_through = call_through, .pointer_of_call = pointer_of_call};

bool invert(Instruction& branch) {
  if (!is_conditional_jump(branch) || (branch.flags & kKeepsBytes) != 0) return false;
  branch.registers[3] ^= 0x10;
  return true;
}

void set_length(Instruction& branch, bool is_long) {
  if (!has_two_lengths(branch)) return;
  set_bytes(branch, !is_long ? 2 : is_jump(branch) ? 5 : 6);
}

bool is_short(const Instruction& branch) {
  return has_two_lengths(branch) && length_of(branch) == 2;
}

bool apply(Instruction& instruction, ReferenceKind kind, uint64_t place, uint64_t target,
           uint64_t) {
  const auto distance = static_cast<int64_t>(target - place);
  int64_t value = distance;
  uint8_t how = 0;
  switch (kind) {
    case ReferenceKind::branch: {
      const unsigned length = length_of(instruction);
      if (!fits_signed(distance - length, has_two_lengths(instruction) && length == 2 ? 8 : 32))
        return false;
      break;
    }
    case ReferenceKind::pc_relative32:
      how = kFromPlace;
      break;
    case ReferenceKind::address32:
      value = static_cast<int64_t>(target);
      how = kHasAddress;
      break;
    default:  // of data, or of other machines
      return false;
  }
  if (!fits_signed(value, 32)) return false;
  instruction.flags = static_cast<uint8_t>((instruction.flags & ~Instruction::kHasReference) | how);
  instruction.immediate = static_cast<int32_t>(value);
  return true;
}

}  // namespace respike::x86_64
