// Zydis as the oracle of uses, defs, flags, memory operands and flow.
//
// Zydis and Respike describe the same facts in different words; facts that can be translated are
// translated below. If they mean different things, kKnown holds the names of the instructions and
// the reason why Respike's answer is right, or safe.

#include "tests/unit/x86_64_zydis.h"

#include <Zydis/Zydis.h>
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <tuple>
#include <vector>

namespace respike {
namespace {

using namespace x86_64;

const ZydisDecoder& decoder() {
  static const ZydisDecoder kept = [] {
    ZydisDecoder made;
    ZydisDecoderInit(&made, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    return made;
  }();
  return kept;
}

struct RegisterNumber {
  RegisterSet set;
  int general = -1, vector = -1;
  bool whole = true;  // a write leaves nothing of the old value
};

RegisterNumber number_of(ZydisRegister r) {
  RegisterNumber out;
  ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, r);
  if (whole == ZYDIS_REGISTER_NONE) whole = r;
  const ZydisRegisterClass kind = ZydisRegisterGetClass(whole);
  const int id = ZydisRegisterGetId(whole);
  if (kind == ZYDIS_REGCLASS_GPR64) {
    out.general = id;
    out.set.general = static_cast<uint16_t>(1u << id);
    out.whole = ZydisRegisterGetWidth(ZYDIS_MACHINE_MODE_LONG_64, r) >= 32;
  } else if (kind == ZYDIS_REGCLASS_ZMM || kind == ZYDIS_REGCLASS_YMM ||
             kind == ZYDIS_REGCLASS_XMM) {
    out.vector = id;
    out.set.vector = 1u << id;
  } else if (kind == ZYDIS_REGCLASS_MMX) {
    out.set.mmx = static_cast<uint8_t>(1 << id);
  } else if (kind == ZYDIS_REGCLASS_MASK) {
    out.set.mask = static_cast<uint8_t>(1 << id);
  }
  return out;
}

bool is_x87(ZydisRegister r) {
  const ZydisRegisterClass kind = ZydisRegisterGetClass(r);
  return kind == ZYDIS_REGCLASS_X87 || r == ZYDIS_REGISTER_X87CONTROL ||
         r == ZYDIS_REGISTER_X87STATUS || r == ZYDIS_REGISTER_X87TAG;
}

uint8_t our_flags(uint32_t flags) {
  uint8_t set = 0;
  if ((flags & ZYDIS_CPUFLAG_CF) != 0) set |= kCarry;
  if ((flags & ZYDIS_CPUFLAG_PF) != 0) set |= kParity;
  if ((flags & ZYDIS_CPUFLAG_AF) != 0) set |= kAdjust;
  if ((flags & ZYDIS_CPUFLAG_ZF) != 0) set |= kZero;
  if ((flags & ZYDIS_CPUFLAG_SF) != 0) set |= kSign;
  if ((flags & ZYDIS_CPUFLAG_OF) != 0) set |= kOverflow;
  if ((flags & ZYDIS_CPUFLAG_DF) != 0) set |= kDirection;
  return set;
}

void add_register(Effects& effects, const ZydisDecodedOperand& operand) {
  const ZydisRegister r = operand.reg.value;
  // k0 in EVEX.aaa means no mask.
  if (operand.encoding == ZYDIS_OPERAND_ENCODING_MASK && r == ZYDIS_REGISTER_K0) return;
  if (is_x87(r)) effects.x87 = true;
  const RegisterNumber number = number_of(r);
  if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0) effects.reads |= number.set;
  if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) == 0) return;
  effects.writes |= number.set;
  if ((operand.actions & ZYDIS_OPERAND_ACTION_CONDWRITE) != 0 || !number.whole)
    effects.keeps |= number.set;
}

