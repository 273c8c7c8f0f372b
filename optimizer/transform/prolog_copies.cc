// Some unwinders read the code of a procedure's prolog and undo it. They expect the prolog before
// the code that they look up. When a layout takes a fragment away from its prolog, the unwinder
// needs a prolog there as well: a copy, which control never enters, since everything leads to the
// code after the copy.
//
//   f:         lda sp,-16(sp)        cold piece:  lda sp,-16(sp)    copy
//              stq ra,0(sp)                       stq ra,0(sp)      copy
//              beq a0,cold part      cold part:   bsr error
//
// A fragment that holds the entry in the middle has the prolog itself from there on. The states of
// the IR say which prolog a block needs: each state is the list of instructions that have run, see
// unwind/pdata/.
//
// Cost: a prolog for each fragment, some 8 to 40 bytes.

#include "optimizer/transform/prolog_copies.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "optimizer/base/error.h"
#include "optimizer/image/image.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/machine/machine.h"
#include "optimizer/unwind/unwind.h"

namespace respike {
namespace {

class PrologCopier {
 public:
  PrologCopier(Program& program, ProcedureId id)
      : program_(program), procedure_(program[id]), id_(id) {
    for (BlockId block = 0; block < procedure_.blocks.size(); ++block) note_prolog(block);
  }

  /// Adds the fragment, perhaps in several parts, to `result`.
  void add(const Layout::Fragment& fragment, std::vector<Layout::Fragment>& result) {
    Layout::Fragment part{.procedure = id_, .blocks = {}, .start = fragment.start};
    uint32_t prolog = kNone;  // the state after the preceding prolog
    for (const BlockId block : fragment.blocks) {
      const uint32_t state = procedure_.blocks[block].cfi_state;
      if (is_prolog_start(state)) {
        prolog = state_behind(block);
      } else if (state != kNone && state != prolog) {
        if (!part.blocks.empty()) {
          result.push_back(std::move(part));
          part = {.procedure = id_, .blocks = {}, .start = {}};
        }
        part.blocks.push_back(copy(state, block));
        prolog = state;
      }
      part.blocks.push_back(block);
    }
    result.push_back(std::move(part));
  }

 private:
  bool is_prolog_start(uint32_t state) const {
    return state != kNone && program_.unwind.states[state].cfa_expression.empty() &&
           !program_.unwind.states[state].opaque;
  }

  /// The state after a block that starts with a prolog. Where the block holds only the prolog, the
  /// state changes between the block and the next block.
  uint32_t state_behind(BlockId id) const {
    const BasicBlock& block = procedure_.blocks[id];
    const uint32_t state = state_at_end(block);
    const Edge* next = block.edge(Edge::Kind::fall_through);
    if (next == nullptr) return state;
    const uint32_t longer = procedure_.blocks[next->target].cfi_state;
    if (longer == kNone || state == kNone) return state;
    const auto& words = program_.unwind.states[state].cfa_expression;
    const auto& more = program_.unwind.states[longer].cfa_expression;
    constexpr size_t kInstruction = 4;
    const bool goes_on = more.size() == words.size() + kInstruction &&
                         std::equal(words.begin(), words.end(), more.begin());
    return goes_on ? longer : state;
  }

  /// Notes where states begin to which a prolog at the start of the block leads.
  void note_prolog(BlockId id) {
    const BasicBlock& block = procedure_.blocks[id];
    if (block.origin == kNone || !is_prolog_start(block.cfi_state)) return;
    for (uint32_t i = 0; i < block.instructions.size(); ++i)
      if (block.instructions[i].is_pseudo())
        prologs_.try_emplace(static_cast<uint32_t>(block.instructions[i].immediate),
                             std::pair(id, i + 1));
    prologs_.try_emplace(state_behind(id), std::pair(id, block.instructions.size()));
  }

  /// A block with the prolog that leads to `state`, which falls through to `next`.
  BlockId copy(uint32_t state, BlockId next) {
    const auto found = prologs_.find(state);
    if (found == prologs_.end())
      throw Error(fmt::format("{} has code behind a prolog that is not known", procedure_.name),
                  program_.image->path);
    const auto [from, count] = found->second;
    BasicBlock made;
    made.cfi_state = procedure_.blocks[from].cfi_state;
    for (Instruction instruction : procedure_.blocks[from].instructions.span().first(count)) {
      instruction.origin = kNone;
      if (instruction.has_reference()) {  // unwinders do not look at the address
        instruction.flags &= static_cast<uint8_t>(~Instruction::kHasReference);
        instruction.immediate = 0;
      }
      made.instructions.push_back(*program_.arena, instruction);
    }
    made.successors.push_back(*program_.arena,
                              Edge{.target = next, .kind = Edge::Kind::fall_through});
    procedure_.blocks.push_back(made);
    return static_cast<BlockId>(procedure_.blocks.size() - 1);
  }

  Program& program_;
  Procedure& procedure_;
  ProcedureId id_;
  std::map<uint32_t, std::pair<BlockId, uint32_t>> prologs_;  // state: block, instruction count
};

}  // namespace

void copy_prologs(Program& program, Layout& layout) {
  const UnwindFormat* format =
      program.image == nullptr ? nullptr : unwind_format_of(*program.image);
  if (format == nullptr || !format->reads_prologs) return;
  std::map<ProcedureId, PrologCopier> copiers;
  std::vector<Layout::Fragment> fragments;
  for (const Layout::Fragment& fragment : layout.fragments) {
    const auto [copier, fresh] =
        copiers.try_emplace(fragment.procedure, program, fragment.procedure);
    copier->second.add(fragment, fragments);
  }
  layout.fragments = std::move(fragments);
}

}  // namespace respike
