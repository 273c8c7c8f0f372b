// Comparing two programs: calls, and the code after them.
//
// Two calls do the same when they lead to the same place, when exceptions of both are handled in
// the same way, and when control comes back to corresponding code or never comes back.
//
// Example: "bsr g" ends block 3 of the input and block 7 of the output, so the return points of the
// two blocks correspond, and so do the landing pads of their call sites.

#include <algorithm>

#include "optimizer/analysis/import_stubs.h"
#include "optimizer/check/same_program_internal.h"
#include "optimizer/image/image.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/machine/imports.h"

namespace respike {

/// Notes that the return points of the two blocks correspond.
void Comparison::remember_call(const Cursor& x, const Cursor& y) {
  const uint32_t before = before_.numbers(x.at.procedure, x.at.block);
  const uint32_t after = after_.numbers(y.at.procedure, y.at.block);
  if (call_partner_[before] == kNone)
    call_partner_[before] = after;
  else if (call_partner_[before] != after)
    more_call_partners_.insert({before, after});
}

/// Whether it is right that no edge leads on from a call of the input: there is no code after it,
/// an earlier rewriting noted that the code after it is unrelated, or the callee never returns.
bool Comparison::returns_nowhere(const Cursor& x) {
  if (x.procedure->state == Procedure::State::opaque || x.block->origin == kNone) return true;
  // After a range of the procedure comes other code, or none.
  const uint64_t place = before_.program.address_of(*x.block);
  const auto& ranges = before_.program.ranges;
  const auto range = std::upper_bound(ranges.begin(), ranges.end(), place,
                                      [](uint64_t a, const CodeRange& r) { return a < r.start; });
  const BlockId next = x.at.block + 1;
  if (range == ranges.begin() || next >= (range - 1)->end_block ||
      before_.program.address_of(x.procedure->blocks[next]) != place + x.block->origin_size ||
      std::binary_search(dead_ends_.begin(), dead_ends_.end(), place + x.block->origin_size))
    return true;
  const CodeLocation callee =
      branch_target(*x.procedure, x.at.procedure, *x.block, x.block->instructions[x.at.index]);
  return callee.where == CodeLocation::Where::block_start && !is_absent(callee) &&
         !before_.may_return(callee.procedure);
}

void Comparison::call(const Cursor& x, const Cursor& y) {
  const Instruction& i = x.block->instructions[x.at.index];
  const Instruction& j = y.block->instructions[y.at.index];
  if (before_.machine.facts(i).flow == ControlFlow::call) {
    const CodeLocation x_target = branch_target(*x.procedure, x.at.procedure, *x.block, i);
    const CodeLocation y_target = branch_target(*y.procedure, y.at.procedure, *y.block, j);
    if (is_absent(x_target) && is_absent(y_target) && i.immediate != j.immediate)
      return differ(x, y, "the operands differ");
    pair(x_target, y_target, x, y, "the call");
  } else if (!i.has_reference() && !j.has_reference() && i.immediate != j.immediate) {
    return differ(x, y, "the operands differ");
  }
  call_behind(x, y);
}

/// Whether the output calls through a pointer at a fixed place, and the input does the same, or
/// calls a stub that only jumps through that pointer. Data does not move.
bool Comparison::call_same_pointer(const Cursor& x, const Cursor& y) const {
  const Imports* imports = before_.machine.imports;
  if (imports == nullptr || before_.program.image == nullptr) return false;
  const Instruction& i = x.block->instructions[x.at.index];
  const Instruction& j = y.block->instructions[y.at.index];
  const auto after = imports->pointer_of_call(j);
  if (!after) return false;
  const uint64_t pointer = after_.program.origin_base + static_cast<uint64_t>(*after);
  if (const auto before = imports->pointer_of_call(i))
    return pointer == before_.program.origin_base + static_cast<uint64_t>(*before);
  const Reference* stub = branch_of(*x.procedure, i);
  return stub != nullptr && pointer == pointer_of_stub(before_.program, stub->target);
}

/// Compares what belongs to two calls that lead to the same place.
void Comparison::call_behind(const Cursor& x, const Cursor& y) {
  remember_call(x, y);
  call_site(x, y);
  return_region(x, y);
  const CodeLocation x_next = successor(x.at, *x.block, Edge::Kind::fall_through);
  const CodeLocation y_next = successor(y.at, *y.block, Edge::Kind::fall_through);
  if (!is_absent(x_next))
    return pair(x_next, y_next, x, y, "the return of the call", Edge::Kind::fall_through);
  if (returns_nowhere(x)) return;
  differ(x, y, "the code behind the call is lost, but its callee may return");
}

void Comparison::call_site(const Cursor& x, const Cursor& y) {
  // Exceptions just pass through a call that no LSDA describes, and through a call whose record is
  // empty: a cold part without an LSDA may be placed in the middle of code that has an LSDA.
  const auto passes = [](const Cursor& cursor) {
    const auto& sites = cursor.procedure->call_sites;
    if (cursor.block->call_site >= sites.size()) return cursor.block->call_site == kNone;
    const CallSite& site = sites[cursor.block->call_site];
    return !site.terminate && site.action == 0 && site.landing_pad == kNone;
  };
  if (passes(x) && passes(y)) return;
  if (x.block->call_site >= x.procedure->call_sites.size() ||
      y.block->call_site >= y.procedure->call_sites.size())
    return differ(x, y, "exceptions are handled in one place only");
  const CallSite& before = x.procedure->call_sites[x.block->call_site];
  const CallSite& after = y.procedure->call_sites[y.block->call_site];
  if (before.terminate != after.terminate)
    return differ(x, y, "an exception of the call ends the program in one of them only");
  if (before_.action_class(before.lsda, before.action) !=
      after_.action_class(after.lsda, after.action))
    return differ(x, y, "exceptions of the call are handled differently");
  const auto landing_pad = [](const Cursor& cursor, const CallSite& site) {
    return site.landing_pad == kNone ? CodeLocation{}
                                     : block_start(cursor.at.procedure, site.landing_pad);
  };
  pair(landing_pad(x, before), landing_pad(y, after), x, y, "the landing pad");
}

/// Unwinders of some machines look up the region at the return address itself, not before it, and
/// unwind the caller by that region (libgcc config/ia64/unwind-ia64.c, uw_frame_state_for). Where
/// the input has the return address of a call in the region of the call, so must the output.
void Comparison::return_region(const Cursor& x, const Cursor& y) {
  if (!after_.describes_return(y.at) && before_.describes_return(x.at))
    differ(x, y, "the return address of the call lies outside of the unwind region of the call");
}

/// Whether the calls at the ends of two blocks were compared with each other, or may still be.
bool Comparison::same_call(const CodeLocation& before, const CodeLocation& after) const {
  const uint32_t call = before_.numbers(before.procedure, before.block);
  const uint32_t partner = after_.numbers(after.procedure, after.block);
  return call_partner_[call] == kNone || call_partner_[call] == partner ||
         more_call_partners_.contains({call, partner});
}

/// The start of a block as the return point of the call right before it, if there is such a call.
/// Code after a call that loads gp may be a landing pad, in images without unwind tables; then
/// return point and pad are one address. With a probe after the call they are two addresses, and
/// the return point is meant.
CodeLocation Comparison::behind_call(const CodeLocation& start) const {
  if (start.where != CodeLocation::Where::block_start || start.procedure == kNone ||
      start.block == 0)
    return start;
  const auto& blocks = before_.program[start.procedure].blocks;
  const BasicBlock &block = blocks[start.block], &call = blocks[start.block - 1];
  if (block.origin == kNone || call.origin == kNone || call.instructions.empty() ||
      call.origin + call.origin_size != block.origin ||
      !is_call(before_.machine.facts(call.instructions.back()).flow))
    return start;
  return {.where = CodeLocation::Where::return_point,
          .procedure = start.procedure,
          .block = start.block - 1};
}

}  // namespace respike
