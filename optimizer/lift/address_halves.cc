// Which lower halves belong to the upper half of an address.
//
// Some linkers leave a relocation only at the upper half (Windows NT on Alpha: HIGHADJ or HIGH at
// an ldah). The lower halves are the instructions that use the register as a base. A walk forward
// over the flow of control, along all paths on which the register keeps its value, finds them.
// Copies of the register are followed. Every other use, such as arithmetic, means that the address
// is not understood.
// is not understood.
//
//     ldah t0,2(zero)      HIGHADJ, the address 0x18010 of f
//     beq  a0,1f
//     lda  v0,-32752(t0)   a lower half: f
//     ret
// 1: lda  v0,-32752(t0)   another lower half
//     ret
//
// Data never moves, so mostly only addresses of code matter. An address of a table matters where it
// is formed. For an address of code, each lower half must get its register only from upper halves
// of this address, on all paths: a walk backward (half_tracer.cc) proves this.
//
// Where an address of code is not understood, the procedure that forms it is opaque, and the code
// to which the address may refer stays. If the relocation does not give the address, this is all
// code within 32 KB of the upper half.
//
// Blocks do not exist yet. An indirect jump is taken to lead to every place in the procedure whose
// address is kept.

#include "optimizer/lift/address_halves.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "optimizer/lift/half_tracer.h"
#include "optimizer/lift/jumps.h"
#include "optimizer/lift/references.h"

namespace respike {
namespace {

constexpr uint64_t kLowerHalf = 0x8000;  // reach of a lower half, in both directions

struct UpperHalf {
  uint64_t place = 0;
  uint64_t value = 0;              // of the register
  std::optional<uint64_t> target;  // as the relocation gives it
  bool understood = true;
  std::vector<uint64_t> lows;  // places of lower halves
};

/// A register that holds an upper half where control comes to an instruction.
using Holder = std::pair<uint64_t, Register>;

/// The upper halves of one procedure.
class ProcedureHalves {
 public:
  ProcedureHalves(Lifter& lifter, ProcedureId id, std::span<const uint32_t> ranges,
                  std::span<const uint64_t> labels, uint64_t& effort, std::set<uint64_t>& kept)
      : lifter_(lifter), id_(id), ranges_(ranges), labels_(labels), effort_(effort), kept_(kept) {
    for (const uint32_t index : ranges) {
      const CodeRange& range = lifter.program.ranges[index];
      for (uint64_t at = range.start; at < range.end; at = lifter.map().next(at))
        if ((lifter.marks_at(at) & kAddressTakenMark) != 0) entered_.push_back(at);
      const auto first = std::ranges::lower_bound(labels, range.start);
      const auto last = std::ranges::lower_bound(labels, range.end);
      entered_.insert(entered_.end(), first, last);
    }
  }

  void add(const Relocation& relocation) {
    const Instruction* instruction = lifter_.instruction_at(relocation.address);
    if (instruction == nullptr || !lifter_.machine.fixups.is_upper_half(*instruction)) {
      lifter_.make_opaque(
          procedure(),
          fmt::format("the relocation at {:#x} does not fit its instruction", relocation.address));
      return;
    }
    UpperHalf high;
    high.place = relocation.address;
    high.value = static_cast<uint64_t>(
        lifter_.machine.fixups.field(*instruction, ReferenceKind::address_high));
    const bool says_address = relocation.symbol != 0 || relocation.addend != 0;
    if (says_address)
      high.target = (relocation.symbol < lifter_.image.symbols.size()
                         ? lifter_.symbol_value(relocation.symbol)
                         : 0) +
                    static_cast<uint64_t>(relocation.addend);
    follow(high);
    highs_.push_back(std::move(high));
  }

  void settle() {
    std::ranges::sort(highs_, {}, &UpperHalf::place);
    for (const UpperHalf& high : highs_) places_.push_back(high.place);
    for (const UpperHalf& high : highs_) settle(high);
  }

 private:
  Procedure& procedure() { return lifter_.program[id_]; }
  bool is_inside(uint64_t address) const {
    const uint32_t range = lifter_.range_at(address);
    return range != kNone && lifter_.program.ranges[range].procedure == id_;
  }

  // ---- forward: which instructions use the register

  void follow(UpperHalf& high) {
    const Operands operands = lifter_.machine.operands(*lifter_.instruction_at(high.place));
    std::set<Holder> seen;
    std::vector<Holder> work;
    const auto visit = [&](uint64_t address, Register r) {
      if (is_inside(address) && seen.emplace(address, r).second) work.emplace_back(address, r);
    };
    // The register must be new: the result of an addition is no upper half.
    if (operands.uses != 0) high.understood = false;
    for (unsigned d = operands.uses; d < operands.size; ++d)
      go_on(high.place, operands.registers[d], visit, high);
    while (!work.empty()) {
      const auto [address, r] = work.back();
      work.pop_back();
      if (!Effort::spend(effort_, 1)) {
        high.understood = false;
        return;
      }
      if (use(address, r, high, visit)) go_on(address, r, visit, high);
    }
    std::ranges::sort(high.lows);
    high.lows.erase(std::unique(high.lows.begin(), high.lows.end()), high.lows.end());
  }

