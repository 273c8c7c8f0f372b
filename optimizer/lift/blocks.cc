// Where blocks start and end.
//
// A block ends before every place to which something refers and after every instruction that
// changes the flow of control. Calls end blocks as well: a call may not return, or may return to a
// landing pad, and a profile must be able to say so. A block takes its unwind state and its call
// site from the FDE that covers it; changes of the unwind state within the block become
// pseudo-instructions.
//
// Example: "f: lda; bsr g; addq; beq 1f; stq; 1: ret" has the blocks {lda, bsr}, {addq, beq},
// {stq}, {ret}.

#include <algorithm>
#include <ranges>

#include <fmt/format.h>

#include "optimizer/lift/lifter.h"

namespace respike {
namespace {

/// The unwind rows and call sites of the code, walked in step with the code.
class UnwindCursor {
 public:
  UnwindCursor(const std::vector<Fde>& fdes, uint64_t start) : fdes_(fdes) {
    fde_ = std::upper_bound(fdes.begin(), fdes.end(), start,
                            [](uint64_t a, const Fde& f) { return a < f.start; });
    if (fde_ != fdes.begin()) --fde_;
    row_ = site_ = 0;
    if (fde_ == fdes.end()) return;
    const auto& rows = fde_->rows;
    const auto row = std::upper_bound(rows.begin(), rows.end(), start,
                                      [](uint64_t a, const Fde::Row& r) { return a < r.address; });
    if (row != rows.begin()) row_ = static_cast<size_t>(row - rows.begin()) - 1;
    const auto& sites = fde_->call_sites;
    site_ = static_cast<size_t>(
        std::lower_bound(sites.begin(), sites.end(), start,
                         [](const Fde::CallSite& s, uint64_t a) { return s.end <= a; }) -
        sites.begin());
  }

  /// Addresses must not decrease between calls.
  const Fde* fde_at(uint64_t address) {
    while (fde_ != fdes_.end() && address >= fde_->end) {
      ++fde_;
      row_ = site_ = 0;
    }
    return fde_ != fdes_.end() && address >= fde_->start ? &*fde_ : nullptr;
  }
  uint32_t state_at(uint64_t address) {
    const Fde* fde = fde_at(address);
    if (fde == nullptr || fde->rows.empty()) return kNone;
    while (row_ + 1 < fde->rows.size() && fde->rows[row_ + 1].address <= address) ++row_;
    return fde->rows[row_].state;
  }
  /// The call-site record that covers `address`, or nullptr.
  const Fde::CallSite* site_at(uint64_t address) {
    const Fde* fde = fde_at(address);
    if (fde == nullptr) return nullptr;
    while (site_ < fde->call_sites.size() && fde->call_sites[site_].end <= address) ++site_;
    return site_ < fde->call_sites.size() && fde->call_sites[site_].start <= address
               ? &fde->call_sites[site_]
               : nullptr;
  }

 private:
  const std::vector<Fde>& fdes_;
  std::vector<Fde>::const_iterator fde_;
  size_t row_ = 0, site_ = 0;
};

class BlockBuilder {
 public:
  /// `scratch`: memory that the ranges use in turn.
  BlockBuilder(Lifter& lifter, ProcedureId id, Arena& arena, std::vector<BasicBlock>& scratch)
      : lifter_(lifter),
        procedure_(lifter.program[id]),
        pads_(lifter.landing_pads[id]),
        arena_(arena),
        blocks_(scratch) {}