void add_memory(Effects& effects, const ZydisDecodedInstruction& instruction,
                const ZydisDecodedOperand& operand) {
  MemoryOperand memory;
  memory.access = kNoAccess;
  if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_READ) != 0) memory.access |= kRead;
  if ((operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0) memory.access |= kWrite;
  const bool only_named = operand.mem.type != ZYDIS_MEMOP_TYPE_MEM;  // lea, bounds, gathers
  if (!only_named || operand.mem.type == ZYDIS_MEMOP_TYPE_VSIB)
    memory.size = static_cast<uint16_t>(operand.size / 8);
  if (operand.mem.segment == ZYDIS_REGISTER_FS) memory.segment = Segment::fs;
  if (operand.mem.segment == ZYDIS_REGISTER_GS) memory.segment = Segment::gs;
  // Zydis forgets that this SIB byte means no base, if REX.B is set and addresses have 32 bits.
  const bool no_base = operand.visibility == ZYDIS_OPERAND_VISIBILITY_EXPLICIT &&
                       instruction.address_width == 32 && instruction.raw.sib.offset != 0 &&
                       instruction.raw.sib.base == 5 && instruction.raw.modrm.mod == 0;
  const RegisterNumber base = number_of(no_base ? ZYDIS_REGISTER_NONE : operand.mem.base);
  const RegisterNumber index = number_of(operand.mem.index);
  if (base.general >= 0) memory.base = static_cast<uint8_t>(base.general);
  if (operand.mem.base == ZYDIS_REGISTER_RIP || operand.mem.base == ZYDIS_REGISTER_EIP)
    memory.base = kRip;
  if (index.general >= 0) memory.index = static_cast<uint8_t>(index.general);
  if (index.vector >= 0) memory.index = static_cast<uint8_t>(index.vector);
  memory.vector_index = index.vector >= 0;
  memory.scale = operand.mem.scale == 0 ? 1 : operand.mem.scale;
  if (memory.index == kNoRegister) memory.scale = 1;
  memory.displacement = no_base ? instruction.raw.disp.value : operand.mem.disp.value;
  memory.stack = operand.visibility == ZYDIS_OPERAND_VISIBILITY_HIDDEN &&
                 (memory.base == kRsp || instruction.mnemonic == ZYDIS_MNEMONIC_LEAVE);
  effects.reads |= base.set;
  effects.reads |= index.set;
  if (effects.memory_operands < std::size(effects.memory))
    effects.memory[effects.memory_operands++] = memory;
}

Flow flow_of(const ZydisDecodedInstruction& instruction) {
  switch (instruction.meta.category) {
    case ZYDIS_CATEGORY_COND_BR:
      return Flow::branch;
    case ZYDIS_CATEGORY_UNCOND_BR:
      return Flow::jump;
    case ZYDIS_CATEGORY_CALL:
      return Flow::call;
    case ZYDIS_CATEGORY_RET:
      return Flow::ret;
    default:
      break;
  }
  switch (instruction.mnemonic) {
    case ZYDIS_MNEMONIC_UD0:
    case ZYDIS_MNEMONIC_UD1:
    case ZYDIS_MNEMONIC_UD2:
    case ZYDIS_MNEMONIC_HLT:
      return Flow::stop;
    case ZYDIS_MNEMONIC_SYSCALL:
    case ZYDIS_MNEMONIC_SYSENTER:
    case ZYDIS_MNEMONIC_INT:
      return Flow::system;
    case ZYDIS_MNEMONIC_SYSRET:
    case ZYDIS_MNEMONIC_SYSEXIT:
      return Flow::ret;
    case ZYDIS_MNEMONIC_XBEGIN:
      return Flow::branch;
    default:
      return Flow::none;
  }
}

