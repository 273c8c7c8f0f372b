// What instructions do to the registers that hold a procedure's global pointer.
//
// A gp load has two halves; the global pointer register is valid after the second half. Where
// callers set gp, code after calls restores gp by a copy:
//
//     alloc r34=ar.pfs,5,5,0
//     mov r36=r1               r36 holds gp if r1 does
//     br.call b0=f
//     mov r1=r36               r1 holds gp because r36 does
//
// So the analysis follows the registers to which gp is copied, directly or by other copies, as long
// as they certainly hold gp. A copy from any other register makes the global pointer register
// invalid. Over a call, only registers that the machine itself keeps, whatever the callee, keep
// their value: the part of the procedure's register frame that no callee sees and no rotation
// renames. A copy counts as kept only if it is executed after the instruction that allocates the
// frame. All other copies are lost at a call. gp that is spilled to memory is not followed: a load
// makes the register invalid.
//
// Trampolines of nested functions and closures are called with another value in the register: the
// address of a structure that describes the function. They read memory through the register, or add
// a small number to it. Code never does that to gp: it finds data near gp by distances that the
// linker fills in, in instructions that take longer numbers. Such uses of the register are events
// of the kind `misuse`. Example: libgcc's __ia64_trampoline begins with
//
//     ld8 r2=[r1],8
//
// Limits: a procedure has at most 31 registers with copies; later copies are not followed. Two
// kinds of procedures with closures are not recognized: procedures that first copy the closure to a
// register that calls may change and the frame does not keep, and procedures that only pass the
// closure on.

#include "optimizer/analysis/gp_holders.h"

#include <algorithm>

#include "optimizer/ir/lookup.h"

