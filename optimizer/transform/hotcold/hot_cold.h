#pragma once
// Hot-cold optimization: fewer instructions on the frequent paths (Spike, section "Hot-Cold
// Optimization"; Cohn and Lowney, MICRO-29, 1996).

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/ir/program.h"
#include "optimizer/transform/hotcold/commit.h"
#include "optimizer/transform/hotcold/partial_dead_code.h"

namespace respike {

struct HotColdOptions {
  double least_share = 0.0005;  // of all executed instructions: procedures below are left alone
  /// The share of a procedure's executed instructions that has to be saved: if less is saved, the
  /// new code is not worth its room in caches.
  double least_gain = 0.03;
  double least_gain_of_all = 0.004;  // of all executed instructions: enough in any case
  /// By round: shares to try. A block is cold if it runs less often than this share of the
  /// procedure's entries. Each round works on the result of the previous round.
  std::vector<std::vector<double>> cold_shares = {{0.01, 0.05, 0.2}, {0.05, 0.2, 0.5}};
};

/// What hot-cold optimization did with a procedure, or why it did nothing.
struct HotColdNote {
  enum class Category : uint8_t {
    optimized,
    infrequent,    // runs too little
    no_split,      // all its blocks are hot
    sp_modified,   // its frame is not of a fixed size that is allocated once
    not_provable,  // `reason` says why
    no_advantage,  // nothing could be removed from the hot part
  };
  ProcedureId procedure = kNone;
  std::string name;
  Category category = Category::infrequent;
  std::string reason;
  uint64_t executed = 0;  // instructions, by the counts
  uint64_t removed = 0;   // executed instructions saved
  uint64_t instructions = 0;
  bool leaf = false;           // makes no calls
  CommittedBlocks parts;       // optimized: its new blocks; clones and stubs of all rounds
  uint64_t hot_entered = 0;    // optimized: times control came into the hot procedure
  uint64_t cold_executed = 0;  // ... and instructions executed outside of it
};

std::string_view name_of(HotColdNote::Category category);

/// Instructions removed from hot procedures.
struct HotColdRemoved {
  Removed partial_dead_code, preserved_registers, return_address, stack_adjusts, copies, branches,
      loads, stores;

  HotColdRemoved& operator+=(const HotColdRemoved& other);
  uint64_t executed() const;
};

/// The blocks that hot-cold optimization made of a procedure.
struct SplitProcedure {
  enum class Part : uint8_t { cold, hot, clone, stub };
  struct Block {
    Part part = Part::cold;
    BlockId original = kNone;  // of the procedure before the first round; kNone: a stub
  };
  ProcedureId procedure = kNone;
  std::vector<Block> blocks;  // the current blocks
  HotColdRemoved removed;     // in all rounds
};

/// The hot part of a procedure. Together with the program it determines all changes of the
/// procedure.
struct HotPart {
  ProcedureId procedure = kNone;
  std::vector<BlockId> blocks;  // the hot blocks, ascending
};
using HotParts = std::vector<std::vector<HotPart>>;  // by round, then in the order of changes

struct HotColdResult {
  std::vector<HotColdNote> notes;  // of the procedures that ran
  HotParts parts;                  // of the procedures that were changed
  uint64_t executed = 0;           // instructions of the whole program, by the counts
  HotColdRemoved removed;
  uint64_t hot_instructions = 0;
  uint64_t clone_instructions = 0;
  uint64_t stub_instructions = 0;
  uint64_t hot_entered = 0;    // times control came into hot procedures
  uint64_t stubs_entered = 0;  // ... and left them
};

/// Optimizes the movable procedures where that pays; needs counts. A procedure without a proof that
/// it does the same (check/hot_cold_proof.h) stays as it is. Old blocks keep their numbers; new
/// blocks come after them. Does nothing on machines without Machine::rewrite. Linear in the
/// program, quadratic in hot procedures. `calls`: the call graph of the program, if it exists
/// already.
HotColdResult optimize_hot_cold(Program& program, const HotColdOptions& options = {},
                                std::optional<CallGraph> calls = {});

/// Changes a program, with or without counts, as optimize_hot_cold() changed an equal program with
/// the result `parts`: afterwards both have the same blocks. Every procedure is proven again.
/// Returns what prevents the change in one sentence, or nullopt. A round has at most one part per
/// procedure. `splits` gets the changed procedures, in no particular order.
std::optional<std::string> split_alike(Program& program, const HotParts& parts,
                                       std::optional<CallGraph> calls = {},
                                       std::vector<SplitProcedure>* splits = nullptr);

}  // namespace respike
