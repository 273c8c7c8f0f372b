// The requirements of each instruction on the Itanium 2: ports, operands, and its class in the
// tables of latencies.
//
// The format of an instruction, numbered as in the architecture manual, determines its class and
// its ports; the ports come from GCC's description (gcc/config/ia64/itanium2.md). Operands are the
// roles of the instruction table. A predicate is taken as true: an instruction takes its port and
// delivers its results. No instruction waits for ar.fpsr, whose status fields are renamed, for the
// frame marker, or for the registers of the register stack engine as operands.
//
// Example: `ld8 r8 = [r32]` (format M1) takes M0 or M1, uses r32 as an address, and delivers r8
// with the latency of class `load`.

#include "models/itanium2/instruction.h"

#include <algorithm>
#include <iterator>

#include "optimizer/machine/ia64/codec.h"

namespace respike::measure::itanium2 {
namespace {

using respike::Instruction;
using respike::ia64::Encoding;
using respike::ia64::Implicit;
using respike::ia64::kEncodings;
using respike::ia64::Op;
using respike::ia64::Slot;
using respike::ia64::unit;
using respike::ia64::Unit;

/// Kinds of the moves to and from an application register.
KindSet kinds_of_move(unsigned number, bool writes) {
  switch (number) {
    case 16:  // rsc
      return kRseAr | (writes ? kToRsc : 0u);
    case 17:  // bsp
      return kRseAr | (writes ? 0u : kFromBsp);
    case 18:  // bspstore
      return kRseAr | (writes ? kToBspstore : kFromBspstore);
    case 19:  // rnat
      return kRseAr | (writes ? kToRnat : kFromRnat);
    case 36:  // unat
      return writes ? kToUnat : kFromUnat;
    default:
      return 0;
  }
}

// ---- classes ----

constexpr KindSet kSrlz = kSrlzD | kSrlzI;

struct Traits {
  IssueClass issue_class;
  Ports ports;
  KindSet kinds = 0;
};

bool is_check_type(const Slot& slot) {
  return slot.d >> 4 >= 8;  // completers .c.clr, .c.nc, .c.clr.acq
}

Traits traits_of_memory(const Slot& slot, unsigned format) {
  switch (format) {
    case 1:
    case 2:
    case 3: {
      const bool fill = slot.op == Op::ld8_fill || slot.op == Op::ld8_fill_reg ||
                        slot.op == Op::ld8_fill_imm || slot.op == Op::ld16 ||
                        slot.op == Op::ld16_acq;
      return {!fill && is_check_type(slot) ? IssueClass::load_c : IssueClass::load, Ports::load};
    }
    case 4:
    case 5:
    case 9:
    case 10:
      return {IssueClass::store, Ports::store};
    case 6:
    case 7:
    case 8: {
      const bool fill =
          slot.op == Op::ldf_fill || slot.op == Op::ldf_fill_reg || slot.op == Op::ldf_fill_imm;
      if (fill || slot.d >> 4 < 2) return {IssueClass::fload, Ports::m};
      return {is_check_type(slot) ? IssueClass::load_c : IssueClass::fload, Ports::load};
    }
    case 11:
    case 12:
      return {is_check_type(slot) ? IssueClass::load_c : IssueClass::fload, Ports::load};
    case 13:
    case 14:
    case 15:
    case 52:
      return {IssueClass::lfetch, Ports::load};
    case 16:
    case 17:
      return {IssueClass::sem, Ports::store};
    case 18:
      return {IssueClass::setf, Ports::store};
    case 19:
      return {IssueClass::getf, Ports::m2};
    case 20:
    case 21:
      return {IssueClass::check, Ports::store};
    default:
      return {IssueClass::check, Ports::load};  // 22, 23
  }
}

Traits traits_of_system(const Slot& slot) {
  switch (slot.op) {
    case Op::nop_m:
    case Op::hint_m:
      return {IssueClass::nop, Ports::m};
    case Op::alloc:
      return {IssueClass::alloc, Ports::m2};
    case Op::mov_m_to_ar:
    case Op::mov_m_to_ar_imm8:
      return {IssueClass::to_ar_m, Ports::m2, kinds_of_move(slot.c, true)};
    case Op::mov_m_from_ar:
      return {slot.c == 17 || slot.c == 18 ? IssueClass::from_bsp : IssueClass::from_ar_m,
              Ports::m2, kinds_of_move(slot.c, false)};
    case Op::flushrs:
      return {IssueClass::system, Ports::m0, kFlushrs};
    case Op::loadrs:
      return {IssueClass::system, Ports::m0, kLoadrs};
    case Op::srlz_d:
      return {IssueClass::system, Ports::m0, kSrlzD};
    case Op::srlz_i:
      return {IssueClass::system, Ports::m0, kSrlzI};
    case Op::fwb:
    case Op::mf:
    case Op::mf_a:
    case Op::sync_i:
    case Op::invala:
      return {IssueClass::system, Ports::m0, kSerial};
    case Op::sum:
    case Op::rum:
    case Op::mov_to_psr_um:
      return {IssueClass::system, Ports::m2, kToUserMask};
    case Op::ssm:
    case Op::rsm:
    case Op::mov_to_psr_l:
      return {IssueClass::system, Ports::m2, kToStatus};
    case Op::mov_from_psr:
    case Op::mov_from_psr_um:
      return {IssueClass::from_slow, Ports::m2, kFromStatus};
    case Op::mov_to_rr:
    case Op::mov_to_pkr:
      return {IssueClass::system, Ports::m2, kToRegion};
    case Op::probe_r:
    case Op::probe_w:
    case Op::probe_r_imm2:
    case Op::probe_w_imm2:
    case Op::thash:
    case Op::ttag:
    case Op::tpa:
    case Op::tak:
      return {IssueClass::probe, Ports::m2};
    case Op::mov_from_cr:
    case Op::mov_from_rr:
    case Op::mov_from_dbr:
    case Op::mov_from_ibr:
    case Op::mov_from_pkr:
    case Op::mov_from_pmc:
    case Op::mov_from_pmd:
    case Op::mov_from_msr:
    case Op::mov_from_cpuid:
    case Op::mov_from_dahr:
      return {IssueClass::from_slow, Ports::m2};
    default:
      return {IssueClass::system, Ports::m2};
  }
}

Traits traits_of_integer(unsigned format) {
  switch (format) {
    case 1:
    case 9:
      return {IssueClass::mmmul, Ports::i0};
    case 2:
    case 3:
    case 4:
    case 5:
    case 6:
    case 7:
    case 8:
      return {IssueClass::mmshf, Ports::i};
    case 10:
    case 11:
    case 14:
    case 15:
      return {IssueClass::ishf, Ports::i0};
    case 12:
    case 13:
      return {IssueClass::mmshfi, Ports::i};
    case 16:
    case 17:
    case 30:
      return {IssueClass::tbit, Ports::i0};
    case 20:
      return {IssueClass::check, Ports::i};
    case 21:
      return {IssueClass::to_br, Ports::i0};
    case 22:
      return {IssueClass::from_br, Ports::i0};
    case 23:
    case 24:
      return {IssueClass::to_pr, Ports::i0};
    case 26:
    case 27:
      return {IssueClass::to_ar_i, Ports::i0};
    case 28:
      return {IssueClass::from_ar_i, Ports::i0};
    default:
      return {IssueClass::xtd, Ports::i};
  }
}

Traits traits_of_floating(const Slot& slot, unsigned format) {
  switch (format) {
    case 1:
    case 2:
      return {IssueClass::fmac, Ports::f, kFpOp};
    case 4:
    case 5:
      return {IssueClass::fcmp, Ports::f, kFpOp};
    case 10:
    case 11:
      return {IssueClass::fcvtfx, Ports::f, kFpOp};
    default:
      if (slot.op == Op::nop_f || slot.op == Op::hint_f) return {IssueClass::nop, Ports::f};
      return {IssueClass::fmisc, Ports::f, kFpOp};
  }
}

Traits traits_of_branch(const Slot& slot) {
  switch (slot.op) {
    case Op::nop_b:
    case Op::hint_b:
      return {IssueClass::nop, Ports::no_branch};
    case Op::brp:
    case Op::brp_ind:
    case Op::brp_ret:
      return {IssueClass::system, Ports::no_branch};
    case Op::epc:
      return {IssueClass::branch, Ports::branch, kEpc};
    case Op::bsw_0:
    case Op::bsw_1:
      return {IssueClass::branch, Ports::branch, kBsw};
    case Op::rfi:
      return {IssueClass::branch, Ports::branch, kRfi};
    default:
      return {IssueClass::branch, Ports::branch};
  }
}

Traits traits_of_type_a(unsigned format, Unit unit) {
  const Ports ports = unit == Unit::m ? Ports::m : Ports::i_or_m;
  if (format <= 5) return {IssueClass::ialu, ports};
  if (format <= 8) return {IssueClass::icmp, ports};
  return {IssueClass::mmalua, ports};
}

Traits traits_of_x(const Slot& slot) {
  switch (slot.op) {
    case Op::nop_x:
    case Op::hint_x:
      return {IssueClass::nop, Ports::long_i};
    case Op::brl_cond:
    case Op::brl_call:
      return {IssueClass::branch, Ports::long_i};
    default:
      return {IssueClass::long_i, Ports::long_i};
  }
}

/// The number of a format: 17 for "M17".
unsigned format_number(const Encoding& encoding) {
  unsigned number = 0;
  for (char digit : encoding.format.substr(std::min<size_t>(1, encoding.format.size())))
    number = number * 10 + static_cast<unsigned>(digit - '0');
  return number;
}

Traits traits_of(const Slot& slot) {
  const Encoding& encoding = kEncodings[static_cast<size_t>(slot.op)];
  const unsigned format = format_number(encoding);
  switch (encoding.type()) {
    case 'A':
      return traits_of_type_a(format, slot.unit);
    case 'I':
      if (slot.op == Op::nop_i || slot.op == Op::hint_i) return {IssueClass::nop, Ports::i};
      if (format == 25)
        return {slot.op == Op::mov_from_pr ? IssueClass::from_pr : IssueClass::from_br, Ports::i0};
      if (format == 29 && (slot.op == Op::czx1_l || slot.op == Op::czx2_l ||
                           slot.op == Op::czx1_r || slot.op == Op::czx2_r))
        return {IssueClass::mmshf, Ports::i};
      return traits_of_integer(format);
    case 'M':
      return format <= 23 || format == 52 ? traits_of_memory(slot, format) : traits_of_system(slot);
    case 'F':
      return traits_of_floating(slot, format);
    case 'B':
      return traits_of_branch(slot);
    case 'X':
      return traits_of_x(slot);
    default:
      return {IssueClass::system, slot.unit == Unit::b   ? Ports::branch
                                  : slot.unit == Unit::f ? Ports::f
                                  : slot.unit == Unit::m ? Ports::m
                                                         : Ports::i};
  }
}

// ---- operands ----

bool is_memory(IssueClass c) {
  return c == IssueClass::load || c == IssueClass::load_c || c == IssueClass::fload ||
         c == IssueClass::store || c == IssueClass::sem || c == IssueClass::lfetch;
}

/// The use that an instruction has for an operand; `address`: the operand is an address.
Use use_of(const Traits& traits, const Slot& slot, bool address) {
  switch (traits.issue_class) {
    case IssueClass::branch:
      return Use::branch;
    case IssueClass::mmalua:
    case IssueClass::mmmul:
    case IssueClass::mmshf:
      return Use::multimedia;
    case IssueClass::getf:
      return Use::float_exchange;
    case IssueClass::store: {
      const bool floating = kEncodings[static_cast<size_t>(slot.op)].name.starts_with("stf");
      if (!address && floating) return Use::float_exchange;
      break;
    }
    default:
      break;
  }
  if (address) return Use::address;
  const bool integer = traits.issue_class == IssueClass::ialu ||
                       traits.issue_class == IssueClass::ishf || is_memory(traits.issue_class);
  return integer ? Use::integer_or_memory : Use::other;
}

/// The number of an operand's register; kNone if the operand is a constant or no register.
constexpr uint16_t kNone = 0xffff;
uint16_t register_of(char kind, unsigned number) {
  const auto at = [&](uint16_t first) { return static_cast<uint16_t>(first + number); };
  switch (kind) {
    case 'R':
      return number == 0 ? kNone : at(kGeneralRegister);
    case 'F':
      return number < 2 ? kNone : at(kFloatingRegister);
    case 'P':
      return number == 0 ? kNone : at(kPredicateRegister);
    case 'B':
      return at(kBranchRegister);
    case 'A':
      return at(kApplicationRegister);
    default:
      return kNone;
  }
}

/// Implicit registers for which instructions wait. Not in the list: ar.fpsr, whose status fields
/// are renamed; the frame marker and the registers of the register stack engine, which are known
/// early.
constexpr std::pair<Implicit, uint16_t> kImplicit[] = {{Implicit::unat, kApplicationRegister + 36},
                                                       {Implicit::csd, kApplicationRegister + 25},
                                                       {Implicit::ccv, kApplicationRegister + 32},
                                                       {Implicit::pfs, kApplicationRegister + 64},
                                                       {Implicit::lc, kApplicationRegister + 65},
                                                       {Implicit::ec, kApplicationRegister + 66},
                                                       {Implicit::pr, kAllPredicates}};

void add_use(IssueInstruction& out, uint16_t number, Use use) {
  if (number != kNone && out.use_count < out.uses.size())
    out.uses[out.use_count++] = {number, use, IssueClass::nop};
}

void add_result(IssueInstruction& out, uint16_t number, IssueClass writer) {
  if (number != kNone && out.result_count < out.results.size())
    out.results[out.result_count++] = {number, Use::other, writer};
}

void read_operands(IssueInstruction& out, const Slot& slot, const Traits& traits) {
  const Encoding& encoding = kEncodings[static_cast<size_t>(slot.op)];
  const uint8_t fields[] = {slot.a, slot.b, slot.c, slot.d};
  if (slot.predicate != 0)
    add_use(out, register_of('P', slot.predicate), use_of(traits, slot, false));
  for (unsigned i = 0; i < encoding.operand_count; ++i) {
    const auto& role = encoding.operands[i];
    if (role.field > 3) continue;
    const uint16_t number = register_of(role.kind, fields[role.field]);
    const bool address = role.kind == 'R' && role.field == 2 && is_memory(traits.issue_class);
    if (role.reads) add_use(out, number, use_of(traits, slot, address));
    if (role.writes) add_result(out, number, address ? IssueClass::ialu : traits.issue_class);
  }
  for (const auto& [implicit, number] : kImplicit) {
    const unsigned bit = 1u << static_cast<unsigned>(implicit);
    if ((encoding.implicit_reads & bit) != 0) add_use(out, number, use_of(traits, slot, false));
    if ((encoding.implicit_writes & bit) != 0) add_result(out, number, traits.issue_class);
  }
}

IssueInstruction read_slot(const Slot& slot) {
  const Traits traits = traits_of(slot);
  IssueInstruction out;
  out.issue_class = traits.issue_class;
  out.ports = traits.ports;
  out.stop = slot.stop;
  out.kinds = traits.kinds | (traits.issue_class == IssueClass::nop ? 0u : kAny);
  out.ends_cycle = (traits.kinds & (kSrlz | kFromUnat)) != 0 || slot.op == Op::sync_i;
  out.begins_cycle = slot.op == Op::mf || slot.op == Op::mf_a;
  out.is_fwb = slot.op == Op::fwb;
  out.reads_bsp = (traits.kinds & kFromBsp) != 0;
  if (traits.issue_class != IssueClass::nop) read_operands(out, slot, traits);
  return out;
}

}  // namespace

std::vector<IssueInstruction> read_for_issue(uint64_t begin, uint64_t end,
                                             std::span<const uint8_t> code) {
  std::vector<IssueInstruction> result;
  const uint64_t first = begin & ~uint64_t{15};
  for (size_t i = 0; i + 16 <= code.size(); i += 16) {
    Instruction bundle[3];
    respike::ia64::decode_bundle(&code[i], 0, bundle);
    const bool b1 = unit(bundle[1]) == Unit::b, b0 = unit(bundle[0]) == Unit::b;
    for (unsigned s = 0; s < 3; ++s) {
      const uint64_t place = first + i + s;
      if (place < begin || place >= end) continue;
      if (respike::ia64::op_of(bundle[s]) == Op::long_half) continue;
      Slot slot = respike::ia64::expand(bundle[s], bundle[s == 0 ? 0 : s - 1]);
      IssueInstruction instruction = read_slot(slot);
      instruction.slot = static_cast<uint8_t>(s);
      instruction.first = s == 0;
      instruction.three_b = b0;
      // Bundles MBB and BBB end the cycle. MIB, MFB and MMB end it if they contain a branch.
      const bool last_slot = s == 2 && unit(bundle[2]) == Unit::b;
      if (last_slot && (b1 || instruction.ports == Ports::branch)) instruction.ends_cycle = true;
      result.push_back(instruction);
    }
  }
  return result;
}

}  // namespace respike::measure::itanium2
