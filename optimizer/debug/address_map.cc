// From addresses of the input to addresses of the output.
//
// Problem: a range of the input (a scope, a row of a line table, an entry of a list) may now be in
// several places, in another order, with instructions removed, added, resized or copied.
//
// Idea: emission lists pieces, whose instructions all moved by the same distance. Pieces are sorted
// by their old addresses, together with the largest old end so far. A binary search over these ends
// finds the first piece that can overlap a range, and the walk stops at the first piece that starts
// after the range. Code between the ranges of movable procedures stays, and is part of the answer.
//
// Example: pieces [0x5000, 0x5010) from [0x1040, 0x1050) and [0x7020, 0x7030) from [0x1050,
// 0x1060). find_ranges(0x1048, 0x1058) gives [0x5008, 0x5010) and [0x7020, 0x7028).
//
// PieceBuilder makes the pieces: an instruction joins the last piece if both distances and the
// order agree. Instructions of the rewriter wait for the next instruction; at the end of a block
// they become a piece of their own (a bridge) for the code that they lead to.

#include "optimizer/debug/address_map.h"

#include <algorithm>
#include <numeric>

namespace respike {
namespace {

bool is_inside(const std::vector<AddressMap::Range>& ranges, uint64_t address) {
  const auto after = std::ranges::upper_bound(ranges, address, {}, &AddressMap::Range::first);
  return after != ranges.begin() && address < (after - 1)->second;
}

}  // namespace

AddressMap::AddressMap(std::vector<MovedPiece> pieces, std::vector<Range> moved,
                       std::vector<Range> code, std::vector<StaleValues> stale)
    : pieces_(std::move(pieces)),
      moved_(std::move(moved)),
      code_(std::move(code)),
      stale_(std::move(stale)) {
  std::ranges::sort(pieces_, {}, &MovedPiece::new_start);
  by_old_.resize(pieces_.size());
  std::iota(by_old_.begin(), by_old_.end(), 0u);
  // A copy follows its original.
  std::ranges::stable_sort(by_old_, {}, [&](uint32_t i) {
    return std::tuple(pieces_[i].old_from, pieces_[i].kind, pieces_[i].copy);
  });
  uint64_t end = 0;
  old_ends_.reserve(by_old_.size());
  for (const uint32_t i : by_old_) old_ends_.push_back(end = std::max(end, pieces_[i].old_end));
}

const StaleValues* AddressMap::stale_values(const MovedPiece& piece) const {
  return piece.stale == MovedPiece::kExact ? nullptr : &stale_[piece.stale];
}

bool AddressMap::is_code(uint64_t old_address) const {
  return is_inside(code_, old_address);
}
bool AddressMap::is_moved(uint64_t old_address) const {
  return is_inside(moved_, old_address);
}

template <typename F>
void AddressMap::for_pieces(uint64_t start, uint64_t end, F f) const {
  size_t i = static_cast<size_t>(std::ranges::upper_bound(old_ends_, start) - old_ends_.begin());
  for (; i < by_old_.size(); ++i) {
    const MovedPiece& piece = pieces_[by_old_[i]];
    if (piece.old_from >= end) return;
    if (piece.old_end > start) f(by_old_[i]);
  }
}

void AddressMap::find_parts(uint64_t start, uint64_t end, std::vector<MovedPart>& parts) const {
  parts.clear();
  for_pieces(start, end, [&](uint32_t index) {
    const MovedPiece& piece = pieces_[index];
    const uint64_t from = std::max(start, piece.old_start), to = std::min(end, piece.old_end);
    if (from >= to) return;
    MovedPart part{piece.new_start, piece.new_end, piece.old_start, index};
    if (!piece.resized()) {
      part.new_start += from - piece.old_start;
      part.new_end -= piece.old_end - to;
      part.old_start = from;
    } else {
      // A range that begins or ends inside of an instruction is meant for callers, who look before
      // their return address: the distance from the end counts.
      const uint64_t size = piece.new_end - piece.new_start;
      if (from > piece.old_start)
        part.new_start = piece.new_end - std::min(size, piece.old_end - from);
      if (to < piece.old_end) part.new_end = piece.new_end - std::min(size, piece.old_end - to);
      if (part.new_start >= part.new_end) return;
    }
    parts.push_back(part);
  });
  // The bytes between the ranges of movable procedures stay.
  auto moved = std::ranges::upper_bound(moved_, start, {}, &Range::first);
  if (moved != moved_.begin() && (moved - 1)->second > start) --moved;
  for (uint64_t at = start; at < end; ++moved) {
    const uint64_t next = moved == moved_.end() ? end : std::min(end, moved->first);
    if (next > at) parts.push_back({at, next, at, UINT32_MAX});
    if (moved == moved_.end()) break;
    at = std::max(at, moved->second);
  }
  std::ranges::sort(parts, {}, &MovedPart::new_start);
}

size_t AddressMap::find_ranges(uint64_t start, uint64_t end, std::vector<Range>& ranges) const {
  return find_ranges(start, end, ranges, {});
}

size_t AddressMap::find_ranges(uint64_t start, uint64_t end, std::vector<Range>& ranges,
                               const std::function<bool(const StaleValues&)>& is_lost) const {
  static thread_local std::vector<MovedPart> parts;
  find_parts(start, end, parts);
  const size_t cost = parts.size();
  if (is_lost)
    std::erase_if(parts, [&](const MovedPart& part) {
      const StaleValues* stale = part.stays() ? nullptr : stale_values(pieces_[part.piece]);
      return stale != nullptr && is_lost(*stale);
    });
  ranges.clear();
  const MovedPart* last = nullptr;
  for (const MovedPart& part : parts) {
    const bool adjacent = last != nullptr && last->new_end == part.new_start;
    // Two neighbours in one fragment: only padding is between them.
    const bool neighbours = last != nullptr && !last->stays() && !part.stays() &&
                            last->piece + 1 == part.piece &&
                            pieces_[last->piece].fragment == pieces_[part.piece].fragment &&
                            last->new_end == pieces_[last->piece].new_end &&
                            part.new_start == pieces_[part.piece].new_start;
    if (adjacent || neighbours)
      ranges.back().second = part.new_end;
    else
      ranges.emplace_back(part.new_start, part.new_end);
    last = &part;
  }
  return cost;
}

size_t AddressMap::find_ranges_of_entry(uint64_t start, uint64_t end,
                                        std::vector<Range>& ranges) const {
  const size_t cost = find_ranges(start, end, ranges);
  const auto entry = find(start);
  if (!entry) return cost;
  const auto holds = std::ranges::find_if(
      ranges, [&](const Range& range) { return range.first <= *entry && *entry < range.second; });
  if (holds == ranges.end()) return cost;
  if (holds->first != *entry) {
    const Range before(holds->first, *entry);
    holds->first = *entry;
    ranges.insert(std::next(holds), before);
  }
  const auto first = std::ranges::find(ranges, *entry, &Range::first);
  std::rotate(ranges.begin(), first, std::next(first));
  return cost;
}

std::optional<uint64_t> AddressMap::find(uint64_t old_address) const {
  if (!is_moved(old_address)) return old_address;
  std::optional<uint64_t> result;
  for_pieces(old_address, old_address + 1, [&](uint32_t index) {
    const MovedPiece& piece = pieces_[index];
    if (piece.kind != MovedPiece::Kind::own || (result && piece.copy)) return;
    if (old_address <= piece.old_start)
      result = piece.new_start;
    else if (!piece.resized())
      result = piece.new_start + (old_address - piece.old_start);
    else if (!result)
      result = piece.new_start;
  });
  return result;
}

std::optional<uint64_t> AddressMap::find_behind(uint64_t old_address) const {
  if (!is_moved(old_address - 1)) return old_address;
  std::optional<uint64_t> result;
  for_pieces(old_address - 1, old_address, [&](uint32_t index) {
    const MovedPiece& piece = pieces_[index];
    if (piece.kind != MovedPiece::Kind::own || (result && piece.copy)) return;
    if (old_address == piece.old_end)
      result = piece.new_end;
    else if (old_address > piece.old_start && !piece.resized())
      result = piece.new_start + (old_address - piece.old_start);
  });
  return result;
}

void PieceBuilder::add(uint64_t new_start, uint64_t new_end, uint64_t old_start, uint64_t old_end) {
  const uint64_t from = waiting_.value_or(new_start);
  const bool in_order = last_end_ && *last_end_ <= old_start;
  const bool same_size = new_end - from == old_end - old_start;
  if (joins_ && same_size && last_end_ == old_start && pieces_.size() > first_ &&
      !pieces_.back().resized() && pieces_.back().new_end == from) {
    pieces_.back().new_end = new_end;
    pieces_.back().old_end = old_end;
  } else {
    pieces_.push_back({.new_start = from,
                       .new_end = new_end,
                       .old_from = in_order ? *last_end_ : old_start,
                       .old_start = old_start,
                       .old_end = old_end,
                       .fragment = fragment_,
                       .copy = is_copy_,
                       .hot = is_hot_,
                       .stale = stale_});
  }
  waiting_.reset();
  last_end_ = old_end;
  joins_ = true;
}

void PieceBuilder::end_block(uint64_t new_end,
                             std::optional<std::pair<uint64_t, uint64_t>> leads_to) {
  if (!waiting_) return;
  if (leads_to) {
    pieces_.push_back({.new_start = *waiting_,
                       .new_end = new_end,
                       .old_from = leads_to->first,
                       .old_start = leads_to->first,
                       .old_end = leads_to->second,
                       .fragment = fragment_,
                       .kind = MovedPiece::Kind::bridge,
                       .hot = is_hot_,
                       .stale = stale_});
  } else if (pieces_.size() > first_) {
    const MovedPiece last = pieces_.back();
    pieces_.push_back({.new_start = *waiting_,
                       .new_end = new_end,
                       .old_from = last.old_start,
                       .old_start = last.old_start,
                       .old_end = last.old_end,
                       .fragment = fragment_,
                       .kind = MovedPiece::Kind::bridge,
                       .hot = is_hot_,
                       .stale = stale_});
  }
  waiting_.reset();
  joins_ = false;
}

}  // namespace respike
