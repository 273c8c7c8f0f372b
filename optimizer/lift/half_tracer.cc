// Which upper half a lower half of an address adds to.
//
// The base register of a lower half gives the answer: on every path that is ever taken, the
// register's value comes from an upper half. So this is a search for reaching definitions,
// backwards from the lower half over all instructions from which control may come. Copies of the
// register are followed.
//
//     beq   a0, 2f           Nearest in memory to the lower half of f is the upper half of g, but
//     br    3f               control gets there only from the upper half at 3.
//  2: ldah  t0, g(gp)
//     br    4f
//  1: lda   v0, f(t0)
//     ret
//  3: ldah  t0, f(gp)
//     br    1b
//  4: lda   v0, g(t0)
//     ret
//
// Blocks do not exist yet: some of the addresses in question will start blocks. An indirect jump is
// taken to lead to every place whose address is kept, and every call to all landing pads. That
// finds too many sources rather than too few.
//
// A call by the standard keeps the preserved registers. Any other register holds no upper half from
// before the call after it. Nor does a caller pass an upper half in a register. Upper halves that
// come out of memory are not found. A call by which a procedure enters a part of itself ends the
// search without an answer.

#include "optimizer/lift/half_tracer.h"

#include <algorithm>
#include <set>

#include "optimizer/lift/jumps.h"

namespace respike {
namespace {

bool defines(const Operands& operands, Register r) {
  const auto end = operands.registers + operands.size;
  return std::find(operands.registers + operands.uses, end, r) != end;
}

}  // namespace

HalfTracer::HalfTracer(const Lifter& lifter, ProcedureId procedure,
                       std::span<const uint32_t> ranges, std::span<const uint64_t> labels,
                       uint64_t& effort)
    : lifter_(lifter), procedure_(procedure), labels_(labels), effort_(effort) {
  for (const uint32_t index : ranges) {
    const CodeRange& range = lifter.program.ranges[index];
    uint64_t last = range.start;
    for (uint64_t at = range.start; at < range.end; at = lifter.map().next(at)) {
      note_flow(at, *lifter.instruction_at(at));
      last = at;
    }
    const auto next = lifter.resolve_flow(range.end);
    if (next && lifter.machine.facts(*lifter.instruction_at(last)).falls_through)
      branches_.emplace_back(*next, last);
  }
  std::sort(branches_.begin(), branches_.end());
}

bool HalfTracer::in_procedure(uint64_t address) const {
  const uint32_t range = lifter_.range_at(address);
  return range != kNone && lifter_.program.ranges[range].procedure == procedure_;
}

void HalfTracer::note_flow(uint64_t place, const Instruction& instruction) {
  const ControlFlow flow = lifter_.machine.facts(instruction).flow;
  if (flow == ControlFlow::indirect_jump) jumps_.push_back(place);
  if (is_call(flow)) calls_.push_back(place);
  if (flow != ControlFlow::branch && flow != ControlFlow::conditional_branch &&
      flow != ControlFlow::call)
    return;
  if (const auto to = lifter_.resolve_flow(lifter_.branch_target(place, instruction)))
    branches_.emplace_back(*to, place);
}

std::vector<uint64_t> HalfTracer::before(uint64_t address) const {
  std::vector<uint64_t> result;
  const uint32_t range = lifter_.range_at(address);
  if (address != lifter_.program.ranges[range].start) {
    const uint64_t previous = lifter_.map().previous(address);
    if (lifter_.machine.facts(*lifter_.instruction_at(previous)).falls_through)
      result.push_back(previous);
  }
  auto branch =
      std::lower_bound(branches_.begin(), branches_.end(), std::pair(address, uint64_t{}));
  for (; branch != branches_.end() && branch->first == address; ++branch)
    result.push_back(branch->second);
  const uint8_t marks = lifter_.marks_at(address);
  if ((marks & kLandingPadMark) != 0) result.insert(result.end(), calls_.begin(), calls_.end());
  const bool entry = (marks & kEntryMark) != 0 || address == lifter_.program[procedure_].address;
  if (!entry && ((marks & kAddressTakenMark) != 0 ||
                 std::binary_search(labels_.begin(), labels_.end(), address)))
    result.insert(result.end(), jumps_.begin(), jumps_.end());
  return result;
}

/// Whether the call may enter a part of its own procedure, which may change any register.
bool HalfTracer::may_call_itself(uint64_t place, const Instruction& call) const {
  if (lifter_.machine.facts(call).flow != ControlFlow::call) return false;
  const auto callee = lifter_.resolve_flow(lifter_.branch_target(place, call));
  return callee && *callee != lifter_.program[procedure_].address && in_procedure(*callee);
}

bool HalfTracer::step_back(uint64_t place, Register wanted, std::span<const uint64_t> highs,
                           std::vector<uint64_t>& found, std::vector<Value>& work) const {
  const Instruction& instruction = *lifter_.instruction_at(place);
  const Machine& machine = lifter_.machine;
  const Operands operands = machine.operands(instruction);
  if (is_call(machine.facts(instruction).flow)) {
    if (may_call_itself(place, instruction)) return false;
    const Abi& abi = machine.abi;
    const bool kept = std::ranges::find(abi.preserved, wanted) != abi.preserved.end();
    if (!kept && abi.return_address && defines(operands, *abi.return_address)) return true;
  }
  if (!defines(operands, wanted)) {
    work.emplace_back(place, wanted);
    return true;
  }
  if (std::binary_search(highs.begin(), highs.end(), place)) {
    found.push_back(place);
    return true;
  }
  if (instruction.predicate != 0 || operands.uses == 0 ||
      machine.facts(instruction).source != ValueSource::copied)
    return false;
  work.emplace_back(place, operands.registers[operands.uses - 1]);
  return true;
}

std::vector<uint64_t> HalfTracer::sources(uint64_t place, Register base,
                                          std::span<const uint64_t> highs) {
  std::vector<uint64_t> found;
  std::vector<Value> work = {{place, base}};
  std::set<Value> seen(work.begin(), work.end());
  while (!work.empty()) {
    const auto [address, wanted] = work.back();
    work.pop_back();
    const std::vector<uint64_t> places = before(address);
    if (!Effort::spend(effort_, 1 + places.size())) return {};
    std::vector<Value> values;
    for (const uint64_t from : places)
      if (!step_back(from, wanted, highs, found, values)) return {};
    for (const Value& value : values)
      if (seen.insert(value).second) work.push_back(value);
  }
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace respike
