// The model of the Itanium 2: its parts together.
//
// A run is a sequence of pieces (machine_model.h). Results in flight are carried from each piece to
// the next, also over taken branches, since tight loops depend on them. Issuing a piece again each
// time would be slow, but the same piece with the same state always issues in the same way. So
// issue is a graph that grows during the run. A *passage* is a piece and the state of issue when
// the piece begins; the passage knows the cost of issue and the state after the piece, and
// remembers the passages that followed. Most steps of a run are one comparison and a few additions.
//
// Example: a loop of one piece soon alternates between few passages; often one passage follows
// itself.
//
// At calls and returns the names of stacked registers change by sizes of frames, which the model
// does not know: the model forgets results in flight to stacked registers. Branches that rotate
// registers rename the results in flight; all of r32 to r127 count as rotating.
//
// Cycles are sums, in the form of table 6 of "Itanium - A System Implementor's Tale" (ISI): one for
// each instruction group, and bubbles. In hardware some bubbles overlap, since eight bundles are
// buffered between fetch and issue. Not modelled: the register stack engine's loads and stores,
// data caches, the wrong path of a misprediction, and the operating system.
//
// Sources of the costs: ISI; "memory" is the Itanium 2 reference manual for software development
// and optimization (251110) and McNairy and Soltis, "Itanium 2 Processor Microarchitecture" (IEEE
// Micro, 2003), neither available when this was written.

#include "models/itanium2/model.h"

#include <deque>
#include <map>
#include <unordered_map>

#include "models/itanium2/fetch.h"
#include "models/itanium2/issue.h"
#include "models/itanium2/prediction.h"
#include "models/return_stack.h"
#include "optimizer/machine/ia64/codec.h"
#include "optimizer/machine/ia64/meaning.h"

namespace respike::measure::itanium2 {
namespace {

using respike::ia64::Op;
using respike::ia64::Slot;

constexpr uint64_t kReturnBubble = 1;       // memory; predicted direct branches: 0
constexpr uint64_t kIndirectBubble = 2;     // memory
constexpr uint64_t kMispredictPenalty = 6;  // memory
constexpr uint64_t kIcacheMiss = 5;         // ISI 4.1: second level
constexpr uint64_t kL2Miss = 7;             // in addition: third level, 12 (ISI 4.1)
constexpr uint64_t kItlbMiss = 2;           // the second level of the buffer answers: memory
constexpr uint64_t kItlbWalk = 25;          // in addition: hardware walker, assumed

enum class Transfer : uint8_t { none, direct, direct_call, indirect, indirect_call, returns };

struct ItaniumPiece : Piece {
  uint64_t behind = 0;
  uint64_t branch = 0;  // bundle address and slot of the last instruction
  uint64_t target = 0;  // target of a direct branch
  Transfer transfer = Transfer::none;
  Hint hint{};
  bool conditional = false;
  bool rotates = false;
  bool is_check = false;
  bool odd = false;  // the piece begins in the second bundle of a fetched pair
  uint32_t nops = 0;
  std::vector<IssueInstruction> code;
};

// ---- the last instruction of a piece ----

void read_transfer(ItaniumPiece& piece, const Slot& slot) {
  const auto is = [&](Transfer transfer, bool conditional) {
    piece.transfer = transfer;
    piece.conditional = conditional;
    piece.hint = static_cast<Hint>(slot.d & 3);
  };
  const bool predicated = slot.predicate != 0;
  if (respike::ia64::is_check(slot.op)) {
    is(Transfer::direct, true);
    piece.is_check = true;
    piece.hint = Hint::static_not_taken;  // the branch has no hint
    return;
  }
  switch (slot.op) {
    case Op::br_cond:
    case Op::brl_cond:
      return is(Transfer::direct, predicated);
    case Op::br_ctop:
    case Op::br_cexit:
    case Op::br_wtop:
    case Op::br_wexit:
      piece.rotates = true;
      [[fallthrough]];
    case Op::br_cloop:
      return is(Transfer::direct, true);
    case Op::br_call:
    case Op::brl_call:
      return is(Transfer::direct_call, predicated);
    case Op::br_cond_ind:
      return is(Transfer::indirect, predicated);
    case Op::br_call_ind:
      is(Transfer::indirect_call, predicated);
      piece.hint = static_cast<Hint>(slot.d >> 1 & 3);
      return;
    case Op::br_ret:
      return is(Transfer::returns, predicated);
    default:
      return;
  }
}

void read_last(ItaniumPiece& piece, std::span<const uint8_t> code) {
  Instruction bundle[3];
  respike::ia64::decode_bundle(code.data() + code.size() - 16, 0, bundle);
  const uint64_t last = (piece.behind - 1) & ~uint64_t{15};
  const unsigned slot = (piece.behind & 3) == 0 ? 2 : (piece.behind & 3) - 1;
  const Slot instruction = respike::ia64::expand(bundle[slot], bundle[slot == 0 ? 0 : slot - 1]);
  piece.branch = last + slot;
  piece.target = last + static_cast<uint64_t>(instruction.immediate);
  read_transfer(piece, instruction);
}

// ---- issue, remembered ----

struct Passage {
  const ItaniumPiece* piece = nullptr;
  IssueCycles cycles;
  IssueState after;
  struct Next {
    const ItaniumPiece* piece = nullptr;
    Passage* passage = nullptr;
  };
  Next next[2];
  uint8_t replaced = 0;
};

class Passages {
 public:
  /// The passage of `piece` with nothing in flight.
  Passage& fresh(const ItaniumPiece& piece) {
    IssueState nothing;
    nothing.branch();
    return find(nothing, piece);
  }