  void build(CodeRange& range) {
    range.first_block = static_cast<BlockId>(procedure_.blocks.size());
    blocks_.clear();
    const CodeSection& code = *lifter_.code_at(range.start);
    const unsigned largest_group = lifter_.map().largest_group();
    const Machine& machine = lifter_.machine;
    const size_t begin = code.index(range.start), stop = code.index(range.end);
    const size_t end = without_padding(code, begin, stop);
    UnwindCursor cursor(lifter_.unwind.fdes, range.start);
    bool reached = true;  // whether control may fall into the block
    bool jumped = false;  // a jump or return and perhaps padding come before the block
    for (size_t i = begin; i < end;) {
      size_t j = i + 1;
      const auto goes_on_at = [&](size_t at) {
        const InstructionFacts facts = machine.facts(code.instructions[at - 1]);
        if (facts.prefix) return true;
        return (code.marks[at] & kLeader) == 0 &&
               (at + 1 - i) * largest_group <= BasicBlock::kLargest &&
               facts.flow == ControlFlow::none;
      };
      while (j < end && goes_on_at(j)) ++j;
      const size_t covered = skip_behind_call(code, j, stop);
      const bool padding =
          !reached && (code.marks[i] & kReferenced) == 0 &&
          std::ranges::all_of(std::views::iota(i, j), [&](size_t k) {
            return machine.facts(code.instructions[k]).nop || (jumped && is_filler(code, k));
          });
      if (!padding) {
        add(code, i, j, covered, cursor);
        const InstructionFacts last = machine.facts(code.instructions[j - 1]);
        reached = last.falls_through;
        jumped = !reached && last.flow != ControlFlow::stop;
      }
      i = covered;
    }
    // Exactly as much memory as the blocks take, without growing: there are millions of blocks.
    procedure_.blocks.reserve(procedure_.blocks.size() + blocks_.size());
    procedure_.blocks.insert(procedure_.blocks.end(), blocks_.begin(), blocks_.end());
    range.end_block = static_cast<BlockId>(procedure_.blocks.size());
  }

 private:
  /// Whether the instruction consists of the byte that fills gaps. After a jump or return such an
  /// instruction is padding against speculation (int3 by gcc -mharden-sls=all); after a stop it is
  /// not padding, since a handler may skip the stop.
  bool is_filler(const CodeSection& code, size_t at) const {
    const uint8_t filler = lifter_.machine.codec.filler;
    const uint64_t address = code.address(at);
    return filler != 0 && lifter_.map().group_end(address) == address + 1 &&
           lifter_.image.sections[code.section].contents[address - code.start] == filler;
  }

  /// The end of [begin, end) without trailing no-ops, where a call or an instruction that never
  /// falls through comes before them. A call that would return into padding does not return.
  size_t without_padding(const CodeSection& code, size_t begin, size_t end) const {
    size_t last = end;
    while (last > begin && (code.marks[last - 1] & kReferenced) == 0 &&
           lifter_.machine.facts(code.instructions[last - 1]).nop)
      --last;
    if (last == begin) return end;
    const Instruction& instruction = code.instructions[last - 1];
    const bool call = is_call(lifter_.machine.facts(instruction).flow);
    return call || !lifter_.machine.facts(instruction).falls_through ? last : end;
  }

  /// A call returns to the next group; no-ops before that group belong to the call. `at`: the end
  /// of a block.
  size_t skip_behind_call(const CodeSection& code, size_t at, size_t stop) const {
    if (!is_call(lifter_.machine.facts(code.instructions[at - 1]).flow)) return at;
    for (; at < stop && !lifter_.map().starts_group(code.address(at)); ++at)
      if (!lifter_.machine.facts(code.instructions[at]).nop ||
          (code.marks[at] & kReferenced) != 0) {
        lifter_.make_opaque(procedure_, fmt::format("it does not return from a call to what is "
                                                    "behind it at {:#x}",
                                                    code.address(at)));
        break;
      }
    return at;
  }

  /// Adds the block [begin, end); code up to `covered` belongs to it.
  void add(const CodeSection& code, size_t begin, size_t end, size_t covered,
           UnwindCursor& cursor) {
    const uint64_t start = code.address(begin);
    BasicBlock block;
    block.origin = static_cast<uint32_t>(start - lifter_.program.origin_base);
    block.origin_size = static_cast<uint32_t>(code.address(covered) - start);
    const uint8_t marks = code.marks[begin];
    if ((marks & kAddressTakenMark) != 0) block.flags |= BasicBlock::kAddressTaken;
    if ((marks & kLandingPadMark) != 0) block.flags |= BasicBlock::kLandingPad;
    if ((marks & kEntryMark) != 0 || start == procedure_.address) block.flags |= BasicBlock::kEntry;
    block.cfi_state = cursor.state_at(start);
    block.call_site = call_site_at(start, cursor);
    block.instructions = instructions(code, begin, end, cursor, block.cfi_state);
    blocks_.push_back(block);
  }

