// The Itanium as a Machine: bundles, references, stubs; the other facets are in codec, text,
// meaning, bundling and probes.
//
// Code. A group is a bundle; an instruction has the address of its bundle plus its slot. A list of
// instructions does the same in any packing: within an instruction group no instruction reads a
// register that an earlier instruction wrote, and an instruction that reads a register before
// another instruction writes it sees the old value wherever the stops are. So bundles may be packed
// anew if the order and the necessary stops are kept (groups.cc decides which stops go); further
// stops do no harm.
//
// A long instruction (movl, brl) is two Instructions: the L slot with the upper half of the number,
// and the X slot. Each half of a reference is a reference of its own, so that either half can be
// written alone.
//
// References. addl reaches 2 MB around gp; movl and an add reach everything. Branches reach 16 MB;
// a brl in a bundle of its own reaches everything, so a departure stub needs no landing. Example: a
// branch over 20 MB goes to a departure stub, whose brl goes to the target.
//
// Sources: Intel Itanium Architecture Software Developer's Manual, revision 2.3; Intel Itanium
// Processor-specific ABI (245370) for procedure descriptors; Itanium Software Conventions and
// Runtime Architecture Guide (245358) for registers.

#include <fmt/format.h>

#include <algorithm>

#include "optimizer/base/bytes.h"
#include "optimizer/base/error.h"
#include "optimizer/machine/ia64/bundling.h"
#include "optimizer/machine/ia64/codec.h"
#include "optimizer/machine/ia64/groups.h"
#include "optimizer/machine/ia64/meaning.h"
#include "optimizer/machine/ia64/probes.h"
#include "optimizer/machine/ia64/text.h"
#include "optimizer/machine/machines.h"

