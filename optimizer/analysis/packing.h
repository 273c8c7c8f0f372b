#pragma once
// The code of blocks that follow each other, and its size.

#include <atomic>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "optimizer/ir/lookup.h"
#include "optimizer/ir/program.h"
#include "optimizer/machine/machine.h"

namespace respike {

/// What happens to the end of a block, given the block that follows.
enum class BlockEnd : uint8_t {
  kept,
  branch_dropped,         // the block had an unconditional branch to the next block
  inverted,               // the taken successor follows: condition and target are exchanged
  branch_appended,        // a branch to the fall-through successor
  inverted_and_appended,  // neither follows; the conditional branch leads to the frequent one
  padded,                 // code that never runs, after a call that does not return
};

constexpr bool is_inverted(BlockEnd end) {
  return end == BlockEnd::inverted || end == BlockEnd::inverted_and_appended;
}
constexpr bool appends_branch(BlockEnd end) {
  return end == BlockEnd::branch_appended || end == BlockEnd::inverted_and_appended;
}
/// The edges along which a block's own branch and the appended branch lead.
constexpr Edge::Kind side_of_own_branch(BlockEnd end) {
  return is_inverted(end) ? Edge::Kind::fall_through : Edge::Kind::taken;
}
constexpr Edge::Kind side_of_appended_branch(BlockEnd end) {
  return is_inverted(end) ? Edge::Kind::taken : Edge::Kind::fall_through;
}

/// Blocks as they are written: their instructions without pseudo-instructions and dropped branches,
/// with appended branches, whose displacements are not set yet.
struct BlockRun {
  std::vector<Instruction> code;
  std::vector<uint32_t> places;                    // of each, from the start on; see Codec::arrange
  uint64_t size = 0;                               // bytes
  std::vector<std::pair<BlockId, size_t>> blocks;  // each with the index of its first instruction
};

/// The alignment, in bytes, of a block that is an entry in the input, at most 16: programs may keep
/// numbers in the low bits of entries' addresses, as pointers to member functions of C++ do. 0 for
/// other blocks.
uint32_t alignment_of_entry(const Program& program, const BasicBlock& block);

/// The alignment that the sections of moving code require: at least 16, at most a page.
uint64_t alignment_of_code(const Program& program);

class Packing {
 public:
  /// At first all blocks are as in the input.
  explicit Packing(const Program& program);

  /// Packs blocks that will follow each other; no successor of the last block follows it. `run`:
  /// memory of one thread that is reused. Threads may pack different blocks at once.
  void pack(ProcedureId procedure, std::span<const BlockId> blocks, BlockRun& run);
  void pack(ProcedureId procedure, std::span<const BlockId> blocks) {
    pack(procedure, blocks, measured_);
  }

  BlockEnd end(ProcedureId procedure, BlockId block) const {
    return ends_[index(procedure, block)];
  }
  /// The size of a block in the output in bytes, with an appended branch.
  uint64_t size(ProcedureId procedure, BlockId block) const {
    return sizes_[index(procedure, block)];
  }
  /// The branches at the end of a block that have two lengths, see BranchForms::set_length.
  struct Branches {
    bool own = false, appended = false;

    explicit operator bool() const { return own || appended; }
  };
  Branches short_branches(ProcedureId procedure, BlockId block) const;
  /// Gives short branches at the end of a block their long form. Sizes only grow.
  void lengthen(ProcedureId procedure, BlockId block, Branches branches);
  /// Whether control falls from one block into the next as in the input, without code in between.
  bool continues(ProcedureId procedure, BlockId block, BlockId next) const;
  /// Writes the code of a single block; places count from its own address.
  void arrange(ProcedureId procedure, BlockId block, BlockRun& run) const;
  /// Writes the code of the run that starts with block `first`. Only this block starts a group.
  void arrange_run(ProcedureId procedure, BlockId first, BlockRun& run) const;
  /// Whether the block is in a run, but not its first block.
  bool is_joined(ProcedureId procedure, BlockId block) const {
    return run_[index(procedure, block)] != block;
  }

 private:
  uint32_t index(ProcedureId procedure, BlockId block) const { return numbers_(procedure, block); }
  void find_joinable();
  bool has_opposites(ProcedureId procedure);
  bool shares_region(const Procedure& procedure, BlockId id, BlockId next) const;
  bool needs_padding(const Procedure& procedure, BlockId id, BlockId next) const;
  bool has_inverse(ProcedureId procedure, const BasicBlock& block);
  BlockEnd choose_end(ProcedureId procedure, BlockId id, BlockId next);
  bool may_join(ProcedureId procedure, BlockId id, BlockId next) const;
  void join(ProcedureId procedure, std::span<const BlockId> blocks);
  void measure(ProcedureId procedure, BlockId first, BlockRun& run);
  void append_code(ProcedureId procedure, BlockId block, std::vector<Instruction>& code) const;
  bool ends_in_own_branch(ProcedureId procedure, BlockId block) const;

  const Program& program_;
  const Machine& machine_;
  BlockNumbers numbers_;    // the indices in the lists below
  const bool has_regions_;  // see needs_padding()
  std::vector<uint32_t> sizes_;
  std::vector<BlockEnd> ends_;
  std::vector<Branches> long_;  // branches that are too far for the short form
  std::vector<bool> joinable_;  // only the block before leads to it
  std::vector<BlockId> run_;    // the first block of its run
  std::vector<BlockId> next_;   // the next block of its run, or kNone
  enum class Opposites : uint8_t { unknown, no, yes };
  std::vector<std::atomic<Opposites>> has_opposites_;  // by procedure
  BlockRun measured_;
};

}  // namespace respike
