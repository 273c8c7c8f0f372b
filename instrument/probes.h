#pragma once
// Probes: counter code put into the blocks and on the edges of a program.

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "instrument/code_facts.h"
#include "instrument/counter_placement.h"
#include "instrument/counters.h"
#include "optimizer/ir/program.h"
#include "optimizer/machine/machine.h"
#include "optimizer/machine/probes.h"

namespace respike {

struct ProbeStatistics {
  uint64_t probes = 0;
  uint64_t small = 0;            // probes that call a routine
  uint64_t routines = 0;         // routines that these probes share
  uint64_t saved_registers = 0;  // probes that had to save a register because none was free
  uint64_t without_gp = 0;       // probes that address their counter from the pc
  uint64_t added_blocks = 0;
};

/// Collects the probes of a program and then puts them all in.
class ProbeInserter {
 public:
  /// `counters`: address of counter 0; `bases`: the words through which probes find the counters.
  /// Program and facts must stay as they are until insert().
  ProbeInserter(Program& program, const CodeFacts& facts, uint64_t counters, Counters how,
                std::optional<CounterBases> bases = std::nullopt);

  /// A probe for every counter of a procedure, numbered from `first_counter`. `calls`: how often
  /// the procedure is expected to be called.
  void count(ProcedureId procedure, const CounterPlacement& placement, uint32_t first_counter,
             double calls);
  /// A probe that records the target of the indirect jump or call at the end of a block. False when
  /// nothing may be put before that instruction.
  bool record_target(ProcedureId procedure, BlockId block, uint32_t counter);

  /// Inserts calls of the routine at `address`, which finds a thread's copy of the counters, where
  /// a thread may come to the image's code for the first time: at entries that unknown code uses,
  /// and after `forks`, calls that return in two processes.
  void find_copies(uint64_t address, std::span<const std::pair<ProcedureId, BlockId>> forks);

  /// Edits the program; `layout` gets the new blocks next to the blocks that they belong to.
  void insert(Layout& layout);

  const ProbeStatistics& statistics() const { return statistics_; }

 private:
  enum class Where : uint8_t { in_block, after_block, on_taken };
  struct Probe {
    BlockId block;
    uint32_t index;  // in_block: before this instruction
    Where where;
    ProbeKind kind;
    uint64_t counter;   // address
    double weight = 0;  // expected executions
    Register registers[3] = {};
    uint8_t saved = 0;    // how many of the registers have to be saved: the last ones
    bool lowers = false;  // lowers the stack pointer without saving a register
    bool small = false;   // three registers are free: the probe may call a routine
    bool gp_known = false;
    bool keep_flags = false;
    uint32_t routine = kNone;  // index of routines_
  };
  struct Piece {  // of a block under construction
    std::vector<Instruction> instructions = {};
    bool retry = false;
    bool call = false;  // ends in a call of a routine
  };
  /// Small probes share a routine if these fields are equal.
  struct Routine {
    std::array<Register, Probes::kRoutineRegisters> registers;
    std::optional<uint64_t> gp;
    uint64_t window;  // counters from window * kRoutineCounters on
    auto operator<=>(const Routine&) const = default;
  };
  struct Edited;

  Routine routine_of(ProcedureId procedure, const Probe& probe) const;
  unsigned size_of(ProcedureId procedure, const Probe& probe) const;
  void shrink();
  void add_routines(Layout& layout);

  const std::vector<PointFacts>& facts_of(ProcedureId procedure, BlockId block);
  std::vector<bool> open_places_of(ProcedureId procedure, BlockId block);
  bool choose_registers(Probe& probe, const PointFacts& facts,
                        std::optional<Register> keep = {}) const;
  bool before_call(ProcedureId procedure, const Probe& probe) const;
  ProbeCode code_of(ProcedureId procedure, const Probe& probe) const;
  void count_block(ProcedureId procedure, BlockId block, uint64_t counter, double weight);
  void count_edge(ProcedureId procedure, BlockId from, BlockId to, Where where, uint64_t counter,
                  double weight);
  ProbeKind counting() const {
    return how_ == Counters::atomic ? ProbeKind::count_atomic : ProbeKind::count;
  }
  void keep(ProcedureId procedure, const Probe& probe);
  void find_copy_at_entry(ProcedureId procedure, BlockId block, uint64_t address);
  void find_copy_behind(ProcedureId procedure, BlockId block, uint64_t address);
  void find_gaps(const Layout& layout);
  void follow_cut_blocks(const std::vector<Edited>& edits);
  static std::vector<BlockId> with_added(const std::vector<BlockId>& blocks, const Edited& edited);
  void edit(ProcedureId id, std::vector<Probe>& probes, Edited& edited);
  void write(ProcedureId id, const Probe& probe, uint32_t state, std::vector<Piece>& pieces);
  void edit_block(ProcedureId id, std::span<const Probe> probes, Edited& edited);
  void split_edge(ProcedureId id, const Probe& probe, Edited& edited);
  std::vector<BlockId> add_blocks(ProcedureId id, const BasicBlock& like, uint32_t state,
                                  std::vector<Piece> pieces, size_t first);
  uint32_t routine_state(Register link);
  uint32_t call_site_that_unwinds(Procedure& procedure, uint32_t like);

  Program& program_;
  const CodeFacts& facts_;
  const Machine& machine_;
  const Probes& code_;
  const RegisterSet flags_;
  uint64_t counters_;
  Counters how_;
  const std::optional<CounterBases> bases_;
  const bool keeps_prologs_;  // unwinders read the code of prologs and epilogs
  ProbeStatistics statistics_;
  std::vector<std::vector<Probe>> by_procedure_;
  std::vector<Routine> routines_;
  ProcedureId first_routine_ = kNone;
  DeeperStates deeper_;                  // unwind states while registers are saved
  std::vector<PointFacts> point_facts_;  // of the block that facts_of() was asked for last
  std::pair<ProcedureId, BlockId> point_facts_of_{kNone, kNone};
  struct Gaps {                 // of a procedure, by block; see find_gaps()
    std::vector<bool> before;   // control does not fall into the block
    std::vector<BlockId> near;  // a near block that does not fall through, or kNone
  };
  std::vector<Gaps> gaps_;
  std::vector<bool> glued_before_;  // by block of a procedure, see open_places_of()
  ProcedureId glued_before_of_ = kNone;
};

}  // namespace respike