  /// The passage of `piece` after the passage `before`.
  Passage& behind(Passage& before, const ItaniumPiece& piece) {
    for (const Passage::Next& next : before.next)
      if (next.piece == &piece) return *next.passage;
    Passage& result = find(state_behind(before, piece), piece);
    before.next[before.replaced] = {&piece, &result};
    before.replaced ^= 1;
    return result;
  }

 private:
  static IssueState state_behind(const Passage& before, const ItaniumPiece& piece) {
    IssueState state = before.after;
    const bool taken = piece.address != before.piece->behind;
    const Transfer transfer = before.piece->transfer;
    if (taken) state.branch();
    if (taken && transfer >= Transfer::direct_call && transfer != Transfer::indirect)
      state.forget_stacked();
    if (before.piece->rotates) state.rotate();
    return state;
  }

  Passage& find(const IssueState& before, const ItaniumPiece& piece) {
    auto& known = passages_[&piece];
    const auto place = known.find(before);
    if (place != known.end()) return place->second;
    Passage& result = known[before];
    result.piece = &piece;
    result.after = before;
    result.cycles = result.after.issue(piece.code, piece.odd);
    result.after.simplify();
    return result;
  }

  std::unordered_map<const ItaniumPiece*, std::map<IssueState, Passage>> passages_;
};

// ---- the processor ----

class ItaniumProcessor final : public Processor {
 public:
  void begin(Piece& base, Events& events, bool completed) override {
    const ItaniumPiece& piece = static_cast<ItaniumPiece&>(base);
    const bool follows = passage_ != nullptr && completed;
    if (follows) transfer(*passage_->piece, piece.address);
    passage_ = follows ? &passages_.behind(*passage_, piece) : &passages_.fresh(piece);
    events_ = &events;
    add(passage_->cycles);
    events_->nops += piece.nops;
    fetch(piece);
  }

 private:
  void add(const IssueCycles& cycles) {
    events_->groups += cycles.groups;
    events_->split_cycles += cycles.splits;
    events_->target_bubbles += cycles.targets;
    events_->general_bubbles += cycles.waits[static_cast<size_t>(Bubble::general)];
    events_->floating_bubbles += cycles.waits[static_cast<size_t>(Bubble::floating)];
    events_->predicate_bubbles += cycles.waits[static_cast<size_t>(Bubble::predicate)];
    events_->application_bubbles += cycles.waits[static_cast<size_t>(Bubble::application)];
    events_->stack_bubbles += cycles.waits[static_cast<size_t>(Bubble::stack)];
    events_->flush_bubbles += cycles.waits[static_cast<size_t>(Bubble::flush)];
  }

  /// The last instruction of `piece` has led to `next`.
  void transfer(const ItaniumPiece& piece, uint64_t next) {
    if (piece.transfer == Transfer::none) return;
    const bool taken = next != piece.behind;
    if (piece.transfer <= Transfer::direct_call && taken && next != piece.target)
      return;  // a signal handler ran first
    events_->conditional_branches += piece.conditional && !piece.is_check;
    bool right = !piece.conditional || history_.predict(piece.branch, piece.hint, taken);
    if (taken) right &= predict_target(piece, next);
    events_->mispredicts += !right;
    if (!taken) return;
    ++events_->taken_branches;
    events_->taken_jumps +=
        piece.transfer == Transfer::direct || piece.transfer == Transfer::indirect;
    if (!right) return;
    events_->predicted_returns += piece.transfer == Transfer::returns;
    events_->predicted_indirect +=
        piece.transfer == Transfer::indirect || piece.transfer == Transfer::indirect_call;
  }

