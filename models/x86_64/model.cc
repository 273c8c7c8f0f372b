// The model of present x86-64 processors: their parts together.
//
// A layout of code changes how often the processor lacks instructions to execute. So the model
// covers the front end: caches, micro-op cache, translation buffers, predictors. Each part counts
// events, each event has a price, and the cycles are the sum. The execution of fetched
// instructions, with hundreds of others in flight, is not modelled: it is one number for all
// instructions (processors.h). Without this number the front end would take all of the time, and
// gains would be far too large.
//
// A run is a sequence of pieces (machine_model.h). Facts that do not depend on the past are
// computed once, when a piece is read: its lines, the entries of the micro-op cache it needs, its
// micro-ops, and the kind of its last instruction. Facts that depend on the past take a short walk
// each time the piece begins.
//
// Example: a loop of one piece of 6 micro-ops that ends with a taken branch, on Zen 3, costs one
// cycle of issue and about two of execution each time, and nothing else: its line, its entry and
// its branch are all known.
//
// A string instruction that repeats itself (rep movsb) is executed by QEMU once for each
// repetition. Each repetition is an instruction in the counts, as in Valgrind, but costs nothing
// here: its cost belongs to the data.
//
// Cycles are whole numbers at each piece, so that sums by procedure add up: the rest of a cycle of
// issue is carried to the next piece.

#include "models/x86_64/model.h"

#include "models/return_stack.h"
#include "models/x86_64/piece.h"
#include "models/x86_64/processors.h"

namespace respike::measure::x86 {
namespace {

template <typename Core>
class X86Processor final : public Processor {
 public:
  void begin(Piece& base, Events& events, bool completed) override {
    const X86Piece& piece = static_cast<X86Piece&>(base);
    bool falls_in = false;
    if (previous_ != nullptr && completed) {
      const X86Piece& before = *previous_;
      if (before.transfer == Transfer::repeats && piece.address == before.last()) {
        ++events.repetitions;  // the same instruction once more
        if (piece.behind() == before.behind()) return;
      }
      falls_in = before.behind() == piece.address;
      if (before.transfer != Transfer::none && before.transfer != Transfer::repeats)
        transfer(before, piece.address, !falls_in);
    }
    previous_ = &piece;
    events_ = &events;
    issue(piece);
    events.micro_op_fetches += piece.number_of_parts();
    for (unsigned i = 0; i < piece.near_parts; ++i) {
      events.micro_op_misses += !micro_ops_.access(piece.fetch(piece.near[i]), falls_in);
      falls_in = false;
    }
    for (const X86Piece::Part& part : piece.far)
      events.micro_op_misses += !micro_ops_.access(piece.fetch(part), false);
    const uint64_t last_line = piece.last_line();
    for (uint64_t line = piece.first_line(); line <= last_line; ++line)
      if (line != line_) enter_line(line);
  }

 private:
  void issue(const X86Piece& piece) {
    events_->micro_ops += piece.micro_ops;
    slots_ += piece.micro_ops;
    events_->issue_cycles += slots_ / Core::kWidth;
    slots_ %= Core::kWidth;
    waiting_ += piece.instructions * Core::kExecutionTenths;
    events_->execution_cycles += waiting_ / 10;
    waiting_ %= 10;
  }

  /// The last instruction of `piece` has led to `next`.
  void transfer(const X86Piece& piece, uint64_t next, bool taken) {
    const bool has_target = piece.transfer <= Transfer::direct_call;
    if (has_target && taken && next != piece.target) return;  // a signal handler ran first
    bool right = true;
    switch (piece.transfer) {
      case Transfer::conditional:
        ++events_->conditional_branches;
        right = directions_.predict(piece.last(), taken);
        events_->direction_mispredicts += !right;
        break;
      case Transfer::direct_call:
        if (taken) returns_.push(piece.behind());  // a call of the next instruction has no return
        break;
      case Transfer::indirect_call:
        returns_.push(piece.behind());
        [[fallthrough]];
      case Transfer::indirect:
        right = targets_.predict(piece.last(), next);
        directions_.note_target(next);
        events_->target_mispredicts += !right;
        break;
      case Transfer::returns:
        right = returns_.pop(next);
        events_->return_mispredicts += !right;
        break;
      default:
        break;
    }
    events_->mispredicts += !right;
    if (!taken) return;
    ++events_->taken_branches;
    events_->taken_jumps += piece.transfer == Transfer::conditional ||
                            piece.transfer == Transfer::direct ||
                            piece.transfer == Transfer::indirect;
    const auto level = branches_.access(piece.last());
    if (!right) return;
    ++events_->predicted_taken;
    events_->second_branches += level == Level::second;
    events_->third_branches += level == Level::third;
    events_->unknown_branches += level == Level::none;
  }

