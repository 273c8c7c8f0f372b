#pragma once
// The code of blocks that follow each other, and how large it is.

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "optimizer/ir/lookup.h"
#include "optimizer/ir/program.h"
#include "optimizer/ir/target.h"

namespace respike {

/// What happens to the end of a block, given what follows it.
enum class BlockEnd : uint8_t {
  kept,
  branch_dropped,         // an unconditional branch to the block that follows
  inverted,               // the taken side follows: sense reversed, target exchanged
  branch_appended,        // to the fall-through successor
  inverted_and_appended,  // no side follows; the frequent one gets the conditional branch
  padded,                 // a call that does not return gets something behind it
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

/// Blocks as they are written: their instructions without pseudo-instructions, without dropped
/// branches and with appended ones, whose displacements are yet to be set.
struct BlockRun {
  std::vector<Instruction> code;
  std::vector<uint32_t> places;  // of each, from the start on; see Target::arrange()
  uint64_t size = 0;             // bytes
  std::vector<std::pair<BlockId, size_t>> blocks;  // each with the index of its first instruction
};

class Packing {
 public:
  /// All blocks as they are in the input.
  explicit Packing(const Program& program);

  /// The blocks are to follow each other, and nothing that they lead to comes behind the last one.
  void pack(ProcedureId procedure, std::span<const BlockId> blocks);

  BlockEnd end(ProcedureId procedure, BlockId block) const {
    return ends_[index(procedure, block)];
  }
  /// In the output, bytes, with an appended branch.
  uint64_t size(ProcedureId procedure, BlockId block) const {
    return sizes_[index(procedure, block)];
  }
  /// Whether control goes on from one block to the next as in the input, and no code was put
  /// between the two.
  bool continues(ProcedureId procedure, BlockId block, BlockId next) const;
  /// The block alone, places counted from its own address.
  void arrange(ProcedureId procedure, BlockId block, BlockRun& run) const;
  /// The whole run that starts with the block. Only the first block of a run starts a group.
  void arrange_run(ProcedureId procedure, BlockId first, BlockRun& run) const;
  /// Whether the block is in a run of another one.
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
  void measure(ProcedureId procedure, BlockId first);
  void append_code(ProcedureId procedure, BlockId block, std::vector<Instruction>& code) const;

  const Program& program_;
  const Target& target_;
  const bool has_regions_;  // see needs_padding()
  BlockNumbers numbers_;    // of what follows
  std::vector<uint32_t> sizes_;
  std::vector<BlockEnd> ends_;
  std::vector<bool> joinable_;                      // nothing but the block before leads to it
  std::vector<BlockId> run_;                        // the first block of its run
  std::vector<BlockId> next_;                       // in its run, or kNone
  std::vector<std::optional<bool>> has_opposites_;  // by procedure
  BlockRun measured_;
};

}  // namespace respike
