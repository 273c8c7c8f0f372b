// Look-ups in a program, whose ranges and blocks are sorted by address.

#include "optimizer/ir/program.h"

#include <algorithm>

#include "optimizer/ir/lookup.h"

namespace respike {

RangeIndex::RangeIndex(std::span<const CodeRange> ranges) {
  constexpr uint64_t kPieces = 4;  // for each range
  if (ranges.empty()) return;
  start_ = ranges.front().start;
  const uint64_t span = ranges.back().start - start_;
  while ((span >> shift_) >= kPieces * ranges.size()) ++shift_;
  first_.reserve((span >> shift_) + 2);
  for (uint32_t i = 0; i < ranges.size(); ++i)
    first_.resize(((ranges[i].start - start_) >> shift_) + 1, i);
  first_.push_back(static_cast<uint32_t>(ranges.size()));
}

size_t RangeIndex::starts_up_to(std::span<const CodeRange> ranges, uint64_t address) const {
  size_t first = 0, last = ranges.size();
  if (!first_.empty()) {
    if (address < start_) return 0;
    const uint64_t piece = (address - start_) >> shift_;
    if (piece + 1 >= first_.size()) return last;
    first = first_[piece];
    last = first_[piece + 1];
  }
  const auto behind =
      std::upper_bound(ranges.begin() + first, ranges.begin() + last, address,
                       [](uint64_t a, const CodeRange& range) { return a < range.start; });
  return static_cast<size_t>(behind - ranges.begin());
}

uint32_t range_at(const Program& program, uint64_t address) {
  const size_t behind = program.range_index.starts_up_to(program.ranges, address);
  if (behind == 0 || address >= program.ranges[behind - 1].end) return kNone;
  return static_cast<uint32_t>(behind - 1);
}

std::optional<CodeLocation> block_at(const Program& program, uint64_t address) {
  const uint32_t found = range_at(program, address);
  if (found == kNone) return std::nullopt;
  const CodeRange* range = &program.ranges[found];
  const auto& blocks = program[range->procedure].blocks;
  const uint32_t origin = static_cast<uint32_t>(address - program.origin_base);
  const auto first = blocks.begin() + range->first_block;
  const auto last = blocks.begin() + range->end_block;
  const auto block = std::lower_bound(first, last, origin,
                                      [](const BasicBlock& b, uint32_t o) { return b.origin < o; });
  if (block == last || block->origin != origin) return std::nullopt;
  return CodeLocation{.where = CodeLocation::Where::block_start,
                      .procedure = range->procedure,
                      .block = static_cast<BlockId>(block - blocks.begin())};
}

bool encloses_moving(const Program& program) {
  if (program.enclosure.start == program.enclosure.end) return false;
  return std::ranges::any_of(program.procedures, [](const Procedure& procedure) {
    return procedure.enclosed && procedure.movable();
  });
}

std::pair<size_t, size_t> entries_of(const Program& program, const JumpTable& table) {
  const auto& pointers = program.code_pointers;
  const auto first =
      std::lower_bound(pointers.begin(), pointers.end(), table.address,
                       [](const CodePointer& p, uint64_t address) { return p.address < address; });
  auto last = first;
  uint64_t at = table.address;
  for (uint32_t i = 0; i < table.entries && last != pointers.end() && last->address == at; ++i) {
    at += pointer_size(last->kind);
    ++last;
  }
  return {first - pointers.begin(), last - pointers.begin()};
}

static void pin_code_behind(Program& program) {
  const auto lists = {
      std::pair(&program.falls_into, "control runs into it from code that stays in place"),
      std::pair(&program.near_branches,
                "a short branch leads to it from code that stays in place")};
  std::vector<ProcedureId> staying;
  for (const auto& [pairs, reason] : lists)
    for (const auto& [from, to] : *pairs)
      if (!program[from].movable()) staying.push_back(from);
  while (!staying.empty()) {
    const ProcedureId from = staying.back();
    staying.pop_back();
    for (const auto& [pairs, reason] : lists)
      for (auto each =
               std::lower_bound(pairs->begin(), pairs->end(), std::pair(from, ProcedureId{0}));
           each != pairs->end() && each->first == from; ++each) {
        Procedure& next = program[each->second];
        if (!next.movable()) continue;
        next.state = Procedure::State::pinned;
        next.reason = reason;
        staying.push_back(each->second);
      }
  }
}

/// Whether a part of the enclosure stays for a reason of its own while another part could move.
static bool is_parted(const Program& program) {
  bool stays = false, moves = false;
  for (const Procedure& procedure : program.procedures)
    if (procedure.enclosed) (procedure.movable() ? moves : stays) = true;
  return stays && moves;
}

void pin_followers(Program& program) {
  pin_code_behind(program);
  if (program.enclosure.start == program.enclosure.end || !is_parted(program)) return;
  const auto first = std::ranges::find_if(program.procedures, [](const Procedure& procedure) {
    return procedure.enclosed && !procedure.movable();
  });
  const std::string reason =
      "the program knows where the code around it starts and ends, of which " + first->name +
      " stays";
  for (Procedure& procedure : program.procedures) {
    if (!procedure.enclosed || !procedure.movable()) continue;
    procedure.state = Procedure::State::pinned;
    procedure.reason = reason;
  }
  pin_code_behind(program);
}

}  // namespace respike
