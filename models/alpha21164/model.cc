// The model of the Alpha 21164: its parts together.
//
// A run is a sequence of pieces (machine_model.h). Facts that do not depend on the past are
// computed once, when a piece is read: the lines of the piece, the kind of its last instruction,
// and how many cycles its instructions take to issue. Facts that depend on the past take a short
// walk each time the piece begins: was the branch at the end of the previous piece predicted, are
// the lines of this piece in the cache, is its page in the ITB?
//
// Issue. A piece that control jumps to starts with nothing in flight. A piece that control falls
// into continues where issue of the previous piece stopped, and the previous piece is taken to have
// begun with nothing in flight; otherwise a branch that is not taken would cost as much as a taken
// branch. So the number of cycles belongs to the pair of pieces. Nearly always only one piece falls
// into a given piece; each piece remembers its last predecessor.
//
// Example: piece A ends with `beq`. If A falls into B, B costs the cycles that its instructions add
// to those of A, say 2; if A jumps to B, B costs the cycles that it takes alone, say 3, and 1 more
// for the taken branch.
//
// Cycles are sums: issue, 1 for each correctly predicted taken transfer (the fetch bubble), 5 for
// each misprediction, and the costs of the published formula for instruction fetch. In hardware,
// some of these parts overlap, since the fetcher runs ahead of issue. Mispredictions fetch nothing
// from the wrong path.
//
// Sources: HRM, sections 2.1.1 and 2.2 (see fetch.h) for the penalties of branches; fetch costs are
// the constants of the published model (machine_model.h).

#include "models/alpha21164/model.h"

#include <atomic>

#include "models/alpha21164/fetch.h"
#include "models/alpha21164/prediction.h"
#include "optimizer/machine/alpha/codec.h"
#include "optimizer/machine/alpha/issue.h"
#include "optimizer/machine/alpha/meaning.h"

namespace respike::measure::alpha21164 {
namespace {

using alpha::IssueInstruction;
using alpha::IssueState;

constexpr uint64_t kTakenBubble = 1;
constexpr uint64_t kMispredictPenalty = 5;
constexpr uint64_t kIcacheMiss = 8;  // the second level answers
constexpr uint64_t kRefillHit = 2;
constexpr uint64_t kL2Miss = 25;  // in addition
constexpr uint64_t kItbMiss = 30;

/// How hardware predicts the last instruction of a piece.
enum class Transfer : uint8_t {
  none,
  conditional,
  direct,  // the target is computed in time
  direct_call,
  hinted,
  hinted_call,
  returns,
  coroutine,  // return and call
};

struct AlphaPiece : Piece {
  uint64_t behind = 0;  // the address after the piece
  uint64_t first_line = 0;
  uint64_t last_line = 0;
  uint64_t first_page = 0, last_page = 0;  // equal or adjacent
  uint64_t target = 0;                     // target of a direct branch
  int32_t hint = 0;
  Transfer transfer = Transfer::none;
  bool is_jump = false;       // neither call nor return
  uint32_t issue_cycles = 0;  // if control jumps to the piece
  IssueState after;           // state after these cycles
  std::vector<IssueInstruction> code;

  // The number of the piece that last fell into this piece, and the cycles that issuing this piece
  // took then. One word holds both, since processors share pieces.
  uint32_t number = 0;
  std::atomic<uint64_t> fallen_into{~uint64_t{0}};
};

Transfer transfer_of(const Instruction& instruction) {
  if (instruction.opcode < kFirstMachineOpcode) return Transfer::none;
  const unsigned major = alpha::major_opcode(instruction);
  if (major == 0x30) return Transfer::direct;
  if (major == 0x34) return Transfer::direct_call;
  if (major > 0x30) return Transfer::conditional;
  switch (instruction.opcode) {
    case alpha::opcode("jmp"):
      return Transfer::hinted;
    case alpha::opcode("jsr"):
      return Transfer::hinted_call;
    case alpha::opcode("ret"):
      return Transfer::returns;
    case alpha::opcode("jsr_coroutine"):
      return Transfer::coroutine;
    default:
      return Transfer::none;
  }
}

class AlphaProcessor final : public Processor {
 public:
  void begin(Piece& base, Events& events, bool completed) override {
    AlphaPiece& piece = static_cast<AlphaPiece&>(base);
    const AlphaPiece* before = previous_;
    previous_ = &piece;
    bool falls_in = false;
    if (before != nullptr && completed) {
      falls_in = before->behind == piece.address;
      transfer(*before, piece.address);
    }
    events_ = &events;
    events.issue_cycles += falls_in ? cycles_after(*before, piece) : piece.issue_cycles;
    if (piece.first_page != page_) enter_page(piece.first_page);
    if (piece.last_page != page_) enter_page(piece.last_page);
    for (uint64_t line = piece.first_line; line <= piece.last_line; ++line)
      if (!icache_.holds(line)) miss(line);
  }

 private:
  /// The last instruction of `piece` has led to `next`.
  void transfer(const AlphaPiece& piece, uint64_t next) {
    if (piece.transfer == Transfer::none) return;
    const bool taken = next != piece.behind;
    if (piece.transfer == Transfer::conditional) {
      if (taken && next != piece.target) return;  // a signal handler ran first
      ++events_->conditional_branches;
    }
    const bool right = predict(piece, next, taken);
    events_->mispredicts += !right;
    if (!taken) return;
    ++events_->taken_branches;
    events_->taken_jumps += piece.is_jump;
    events_->predicted_taken += right;
  }

