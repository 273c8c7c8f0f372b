// The machine x86-64: Linux programs of 64 bits.
//
// All branches except loop and jrcxz reach 2 GB, and images of the small code model are smaller, so
// there are no stubs. Jumps also have a short form, which placement chooses.
//
// Source: System V Application Binary Interface, AMD64 Architecture Processor Supplement 1.0,
// 3.2.1 (registers).

#include "optimizer/machine/machines.h"
#include "optimizer/machine/x86_64/added.h"
#include "optimizer/machine/x86_64/imports.h"
#include "optimizer/machine/x86_64/instruction.h"
#include "optimizer/machine/x86_64/meaning.h"
#include "optimizer/machine/x86_64/probes.h"

#include "optimizer/base/error.h"

namespace respike {
namespace {

using namespace x86_64;

constexpr uint64_t kReach = 0x7fffff00;  // of a displacement of 32 bits, wherever it is in the
                                         // instruction

uint64_t arrange(std::span<const Instruction> run, uint32_t* places) {
  uint32_t size = 0;
  for (const Instruction& instruction : run) {
    if (places != nullptr) *places++ = size;
    size += length_of(instruction);
  }
  return size;
}

// The cache of micro-ops and the branch predictor work by lines of 64 bytes: a cycle for each line
// of straight code. On Zen 3 a round of 15 handlers of an interpreter took 5% less time for each
// line fewer (bench/journal/x86-64-layouts.md, "Lines of 64 bytes"). In 8 KB, a quarter of the
// first-level cache, padding causes almost no misses; in 11 KB it cost a program 22% more.
constexpr uint64_t kFetched = 64;

uint32_t lines_fetched(std::span<const Instruction> before, std::span<const Instruction> code,
                       uint64_t address) {
  const uint64_t size = arrange(code, nullptr);
  if (size == 0) return 0;
  const uint64_t lines = (address + size - 1) / kFetched - address / kFetched + 1;
  const bool fetched = !before.empty() && address % kFetched != 0;  // the line that is entered
  return static_cast<uint32_t>(lines - fetched);
}

constexpr IssueModel kIssue{.period = kFetched, .most_code = 8 * 1024, .cycles = lines_fetched};

/// No-ops of one byte each: code may be written over any part of them.
void fill(std::span<uint8_t> groups) {
  std::ranges::fill(groups, uint8_t{0x90});
}

std::string register_name(Register r) {
  constexpr std::string_view kGeneral[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp"};
  constexpr std::string_view kFlagNames = "cpazsod";  // by the bits of Flag
  if (r < std::size(kGeneral)) return std::string(kGeneral[r]);
  if (r == kMmx) return "st";
  if (r < kVectors) return "r" + std::to_string(r);
  if (r < kMasks) return "xmm" + std::to_string(r - kVectors);
  if (r < kFlags) return "k" + std::to_string(r - kMasks);
  return {kFlagNames[r - kFlags], 'f'};
}

std::string print(const Instruction& instruction, uint64_t) {
  if (form_number(instruction) == 0) return "(bad)";
  constexpr std::string_view kConditions[] = {"o", "no", "b", "ae", "e", "ne", "be", "a",
                                              "s", "ns", "p", "np", "l", "ge", "le", "g"};
  const Form& form = forms().forms[form_number(instruction)];
  std::string text(form.name);
  if (form.condition) text += kConditions[opcode_bits(instruction)];
  return text;
}

Instruction parse(std::string_view, uint64_t) {
  throw Error("instructions of x86-64 cannot be read from text");
}

Abi make_abi() {
  Abi abi;
  abi.debuggers_join_ranges = true;
  abi.stack_pointer = register_of(kRsp);
  // Conventions differ in the registers that they pass: Windows' (ms_abi), TLS descriptors,
  // preserve_most, gcc's for procedures of one file. Unknown code may expect any general register.
  for (Register r = 0; r < 16; ++r) {
    abi.arguments.push_back(r);
    abi.results.push_back(r);
  }
  abi.results.insert(abi.results.end(), {kVectors, kVectors + 1});
  for (const unsigned r : {+kRbx, +kRbp, +kRsp, 12, 13, 14, 15})
    abi.preserved.push_back(register_of(r));
  for (const unsigned r : {+kRax, +kRcx, +kRdx, +kRsi, +kRdi, +kR8, 9, 10, +kR11})
    abi.scratch.push_back(register_of(r));
  for (Register r = kMmx; r < kFlags; ++r) abi.scratch.push_back(r);
  for (Register r = kVectors; r < kVectors + 8; ++r) abi.arguments.push_back(r);
  for (Register r = kFlags; r < kRegisterCount - 1; ++r) abi.flags.push_back(r);
  abi.scratch.insert(abi.scratch.end(), abi.flags.begin(), abi.flags.end());
  abi.preserved.push_back(kRegisterCount - 1);  // the direction flag: always clear
  abi.jump_table_entry = RelocationRole::pc_relative32;
  return abi;
}

Machine make_machine() {
  return {
      .name = "x86-64",
      .register_count = kRegisterCount,
      .codec = {.groups = {.bytes = 0, .slots = 1},
                .nop = make_added(Added::no_operation),
                .zeros_pad = true,
                .filler = 0xcc,  // int3
                .standing_flags = kStandingFlags,
                .field_at = field_at,
                .same = same,
                .length = length,
                .decode = decode_all,
                .arrange = arrange,
                .encode_at = encode_all,
                .replace = nullptr,
                .fill = fill},
      .text = {.print = print, .parse = parse, .register_name = register_name},
      .facts = facts,
      .operands = operands,
      .based_operand = [](const Instruction&) { return std::optional<BasedOperand>(); },
      .is_signal_return = is_signal_return,
      .abi = make_abi(),
      // The cache of most processors since 2008: 32 KB.
      .icache = {.line = 64, .sets = 64, .ways = 8, .prefetched = 1},
      // As on Zen 3: models/x86_64/processors.h.
      .itlb = {.line = 4096, .sets = 1, .ways = 64, .miss = 7},
      .costs = {.instruction = 0.25, .taken = 1.0, .added_branch = 0.25, .copied_tail = 64},
      .branches = {.branch = jump(),
                   .stop = make_added(Added::undefined),
                   .reach = kReach,
                   .reach_of = [](const Instruction&) { return kReach; },
                   .invert = [](Instruction& branch,
                                std::span<const Instruction>) { return invert(branch); },
                   .set_length = set_length,
                   .is_short = is_short},
      .fixups = {.field = [](const Instruction& i, ReferenceKind) { return int64_t{i.immediate}; },
                 .apply = apply,
                 .is_upper_half = [](const Instruction&) { return false; },
                 .is_lower_half = [](const Instruction&) { return false; }},
      .evidence = {.labels_are_words = true,
                   .words_are_distances = true,
                   .data_in_gaps = true,
                   .addends_are_right = true,
                   .knows_ocaml = true},
      .whole = &kWholeAddresses,
      .pushed_returns = &kPushedReturns,
      .imports = &kImports,
      .issue = &kIssue,
      .probes = &x86_64_probes(),
  };
}

}  // namespace

const Machine& x86_64_machine() {
  static const Machine machine = make_machine();
  return machine;
}

}  // namespace respike
