// A proof that shares no steps with the optimizations: the procedure before and after them run side
// by side, and a forward dataflow problem (known_values.h) finds what is known about their values
// at each pair of blocks. Then, at each pair,
//
// - both execute the same events in the same order: loads, stores, and all else that is not pure,
//   with equal values; they branch by equal values and in the same directions, except for branches
//   whose direction is known from the value: from its computation, or from an earlier branch;
// - callees find the values that they read, and the stack pointer where it was;
// - where control leaves for good, all registers that are live in the original hold the same
//   values, and preserved registers the caller's values if they did in the original;
// - wherever unwind information was right in the original it is right now.
//
// Hot blocks and clones run together with the blocks of which they are copies. A stub has no
// counterpart: it runs alone, paired with the cold block to which it leads; the original waits
// before that block. A block of the original whose hot copy is gone may be skipped, but a loop of
// such blocks may not.
//
// Example: the original saves a register r of its caller in its frame, and only cold blocks change
// r. The hot part does not save r. A stub before the cold part does: after the stub both frames
// hold the caller's r, so the cold part may restore r from its frame.
//
// Slots of saved registers (frame_shape.h) and private slots (private_slots.h) are places like
// registers: a load from a slot gives the value that was last stored there, and other accesses that
// might overlap a slot are refused. Slots count from the stack pointer at the entry, and memory
// below the stack pointer is never read. Callees find private slots as in the original, and may
// leave anything in them; after a call, both sides must do the same stores to private slots.
//
// A callee is the procedure as it is now. By its own proof it returns the same values as the
// original in registers that are live after the call, and keeps preserved registers; it may change
// all others. As in the dataflow of registers, control comes back only from calls, and code after a
// call that never returns is not reached; landing pads are reached by calls, not by loads that
// trap.
//
// An entry of a jump table that belongs to one jump (program.h) may lead elsewhere now: at every
// copy of the jump, to the block that is paired with the entry's old target. Entries of other
// tables lead to their old targets. The addresses in the entries depend on the layout anyway, and
// only the jump uses them.
//
// The comparison after emission (same_program.cc) checks the rest: that all other pointers to code
// lead where they led, and that loads of gp compute gp from the place of the code.
//
// Source: Necula: Translation Validation for an Optimizing Compiler, PLDI 2000, for the idea of
// proving each result instead of the optimizer.

#include "optimizer/check/hot_cold_proof.h"

#include <map>
#include <set>
#include <utility>

#include "optimizer/check/proof_step.h"

namespace respike {
namespace {

/// Runs pairs of blocks from the entries on until nothing new is learned, then checks all pairs.
std::optional<std::string> prove(const Program& program, const ProcedureBefore& before,
                                 std::span<const BlockId> copies) {
  constexpr size_t kRounds = 64;
  PairRun pairs(program, before, copies);
  std::map<ProvenPair, KnownValues> known;
  std::set<ProvenPair> due;
  for (const BlockId entry : before.entries) {
    known[{entry, entry}] = pairs.at_entry();
    due.insert({entry, entry});
  }
  size_t left = kRounds * copies.size();
  while (!due.empty()) {
    const ProvenPair pair = *due.begin();
    due.erase(due.begin());
    if (left-- == 0) return "it takes too long to prove";
    for (auto& [next, values] : pairs.run(pair, known.at(pair), false)) {
      const auto [at, fresh] = known.try_emplace(next, values);
      if (!fresh) {
        KnownValues both = pairs.simplified(join(at->second, values));
        if (both == at->second) continue;
        at->second = std::move(both);
      }
      due.insert(next);
    }
  }
  for (const auto& entry : before.table_entries)
    if (entry.jump == kNone && program.code_pointers[entry.pointer].target != entry.target)
      return "a jump table that others may use leads elsewhere";
  std::map<ProvenPair, ProvenPair> skips;
  for (const auto& [pair, values] : known) {
    const PairRun::Reached reached = pairs.run(pair, values, true);
    if (pairs.fault()) return pairs.fault();
    if (pairs.skips()) skips[pair] = reached.front().first;
  }
  for (const auto& [pair, behind] : skips) {
    ProvenPair at = pair;
    for (size_t steps = 0; skips.contains(at); at = skips.at(at))
      if (steps++ > skips.size()) return "a loop was left out";
  }
  return std::nullopt;
}

}  // namespace

HotColdProof::HotColdProof(const Program& program, ProcedureId id, const CallGraph& calls,
                           const RegisterFlow& flow)
    : program_(program), before_(program, id, calls, flow) {}

std::optional<std::string> HotColdProof::find_fault(std::span<const BlockId> copies) const {
  return prove(program_, before_, copies);
}

}  // namespace respike
