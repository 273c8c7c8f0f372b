#pragma once
// Shared by the parts of the comparison: same_program.cc walks code, same_program_data.cc compares
// everything else and finds the places where the walk begins, same_program_sides.cc finds what the
// walk has to know about each program. Private to this folder.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "optimizer/analysis/needless_gp_loads.h"
#include "optimizer/check/added_code.h"
#include "optimizer/check/same_program.h"
#include "optimizer/image/image.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/ir/program.h"
#include "optimizer/machine/machine.h"
#include "optimizer/unwind/unwind.h"

namespace respike {

inline CodeLocation block_start(ProcedureId procedure, BlockId block) {
  return {.where = CodeLocation::Where::block_start, .procedure = procedure, .block = block};
}

inline bool is_absent(const CodeLocation& location) {
  return names_block(location) && location.procedure == kNone;
}

/// Where the direct branch or call that ends a block goes.
inline CodeLocation branch_target(const Procedure& procedure, ProcedureId id,
                                  const BasicBlock& block, const Instruction& branch) {
  if (const Edge* edge = block.edge(Edge::Kind::taken)) return block_start(id, edge->target);
  const Reference* reference = branch_of(procedure, branch);
  return reference != nullptr ? reference->target : CodeLocation{};
}

inline CodeLocation successor(const CodeCursor& at, const BasicBlock& block, Edge::Kind kind) {
  const Edge* edge = block.edge(kind);
  return edge == nullptr ? CodeLocation{} : block_start(at.procedure, edge->target);
}

/// Numbers of contents, shared by both programs: equal contents have equal numbers.
using ContentClasses = std::unordered_map<std::string, uint32_t>;

/// One of the two programs, and what the walk needs to know about it.
class ComparedProgram {
 public:
  ComparedProgram(const Program& p, ContentClasses& classes);

  const Program& program;
  const Machine& machine;
  const BlockNumbers numbers;
  std::vector<uint32_t>
      state_classes;  // per unwind state: equal for equal states of either program

  const BasicBlock& block(const CodeCursor& at) const {
    return program[at.procedure].blocks[at.block];
  }
  uint32_t state_class(uint32_t state) const {
    return state < state_classes.size() ? state_classes[state] : kNone;
  }
  /// The number for what an exception does at a call with this action; equal numbers for equal
  /// actions of either program.
  uint32_t action_class(uint32_t lsda, uint64_t action);
  /// The contents of the image from an address to the end of the section that holds it.
  std::span<const uint8_t> bytes_from(uint64_t address) const {
    if (recent_ == nullptr || !recent_->contains(address))
      recent_ = program.image->section_at(address);
    return recent_->contents.subspan(address - recent_->address);
  }
  /// The range of code that holds an address, or nullptr. Binary search.
  const CodeRange* range_at(uint64_t address) const;
  /// The instruction at an address of the image, or nullopt when no instruction starts there.
  /// Binary search.
  std::optional<CodeCursor> find(uint64_t address) const;
  /// The block that starts at an address of the image, or nullopt.
  std::optional<CodeLocation> block_at(uint64_t address) const;
  /// Whether control could come back to a caller through anything in the procedure, or in
  /// procedures to which it branches.
  bool may_return(ProcedureId procedure);
  /// Whether unwinders that look up a return address itself find the region of the call.
  bool describes_return(const CodeCursor& call) const;
  /// "0x120000460 in main (`addq a0,a1,v0`)".
  std::string describe(const CodeCursor& at) const;

 private:
  uint32_t class_of(std::string key);
  void find_returns();

  ContentClasses& classes_;
  std::map<std::pair<uint32_t, uint64_t>, uint32_t> actions_;  // per LSDA and action: its class
  ReturnRegions regions_;
  mutable const Section* recent_ = nullptr;       // where bytes_from() looked last
  std::vector<bool> may_return_;                  // per procedure; empty until asked for
  uint64_t action_budget_ = uint64_t{256} << 20;  // bytes of keys of actions
};

class SharedWalk;

/// The walk over pairs of places. Functions that find a difference keep the first one.
class Comparison {
 public:
  /// `shared`: the walk is shared with other threads; this thread has number `worker`.
  Comparison(const Program& before, const Program& after, const std::vector<GpLoad>* needless,
             AddedCode* added = nullptr, SharedWalk* shared = nullptr, size_t worker = 0);