namespace respike {
namespace {

using namespace ia64;

constexpr unsigned kBranchBits = 25;  // of a displacement in bytes; 21 bits count bundles
constexpr uint64_t kBranchReach = (uint64_t{1} << (kBranchBits - 1)) - kBundleSize;
constexpr uint64_t kLongBranchReach = (uint64_t{1} << 31) - kBundleSize;
constexpr unsigned kAddBits = 22;

uint64_t bundle_of(uint64_t place) {
  return place & ~uint64_t{kBundleSize - 1};
}

bool is_long_branch(const Instruction& instruction) {
  return op_of(instruction) == Op::brl_cond || op_of(instruction) == Op::brl_call;
}

Instruction parsed(std::string_view text) {
  return parse(text, 0).instruction;
}

/// Calls f(index of the first instruction, index after the last, instructions) for each part of the
/// run that starts a bundle. The instructions come without pseudo-instructions and needless stops.
template <typename F>
void for_each_part(std::span<const Instruction> run, F f) {
  std::vector<Instruction> part;
  bool starts_group = false;
  size_t first = 0;
  for (size_t i = 0; i < run.size(); ++i) {
    if (!run[i].is_pseudo()) part.push_back(run[i]);
    const bool calls = is_call(control_flow(run[i]));
    if (i + 1 != run.size() && !calls) continue;
    join_groups(part, starts_group);
    f(first, i + 1, part);
    part.clear();
    first = i + 1;
    starts_group = run[i].predicate == 0;
  }
}

/// Whether the code before `code` must end its instruction group: `code` starts with no-ops and a
/// stop, which packing leaves out, or is not known.
bool starts_group(std::span<const Instruction> code) {
  for (const Instruction& instruction : code) {
    if (instruction.is_pseudo()) continue;
    if (!ia64::is_nop(instruction)) return false;
    if (has_stop(instruction)) break;
  }
  return true;
}

std::vector<Register> register_range(unsigned first, unsigned last) {
  std::vector<Register> result;
  for (unsigned r = first; r <= last; ++r) result.push_back(static_cast<Register>(r));
  return result;
}

/// The stacked registers count as preserved: after a call, a procedure finds its frame unchanged
/// except for the output registers.
Abi make_abi() {
  Abi abi;
  abi.stack_pointer = kGeneral + 12;
  abi.return_address = kBranch + 0;
  const auto add = [](std::vector<Register>& to, unsigned first, unsigned last) {
    const auto range = register_range(first, last);
    to.insert(to.end(), range.begin(), range.end());
  };
  add(abi.arguments, kGeneral + 8, kGeneral + 8);  // r8: the address for a returned structure
  add(abi.arguments, kGeneral + 32, kGeneral + 39);
  add(abi.arguments, kFloating + 8, kFloating + 15);
  add(abi.results, kGeneral + 8, kGeneral + 11);
  add(abi.results, kFloating + 8, kFloating + 15);
  add(abi.preserved, kGeneral + 4, kGeneral + 7);
  add(abi.preserved, kGeneral + 12, kGeneral + 13);
  add(abi.preserved, kGeneral + 32, kGeneral + 127);
  add(abi.preserved, kFloating + 2, kFloating + 5);
  add(abi.preserved, kFloating + 16, kFloating + 31);
  add(abi.preserved, kPredicate + 1, kPredicate + 5);
  add(abi.preserved, kPredicate + 16, kPredicate + 63);
  add(abi.preserved, kBranch + 1, kBranch + 5);
  for (const unsigned application : {36u, 40u, 64u, 65u})  // unat, fpsr, pfs, lc
    abi.preserved.push_back(static_cast<Register>(kApplication + application));
  for (Register r = 0; r < kRegisterCount; ++r)
    if (std::ranges::find(abi.preserved, r) == abi.preserved.end()) abi.scratch.push_back(r);
  abi.jump_table_entry = RelocationRole::pc_relative64;
  abi.descriptors = {.section = ".opd", .size = 16};
  return abi;
}

// ---- codec ----

/// A long no-op becomes two short no-ops. A brl whose distance does not fit an Instruction becomes
/// Op::invalid.
void decode(std::span<const uint8_t> code, uint32_t origin, Instruction* out) {
  const size_t count = code.size() / kBundleSize;
  decode_bundles(code.data(), count, origin, out);
  for (Instruction* slots = out; slots != out + 3 * count; slots += 3) {
    if (op_of(slots[1]) != Op::long_half) continue;
    if (op_of(slots[2]) == Op::nop_x) {
      for (Instruction* slot : {&slots[1], &slots[2]}) {
        const bool stop = has_stop(*slot);
        const uint32_t place = slot->origin;
        *slot = parsed("nop.i 0x0");
        slot->origin = place;
        set_stop(*slot, stop);
      }
    } else if (is_long_branch(slots[2]) &&
               slots[1].immediate != (slots[2].immediate < 0 ? -1 : 0)) {
      slots[2].opcode = kInvalid;
    }
  }
}

uint64_t arrange(std::span<const Instruction> run, uint32_t* places) {
  uint64_t size = 0;
  for_each_part(run, [&](size_t first, size_t behind, std::span<const Instruction> part) {
    if (places == nullptr) {
      size += bundle_count(part) * kBundleSize;
      return;
    }
    const Bundled bundled = bundle(part);
    const uint64_t end = size + bundled.slots.size() / 3 * kBundleSize;
    for (size_t i = first, k = 0; i < behind; ++i) {
      const uint64_t offset = k < part.size() ? size + bundled.places[k] : end;
      places[i] = static_cast<uint32_t>(offset);
      if (!run[i].is_pseudo()) ++k;
    }
    size = end;
  });
  return size;
}

void encode_at(std::span<const Instruction> run, const CodePlace& place,
               std::vector<uint8_t>& out) {
  for_each_part(run, [&](size_t, size_t behind, std::span<const Instruction> part) {
    const bool group_goes_on = behind == run.size() && !starts_group(place.following);
    const Bundled bundled = bundle(part, !group_goes_on);
    size_t at = out.size();
    out.resize(at + bundled.slots.size() / 3 * kBundleSize);
    for (size_t i = 0; i < bundled.slots.size(); i += 3, at += kBundleSize)
      if (!encode_bundle(&bundled.slots[i], &out[at]))
        throw Error("internal error: a bundle has no template");
  });
}

void replace(std::span<uint8_t> group, unsigned slot, const Instruction& instruction) {
  Instruction slots[3];
  decode_bundle(group.data(), 0, slots);
  slots[slot] = instruction;
  if (!encode_bundle(slots, group.data()))
    throw Error("internal error: an instruction does not fit its slot");
}

void fill(std::span<uint8_t> groups) {
  Instruction slots[] = {parsed("nop.m 0x0"), parsed("nop.i 0x0"), parsed("nop.i 0x0")};
  set_stop(slots[2], true);
  uint8_t bytes[kBundleSize];
  encode_bundle(slots, bytes);
  for (size_t at = 0; at + kBundleSize <= groups.size(); at += kBundleSize)
    std::copy(bytes, bytes + kBundleSize, &groups[at]);
}

// ---- branches and references ----

bool is_prefix(const Instruction& instruction) {
  return op_of(instruction) == Op::long_half;
}

/// Branches, calls and checks have a 21-bit displacement in bundles. A brl has 60 bits, but
/// Instructions hold only 32 bits, in bytes; callers ask about both halves of a brl.
uint64_t reach_of(const Instruction& branch) {
  return is_prefix(branch) || is_long_branch(branch) ? kLongBranchReach : kBranchReach;
}

std::optional<int64_t> gp_offset(std::span<const Instruction> code) {
  if (op_of(code[0]) == Op::addl) return code[0].immediate;
  if (code.size() > 1 && is_prefix(code[0]) && op_of(code[1]) == Op::movl)
    return expand(code[1], code[0]).immediate;
  return std::nullopt;
}

bool apply(Instruction& instruction, ReferenceKind kind, uint64_t place, uint64_t target,
           uint64_t gp) {
  int64_t value = 0;
  unsigned bits = 64;
  if (kind == ReferenceKind::branch) {
    value = static_cast<int64_t>(target - bundle_of(place));
    if (value % int64_t{kBundleSize} != 0) return false;
    if (!is_prefix(instruction) && !is_long_branch(instruction)) bits = kBranchBits;
  } else if (kind == ReferenceKind::gp_offset) {
    value = static_cast<int64_t>(target - gp);
    if (op_of(instruction) == Op::addl) bits = kAddBits;
  } else if (kind == ReferenceKind::pc_low) {  // of a movl in the bundle after a mov from ip
    value = static_cast<int64_t>(target - (bundle_of(place) - kBundleSize));
  } else {
    return false;
  }
  if (bits != 64 && !fits_signed(value, bits)) return false;
  instruction.immediate = static_cast<int32_t>(is_prefix(instruction) ? value >> 32 : value);
  instruction.flags &= static_cast<uint8_t>(~Instruction::kHasReference);
  return true;
}

// ---- stubs ----

std::vector<uint8_t> far_departure(uint64_t place, uint64_t target) {
  const Parsed jump = ia64::parse(fmt::format("brl.cond.sptk.few {:#x};;", target), place);
  const Instruction slots[] = {parsed("nop.m 0x0"), jump.high, jump.instruction};
  std::vector<uint8_t> bytes(kBundleSize);
  if (!encode_bundle(slots, bytes.data())) throw Error("internal error: a stub has no template");
  return bytes;
}

std::optional<uint64_t> far_stub_target(std::span<const Instruction> code, uint64_t place) {
  if (code.size() < 3 || !ia64::is_nop(code[0]) || op_of(code[2]) != Op::brl_cond ||
      code[2].predicate != 0 || code[2].has_reference())
    return std::nullopt;
  return place + static_cast<uint64_t>(expand(code[2], code[1]).immediate);
}

const GlobalPointer kGlobalPointer = {.base = kGeneral + 1,
                                      .callers_set = true,
                                      .offset = gp_offset,
                                      .uses_as_pointer = ia64::uses_as_pointer};

const RegisterWindow kWindow = {.registers = kStacked, .kept = kept_registers};

const Stubs kStubs = {.departure_size = kBundleSize,
                      .departure = far_departure,
                      .landing = [](uint64_t, uint64_t) { return std::vector<uint8_t>(); },
                      .target = far_stub_target};

Machine make_machine() {
  return {
      .name = "ia64",
      .register_count = kRegisterCount,
      .codec = {.groups = {.bytes = kBundleSize, .slots = 3},
                .nop = parsed("nop.m 0x0"),
                .drops_nops = true,
                .zeros_pad = true,
                .standing_flags = kStop | kUnitMask,
                .decode = decode,
                .arrange = arrange,
                .encode_at = encode_at,
                .replace = replace,
                .fill = fill},
      .text = {.print = [](const Instruction& i, uint64_t at) { return ia64::print(i, {}, at); },
               .parse = [](std::string_view text,
                           uint64_t at) { return ia64::parse(text, at).instruction; },
               .register_name = ia64::register_name},
      .facts = ia64::facts,
      .operands = ia64::operands,
      .based_operand = [](const Instruction&) { return std::optional<BasedOperand>(); },
      // On Linux, signal handlers return through the kernel's own page.
      .is_signal_return = [](std::span<const Instruction>) { return false; },
      .abi = make_abi(),
      // The Itanium 2's: 16 KB.
      .icache = {.line = 64, .sets = 64, .ways = 4},
      // Up to six instructions issue in a cycle; a taken branch ends the group that issues.
      .costs = {.instruction = 0.2, .taken = 0.5},
      .branches = {.branch = parsed("br.cond.sptk.few 0x0"),
                   .stop = parsed("break.m 0x0"),
                   .reach = kBranchReach,
                   .reach_of = reach_of,
                   .invert = ia64::invert,
                   .predict = ia64::predict},
      .fixups = {.field = [](const Instruction& i, ReferenceKind) { return int64_t{i.immediate}; },
                 .apply = apply,
                 .is_upper_half = [](const Instruction&) { return false; },
                 .is_lower_half = [](const Instruction&) { return false; }},
      .page_size = 16384,
      .gp = &kGlobalPointer,
      .window = &kWindow,
      .stubs = &kStubs,
      .probes = &ia64_probes(),
  };
}

}  // namespace

const Machine& ia64_machine() {
  static const Machine machine = make_machine();
  return machine;
}

}  // namespace respike
