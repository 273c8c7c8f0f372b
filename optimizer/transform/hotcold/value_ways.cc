// A forward analysis from the entries of the hot procedure on, over sets of three states. The
// result belongs to the instruction until its register is written again. A callee that may change a
// register adds states: the register may be changed or not. Example: I: t = a + b. After I the set
// is {ready}; after a later write of a {lost}; after a write of t {other}; where paths with and
// without I meet, {ready, other}.

#include "optimizer/transform/hotcold/value_ways.h"

#include <utility>

namespace respike {

ValueWays::ValueWays(const HotProcedure& procedure, uint32_t block, size_t index, Register result)
    : procedure_(procedure),
      home_(block),
      home_index_(index),
      result_(result),
      reads_(
          uses_of(procedure.machine().operands(procedure.blocks[block].code[index].instruction))),
      before_(procedure.blocks.size()) {
  follow();
}

ValueWays::ValueWays(const HotProcedure& procedure, uint32_t block, size_t index,
                     std::function<bool(const HotInstruction&)> writes)
    : procedure_(procedure),
      home_(block),
      home_index_(index),
      writes_(std::move(writes)),
      reads_(
          uses_of(procedure.machine().operands(procedure.blocks[block].code[index].instruction))),
      before_(procedure.blocks.size()) {
  follow();
}

void ValueWays::follow() {
  const HotProcedure& procedure = procedure_;
  for (const uint32_t entry : procedure.entries) before_[entry] = kOther;
  std::vector<uint32_t> work(procedure.entries.begin(), procedure.entries.end());
  while (!work.empty()) {
    const uint32_t number = work.back();
    work.pop_back();
    uint8_t state = before_[number];
    for (size_t i = 0; i < procedure.blocks[number].code.size(); ++i)
      state = behind(number, i, state);
    state = behind_call(number, state);
    for (const uint32_t next : procedure.blocks[number].successors) {
      if ((before_[next] | state) == before_[next]) continue;
      before_[next] |= state;
      if (!procedure.is_stub(next)) work.push_back(next);
    }
  }
}

uint8_t ValueWays::behind(uint32_t block, size_t index, uint8_t state) const {
  if (block == home_ && index == home_index_) return kReady;
  if (state == kOther) return kOther;  // no other instruction changes that
  if (writes_ && writes_(procedure_.blocks[block].code[index])) return kOther;
  const Instruction& instruction = procedure_.blocks[block].code[index].instruction;
  const Operands operands = procedure_.machine().operands(instruction);
  bool result = false, read = false;
  for (unsigned k = operands.uses; k < operands.size; ++k) {
    result |= operands.registers[k] == result_;
    read |= reads_.contains(operands.registers[k]);
  }
  return written(result, instruction.predicate == 0, read, state);
}

uint8_t ValueWays::behind_call(uint32_t block, uint8_t state) const {
  const RegisterSet& changed = procedure_.changed_by[block];
  return written(result_ && changed.contains(*result_), false, !(changed & reads_).empty(), state);
}

uint8_t ValueWays::written(bool result, bool certainly, bool read, uint8_t state) {
  if (result) {
    if (certainly) return kOther;
    state |= kOther;
  }
  if ((state & kReady) == 0 || !read) return state;
  return static_cast<uint8_t>((state & ~kReady) | kLost);
}

bool move_to_stubs(HotProcedure& procedure, uint32_t block, size_t index, const ValueWays& ways,
                   const std::function<bool(uint32_t stub)>& is_live) {
  std::vector<uint32_t> stubs;
  for (auto s = procedure.hot; s < procedure.blocks.size(); ++s) {
    const uint8_t state = ways.at_start(s);
    if (state == ValueWays::kOther || state == 0 || !is_live(s)) continue;
    if (state != ValueWays::kReady || procedure.blocks[s].stays_empty) return false;
    stubs.push_back(s);
  }
  std::vector<HotInstruction>& code = procedure.blocks[block].code;
  const HotInstruction moved = code[index];
  code.erase(code.begin() + static_cast<ptrdiff_t>(index));
  for (const uint32_t s : stubs) {
    std::vector<HotInstruction>& stub = procedure.blocks[s].code;
    stub.insert(stub.begin(), moved);
  }
  return true;
}

}  // namespace respike