  void run();
  /// Adds what another worker found. If there is no difference, then checks what needs the whole
  /// walk.
  void join(const Comparison& other);
  void expected_calls();
  void listed_calls();
  void missing_code();
  CompareCounts counts() const;
  std::vector<BlockPair> pairs() const;  // see find_difference()
  const std::optional<std::string>& difference() const { return difference_; }

  /// Two places that must behave in the same way.
  struct Item {
    CodeCursor before;
    CodeCursor after;
    uint32_t entered = kNone;  // number of the block last entered before `before`
    InputEdge from = {};       // of the input, over which control comes here
    uint8_t done = 0;          // see AddedCode::judge()
  };

 private:
  /// Where a cursor comes to rest.
  enum class Rest : uint8_t {
    instruction,  // at an instruction that does something
    outside,      // at an unconditional branch to an address without blocks
    nothing,      // after the last instruction of a block without successor
    spin,         // in a cycle of branches
  };
  struct Cursor {
    CodeCursor at;
    const Procedure* procedure = nullptr;
    const BasicBlock* block = nullptr;
    uint32_t state = kNone;    // class of the unwind state here
    uint64_t outside = 0;      // Rest::outside: the address
    uint32_t entered = kNone;  // number of the block entered last
  };
  struct Visit {
    uint32_t before = 0;
    uint64_t after = 0;
    bool operator==(const Visit&) const = default;
  };
  struct VisitHash {
    size_t operator()(const Visit& v) const {
      return (v.after ^ uint64_t{v.before} << 32) * 0x9e3779b97f4a7c15u >> 7;
    }
  };

  // same_program.cc
  Cursor cursor_at(const ComparedProgram& side, const CodeCursor& at) const;
  void enter(const ComparedProgram& side, Cursor& cursor, ProcedureId procedure,
             BlockId block) const;
  Rest settle(const ComparedProgram& side, Cursor& cursor, bool remembers = true);
  bool leaves_block(const Cursor& x, Rest rest) const;
  void judge_added_code(const Cursor& x, const Cursor& y, Rest rest, uint8_t& done);
  bool visit(uint32_t before, const CodeCursor& after, uint8_t done = 0);
  void walk(const Item& item);
  bool is_own(ProcedureId before) const { return owner(before) == worker_; }
  size_t owner(ProcedureId before) const;
  void add(const Item& item);
  std::optional<Item> take();
  static bool is_enclosed(const ComparedProgram& side, const Instruction& instruction);
  bool step(Cursor& x, Cursor& y);
  bool same_bytes(const Cursor& x, const Cursor& y) const;
  bool is_inline_pointer(const ComparedProgram& side, const Cursor& cursor) const;
  void step_over_pointer(const Cursor& x);
  bool is_dropped(const Cursor& x, const Cursor& y);
  bool is_needless(const CodeCursor& at);
  void conditional_branch(const Cursor& x, const Cursor& y);
  void remember_call(const Cursor& x, const Cursor& y);
  bool returns_nowhere(const Cursor& x);
  void call(const Cursor& x, const Cursor& y);
  bool call_same_pointer(const Cursor& x, const Cursor& y) const;
  void call_behind(const Cursor& x, const Cursor& y);
  void call_site(const Cursor& x, const Cursor& y);
  void return_region(const Cursor& x, const Cursor& y);
  void indirect_jump(const Cursor& x, const Cursor& y);
  void way_past(const Cursor& x, const Cursor& y);
  bool same_call(const CodeLocation& before, const CodeLocation& after) const;
  void references(const Cursor& x, const Cursor& y);
  CodeLocation behind_call(const CodeLocation& start) const;
  void sequence(const Cursor& x, const Cursor& y, SequenceRole role);
  void pair(const CodeLocation& before, const CodeLocation& after, const Cursor& x, const Cursor& y,
            std::string_view what, std::optional<Edge::Kind> edge = {});
  bool same_outside(uint64_t before, uint64_t after) const;
  void differ(const Cursor& x, const Cursor& y, std::string_view what);
  void differ_in_code(const Cursor& x, const Cursor& y, std::string_view what);
  void differ(std::string text) {
    if (!difference_) difference_ = std::move(text);
  }