/// Instructions that Zydis knows and Respike leaves out on purpose: no processor of today has them.
bool is_left_out(const ZydisDecodedInstruction& instruction) {
  switch (instruction.encoding) {
    case ZYDIS_INSTRUCTION_ENCODING_3DNOW:
    case ZYDIS_INSTRUCTION_ENCODING_XOP:
    case ZYDIS_INSTRUCTION_ENCODING_MVEX:
      return true;
    default:
      break;
  }
  switch (instruction.meta.isa_set) {
    case ZYDIS_ISA_SET_AMD3DNOW:  // femms
    case ZYDIS_ISA_SET_XOP:       // vpermil2, in a VEX encoding
    case ZYDIS_ISA_SET_KNCE:      // Knights Corner and Knights Landing
    case ZYDIS_ISA_SET_KNCJKBR:
    case ZYDIS_ISA_SET_KNCSTREAM:
    case ZYDIS_ISA_SET_KNCV:
    case ZYDIS_ISA_SET_KNC_MISC:
    case ZYDIS_ISA_SET_KNC_PF_HINT:
    case ZYDIS_ISA_SET_AVX512ER_512:
    case ZYDIS_ISA_SET_AVX512ER_SCALAR:
    case ZYDIS_ISA_SET_AVX512PF_512:
    case ZYDIS_ISA_SET_AVX512_4FMAPS_512:
    case ZYDIS_ISA_SET_AVX512_4FMAPS_SCALAR:
    case ZYDIS_ISA_SET_AVX512_4VNNIW_512:
    case ZYDIS_ISA_SET_AMX_BF16:  // tiles: no compiler allocates them yet
    case ZYDIS_ISA_SET_AMX_INT8:
    case ZYDIS_ISA_SET_AMX_TILE:
    case ZYDIS_ISA_SET_PADLOCK_ACE:  // VIA
    case ZYDIS_ISA_SET_PADLOCK_PHE:
    case ZYDIS_ISA_SET_PADLOCK_PMM:
    case ZYDIS_ISA_SET_PADLOCK_RNG:
    case ZYDIS_ISA_SET_SNP:  // of hypervisors
    case ZYDIS_ISA_SET_TDX:
    case ZYDIS_ISA_SET_AMD_INVLPGB:
    case ZYDIS_ISA_SET_MCOMMIT:
      return true;
    default:
      return false;
  }
}

/// A disagreement that is not a fault. `names` of Zydis, separated by blanks; `*` ends a prefix.
struct Known {
  std::string_view kind;
  std::string_view names;
  std::string_view reason;
};

constexpr Known kKnown[] = {
    {"reads",
     "movlps movhps movlpd movhpd movlhps movhlps movss movsd cvtss2sd cvtsd2ss sqrtss sqrtsd "
     "rcpss "
     "rsqrtss roundss roundsd cvtpi2ps extrq insertq",
     "the instruction writes a part of a vector register; Zydis calls this a write"},
    {"reads", "xlat", "al is part of the address"},
    {"reads", "rdsspd rdsspq", "no operation without shadow stacks: the register keeps its value"},
    {"reads", "lar", "the register keeps its value when the selector is not valid"},
    {"reads", "ud0 ud1 nop bnd*", "the operands are only named; MPX is no more"},
    {"reads", "pause", "with REX.B it is an exchange"},
    {"reads", "vcmpph vcmpsh vfpclassph vfpclasssh", "bits that are not computed become 0"},
    {"keeps", "vcmpph vcmpsh vfpclassph vfpclasssh", "the same"},
    {"reads", "xabort", "eax is only written"},
    {"keeps", "bsf bsr", "processors leave the destination alone when the source is 0"},
    {"keeps", "lsl", "the register keeps its value when the selector is not valid"},
    {"keeps", "leave", "rsp gets all of rbp whatever the size of operands"},
    {"keeps", "cmps* scas* ins* outs*", "see `writes`"},
    {"keeps", "vzeroupper", "see `writes`"},
    {"keeps", "lods*", "rsi moves on whether the instruction repeats or not"},
    {"writes", "cmps* scas* ins* outs*", "rsi and rdi move on; Zydis leaves this out"},
    {"writes", "pause", "with REX.B it is an exchange"},
    {"keeps", "pause", "with REX.B it is an exchange"},
    {"writes", "vzeroupper vzeroall", "Zydis names no register"},
    {"flags", "sbb", "all flags are defined; Zydis leaves AF undefined for the forms that load"},
    {"flags", "cmps* scas*", "the repetition tests the flag that it has just written"},
    {"flags", "rol ror rcl rcr shl shr sar", "a shift by the constant 1 defines OF"},
    {"flags", "bextr", "CF and OF become 0"},
    {"flags", "rdpru", "CF tells whether the register exists, the others become 0"},
    {"flags", "vptest vtestps vtestpd", "the other flags become 0"},
    {"memory", "nop prefetch* cldemote clflush* clwb ud0 ud1 bnd*",
     "no byte is read that could change what the program does"},
    {"memory", "xlat", "al is part of the address"},
    {"decodes", "bounds", "MPX is no more: all its encodings are no operations"},
    {"memory", "movsxd", "a 16-bit operand reads 2 bytes"},
    {"flow", "xend xabort", "Zydis calls them branches; control goes on, or to where xbegin said"},
};