  /// The decoded instructions in place, or a copy with pseudo-instructions where the unwind state
  /// changes.
  ArenaList<Instruction> instructions(const CodeSection& code, size_t begin, size_t end,
                                      UnwindCursor& cursor, uint32_t state) {
    scratch_.clear();
    size_t copied = begin;
    for (size_t i = begin; i < end; ++i) {
      const uint64_t address = code.address(i);
      const uint32_t here = cursor.state_at(address);
      if (here == state) continue;
      state = here;
      scratch_.insert(scratch_.end(), &code.instructions[copied], &code.instructions[i]);
      copied = i;
      Instruction change;
      change.opcode = kCfiState;
      change.immediate = static_cast<int32_t>(state);
      change.origin = static_cast<uint32_t>(address - lifter_.program.origin_base);
      scratch_.push_back(change);
    }
    if (scratch_.empty())
      return ArenaList<Instruction>::adopt(&code.instructions[begin],
                                           static_cast<uint32_t>(end - begin));
    scratch_.insert(scratch_.end(), &code.instructions[copied], &code.instructions[end]);
    ArenaList<Instruction> list;
    list.assign(arena_, scratch_);
    return list;
  }

  uint32_t call_site_at(uint64_t address, UnwindCursor& cursor) {
    const Fde* fde = cursor.fde_at(address);
    if (fde == nullptr || fde->lsda == kNone) return kNone;
    const Fde::CallSite* site = cursor.site_at(address);
    CallSite record{.lsda = fde->lsda};
    if (site != nullptr) record.action = site->action;
    record.terminate = site == nullptr;
    const uint64_t pad = site == nullptr ? 0 : site->landing_pad;
    auto& sites = procedure_.call_sites;
    const size_t oldest = sites.size() > 16 ? sites.size() - 16 : 0;
    for (size_t i = sites.size(); i-- > oldest;)
      if (sites[i] == record && pads_[i] == pad) return static_cast<uint32_t>(i);
    sites.push_back(record);
    pads_.push_back(pad);
    return static_cast<uint32_t>(sites.size() - 1);
  }

  Lifter& lifter_;
  Procedure& procedure_;
  std::vector<uint64_t>& pads_;
  Arena& arena_;
  std::vector<Instruction> scratch_;
  std::vector<BasicBlock>& blocks_;
};

bool holds_no_instruction(const BasicBlock& block) {
  return std::ranges::any_of(block.instructions,
                             [](const Instruction& i) { return i.opcode == kInvalid; });
}

}  // namespace

void build_blocks(Lifter& lifter) {
  Program& program = lifter.program;
  lifter.landing_pads.resize(program.procedures.size());
  std::vector<std::vector<CodeRange*>> ranges_of(program.procedures.size());
  for (CodeRange& range : program.ranges) ranges_of[range.procedure].push_back(&range);
  for_each_part(program, [&](size_t, Arena& arena, ProcedureId first, ProcedureId last) {
    std::vector<BasicBlock> scratch;
    for (ProcedureId id = first; id < last; ++id) {
      Procedure& procedure = program.procedures[id];
      // The range of the entry comes first, so that block 0 is the entry.
      for (const bool entries : {true, false})
        for (CodeRange* range : ranges_of[id])
          if ((procedure.address == range->start) == entries)
            BlockBuilder(lifter, range->procedure, arena, scratch).build(*range);
      if (std::ranges::any_of(procedure.blocks, holds_no_instruction))
        lifter.make_opaque(procedure, "it holds words that are no instructions");
    }
  });
}

}  // namespace respike
