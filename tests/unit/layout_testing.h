#pragma once
// Helpers for the tests of optimizer/layout: random procedures with counts of random walks.

#include <algorithm>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "optimizer/ir/program.h"
#include "tests/unit/fake_machine.h"

namespace respike {

using Random = std::mt19937_64;

inline uint32_t below(Random& random, size_t limit) {
  return static_cast<uint32_t>(random() % limit);
}

inline Instruction fake_instruction(std::string_view name) {
  Instruction i;
  i.opcode = FakeMachine::opcode(name);
  return i;
}

/// The cycles of a processor that issues all instructions of a group of 16 bytes at once.
inline uint32_t groups_to_issue(std::span<const Instruction> before,
                                std::span<const Instruction> code, uint64_t address) {
  if (code.empty()) return 0;
  const bool joins = !before.empty() && address % 16 != 0;
  const uint64_t first = address / 16 + (joins ? 1 : 0);
  return static_cast<uint32_t>((address + 4 * code.size() + 15) / 16 - first);
}

/// The fake machine with an issue model.
inline const Machine& issuing_fake_machine() {
  static const IssueModel model = {.period = 16, .cycles = groups_to_issue};
  static const Machine machine = [] {
    Machine result = fake_machine();
    result.issue = &model;
    return result;
  }();
  return machine;
}

/// The fake machine with branches that reach all code.
inline const Machine& far_reaching_fake_machine() {
  static const Machine machine = [] {
    Machine result = fake_machine();
    result.branches.reach = uint64_t{1} << 31;
    return result;
  }();
  return machine;
}

/// A program to which tests add procedures.
class LayoutProgram {
 public:
  LayoutProgram() { program.machine = &fake_machine(); }

  Procedure& add_procedure() {
    Procedure& procedure = program.procedures.emplace_back();
    procedure.name = "p" + std::to_string(program.procedures.size() - 1);
    procedure.address = end_;
    program.ranges.push_back({end_, end_, last(), 0, 0});
    return procedure;
  }

  /// Adds a block of `plain` instructions and, unless `ending` is empty, the instruction of that
  /// name.
  BlockId add_block(size_t plain, std::string_view ending) {
    Procedure& procedure = program.procedures.back();
    BasicBlock& block = procedure.blocks.emplace_back();
    block.origin = static_cast<uint32_t>(end_);
    for (size_t i = 0; i < plain; ++i) add(block, "add");
    if (!ending.empty()) add(block, ending);
    block.origin_size = static_cast<uint32_t>(end_ - block.origin);
    procedure.size += block.origin_size;
    program.ranges.back().end = end_;
    return program.ranges.back().end_block++;
  }

  void connect(BlockId from, BlockId to, Edge::Kind kind) {
    program.procedures.back().blocks[from].successors.push_back(*program.arena,
                                                                {.target = to, .kind = kind});
  }

  /// Adds a procedure whose blocks fall through, branch forth and back, call and return, in any
  /// order.
  void add_random_procedure(Random& random, uint32_t blocks) {
    add_procedure().blocks.reserve(blocks);
    for (BlockId b = 0; b < blocks; ++b) {
      const uint32_t plain = 1 + below(random, 8);
      const uint32_t kind = b + 1 == blocks ? 0 : below(random, 10);
      const BlockId target = below(random, blocks);
      if (kind == 0) {
        add_block(plain, "ret");
      } else if (kind == 1) {
        add_block(plain, "br");
        connect(b, target, Edge::Kind::taken);
      } else {
        const bool branches = kind > 3;
        add_block(plain, branches ? "beq" : kind == 2 ? "" : "bsr");
        connect(b, b + 1, Edge::Kind::fall_through);
        if (branches) connect(b, target, Edge::Kind::taken);
        if (kind == 3) call(below(random, program.procedures.size()));
      }
    }
    program.procedures.back().blocks[0].flags |= BasicBlock::kEntry;
  }

  Program program;

 private:
  ProcedureId last() const { return static_cast<ProcedureId>(program.procedures.size() - 1); }

  void add(BasicBlock& block, std::string_view name) {
    Instruction instruction = fake_instruction(name);
    instruction.origin = static_cast<uint32_t>(end_);
    block.instructions.push_back(*program.arena, instruction);
    end_ += 4;
  }

  /// Makes the last instruction call a procedure.
  void call(ProcedureId callee) {
    Procedure& procedure = program.procedures.back();
    Instruction& instruction = procedure.blocks.back().instructions.back();
    instruction.flags |= Instruction::kHasReference;
    instruction.immediate = static_cast<int32_t>(procedure.references.size());
    procedure.references.push_back({ReferenceKind::branch, {.procedure = callee, .block = 0}});
  }

  uint64_t end_ = 0;
};

/// Counts of random walks through a procedure; each branch has a bias of its own.
inline void walk(Random& random, Procedure& procedure, uint32_t walks) {
  std::vector<uint32_t> bias;  // in percent, of the first edge
  for (size_t b = 0; b < procedure.blocks.size(); ++b) bias.push_back(1 + below(random, 99));
  for (; walks > 0; --walks) {
    BlockId at = 0;
    for (uint32_t steps = 0; steps < 200; ++steps) {
      BasicBlock& block = procedure.blocks[at];
      ++block.count;
      if (block.successors.empty()) break;
      const bool first = block.successors.size() == 1 || below(random, 100) < bias[at];
      Edge& edge = block.successors[first ? 0 : 1];
      ++edge.count;
      at = edge.target;
    }
  }
}

/// Sets counts that no run gives: they contradict each other, and some are near 2^64.
inline void count_anything(Random& random, Program& program) {
  const auto any = [&]() -> uint64_t {
    switch (below(random, 4)) {
      case 0:
        return 0;
      case 1:
        return below(random, 100);
      case 2:
        return random();
      default:
        return UINT64_MAX - below(random, 2);
    }
  };
  for (Procedure& procedure : program.procedures)
    for (BasicBlock& block : procedure.blocks) {
      block.count = any();
      for (Edge& edge : block.successors) edge.count = any();
    }
}

/// Glues random blocks to the next block, if they fall through to it.
inline void glue(Random& random, Procedure& procedure, uint32_t one_in) {
  for (BasicBlock& block : procedure.blocks)
    if (block.edge(Edge::Kind::fall_through) != nullptr && below(random, one_in) == 0)
      block.flags |= BasicBlock::kGluedToNext;
}

inline std::vector<bool> all_blocks(const Procedure& procedure) {
  return std::vector<bool>(procedure.blocks.size(), true);
}

inline std::vector<BlockId> joined(const std::vector<std::vector<BlockId>>& chains) {
  std::vector<BlockId> order;
  for (const auto& chain : chains) order.insert(order.end(), chain.begin(), chain.end());
  return order;
}

/// How often a block falls through and how often it branches.
inline void set_counts(Procedure& procedure, BlockId block, uint64_t falls, uint64_t taken) {
  procedure.blocks[block].count = falls + taken;
  for (Edge& edge : procedure.blocks[block].successors)
    edge.count = edge.kind == Edge::Kind::taken ? taken : falls;
}

}  // namespace respike
