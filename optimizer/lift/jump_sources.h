#pragma once
// Where the target addresses of indirect jumps come from. Private to this folder; see
// jump_sources.cc.

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "optimizer/lift/jumps.h"

namespace respike {

/// Follows the registers of one procedure's indirect jumps back to the sources of their values.
class JumpSources {
 public:
  /// `bases`: the addresses of tables of distances, sorted.
  JumpSources(const Lifter& lifter, ProcedureId id, const std::vector<uint64_t>& bases,
              Effort& effort)
      : lifter_(lifter),
        program_(lifter.program),
        procedure_(lifter.program[id]),
        bases_(bases),
        effort_(effort) {}

  struct Sources {
    bool unknown_sum = false;  // not the sum of a table's address and an entry
    bool memory = false;       // loaded from an address that a register holds
    // Addresses of the words from which it is loaded in other ways, except for words_at_labels().
    std::vector<uint64_t> words;
    // The jump goes to entries of tables with these addresses and nowhere else; empty: not known.
    std::vector<uint64_t> tables;
  };
  Sources of(BlockId jump);
  /// The addresses of words whose values jumps find at labels. The result covers all jumps that
  /// of() was called for, since many jumps find the same words.
  std::vector<uint64_t> words_at_labels() const;

 private:
  /// A register's value before instruction `index` of the block.
  struct Place {
    BlockId block;
    uint32_t index;
    Register value;
    auto operator<=>(const Place&) const = default;
  };

  using Registers = std::set<Register>;

  /// How far values were followed back.
  struct Walk {
    std::set<Place> seen;
    Registers at_labels;  // values that paths wanted at labels to which only indirect jumps lead
    bool found = false;   // a path ended at a definition
  };

  template <typename F>
  bool follow(Walk& walk, const std::vector<Place>& from, F define);
  template <typename F>
  bool follow_from_jumps(Registers registers, F define);
  const Sources& from_jumps(const Registers& registers);
  const std::optional<std::vector<uint64_t>>& tables_from_jumps(const Registers& registers);
  bool is_table(const Place& place, std::vector<uint64_t>& tables);
  bool define_table(const Instruction& instruction, std::vector<Register>& next,
                    std::vector<uint64_t>& tables, bool& found) const;
  bool define_target(const Instruction& instruction, const Place& place,
                     std::vector<Register>& next, Sources& sources, bool& only_tables);
  std::vector<Register> plain_uses(const Operands& operands) const;
  bool is_plain(Register r) const;
  void find_predecessors();

  const Lifter& lifter_;
  const Program& program_;
  const Procedure& procedure_;
  const std::vector<uint64_t>& bases_;
  Effort& effort_;
  std::vector<std::vector<BlockId>> predecessors_;  // but not over indirect or exception edges
  std::vector<BlockId> jumps_;                      // blocks that end with an indirect jump
  std::vector<bool> has_other_ways_;  // by block: edges that are not in predecessors_ lead to it
  bool complete_ = true;              // all paths that were followed ended at definitions
  // The values that registers may hold where any of the jumps goes to a label. Many jumps ask for
  // the same registers.
  std::map<Registers, Sources> from_jumps_;
  std::map<Registers, std::optional<std::vector<uint64_t>>> tables_from_jumps_;
};

}  // namespace respike