  /// Looks at an instruction before which `r` holds the half. Returns whether `r` still holds the
  /// half after the instruction.
  template <typename F>
  bool use(uint64_t address, Register r, UpperHalf& high, F visit) {
    const Instruction& instruction = *lifter_.instruction_at(address);
    const InstructionFacts facts = lifter_.machine.facts(instruction);
    const Operands operands = lifter_.machine.operands(instruction);
    const auto first = operands.registers, defs = first + operands.uses,
               end = first + operands.size;
    const bool uses = std::find(first, defs, r) != defs;
    const bool defines = std::find(defs, end, r) != end;
    if (uses && is_call(facts.flow)) high.understood = false;
    if (uses && !is_call(facts.flow)) {
      const bool is_base =
          operands.registers[operands.uses - 1] == r && std::count(first, defs, r) == 1;
      if (is_base && facts.flow == ControlFlow::none && lifter_.is_half(address, true)) {
        high.lows.push_back(address);
      } else if (facts.source == ValueSource::copied && facts.flow == ControlFlow::none) {
        for (auto d = defs; d != end; ++d)
          if (*d != r) go_on(address, *d, visit, high);
      } else {
        high.understood = false;
      }
    }
    return !defines;
  }

  /// Follows `r`, which holds the half after the instruction at `address`.
  template <typename F>
  void go_on(uint64_t address, Register r, F visit, UpperHalf& high) {
    const Instruction& instruction = *lifter_.instruction_at(address);
    const InstructionFacts facts = lifter_.machine.facts(instruction);
    const Abi& abi = lifter_.machine.abi;
    if (is_direct(facts.flow)) {
      const auto to = lifter_.resolve_flow(lifter_.branch_target(address, instruction));
      if (facts.flow != ControlFlow::call) {
        if (to) visit(*to, r);
      } else if (to && is_inside(*to) && *to != procedure().address) {
        high.understood = false;  // the procedure calls a part of itself
      }
    }
    if (facts.flow == ControlFlow::indirect_jump) {
      if (!Effort::spend(effort_, entered_.size())) high.understood = false;
      for (const uint64_t label : entered_) visit(label, r);
    }
    if (!facts.falls_through) return;
    if (is_call(facts.flow)) {
      const Operands operands = lifter_.machine.operands(instruction);
      const auto defs = operands.registers + operands.uses,
                 end = operands.registers + operands.size;
      const bool standard = abi.return_address && std::find(defs, end, *abi.return_address) != end;
      if (standard && std::ranges::find(abi.preserved, r) == abi.preserved.end()) return;
    }
    const uint64_t next = lifter_.map().next(address);
    if (is_inside(next))
      visit(next, r);
    else if (const auto to = lifter_.resolve_flow(next))
      visit(*to, r);
  }

  // ---- what the addresses are

  uint64_t sum(const UpperHalf& high, uint64_t low) const {
    return high.value + static_cast<uint64_t>(lifter_.machine.fixups.field(
                            *lifter_.instruction_at(low), ReferenceKind::address_low));
  }

  /// Whether the code or table at the address may move.
  bool may_move(uint64_t address) const {
    const Section* section = lifter_.image.section_at(address);
    return section != nullptr && (section->executable() || is_unwind_section(section->name));
  }

  /// Whether any code or table that may move is within reach of lower halves.
  bool may_reach_code(const UpperHalf& high) const {
    for (const Section& section : lifter_.image.sections)
      if (section.allocated() && section.size != 0 && may_move(section.address) &&
          section.address < high.value + kLowerHalf &&
          section.address + section.size > high.value - kLowerHalf)
        return true;
    return false;
  }

  Register base_of(uint64_t low) const {
    const Operands operands = lifter_.machine.operands(*lifter_.instruction_at(low));
    return operands.registers[operands.uses - 1];
  }

  HalfTracer& tracer() {
    if (!tracer_) tracer_.emplace(lifter_, id_, ranges_, labels_, effort_);
    return *tracer_;
  }

  const UpperHalf& half_at(uint64_t place) const {
    return *std::ranges::lower_bound(highs_, place, {}, &UpperHalf::place);
  }

  /// Whether the lower half gets `target` on all paths.
  bool always_forms(uint64_t low, uint64_t target) {
    const std::vector<uint64_t> sources = tracer().sources(low, base_of(low), places_);
    return !sources.empty() && std::ranges::all_of(sources, [&](uint64_t source) {
      return sum(half_at(source), low) == target;
    });
  }