  bool predict_target(const ItaniumPiece& piece, uint64_t next) {
    const uint64_t return_address = (piece.branch & ~uint64_t{15}) + 16;
    switch (piece.transfer) {
      case Transfer::direct_call:
        returns_.push(return_address);
        return true;
      case Transfer::indirect_call:
        returns_.push(return_address);
        return targets_.predict(piece.branch, next);
      case Transfer::indirect:
        return targets_.predict(piece.branch, next);
      case Transfer::returns:
        return returns_.pop(next);
      default:
        return true;
    }
  }

  void fetch(const ItaniumPiece& piece) {
    const uint64_t last = piece.behind - 1;
    uint64_t line = piece.address >> InstructionCache::kLineShift;
    for (; line <= last >> InstructionCache::kLineShift; ++line) {
      if (line == line_) continue;
      line_ = line;
      translate(line << InstructionCache::kLineShift);
      if (icache_.access(line)) continue;
      ++events_->icache_misses;
      constexpr unsigned kShift = SecondLevelCache::kLineShift - InstructionCache::kLineShift;
      events_->l2_icache_misses += !l2_.access(line >> kShift);
    }
  }

  void translate(uint64_t address) {
    const uint64_t page = address >> TranslationBuffer::kPageShift;
    if (page == page_) return;
    page_ = page;
    if (itlb_.access(page)) return;
    ++events_->itb_misses;
    events_->l2_itb_misses += !itlb2_.access(address >> SecondTranslationBuffer::kPageShift);
  }

  Events* events_ = nullptr;  // events of the previous piece; while a piece is fetched, of that
                              // piece
  Passage* passage_ = nullptr;
  uint64_t line_ = ~uint64_t{0}, page_ = ~uint64_t{0};
  Passages passages_;
  InstructionCache icache_;
  SecondLevelCache l2_;
  TranslationBuffer itlb_;
  SecondTranslationBuffer itlb2_;
  BranchHistory history_;
  TargetTable targets_;
  ReturnStack<8> returns_;
};

class Itanium2 final : public MachineModel {
 public:
  std::string_view name() const override { return "itanium2"; }

  std::unique_ptr<Piece> read(uint64_t address, uint64_t end,
                              std::span<const uint8_t> code) const override {
    auto piece = std::make_unique<ItaniumPiece>();
    piece->address = address;
    piece->behind = end;
    piece->code = read_for_issue(address, end, code);
    piece->instructions = static_cast<uint32_t>(piece->code.size());
    for (const IssueInstruction& instruction : piece->code)
      piece->nops += instruction.issue_class == IssueClass::nop;
    piece->odd = (address & 16) != 0;
    read_last(*piece, code);
    return piece;
  }

  std::unique_ptr<Processor> make_processor() const override {
    return std::make_unique<ItaniumProcessor>();
  }

  std::vector<Component> components(const Events& e) const override {
    return {{"instruction groups", e.groups},
            {"split issue", e.split_cycles},
            {"general registers", e.general_bubbles},
            {"floating registers", e.floating_bubbles},
            {"predicates, branches", e.predicate_bubbles},
            {"application registers", e.application_bubbles},
            {"register stack", e.stack_bubbles},
            {"flushes", e.flush_bubbles},
            {"mispredicts", kMispredictPenalty * e.mispredicts},
            {"taken branches",
             kReturnBubble * e.predicted_returns + kIndirectBubble * e.predicted_indirect},
            {"odd targets", e.target_bubbles},
            {"icache, second level", kIcacheMiss * e.icache_misses},
            {"second level misses", kL2Miss * e.l2_icache_misses},
            {"itlb misses", kItlbMiss * e.itb_misses + kItlbWalk * e.l2_itb_misses}};
  }

  std::vector<Figure> figures(const Events& e) const override {
    const uint64_t cycles = sum_of(components(e));
    return {{"instructions", "instructions", e.instructions},
            {"  of them no-ops", "nops", e.nops},
            {"cycles", "cycles", cycles},
            {"instruction groups", "groups", e.groups},
            {"bubbles", "bubbles", cycles - e.groups},
            {"conditional branches", "conditional_branches", e.conditional_branches},
            {"taken branches", "taken_branches", e.taken_branches},
            {"  of them jumps", "taken_jumps", e.taken_jumps},
            {"mispredicts", "mispredicts", e.mispredicts},
            {"icache misses", "icache_misses", e.icache_misses},
            {"  second level misses", "l2_icache_misses", e.l2_icache_misses},
            {"itlb misses", "itb_misses", e.itb_misses},
            {"  second level misses", "l2_itb_misses", e.l2_itb_misses}};
  }
};

}  // namespace

std::unique_ptr<MachineModel> make_model() {
  return std::make_unique<Itanium2>();
}

}  // namespace respike::measure::itanium2