std::string_view last_word(std::string_view text) {
  return text.substr(text.rfind(' ') + 1);
}

bool is_named(std::string_view names, std::string_view name) {
  while (!names.empty()) {
    const size_t end = std::min(names.find(' '), names.size());
    const std::string_view one = names.substr(0, end);
    if (one == name || (one.ends_with('*') && name.starts_with(one.substr(0, one.size() - 1))))
      return true;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return false;
}

/// `difference` begins with its kind.
bool is_known(std::string_view name, std::string_view difference) {
  const std::string_view kind = difference.substr(0, difference.find(' '));
  return std::ranges::any_of(kKnown, [&](const Known& known) {
    return known.kind == kind && is_named(known.names, name);
  });
}

/// Memory operands with the same meaning compare equal: operands on the stack without their
/// distances, which Zydis counts from the stack pointer after a push.
auto comparable(const MemoryOperand& memory) {
  return std::tuple(memory.stack, memory.base, memory.index, memory.vector_index, memory.scale,
                    memory.segment, memory.access & ~kMayKeep, memory.size,
                    memory.stack ? 0 : memory.displacement);
}

bool same_memory(const Effects& left, const Effects& right) {
  if (left.memory_operands != right.memory_operands) return false;
  return std::is_permutation(left.memory, left.memory + left.memory_operands, right.memory,
                             [](const MemoryOperand& a, const MemoryOperand& b) {
                               return comparable(a) == comparable(b);
                             });
}

std::string text_of(const RegisterSet& set) {
  return fmt::format("{:x}/{:x}/{:x}/{:x}", set.general, set.vector, set.mask, set.mmx);
}

std::string text_of(const Effects& effects) {
  std::string text;
  for (const MemoryOperand& m : effects.memory_list())
    text += fmt::format(" [{} {}*{} {} seg {} access {} size {}{}]", m.base, m.index, m.scale,
                        m.displacement, static_cast<int>(m.segment), m.access & ~kMayKeep, m.size,
                        m.stack ? " stack" : "");
  return text;
}

/// Without the registers of x87, which Respike does not distinguish.
RegisterSet without_x87(RegisterSet set, bool x87) {
  if (x87) set.mmx = 0;
  return set;
}

/// The differences of two descriptions, each beginning with its kind.
std::vector<std::string> compare_effects(const Effects& ours, const Effects& theirs) {
  std::vector<std::string> differences;
  const auto compare_sets = [&](const char* kind, RegisterSet Effects::*set) {
    const RegisterSet a = without_x87(ours.*set, ours.x87), b = without_x87(theirs.*set, ours.x87);
    if (a != b) differences.push_back(fmt::format("{} {} not {}", kind, text_of(a), text_of(b)));
  };
  compare_sets("reads", &Effects::reads);
  compare_sets("writes", &Effects::writes);
  compare_sets("keeps", &Effects::keeps);
  const auto flags = [](const Effects& e) {
    return fmt::format("{:x} {:x} {:x}", e.flags_read, e.flags_written, e.flags_undefined);
  };
  if (flags(ours) != flags(theirs))
    differences.push_back(fmt::format("flags {} not {}", flags(ours), flags(theirs)));
  if (!same_memory(ours, theirs))
    differences.push_back(fmt::format("memory{} not{}", text_of(ours), text_of(theirs)));
  return differences;
}

/// Where fields are and where control goes.
std::string compare_fields(const Decoded& ours, const ZydisInstruction& theirs,
                           const uint8_t* code) {
  const auto places = [](const auto& i) {
    return std::tuple<unsigned, unsigned, unsigned, unsigned>(
        i.displacement_at, i.displacement_size, i.immediate_at, i.immediate_size);
  };
  if (places(ours) != places(theirs))
    return fmt::format("fields {} {} {} {} not {} {} {} {}", ours.displacement_at,
                       ours.displacement_size, ours.immediate_at, ours.immediate_size,
                       theirs.displacement_at, theirs.displacement_size, theirs.immediate_at,
                       theirs.immediate_size);
  const Form& form = form_of(ours);
  if (form.flow != theirs.flow)
    return fmt::format("flow {} not {}", static_cast<int>(form.flow),
                       static_cast<int>(theirs.flow));
  const bool same = is_direct(form) == theirs.distance.has_value() &&
                    (!is_direct(form) || branch_distance(ours, code) == *theirs.distance);
  return same ? "" : "flow to another place";
}

}  // namespace

