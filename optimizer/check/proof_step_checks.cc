// Running a pair of blocks: what must be equal for unwinders, callees, callers and later code.
//
// The reasons are at the head of hot_cold_proof.cc. For example, at `bsr $26, f` each register that
// f reads (procedure_before.cc knows which) must hold the same value on both sides, and the stores
// before the call must be the same; a register that f leaves alone may differ.

#include "optimizer/check/proof_step.h"

#include <algorithm>
#include <set>

#include "optimizer/analysis/private_slots.h"
#include "optimizer/base/equal_span.h"

namespace respike {

void PairRun::note_unwinding(Side side, uint32_t state) {
  state_ = state;
  if (checks_) unwinds_[side] &= unwound_by(side, state);
}

RegisterSet PairRun::unwound_by(Side side, uint32_t state) {
  RegisterSet found;
  preserved_.for_each([&](Register r) {
    if (unwound(side, state, r) == at_[entry_place(r)]) found.add(r);
  });
  return found;
}

std::optional<ValueId> PairRun::unwound(Side side, uint32_t number, Register r) {
  if (number >= program_.unwind.states.size()) return std::nullopt;
  const CfiState& state = program_.unwind.states[number];
  if (state.opaque || state.cfa_is_expression || state.cfa_register >= number_.size() ||
      number_[state.cfa_register] == kNone)
    return std::nullopt;
  const ValueId base = at(side, static_cast<Register>(state.cfa_register));
  const auto from_stack = table_->distance(base, stack_);
  if (!from_stack || *from_stack + state.cfa_offset != before_.cfa_at_entry) return std::nullopt;
  const auto rule = std::find_if(state.rules.begin(), state.rules.end(), [&](const auto& each) {
    return machine_.abi.register_in_tables(each.first) == r;
  });
  if (rule == state.rules.end() || rule->second.kind == CfiRule::Kind::same_value)
    return at(side, r);
  if (rule->second.kind != CfiRule::Kind::offset) return std::nullopt;
  const int64_t offset = rule->second.value + before_.cfa_at_entry;
  const auto slot = std::lower_bound(before_.slots.begin(), before_.slots.end(), offset);
  if (slot == before_.slots.end() || *slot != offset) return std::nullopt;
  return at_[slot_place(side, static_cast<size_t>(slot - before_.slots.begin()))];
}

void PairRun::compare_unwinding(const RegisterSet& before, const RegisterSet& after) {
  (before - after).for_each([&](Register r) {
    expect(false,
           "unwind information does not find the caller's " + machine_.text.register_name(r));
  });
}

void PairRun::compare_call_sites(const BasicBlock& before, const BasicBlock& after) {
  expect((before.call_site == kNone) == (after.call_site == kNone), "exceptions go elsewhere");
  if (before.call_site == kNone || after.call_site == kNone) return;
  const CallSite& a = before_.procedure.call_sites[before.call_site];
  CallSite b = after_.call_sites[after.call_site];
  if (b.landing_pad < copies_.size()) b.landing_pad = copies_[b.landing_pad];
  expect(a == b, "exceptions go elsewhere");
}

void PairRun::compare_tables(const BasicBlock& before, const BasicBlock& after) {
  const auto entries =
      equal_span(before_.table_entries, pair_.before, &ProcedureBefore::TableEntry::jump);
  const bool own = !entries.empty();
  std::set<std::pair<BlockId, BlockId>> followed;  // pairs of targets of an edge, before and after
  for (size_t e = 0; e < before.successors.size() && own; ++e)
    if (before.successors[e].kind == Edge::Kind::indirect)
      followed.emplace(before.successors[e].target, after.successors[e].target);
  for (const ProcedureBefore::TableEntry& entry : entries) {
    const CodeLocation& to = program_.code_pointers[entry.pointer].target;
    expect(followed.contains({entry.target.block, to.block}) && to.procedure == before_.id &&
               to.where == entry.target.where,
           "a jump table leads elsewhere");
  }
  for (size_t e = 0; e < before.successors.size() && !own; ++e)
    expect(before.successors[e].kind != Edge::Kind::indirect ||
               before.successors[e].target == after.successors[e].target,
           "a jump table leads elsewhere");
}

const Call* PairRun::call() const {
  const auto found = before_.calls.find(pair_.before);
  return found == before_.calls.end() ? nullptr : &found->second;
}

bool PairRun::comes_back() const {
  return before_.killed.at(pair_.before).includes(before_.defined.at(pair_.before));
}

void PairRun::compare_end() {
  const Call* const way_out = call();
  const BasicBlock& block = before_.procedure.blocks[pair_.before];
  if (way_out == nullptr && !block.successors.empty()) return;
  const bool returns = calls_at_end();
  RegisterSet needed = before_.live_at_end[pair_.before];
  if (returns) needed &= before_.read.at(pair_.before);
  needed.add(abi_.stack_pointer);
  needed.for_each([&](Register r) {
    if (number_[r] != kNone && !equal(r))
      expect(false, machine_.text.register_name(r) + " holds something else at a way out");
  });
  if (returns) return;
  preserved_.for_each([&](Register r) {
    const ValueId callers = at_[entry_place(r)];
    const bool kept = before_.kept.contains(r) || at(kBefore, r) == callers;
    if (kept && at(kAfter, r) != callers)
      expect(false, machine_.text.register_name(r) + " is not preserved");
  });
}

void PairRun::return_to(const Edge& edge) {
  const bool unwinding = edge.kind == Edge::Kind::landing_pad;
  const RegisterSet& live = before_.live_in[edge.target];
  const RegisterSet& defined = before_.defined.at(pair_.before);
  const RegisterSet& killed = before_.killed.at(pair_.before);
  for (const Register r : used_) {
    if (r == abi_.stack_pointer) continue;
    const bool is_preserved = preserved_.contains(r);
    const bool changed = unwinding ? !is_preserved : killed.contains(r);
    const bool same = live.contains(r) && (equal(r) || defined.contains(r) || unwinding);
    if (changed) {
      at(kBefore, r) = table_->fresh();
      at(kAfter, r) = same ? at(kBefore, r) : table_->fresh();
    } else if (!is_preserved && !same) {
      at(kAfter, r) = table_->fresh();
    }
  }
}

}  // namespace respike