namespace respike {

void apply(const GpEvent& event, GpState& state) {
  const uint32_t to = uint32_t{1} << event.to;
  switch (event.kind) {
    case GpEvent::Kind::copy: {
      bool holds = (state.holders >> event.from & 1) != 0;
      if (event.predicated) holds = holds && (state.holders & to) != 0;
      if (event.framed) holds = holds && (state.kept & to) != 0;
      state.holders = holds ? state.holders | to : state.holders & ~to;
      if (event.to == 0) state.half = GpState::kNoHalf;
      break;
    }
    case GpEvent::Kind::upper_half:
      state.holders &= ~to;
      state.half = static_cast<int32_t>(event.operand);
      break;
    case GpEvent::Kind::lower_half:
      state.holders &= ~to;
      if (state.half == static_cast<int32_t>(event.operand)) state.holders |= to;
      state.half = GpState::kNoHalf;
      break;
    case GpEvent::Kind::lose:
      state.holders &= ~event.operand;
      if (event.changes_register()) state.half = GpState::kNoHalf;
      break;
    case GpEvent::Kind::frame:
      state.kept = event.operand;
      break;
    case GpEvent::Kind::misuse:
      break;
  }
}

GpEventFinder::GpEventFinder(const Machine& machine)
    : machine_(machine), number_(machine.register_count, kNoNumber) {}

void GpEventFinder::number(Register r) {
  if (number_[r] != kNoNumber || registers_.size() == kMostNumbers) return;
  const bool windowed = is_windowed(r);
  if (windowed && std::ranges::none_of(frames_, [&](auto& frame) { return frame.contains(r); }))
    return;
  const uint32_t bit = uint32_t{1} << registers_.size();
  number_[r] = static_cast<uint8_t>(registers_.size());
  registers_.push_back(r);
  if (windowed)
    windowed_ |= bit;
  else if (bit != GpState::kRegister)
    lost_by_calls_ |= bit;
}

uint32_t GpEventFinder::numbers_in(RegisterRange range) const {
  uint32_t set = 0;
  for (size_t k = 0; k < registers_.size(); ++k)
    if (range.contains(registers_[k])) set |= uint32_t{1} << k;
  return set;
}

/// Finds all copies and frames of the procedure.
void GpEventFinder::find_copies(const Procedure& procedure) {
  copies_.clear();
  frames_.clear();
  for (const BasicBlock& block : procedure.blocks)
    for (const Instruction& i : block.instructions) {
      if (i.is_pseudo() || i.opcode == kInvalid) continue;
      if (const auto frame = kept(i))
        if (std::ranges::find(frames_, *frame) == frames_.end()) frames_.push_back(*frame);
      if (machine_.facts(i).source != ValueSource::copied) continue;
      const Operands operands = machine_.operands(i);
      if (operands.uses == 0 || operands.size != operands.uses + 1) continue;
      copies_.push_back({operands.registers[operands.uses], operands.registers[operands.uses - 1]});
    }
}

void GpEventFinder::enter(const Procedure& procedure) {
  procedure_ = &procedure;
  for (const Register r : registers_) number_[r] = kNoNumber;
  registers_.clear();
  windowed_ = lost_by_calls_ = 0;
  number(machine_.gp->base);
  if (!machine_.gp->callers_set) return;
  find_copies(procedure);
  for (size_t known = 0; known != registers_.size();) {
    known = registers_.size();
    for (const Copy& copy : copies_)
      if (number_of(copy.from) != kNoNumber) number(copy.to);
  }
}

void GpEventFinder::find(const BasicBlock& block, std::vector<GpEvent>& events) const {
  for (uint32_t i = 0; i < block.instructions.size(); ++i)
    if (!block.instructions[i].is_pseudo()) find(block.instructions[i], i, events);
}

/// Adds the event of half of a gp load; false for other instructions.
bool GpEventFinder::add_half(const Instruction& instruction, uint32_t index,
                             std::vector<GpEvent>& events) const {
  if (!is_gp_load(*procedure_, instruction)) return false;
  events.push_back({.index = index,
                    .kind = machine_.fixups.is_upper_half(instruction) ? GpEvent::Kind::upper_half
                                                                       : GpEvent::Kind::lower_half,
                    .operand = static_cast<uint32_t>(instruction.immediate)});
  return true;
}

void GpEventFinder::find(const Instruction& instruction, uint32_t index,
                         std::vector<GpEvent>& events) const {
  if (instruction.opcode == kInvalid) {
    events.push_back({.index = index, .operand = ~uint32_t{0}});
    events.push_back({.index = index, .kind = GpEvent::Kind::frame});
    return;
  }
  const Operands operands = machine_.operands(instruction);
  const bool follows_copies = machine_.gp->callers_set;
  for (unsigned k = 0; follows_copies && k < operands.uses; ++k)
    if (number_of(operands.registers[k]) != kNoNumber &&
        machine_.gp->uses_as_pointer(instruction, operands.registers[k]))
      events.push_back({.index = index,
                        .kind = GpEvent::Kind::misuse,
                        .from = number_of(operands.registers[k])});
  uint32_t written = 0;
  for (unsigned k = operands.uses; k < operands.size; ++k)
    if (const uint8_t to = number_of(operands.registers[k]); to != kNoNumber)
      written |= uint32_t{1} << to;
  const bool copies = written != 0 && follows_copies && operands.size == operands.uses + 1 &&
                      operands.uses != 0 &&
                      machine_.facts(instruction).source == ValueSource::copied;
  const uint8_t from = copies ? number_of(operands.registers[operands.uses - 1]) : kNoNumber;
  if (from != kNoNumber) {
    const uint8_t to = number_of(operands.registers[operands.uses]);
    events.push_back({.index = index,
                      .kind = GpEvent::Kind::copy,
                      .to = to,
                      .from = from,
                      .predicated = instruction.predicate != 0,
                      .framed = (windowed_ >> to & 1) != 0});
    return;
  }
  if (written != 0 && add_half(instruction, index, events)) return;
  if (!follows_copies) {
    if (written != 0) events.push_back({.index = index, .operand = written});
    return;
  }
  if (is_call(machine_.facts(instruction).flow) || machine_.facts(instruction).system_call)
    written |= lost_by_calls_;
  const auto frame = kept(instruction);
  if (frame) written |= windowed_;
  if (written != 0) events.push_back({.index = index, .operand = written});
  if (frame && windowed_ != 0)
    events.push_back({.index = index, .kind = GpEvent::Kind::frame, .operand = numbers_in(*frame)});
}

}  // namespace respike