  void enter_line(uint64_t line) {
    line_ = line;
    const uint64_t page = line >> (kPageShift - kLineShift);
    if (page != page_) enter_page(page);
    events_->plain_icache_misses += !plain_icache_.access(line);
    switch (icache_.access(line)) {
      case InstructionCache::Answer::hit:
        return;
      case InstructionCache::Answer::miss:
        ++events_->icache_misses;
        events_->l2_icache_misses += !l2_.access(line);
        break;
      case InstructionCache::Answer::late:
        ++events_->l2_icache_misses;
        [[fallthrough]];
      case InstructionCache::Answer::prefetched:
        ++events_->prefetch_hits;
        break;
    }
    if (!icache_.holds(line + 1)) icache_.prefetch(line + 1, !l2_.access(line + 1));
  }

  void enter_page(uint64_t page) {
    page_ = page;
    if (itlb_.access(page)) return;
    ++events_->itb_misses;
    events_->l2_itb_misses += !itlb2_.access(page);
  }

  using Level = typename Core::Branches::Level;

  Events* events_ = nullptr;  // events of the previous piece; while a piece is fetched, of that
                              // piece
  const X86Piece* previous_ = nullptr;
  uint64_t line_ = ~uint64_t{0}, page_ = ~uint64_t{0};
  uint32_t slots_ = 0;    // micro-ops that have not filled a cycle yet
  uint32_t waiting_ = 0;  // tenths of a cycle of execution that have not made a cycle yet
  typename Core::MicroOps micro_ops_;
  InstructionCache icache_;
  PlainInstructionCache plain_icache_;
  typename Core::SecondLevel l2_;
  typename Core::TranslationBuffer itlb_;
  typename Core::SecondTranslationBuffer itlb2_;
  typename Core::Branches branches_;
  DirectionPredictor directions_;
  typename Core::Targets targets_;
  ReturnStack<Core::kReturns> returns_;
};

template <typename Core>
class X86Model final : public MachineModel {
 public:
  std::string_view name() const override { return Core::kName; }

  std::unique_ptr<Piece> read(uint64_t address, uint64_t,
                              std::span<const uint8_t> code) const override {
    return read_piece(address, code, {Core::kReadWriteOps, Core::MicroOps::kOpsOfEntry});
  }

  std::unique_ptr<Processor> make_processor() const override {
    return std::make_unique<X86Processor<Core>>();
  }

  std::vector<Component> components(const Events& e) const override {
    return {{"issue", e.issue_cycles},
            {"execution", e.execution_cycles},
            {"micro-op cache misses", Core::kDecode * e.micro_op_misses},
            {"slower branch targets",
             Core::kSecondBranches * e.second_branches + Core::kThirdBranches * e.third_branches},
            {"unknown branches", Core::kUnknownBranch * e.unknown_branches},
            {"mispredicts, directions", Core::kMispredict * e.direction_mispredicts},
            {"mispredicts, targets", Core::kMispredict * e.target_mispredicts},
            {"mispredicts, returns", Core::kMispredict * e.return_mispredicts},
            {"icache, second level", Core::kSecondLevel * e.icache_misses},
            {"second level misses", Core::kThirdLevel * e.l2_icache_misses},
            {"itlb, second level", Core::kSecondTranslation * e.itb_misses},
            {"itlb walks", Core::kWalk * e.l2_itb_misses}};
  }

  std::vector<Figure> figures(const Events& e) const override {
    return {{"instructions", "instructions", e.instructions},
            {"  of them repetitions", "repetitions", e.repetitions},
            {"micro-ops", "micro_ops", e.micro_ops},
            {"cycles", "cycles", sum_of(components(e))},
            {"conditional branches", "conditional_branches", e.conditional_branches},
            {"taken branches", "taken_branches", e.taken_branches},
            {"  of them jumps", "taken_jumps", e.taken_jumps},
            {"  slower targets", "slower_targets", e.second_branches + e.third_branches},
            {"  unknown branches", "unknown_branches", e.unknown_branches},
            {"mispredicts", "mispredicts", e.mispredicts},
            {"  directions", "direction_mispredicts", e.direction_mispredicts},
            {"  targets", "target_mispredicts", e.target_mispredicts},
            {"  returns", "return_mispredicts", e.return_mispredicts},
            {"micro-op fetches", "micro_op_fetches", e.micro_op_fetches},
            {"  misses", "micro_op_misses", e.micro_op_misses},
            {"icache misses", "icache_misses", e.icache_misses},
            {"  prefetched in time", "prefetch_hits", e.prefetch_hits},
            {"  without prefetches", "plain_icache_misses", e.plain_icache_misses},
            {"  second level misses", "l2_icache_misses", e.l2_icache_misses},
            {"itlb misses", "itb_misses", e.itb_misses},
            {"  second level misses", "l2_itb_misses", e.l2_itb_misses}};
  }
};

}  // namespace

std::unique_ptr<MachineModel> make_zen3() {
  return std::make_unique<X86Model<Zen3>>();
}

std::unique_ptr<MachineModel> make_goldencove() {
  return std::make_unique<X86Model<GoldenCove>>();
}

}  // namespace respike::measure::x86