  // same_program_data.cc
  void push(const CodeLocation& before, const CodeLocation& after);
  void find_entries();
  void appended();
  void procedures_by_number();
  void pinned_blocks();
  void code_pointers();
  void pair_addresses(uint64_t before, uint64_t after, std::string_view what);
  void relocated_words();
  void relocated_word(const Relocation& relocation);
  bool has_same_bytes(ProcedureId procedure);
  void same_way(uint64_t address);
  bool is_inside_moved(uint64_t address) const;
  bool is_outside_of_understood_code(uint64_t address) const;
  void symbols();
  void dynamic_symbols();
  void new_dynamic_symbols();
  void symbol(const Symbol& before, const Symbol& after);
  bool keeps_alignment(uint64_t before, uint64_t after) const;
  void sections();
  void section(const Section& before, const Section& after);
  bool is_code_pointer(uint64_t address) const;
  void unwind_tables();
  void foreign_code();
  void kept_exception_tables();
  bool same_unwinding(const Fde& before, const Fde& after, uint64_t address);
  bool enclosed_moves();
  std::optional<uint64_t> place_behind_code(const ComparedProgram& side, uint64_t word);
  void dynamic_relocations();
  void dynamic_relocation(const Relocation& before, const Relocation& after);

  ContentClasses classes_;
  ComparedProgram before_;
  ComparedProgram after_;
  std::vector<uint64_t> dead_ends_;  // of the input, see Provenance
  // Of the input; filled when needed.
  std::vector<std::pair<ProcedureId, uint32_t>> ranges_by_procedure_;
  std::vector<Item> work_;
  // Per block of `before`: the place of `after` with which it was walked, and how much of it was
  // done.
  std::vector<uint64_t> partner_;
  std::unordered_set<Visit, VisitHash> more_partners_;  // pairs of blocks with several partners
  std::vector<uint32_t> call_partner_;  // per block of `before`: the block whose call was compared
  std::unordered_set<Visit, VisitHash> more_call_partners_;
  std::vector<std::pair<uint32_t, uint32_t>> expected_calls_;  // pairs of calls, block numbers
  std::vector<bool> reached_;                                  // per block of `before`
  SharedWalk* shared_;
  size_t worker_;
  bool walking_ = false;                       // the entries are found
  std::vector<std::vector<Item>> for_others_;  // by worker
  // Where the walk comes to rest after a block, for blocks with a long way to that place.
  using Rests = std::unordered_map<uint32_t, std::pair<Cursor, Rest>>;
  Rests before_rests_, after_rests_;
  std::vector<uint32_t> path_;  // of settle()
  AddedCode* added_;            // null: none is expected
  bool passed_ = false;         // added code, in settle()
  // Of the input, in settle(); only if `added_`. Lacks the places that a remembered rest skipped.
  std::vector<InputPlace> way_;
  bool way_is_cut_ = false;
  mutable std::unordered_map<const Section*, const Section*> sections_;  // of equal name
  // Needless loads of gp in the input, by procedure, block and place; found when needed.
  const std::vector<GpLoad>* needless_loads_;  // null: not found yet
  std::vector<GpLoad> found_loads_;
  std::optional<bool> enclosed_moves_;  // not found yet: nullopt
  int32_t dropped_load_ = -1;    // the reference of the load whose first half was passed over
  unsigned open_sequences_ = 0;  // bits of SequenceRole: begun, checked and not yet ended
  uint64_t compared_ = 0;        // instructions
  std::optional<std::string> difference_;
};

}  // namespace respike
