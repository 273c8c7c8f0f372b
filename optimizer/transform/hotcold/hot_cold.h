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
  double least_share = 0.0005;  // of all executed instructions that a procedure has to run
  /// Of a procedure's executed instructions that have to go: for less, new code is not worth the
  /// room in caches that it takes from other code.
  double least_gain = 0.03;
  double least_gain_of_all = 0.004;  // of all executed instructions: that is worth it in any case
  /// Of a procedure's entries that a cold block may run; the best of them is taken. Each round
  /// works on what the last one made: a part of a hot procedure becomes hotter still.
  std::vector<std::vector<double>> cold_shares = {{0.01, 0.05, 0.2}, {0.05, 0.2, 0.5}};
};

/// What became of a procedure.
struct HotColdNote {
  enum class Category : uint8_t {
    optimized,
    infrequent,    // runs too little
    no_split,      // all of it is hot
    sp_modified,   // its frame is not of a fixed size that is allocated once
    not_provable,  // `reason` says why
    no_advantage,  // nothing could be taken out of the hot part
  };
  ProcedureId procedure = kNone;
  std::string name;
  Category category = Category::infrequent;
  std::string reason;
  uint64_t executed = 0;  // instructions, by the counts
  uint64_t removed = 0;   // of these
  uint64_t instructions = 0;
  bool leaf = false;           // makes no calls
  CommittedBlocks parts;       // optimized: what it became; clones and stubs of all rounds
  uint64_t hot_entered = 0;    // optimized: times control came into the hot procedure
  uint64_t cold_executed = 0;  // ... and instructions executed outside of it
};

std::string_view name_of(HotColdNote::Category category);

/// Instructions taken out of hot procedures.
struct HotColdRemoved {
  Removed partial_dead_code, preserved_registers, return_address, stack_adjusts, copies, branches,
      loads, stores;

  HotColdRemoved& operator+=(const HotColdRemoved& other);
  uint64_t executed() const;
};

/// All that the changes of a procedure follow from, beside the program.
struct HotPart {
  ProcedureId procedure = kNone;
  std::vector<BlockId> blocks;  // the hot ones, ascending
};
using HotParts = std::vector<std::vector<HotPart>>;  // by round; of a round in the order of change

struct HotColdResult {
  std::vector<HotColdNote> notes;  // of the procedures that ran
  HotParts parts;                  // of those that were changed
  uint64_t executed = 0;           // instructions of the whole program, by the counts
  HotColdRemoved removed;
  uint64_t hot_instructions = 0;
  uint64_t clone_instructions = 0;
  uint64_t stub_instructions = 0;
  uint64_t hot_entered = 0;    // times control came into hot procedures
  uint64_t stubs_entered = 0;  // ... and left them
};

/// Changes the movable procedures that it pays for; needs counts. What is not proven to do the same
/// (check/hot_cold_proof.h) stays as it is. The blocks that procedures had keep their numbers;
/// others come behind them. Does nothing on machines without Machine::rewrite_facts(). Linear in
/// the program, quadratic in hot procedures. `calls`: the call graph of the program, if there is
/// one already.
HotColdResult optimize_hot_cold(Program& program, const HotColdOptions& options = {},
                                std::optional<CallGraph> calls = {});

/// Changes a program, without counts, as another one like it was changed: afterwards both have the
/// same blocks. Everything is proven as if nothing were known of the parts. Returns what prevents
/// it in one sentence, or nullopt. In a round each procedure has one part at most.
std::optional<std::string> split_alike(Program& program, const HotParts& parts,
                                       std::optional<CallGraph> calls = {});

}  // namespace respike