  void settle(const UpperHalf& high) {
    const bool moving = high.target ? may_move(*high.target) : may_reach_code(high);
    if (!moving) return note_tables(high);
    std::vector<uint64_t> sums;
    for (const uint64_t low : high.lows) sums.push_back(sum(high, low));
    if (!high.target && high.understood &&
        std::ranges::none_of(sums, [&](uint64_t each) { return may_move(each); }))
      return note_tables(high);
    const uint64_t target = high.target.value_or(sums.empty() ? 0 : sums.front());
    const bool known =
        high.understood && !sums.empty() &&
        std::ranges::all_of(sums, [&](uint64_t each) { return each == target; }) &&
        std::ranges::all_of(high.lows, [&](uint64_t low) { return always_forms(low, target); });
    if (!known) return give_up(high);
    refer(high.place, target, ReferenceKind::address_high);
    for (const uint64_t low : high.lows) refer(low, target, ReferenceKind::address_low);
  }

  /// A lower half may serve several upper halves.
  void refer(uint64_t place, uint64_t target, ReferenceKind kind) {
    if (referring_.insert(place).second)
      add_formed_address(lifter_, procedure(), place, target, kind);
  }

  void note_tables(const UpperHalf& high) {
    for (const uint64_t low : high.lows) {
      const uint64_t address = sum(high, low);
      const bool forms =
          lifter_.machine.facts(*lifter_.instruction_at(low)).source == ValueSource::computed;
      if (forms && std::ranges::binary_search(lifter_.table_words, address) &&
          always_forms(low, address))
        lifter_.tables.push_back({low, address});
    }
  }

  void give_up(const UpperHalf& high) {
    lifter_.make_opaque(
        procedure(),
        fmt::format("what uses the half of an address at {:#x} is not understood", high.place));
    const auto keep = [&](uint64_t address) {
      const uint32_t range = lifter_.range_at(address);
      if (range != kNone)
        lifter_.pin(lifter_.program[lifter_.program.ranges[range].procedure],
                    fmt::format("the code at {:#x} may refer to it in a way that is not understood",
                                high.place));
      else if (const Section* section = lifter_.image.section_at(address);
               section != nullptr && is_unwind_section(section->name))
        throw Error(fmt::format("{:#x} refers to unwind tables in an unknown way", high.place),
                    lifter_.image.path);
    };
    if (high.target) return keep(*high.target);
    if (!kept_.insert(high.value).second) return;
    const auto& ranges = lifter_.program.ranges;
    const auto first =
        std::ranges::upper_bound(ranges, high.value - kLowerHalf, {}, &CodeRange::end);
    for (auto range = first; range != ranges.end() && range->start < high.value + kLowerHalf;
         ++range)
      keep(range->start);
  }

  Lifter& lifter_;
  ProcedureId id_;
  std::span<const uint32_t> ranges_;
  std::span<const uint64_t> labels_;
  uint64_t& effort_;
  std::set<uint64_t>& kept_;       // upper halves whose surroundings stay
  std::vector<uint64_t> entered_;  // places in the procedure to which jumps may lead
  std::vector<UpperHalf> highs_;
  std::vector<uint64_t> places_;  // of highs_
  std::set<uint64_t> referring_;  // places with a reference
  std::optional<HalfTracer> tracer_;
};

}  // namespace

void find_address_halves(Lifter& lifter) {
  std::vector<std::pair<ProcedureId, const Relocation*>> found;
  std::vector<uint64_t> labels;  // addresses of code that relocations give
  for_each_code_relocation(lifter, [&](uint32_t range, const Relocation& relocation) {
    if (relocation.role != RelocationRole::address_high) return;
    found.emplace_back(lifter.program.ranges[range].procedure, &relocation);
    if (lifter.is_code_symbol(relocation.symbol))
      labels.push_back(lifter.symbol_value(relocation.symbol) +
                       static_cast<uint64_t>(relocation.addend));
  });
  if (found.empty()) return;
  std::ranges::sort(labels);
  labels.erase(std::unique(labels.begin(), labels.end()), labels.end());
  std::ranges::stable_sort(found, {}, &std::pair<ProcedureId, const Relocation*>::first);
  const auto& ranges = lifter.program.ranges;
  std::vector<std::vector<uint32_t>> ranges_of(lifter.program.procedures.size());
  for (uint32_t i = 0; i < ranges.size(); ++i) ranges_of[ranges[i].procedure].push_back(i);
  uint64_t effort = Effort(lifter).instructions;
  std::set<uint64_t> kept;
  for (size_t i = 0; i < found.size();) {
    const ProcedureId id = found[i].first;
    ProcedureHalves halves(lifter, id, ranges_of[id], labels, effort, kept);
    for (; i < found.size() && found[i].first == id; ++i) halves.add(*found[i].second);
    halves.settle();
  }
}

}  // namespace respike