  bool predict(const AlphaPiece& piece, uint64_t next, bool taken) {
    bool right = true;
    switch (piece.transfer) {
      case Transfer::none:
      case Transfer::direct:
        break;
      case Transfer::conditional:
        return history_.predict(piece.behind - 4, taken);
      case Transfer::direct_call:
        returns_.push(piece.behind);
        break;
      case Transfer::hinted:
        return hint_is_right(piece.behind, piece.hint, next);
      case Transfer::hinted_call:
        returns_.push(piece.behind);
        return hint_is_right(piece.behind, piece.hint, next);
      case Transfer::returns:
        return returns_.pop(next);
      case Transfer::coroutine:
        right = returns_.pop(next);
        returns_.push(piece.behind);
        break;
    }
    return right;
  }

  static uint32_t cycles_after(const AlphaPiece& before, AlphaPiece& piece) {
    const uint64_t known = piece.fallen_into.load(std::memory_order_relaxed);
    if (known >> 32 == before.number) return static_cast<uint32_t>(known);
    IssueState state = before.after;
    const uint32_t cycles = state.issue(piece.code, piece.address);
    piece.fallen_into.store(uint64_t{before.number} << 32 | cycles, std::memory_order_relaxed);
    return cycles;
  }

  void enter_page(uint64_t page) {
    page_ = page;
    events_->itb_misses += !itb_.access(page);
  }

  void miss(uint64_t line) {
    ++events_->icache_misses;
    icache_.fill(line);
    // This access comes before the prefetches of the lines after `line`.
    const uint64_t block = line >> (SecondLevelCache::kBlockShift - InstructionCache::kLineShift);
    switch (refill_.find(line, l2_)) {
      case RefillBuffer::Answer::none:
        events_->l2_icache_misses += !l2_.access(block);
        refill_.start_behind(line, l2_);
        break;
      case RefillBuffer::Answer::from_behind:
        ++events_->l2_icache_misses;
        [[fallthrough]];
      case RefillBuffer::Answer::from_second_level:
        ++events_->refill_hits;
        break;
    }
  }

  Events* events_ = nullptr;  // events of the previous piece; while a piece is fetched, of that
                              // piece
  const AlphaPiece* previous_ = nullptr;
  uint64_t page_ = ~uint64_t{0};
  InstructionCache icache_;
  SecondLevelCache l2_;
  RefillBuffer refill_;
  TranslationBuffer itb_;
  BranchHistory history_;
  ReturnStack returns_;
};

class Alpha21164 final : public MachineModel {
 public:
  std::string_view name() const override { return "alpha21164"; }

  std::unique_ptr<Piece> read(uint64_t address, uint64_t end,
                              std::span<const uint8_t> code) const override {
    auto piece = std::make_unique<AlphaPiece>();
    piece->address = address;
    piece->instructions = static_cast<uint32_t>(code.size() / 4);
    piece->behind = end;
    piece->first_line = address >> InstructionCache::kLineShift;
    piece->last_line = (piece->behind - 4) >> InstructionCache::kLineShift;
    piece->first_page = address >> TranslationBuffer::kPageShift;
    piece->last_page = (piece->behind - 4) >> TranslationBuffer::kPageShift;
    piece->code = alpha::read_for_issue(code);
    piece->issue_cycles = piece->after.issue(piece->code, address);
    piece->number = next_number_++;
    Instruction last;
    alpha::decode_words(code.data() + code.size() - 4, 1, 0, &last);
    const ControlFlow flow = alpha::control_flow(last);
    piece->transfer = transfer_of(last);
    piece->is_jump = !is_call(flow) && flow != ControlFlow::return_jump;
    piece->target = piece->behind - 4 + uint64_t(int64_t{last.immediate});
    piece->hint = last.immediate;
    return piece;
  }

  std::unique_ptr<Processor> make_processor() const override {
    return std::make_unique<AlphaProcessor>();
  }

  std::vector<Component> components(const Events& e) const override {
    return {{"issue", e.issue_cycles},
            {"taken branches", kTakenBubble * e.predicted_taken},
            {"mispredicts", kMispredictPenalty * e.mispredicts},
            {"icache, second level", kIcacheMiss * (e.icache_misses - e.refill_hits)},
            {"icache, refill buffer", kRefillHit * e.refill_hits},
            {"second level misses", kL2Miss * e.l2_icache_misses},
            {"itb misses", kItbMiss * e.itb_misses}};
  }

  std::vector<Figure> figures(const Events& e) const override {
    return {{"instructions", "instructions", e.instructions},
            {"cycles", "cycles", sum_of(components(e))},
            {"cycles by model C", "cycles_c", published_cycles(e)},
            {"conditional branches", "conditional_branches", e.conditional_branches},
            {"taken branches", "taken_branches", e.taken_branches},
            {"  of them jumps", "taken_jumps", e.taken_jumps},
            {"mispredicts", "mispredicts", e.mispredicts},
            {"icache misses", "icache_misses", e.icache_misses},
            {"  refill buffer hits", "refill_hits", e.refill_hits},
            {"  second level misses", "l2_icache_misses", e.l2_icache_misses},
            {"itb misses", "itb_misses", e.itb_misses}};
  }

 private:
  mutable std::atomic<uint32_t> next_number_ = 0;
};

}  // namespace

std::unique_ptr<MachineModel> make_model() {
  return std::make_unique<Alpha21164>();
}

}  // namespace respike::measure::alpha21164
