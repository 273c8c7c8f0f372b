// What code does with the return address that its call left on the stack.
//
// The depth of the stack above the return address is followed through pushes, pops, sums with rsp
// and frame pointers in rbp. Instructions that change the return address, or take it from the
// stack, are reported; effects that cannot be followed are reported as unknown.
//
// Example: after push %rbx the return address is at 8(%rsp); addq $1,8(%rsp) then changes it.

#include <algorithm>

#include "optimizer/machine/x86_64/instruction.h"
#include "optimizer/machine/x86_64/meaning.h"

namespace respike::x86_64 {
namespace {

bool moves_stack(const Instruction& instruction) {
  const std::string_view name = forms().forms[form_number(instruction)].name;
  return name == "push" || name == "pop";
}

bool touches(const Operands& effects, Register r, bool defs) {
  const auto all = std::span(effects.registers).first(effects.size);
  const auto part = defs ? all.subspan(effects.uses) : all.first(effects.uses);
  return std::ranges::find(part, r) != part.end();
}

/// Whether the memory operand is a plain sum of this base register and a constant.
bool has_base(const Decoded& d, unsigned base) {
  if (!d.has_memory() || d.b != 0 || d.rm() != base) return false;
  if (base == kRsp) return (d.sib & 7) == kRsp && (d.sib >> 3 & 7) == 4 && d.x == 0;
  return d.modrm >> 6 != 0;  // mod 0 of rbp is relative to rip
}

int64_t displacement_of(const Decoded& d, std::span<const uint8_t> bytes) {
  return d.displacement_size == 0 ? 0 : read_signed(&bytes[d.displacement_at], d.displacement_size);
}

/// The depth after an instruction that adds to rsp or moves rbp to it; nullopt: unknown. The caller
/// follows pushes and pops.
std::optional<int64_t> depth_behind(const Decoded& d, std::string_view name,
                                    std::span<const uint8_t> bytes,
                                    const PushedReturns::Depth& depth) {
  constexpr int64_t kWord = 8;
  constexpr unsigned kAdd = 0, kSub = 5;  // ModRM.reg of 81 and 83
  const bool sum = (d.opcode == 0x81 || d.opcode == 0x83) && name == "add sub" && d.w != 0;
  if (sum && !d.has_memory() && (d.reg() == kAdd || d.reg() == kSub)) {
    const int64_t by = read_signed(&bytes[d.immediate_at], d.immediate_size);
    return depth.bytes + (d.reg() == kSub ? by : -by);
  }
  if (name == "lea" && has_base(d, kRsp)) return depth.bytes - displacement_of(d, bytes);
  if (!depth.frame) return std::nullopt;
  if (name == "lea" && has_base(d, kRbp)) return *depth.frame - displacement_of(d, bytes);
  if (name == "leave") return *depth.frame - kWord;
  const bool from_rbp = (d.opcode == 0x89 && d.reg() == kRbp && d.r == 0) ||
                        (d.opcode == 0x8b && d.rm() == kRbp && d.b == 0);
  if (name == "mov" && !d.has_memory() && from_rbp) return depth.frame;
  return std::nullopt;
}

/// Whether the instruction leaves its operand unchanged, as by adding 0. "lock orq $0,(%rsp)" is
/// gcc's barrier.
bool changes_nothing(const Decoded& d, std::string_view name, std::span<const uint8_t> bytes) {
  constexpr unsigned kAnd = 4;  // ModRM.reg of 80 to 83
  if ((d.opcode & 0xfc) != 0x80 || d.immediate_size == 0 ||
      read_signed(&bytes[d.immediate_at], d.immediate_size) != 0)
    return false;
  return name == "add sub" || (name == "or and xor" && d.reg() != kAnd);
}

/// Whether the instruction may change the return address: any instruction that names its place, by
/// rsp or by a frame pointer, except a plain load. A store, an exchange and a sum do.
bool names_return_address(const Decoded& d, std::string_view name, std::span<const uint8_t> bytes,
                          const PushedReturns::Depth& depth) {
  const bool loads = name == "mov" && (d.opcode & 0xfe) == 0x8a;
  if (loads || name == "lea" || name == "push" || name == "cmp" || name == "test" ||
      changes_nothing(d, name, bytes))
    return false;
  const int64_t offset = displacement_of(d, bytes);
  return (has_base(d, kRsp) && offset == depth.bytes) ||
         (depth.frame && has_base(d, kRbp) && offset == *depth.frame);
}

/// Pushes, pops, sums of rsp with a constant, and frame pointers in rbp are followed.
PushedReturns::Use follow_stack(const Instruction& instruction, std::span<const uint8_t> bytes,
                                PushedReturns::Depth& depth) {
  using Use = PushedReturns::Use;
  if (form_number(instruction) == 0) return Use::unknown;
  const Decoded d = decode_unit(bytes);
  const std::string_view name = form_of(d).name;
  // Other code follows a system call that ends a thread, as in musl's __unmapself.
  if (form_of(d).sees) return Use::unknown;
  const Operands effects = operands(instruction);
  if (names_return_address(d, name, bytes, depth)) return Use::changed;
  const bool sets_stack = touches(effects, register_of(kRsp), true);
  const std::optional<int64_t> behind =
      sets_stack ? depth_behind(d, name, bytes, depth) : std::nullopt;
  if (touches(effects, register_of(kRbp), true)) {
    const bool frame = name == "mov" && !d.has_memory() &&
                       ((d.opcode == 0x89 && d.reg() == kRsp && d.r == 0) ||
                        (d.opcode == 0x8b && d.rm() == kRsp && d.b == 0));
    depth.frame = frame ? std::optional(depth.bytes) : std::nullopt;
  }
  if (!sets_stack) return Use::none;
  constexpr int64_t kWord = 8;
  if (name == "push") {
    depth.bytes += kWord;
    return Use::none;
  }
  if (name == "pop") {
    depth.bytes -= kWord;
    if (depth.bytes >= 0) return Use::none;
    const auto defs = std::span(effects.registers).first(effects.size).subspan(effects.uses);
    const auto to = std::ranges::find_if(defs, [](Register r) { return r != register_of(kRsp); });
    if (to == defs.end()) return Use::changed;
    depth.taken = *to;
    return Use::taken;
  }
  if (!behind) return Use::unknown;
  depth.bytes = *behind;
  return depth.bytes < 0 ? Use::changed : Use::none;
}

}  // namespace

constinit const PushedReturns kPushedReturns = {.follow = follow_stack, .moves = moves_stack};

}  // namespace respike::x86_64
