// Stack-adjust elimination (Spike, section "Hot-Cold Optimization").
//
// When hot code only reads the stack pointer to adjust it, the frame is allocated only for cold
// code. The adjustments go, and stubs that lead to cold code with a frame allocate it first.
// Callees read the stack pointer, so hot code must have no calls. Example: `lda $30,-32($30)` at
// the entry moves to the stubs; `lda $30,32($30)` before the return goes.

#include "optimizer/transform/hotcold/stack_adjust.h"

#include <algorithm>

namespace respike {
namespace {

using Role = FrameShape::Role;

enum : uint8_t { kUp = 1, kDown = 2 };  // the stack pointer: as at the entry; with the frame

bool is_adjust(const HotInstruction& i) {
  return i.role == Role::allocate || i.role == Role::release;
}

class AdjustElimination {
 public:
  explicit AdjustElimination(HotProcedure& procedure)
      : procedure_(procedure), machine_(procedure.machine()), before_(procedure.blocks.size()) {}

  Removed run() {
    const FrameShape& shape = procedure_.shape;
    if (!shape.regular || shape.frame_pointer || shape.size <= 0 || !check_code() || !follow())
      return {};
    for (uint32_t b = 0; b < procedure_.hot; ++b) {
      HotBlock& block = procedure_.blocks[b];
      std::erase_if(block.code, [&](const HotInstruction& i) {
        if (!is_adjust(i)) return false;
        removed_.add(i, block.count);
        return true;
      });
    }
    for (uint32_t s = procedure_.hot; s < procedure_.blocks.size(); ++s)
      if (before_[s] == kDown) {
        std::vector<HotInstruction>& code = procedure_.blocks[s].code;
        code.insert(code.begin(), *allocate_);
      }
    procedure_.frameless = true;
    return removed_;
  }

 private:
  bool check_code() {
    const Register sp = machine_.abi.stack_pointer;
    const auto& states = procedure_.program->unwind.states;
    for (uint32_t b = 0; b < procedure_.hot; ++b) {
      const HotBlock& block = procedure_.blocks[b];
      if (procedure_.calls_at_end(b)) return false;
      for (const HotInstruction& i : block.code) {
        // Unwinders must find the CFA by the stack pointer, as HotStates in commit.cc assumes.
        if (i.state < states.size() &&
            (states[i.state].cfa_is_expression || states[i.state].cfa_register != sp))
          return false;
        if (is_adjust(i)) {
          if (block.untouchable) return false;
          if (i.role != Role::allocate) continue;
          if (allocate_ && allocate_->instruction.immediate != i.instruction.immediate)
            return false;
          allocate_ = i;
          continue;
        }
        const Operands operands = machine_.operands(i.instruction);
        if (uses_of(operands).contains(sp) || defs_of(operands).contains(sp)) return false;
      }
    }
    return allocate_.has_value();
  }

  /// Computes before_, the position of the stack pointer; false when it is uncertain.
  bool follow() {
    for (const uint32_t entry : procedure_.entries) before_[entry] = kUp;
    std::vector<uint32_t> work(procedure_.entries.begin(), procedure_.entries.end());
    while (!work.empty()) {
      const uint32_t b = work.back();
      work.pop_back();
      uint8_t state = before_[b];
      for (const HotInstruction& i : procedure_.blocks[b].code)
        if (is_adjust(i)) state = i.role == Role::allocate ? kDown : kUp;
      if (procedure_.blocks[b].successors.empty() && state != kUp && procedure_.calls[b])
        return false;
      for (const uint32_t next : procedure_.blocks[b].successors) {
        if ((before_[next] | state) == before_[next]) continue;
        before_[next] |= state;
        if (!procedure_.is_stub(next)) work.push_back(next);
      }
    }
    for (uint32_t b = 0; b < procedure_.blocks.size(); ++b)
      if (before_[b] == (kUp | kDown) || (before_[b] == kDown && procedure_.blocks[b].stays_empty))
        return false;
    return true;
  }

  HotProcedure& procedure_;
  const Machine& machine_;
  std::vector<uint8_t> before_;             // per block: the state at its start
  std::optional<HotInstruction> allocate_;  // one of the allocations; all are the same
  Removed removed_;
};

}  // namespace

Removed eliminate_stack_adjusts(HotProcedure& procedure) {
  return AdjustElimination(procedure).run();
}

}  // namespace respike