unsigned zydis_length(std::span<const uint8_t> code) {
  ZydisDecodedInstruction instruction;
  ZydisDecoderContext context;
  const ZyanStatus status =
      ZydisDecoderDecodeInstruction(&decoder(), &context, code.data(), code.size(), &instruction);
  return ZYAN_SUCCESS(status) ? instruction.length : 0;
}

std::optional<ZydisInstruction> ask_zydis(std::span<const uint8_t> code) {
  ZydisDecodedInstruction instruction;
  ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
  if (!ZYAN_SUCCESS(
          ZydisDecoderDecodeFull(&decoder(), code.data(), code.size(), &instruction, operands)))
    return {};
  if (is_left_out(instruction)) return {};
  ZydisInstruction out;
  out.length = instruction.length;
  out.displacement_size = instruction.raw.disp.size / 8;
  if (out.displacement_size != 0) out.displacement_at = instruction.raw.disp.offset;
  out.immediate_size = (instruction.raw.imm[0].size + instruction.raw.imm[1].size) / 8;
  if (out.immediate_size != 0) out.immediate_at = instruction.raw.imm[0].offset;
  out.flow = flow_of(instruction);
  out.name = ZydisMnemonicGetString(instruction.mnemonic);
  for (const auto& operand : std::span(operands, instruction.operand_count)) {
    if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER) add_register(out.effects, operand);
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) add_memory(out.effects, instruction, operand);
    if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operand.imm.is_relative)
      out.distance = operand.imm.value.s;
  }
  if (const ZydisAccessedFlags* flags = instruction.cpu_flags) {
    out.effects.flags_read = our_flags(flags->tested);
    out.effects.flags_written = our_flags(flags->modified | flags->set_0 | flags->set_1);
    out.effects.flags_undefined = our_flags(flags->undefined);
  }
  return out;
}

std::string difference_from_zydis(std::span<const uint8_t> code) {
  const Decoded ours = decode(code);
  const auto theirs = ask_zydis(code);
  if (ours.valid() && !theirs && is_known(last_word(form_of(ours).name), "decodes")) return {};
  if (ours.valid() != theirs.has_value())
    return ours.valid() ? fmt::format("decodes {}", form_of(ours).name)
                        : fmt::format("decodes-not {}", theirs->name);
  if (!theirs) return {};
  if (ours.length != theirs->length)
    return fmt::format("length {} not {} of {}", ours.length, theirs->length, theirs->name);
  std::vector<std::string> differences{compare_fields(ours, *theirs, code.data())};
  const Effects effects = effects_of(ours, code.data());
  if (effects.described)
    std::ranges::move(compare_effects(effects, theirs->effects), std::back_inserter(differences));
  for (const std::string& difference : differences)
    if (!difference.empty() && !is_known(theirs->name, difference))
      return fmt::format("{} {}", theirs->name, difference);
  return {};
}

}  // namespace respike
