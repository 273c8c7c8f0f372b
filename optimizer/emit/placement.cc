// Placement: where every block goes.
//
// The original text minus all code that stays is a list of free ranges. Fragments fill the ranges
// in order, and fragments that fit into no range go to the added segment. How a block ends depends
// only on the next block in its fragment, so sizes are known before addresses. Where several
// instructions share a group, a block that control enters only from the block before it is packed
// together with that block.
//
// Where branches have two lengths, all are short at first. Branches that do not reach become long,
// which moves code, and the code is placed again, until all branches reach. Branches only grow, so
// the rounds end. Nearly all branches that become long could not stay short (Szymanski, Assembling
// code for machines with span-dependent instructions, CACM 21, 1978).
//
// Code that has to lie between two ends known to the program (Program::enclosure) keeps its old
// place to itself. If it does not fit there, it goes after all other code, and other code may take
// its old place.
//
// When all code lies within the reach of the weakest direct branch, nothing else is needed.
// Otherwise stub pools are put between fragments, a quarter of the reach apart. Branches that may
// not reach go through a departure stub in the pool next to them and a landing stub in the pool
// next to their target. Stubs move code and may thereby create new far branches. The set of far
// branches only grows from round to round, so the rounds end, and thanks to a margin one round is
// nearly always enough.
//
// Example, a reach of 4 MB: a branch over 10 MB becomes branch -> departure (loads the landing's
// address, jumps) -> landing -> target.

#include "optimizer/emit/placement.h"

#include <algorithm>

#include <fmt/format.h>

#include "optimizer/analysis/branch_reach.h"
#include "optimizer/base/bytes.h"
#include "optimizer/base/parallel.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/unwind/unwind.h"

namespace respike {
namespace {

constexpr uint64_t kEnclosureAlignment = 16;

}  // namespace

Placement::Placement(const Program& program, Layout& layout, uint64_t added_code_address)
    : enclosure_(program.enclosure),
      encloses_moving_(encloses_moving(program)),
      program_(program),
      machine_(*program.machine),
      packing_(program),
      numbers_(program),
      added_start_(added_code_address) {
  addresses_.resize(numbers_.count());
  for (ProcedureId id = 0; id < program.procedures.size(); ++id)
    for (BlockId b = 0; b < program[id].blocks.size(); ++b)
      if (const BasicBlock& block = program[id].blocks[b]; block.origin != kNone)
        addresses_[numbers_(id, b)] = program.address_of(block);
  start_fragments_at_entries(layout);
  std::ranges::stable_partition(layout.fragments, [&](const Layout::Fragment& fragment) {
    return !program[fragment.procedure].enclosed;
  });
  find_free_ranges();
  pack(layout);
  place(layout);
  if (machine_.branches.set_length != nullptr) {
    auto blocks = short_branches(layout);
    while (lengthen_branches(blocks)) place(layout);
  }

  uint64_t low = ~uint64_t{0}, high = 0;
  for (const CodeRange& range : program.ranges) {
    low = std::min(low, range.start);
    high = std::max(high, range.end);
  }
  for (const PlacedFragment& placed : placed_) high = std::max(high, placed.address + placed.size);
  if (high > low && high - low >= machine_.branches.reach) place_with_stubs(layout);
}

uint64_t Placement::return_point(ProcedureId procedure, BlockId block) const {
  const uint64_t start = address(procedure, block);
  const BlockEnd how = packing_.end(procedure, block);
  if (!appends_branch(how) && how != BlockEnd::padded)
    return start + packing_.size(procedure, block);
  BlockRun run;
  packing_.arrange(procedure, block, run);
  return start + run.places.back();
}

uint64_t Placement::resolve(const CodeLocation& location) const {
  switch (location.where) {
    case CodeLocation::Where::block_start:
      return address(location.procedure, location.block);
    case CodeLocation::Where::return_point:
      return return_point(location.procedure, location.block);
    case CodeLocation::Where::enclosure_start:
      return encloses_moving_ ? enclosure_.start : location.address;
    case CodeLocation::Where::enclosure_end:
      return encloses_moving_ ? enclosure_.end : location.address;
    case CodeLocation::Where::address:
      break;
  }
  return location.address;
}

/// Unwinders read the copies of prologs before code that stays.
void Placement::take_prolog_copies(Ranges& taken) const {
  const UnwindFormat* format = unwind_format_of(*program_.image);
  if (format == nullptr || !format->reads_prologs) return;
  for (const Fde& fde : read_unwind(*program_.image).fdes) {
    const uint32_t range =
        range_at(program_, fde.rows.empty() ? fde.start : fde.rows.back().address);
    if (range != kNone && !program_[program_.ranges[range].procedure].movable())
      taken.emplace_back(fde.start, std::max(fde.start, program_.ranges[range].start));
  }
}

/// Ranges of addresses that must keep their bytes, sorted.
Placement::Ranges Placement::taken_ranges() const {
  Ranges taken = program_.kept;
  for (const CodeRange& range : program_.ranges)
    if (!program_[range.procedure].movable()) taken.emplace_back(range.start, range.end);
  // No other code may be where unwind information describes code that stays.
  for (const Fde& fde : program_.foreign_fdes) taken.emplace_back(fde.start, fde.end);
  take_prolog_copies(taken);
  // A handler returns to the start of signal return code, and unwinders look up return addresses
  // minus one: no other procedure's unwind information may end there. The whole no-op before the
  // start stays, since part of the no-op would read like the start of another instruction.
  for (const Procedure& procedure : program_.procedures)
    if (!procedure.movable())
      for (const BasicBlock& block : procedure.blocks) {
        if (block.origin == kNone || !machine_.is_signal_return(block.instructions.span()))
          continue;
        const uint64_t start = program_.address_of(block),
                       before = start - machine_.codec.groups.alignment();
        const bool code = before >= program_.image->section_at(start)->address;
        taken.emplace_back(code ? program_.map.group(before) : before, start);
      }
  take_what_control_runs_through(taken);
  take_what_code_refers_to(taken);
  // Where enclosed code stays, no other code may come between.
  if (!encloses_moving_ && enclosure_.start != enclosure_.end)
    taken.emplace_back(enclosure_.start, enclosure_.end);
  std::sort(taken.begin(), taken.end());
  return taken;
}

/// Bytes that control runs through on its way from one staying range to the next stay as well.
void Placement::take_what_control_runs_through(Ranges& taken) const {
  std::vector<std::pair<ProcedureId, uint64_t>> ends;  // procedure, end of a range of it
  for (const CodeRange& range : program_.ranges)
    if (!program_[range.procedure].movable()) ends.emplace_back(range.procedure, range.end);
  std::sort(ends.begin(), ends.end());
  for (const auto& [from, to] : program_.falls_into) {
    const uint64_t stop = program_[to].address;
    const auto first = std::lower_bound(ends.begin(), ends.end(), std::pair(from, uint64_t{0}));
    const auto last = std::lower_bound(first, ends.end(), std::pair(from, stop));
    for (auto end = first; end != last; ++end) taken.emplace_back(end->second, stop);
  }
}

/// Places outside of all procedures to which code refers stay as they are.
void Placement::take_what_code_refers_to(Ranges& taken) const {
  for (const Procedure& procedure : program_.procedures)
    for (const Reference& reference : procedure.references) {
      if (reference.target.where != CodeLocation::Where::address) continue;
      taken.emplace_back(reference.target.address,
                         reference.target.address + machine_.codec.groups.alignment());
    }
}

void Placement::find_free_ranges() {
  std::vector<const Section*> sections;
  for (const CodeRange& range : program_.ranges)
    if (program_[range.procedure].movable())
      if (const Section* section = program_.image->section_at(range.start);
          sections.empty() || sections.back() != section)
        sections.push_back(section);
  std::sort(sections.begin(), sections.end(),
            [](const Section* a, const Section* b) { return a->address < b->address; });
  sections.erase(std::unique(sections.begin(), sections.end()), sections.end());
  const auto taken = taken_ranges();
  const uint64_t unit = machine_.codec.groups.alignment();
  auto next = taken.begin();
  uint64_t at = 0;
  for (const Section* section : sections) {
    at = std::max(at, align_up(section->address, unit));
    const uint64_t end = section->address + section->size / unit * unit;
    for (; next != taken.end() && next->first < end; ++next) {
      const auto [start, stop] = *next;
      if (stop <= at) continue;
      if (start > at) free_.emplace_back(at, start);
      at = stop;
    }
    if (at < end) free_.emplace_back(at, end);
  }
  if (encloses_moving_) part_free_ranges();
}

/// Moving enclosed code has its own room, as long as the room suffices.
void Placement::part_free_ranges() {
  Ranges outside;
  const auto keep = [](Ranges& ranges, uint64_t start, uint64_t end) {
    if (start < end) ranges.emplace_back(start, end);
  };
  for (const auto& [start, end] : free_) {
    keep(outside, start, std::min(end, enclosure_.start));
    keep(enclosed_free_, std::max(start, enclosure_.start), std::min(end, enclosure_.end));
    keep(outside, std::max(start, enclosure_.end), end);
  }
  other_free_ = std::move(outside);
}

/// Entries are aligned as in the input, so each entry starts a fragment. Where instructions are
/// fixed groups of bytes, only a requested alignment is kept.
void Placement::start_fragments_at_entries(Layout& layout) const {
  constexpr uint32_t kUsual = 16;
  const bool only_large = machine_.codec.groups.fixed();
  const auto alignment_of = [&](const BasicBlock& block) -> uint32_t {
    const uint32_t own = alignment_of_entry(program_, block);
    return only_large && own <= kUsual ? 0 : own;
  };
  std::vector<Layout::Fragment> result;
  for (const Layout::Fragment& fragment : layout.fragments) {
    const Procedure& procedure = program_[fragment.procedure];
    for (size_t i = 0; i < fragment.blocks.size(); ++i) {
      const BasicBlock& block = procedure.blocks[fragment.blocks[i]];
      const bool entry = alignment_of(block) != 0;
      if (i == 0 || entry)
        result.push_back({.procedure = fragment.procedure,
                          .blocks = {},
                          .start = i == 0 ? fragment.start : Start{.alignment = 1}});
      if (entry) {
        const uint32_t own = alignment_of(block);
        Start& start = result.back().start;
        start.alignment = std::max(start.alignment, own);
        start.phase &= ~(own - 1);
      }
      result.back().blocks.push_back(fragment.blocks[i]);
    }
  }
  layout.fragments = std::move(result);
}

void Placement::pack(const Layout& layout) {
  constexpr size_t kPart = 1024;  // fragments that a thread packs
  const size_t count = layout.fragments.size();
  parallel_for((count + kPart - 1) / kPart, [&](size_t part) {
    BlockRun run;
    for (size_t i = part * kPart; i < std::min(count, (part + 1) * kPart); ++i)
      packing_.pack(layout.fragments[i].procedure, layout.fragments[i].blocks, run);
  });
}

/// Allocates room to fragments in order.
class Placement::Room {
 public:
  Room(const Ranges& free, uint64_t added)
      : free_(free), at_(free.empty() ? 0 : free[0].first), added_(added) {}

  /// The place is not `apart`: the end of another fragment of the procedure
  /// (Abi::debuggers_join_ranges).
  uint64_t take(uint64_t size, const Start& how, uint64_t apart = 0) {
    const auto first = [&](uint64_t from) {
      const uint64_t start = how.from(from);
      return start == apart ? how.from(start + 1) : start;
    };
    for (; range_ < free_.size(); at_ = ++range_ < free_.size() ? free_[range_].first : 0) {
      const uint64_t start = first(at_);
      if (start > free_[range_].second || free_[range_].second - start < size) continue;
      at_ = start + size;
      return start;
    }
    const uint64_t start = first(added_);
    added_ = start + size;
    return start;
  }
  uint64_t added_end() const { return added_; }

 private:
  const Ranges& free_;
  size_t range_ = 0;
  uint64_t at_, added_;  // starts of the free room, in the range and after all ranges
};

void Placement::place_fragment(const Layout& layout, uint32_t index, Room& room) {
  const Layout::Fragment& fragment = layout.fragments[index];
  Start how = fragment.start;
  how.alignment = std::max(how.alignment, uint32_t{machine_.codec.groups.alignment()});
  uint64_t total = 0;
  for (BlockId id : fragment.blocks) total += packing_.size(fragment.procedure, id);
  const bool apart = machine_.abi.debuggers_join_ranges && !placed_.empty() &&
                     layout.fragments[placed_.back().fragment].procedure == fragment.procedure;
  const uint64_t start =
      room.take(total, how, apart ? placed_.back().address + placed_.back().size : 0);
  placed_.push_back({index, start, total});
  uint64_t address = start;
  for (BlockId id : fragment.blocks) {
    addresses_[numbers_(fragment.procedure, id)] = address;
    address += packing_.size(fragment.procedure, id);
  }
}

void Placement::place(const Layout& layout) {
  const auto count = static_cast<uint32_t>(layout.fragments.size());
  const auto first_enclosed =
      static_cast<uint32_t>(std::ranges::find_if(layout.fragments,
                                                 [&](const auto& fragment) {
                                                   return program_[fragment.procedure].enclosed;
                                                 }) -
                            layout.fragments.begin());
  const auto place_enclosed = [&](Room& room) {
    for (uint32_t index = first_enclosed; index < count; ++index)
      place_fragment(layout, index, room);
  };
  placed_.clear();
  placed_.reserve(count);
  if (other_free_ && first_enclosed != count) {
    Room own(enclosed_free_, added_start_);
    place_enclosed(own);
    if (own.added_end() != added_start_) other_free_.reset(), placed_.clear();
  }
  Room room(other_free_ ? *other_free_ : free_, added_start_);
  size_t pool = 0;
  for (uint32_t index = 0; index <= first_enclosed; ++index) {
    for (; pool < pools_.size() && pools_[pool].before_fragment == index; ++pool)
      pools_[pool].address = room.take(pools_[pool].size, {.alignment = 16});
    if (index != first_enclosed) place_fragment(layout, index, room);
  }
  added_end_ = room.added_end();
  if (first_enclosed == count || other_free_) return;
  const Ranges none;
  enclosure_.start = align_up(added_end_, kEnclosureAlignment);
  Room added(none, enclosure_.start);
  place_enclosed(added);
  enclosure_.end = added_end_ = added.added_end();
}

/// The blocks that end in short branches.
std::vector<std::pair<ProcedureId, BlockId>> Placement::short_branches(const Layout& layout) const {
  std::vector<std::pair<ProcedureId, BlockId>> blocks;
  for (const Layout::Fragment& fragment : layout.fragments)
    for (const BlockId id : fragment.blocks)
      if (packing_.short_branches(fragment.procedure, id))
        blocks.emplace_back(fragment.procedure, id);
  return blocks;
}

/// Gives the long form to those short branches of `blocks` that do not reach, and removes blocks
/// without short branches from the list; true when branches have grown.
bool Placement::lengthen_branches(std::vector<std::pair<ProcedureId, BlockId>>& blocks) {
  constexpr size_t kPart = 4096;  // blocks that a thread looks at
  std::vector<Packing::Branches> far(blocks.size());
  parallel_for((blocks.size() + kPart - 1) / kPart, [&](size_t part) {
    BlockRun run;
    for (size_t i = part * kPart; i < std::min(blocks.size(), (part + 1) * kPart); ++i)
      far[i] = out_of_reach(program_, packing_, numbers_, addresses_, blocks[i].first,
                            blocks[i].second, run);
  });
  bool grown = false;
  size_t kept = 0;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const auto [procedure, id] = blocks[i];
    if (far[i]) {
      packing_.lengthen(procedure, id, far[i]);
      grown = true;
      if (!packing_.short_branches(procedure, id)) continue;
    }
    blocks[kept++] = {procedure, id};
  }
  blocks.resize(kept);
  return grown;
}

// ---- far branches ----

uint64_t Placement::key_of(const CodeLocation& location) {
  return location.where == CodeLocation::Where::address
             ? location.address | uint64_t{1} << 63
             : uint64_t{location.procedure} << 32 | location.block;
}

/// Splits fragments that are not much smaller than the reach: no pool could be near the middle of
/// such a fragment.
void Placement::split_large(Layout& layout) {
  const uint64_t largest = machine_.branches.reach / 8;
  std::vector<Layout::Fragment> result;
  for (Layout::Fragment& fragment : layout.fragments) {
    uint64_t size_so_far = 0;
    Layout::Fragment piece{fragment.procedure, {}, fragment.start};
    for (BlockId id : fragment.blocks) {
      const bool glued =
          !piece.blocks.empty() &&
          program_[fragment.procedure].blocks[piece.blocks.back()].has(BasicBlock::kGluedToNext);
      if (size_so_far + packing_.size(fragment.procedure, id) > largest && !piece.blocks.empty() &&
          !glued) {
        result.push_back(std::move(piece));
        piece = {.procedure = fragment.procedure, .blocks = {}};
        size_so_far = 0;
      }
      piece.blocks.push_back(id);
      size_so_far += packing_.size(fragment.procedure, id);
    }
    result.push_back(std::move(piece));
  }
  layout.fragments = std::move(result);
}

/// Calls f(place, reach, target) for the direct branches of all code.
template <typename F>
void Placement::for_each_branch(const Layout&, F f) const {
  BlockRun run;
  for (ProcedureId id = 0; id < program_.procedures.size(); ++id) {
    const Procedure& procedure = program_[id];
    for (BlockId b = 0; b < procedure.blocks.size(); ++b) {
      const BasicBlock& block = procedure.blocks[b];
      const Instruction& last = block.instructions.back();
      const BlockEnd how = packing_.end(id, b);
      uint64_t last_place = machine_.codec.group_of_last(return_point(id, b), last);
      uint64_t appended_place = 0;
      if (appends_branch(how)) {
        packing_.arrange(id, b, run);
        appended_place = address(id, b) + run.places.back();
        if (run.places.size() > 1) last_place = address(id, b) + run.places.end()[-2];
      }
      const auto target_of = [&](Edge::Kind side) {
        return CodeLocation{.procedure = id, .block = block.edge(side)->target};
      };
      if (block.edge(Edge::Kind::taken) != nullptr && how != BlockEnd::branch_dropped)
        f(last_place, machine_.branches.reach_of(last), target_of(side_of_own_branch(how)));
      if (appends_branch(how))
        f(appended_place, machine_.branches.reach_of(machine_.branches.branch),
          target_of(side_of_appended_branch(how)));
      if (const Reference* reference = branch_of(procedure, last))
        f(last_place, machine_.branches.reach_of(last), reference->target);
    }
  }
}

uint32_t Placement::pool_near(uint64_t address) const {
  // Pools are in the order of fragments, whose addresses ascend, since the ranges' addresses do.
  auto after = std::lower_bound(pools_.begin(), pools_.end(), address,
                                [](const Pool& pool, uint64_t a) { return pool.address < a; });
  if (after == pools_.end()) return static_cast<uint32_t>(pools_.size() - 1);
  if (after == pools_.begin()) return 0;
  const auto before = after - 1;
  const uint64_t down = address - std::min(address, before->address + before->size);
  const uint64_t up = after->address - address;
  return static_cast<uint32_t>((down <= up ? before : after) - pools_.begin());
}

/// The first and the end of the pools that may lie within reach of `address`.
std::pair<uint32_t, uint32_t> Placement::pools_around(uint64_t address) const {
  const uint64_t reach = machine_.branches.reach;
  const auto before = [](const Pool& pool, uint64_t a) { return pool.address < a; };
  // A pool may start out of reach and end within it, but is much smaller than the reach.
  const auto first = std::lower_bound(pools_.begin(), pools_.end(),
                                      address - std::min(address, 2 * reach), before);
  const auto last = std::lower_bound(first, pools_.end(), address + 2 * reach, before);
  return {static_cast<uint32_t>(first - pools_.begin()),
          static_cast<uint32_t>(last - pools_.begin())};
}

/// Adds stubs for every branch that spans nearly as much as its form reaches; true when there is a
/// new stub.
bool Placement::collect_stubs(const Layout& layout) {
  bool grown = false;
  for_each_branch(layout, [&](uint64_t place, uint64_t reach, const CodeLocation& to) {
    const uint64_t target = resolve(to);
    const uint64_t distance = target > place ? target - place : place - target;
    if (distance <= reach - reach / 8) return;
    const uint32_t from = pool_near(place), near = pool_near(target);
    const uint64_t key = key_of(to);
    if (departures_.emplace(StubKey{from, key}, 0).second) {
      pools_[from].size += machine_.stubs->departure_size;
      stubs_.push_back({0, 0, to, true});
      departures_[{from, key}] = static_cast<uint32_t>(stubs_.size() - 1);
      stubs_.back().address = from;  // the pool, until addresses are given out
      grown = true;
    }
    if (machine_.stubs->landing_size != 0 && landings_.emplace(StubKey{near, key}, 0).second) {
      pools_[near].size += machine_.stubs->landing_size;
      stubs_.push_back({0, 0, to, false});
      landings_[{near, key}] = static_cast<uint32_t>(stubs_.size() - 1);
      stubs_.back().address = near;
      grown = true;
    }
  });
  return grown;
}

/// Whether every far branch has a departure and a landing within reach.
bool Placement::all_reach(const Layout& layout) const {
  const uint64_t reach = machine_.branches.reach;
  const auto has = [&](const auto& stubs, uint64_t near, uint64_t key) {
    const auto [first, last] = pools_around(near);
    for (uint32_t i = first; i < last; ++i) {
      const uint64_t address = pools_[i].address;
      const uint64_t distance = address > near ? address - near : near - address;
      if (distance + pools_[i].size < reach && stubs.count({i, key}) != 0) return true;
    }
    return false;
  };
  bool reached = true;
  for_each_branch(layout, [&](uint64_t place, uint64_t own_reach, const CodeLocation& to) {
    const uint64_t target = resolve(to);
    const uint64_t distance = target > place ? target - place : place - target;
    if (reached && distance > own_reach)
      reached = has(departures_, place, key_of(to)) &&
                (machine_.stubs->landing_size == 0 || has(landings_, target, key_of(to)));
  });
  return reached;
}

void Placement::place_with_stubs(Layout& layout) {
  if (machine_.stubs == nullptr)
    throw Error(fmt::format("its code spans more than branches of {} reach, and there are no stubs "
                            "for that machine yet",
                            machine_.name),
                program_.image->path);
  far_ = true;
  split_large(layout);
  pack(layout);
  place(layout);
  const uint64_t reach = machine_.branches.reach;
  const uint64_t spacing = reach / 4;
  uint64_t last = 0;
  std::vector<std::pair<uint64_t, size_t>> spots;
  for (const PlacedFragment& placed : placed_)
    if (spots.empty() || placed.address - last >= spacing) {
      spots.emplace_back(placed.address, placed.fragment);
      last = placed.address;
    }
  for (const auto& [address, fragment] : spots) pools_.push_back({address, 0, fragment});
  pools_.push_back({added_end_, 0, layout.fragments.size()});

  // A pool keeps its place in the order of fragments, and stubs keep their pool, while both grow.
  constexpr int kMostRounds = 16;
  for (int round = 0;; ++round) {
    const bool grown = collect_stubs(layout);
    place(layout);
    if (!grown && all_reach(layout)) break;
    if (round == kMostRounds)
      throw Error("there is no room near all of its code for the stubs that far branches need",
                  program_.image->path);
  }
  // Gives out addresses: stubs lie in their pool in the order in which they were found.
  std::vector<uint64_t> next;
  for (const Pool& pool : pools_) next.push_back(pool.address);
  for (FarStub& stub : stubs_) {
    const size_t pool = stub.address;
    stub.address = next[pool];
    next[pool] += stub.departure ? machine_.stubs->departure_size : machine_.stubs->landing_size;
  }
  for (FarStub& stub : stubs_) {
    stub.leads_to = resolve(stub.target);
    const uint64_t distance =
        stub.leads_to > stub.address ? stub.leads_to - stub.address : stub.address - stub.leads_to;
    if (!stub.departure) {
      stub.live = distance + machine_.stubs->landing_size < reach;
      continue;
    }
    uint64_t best = ~uint64_t{0};
    const auto [begin, end] = pools_around(stub.leads_to);
    for (uint32_t pool = begin; pool < end; ++pool) {
      const auto landing = landings_.find({pool, key_of(stub.target)});
      if (landing == landings_.end()) continue;
      const uint64_t address = stubs_[landing->second].address, target = resolve(stub.target);
      const uint64_t from_landing = address > target ? address - target : target - address;
      if (from_landing < best) {
        best = from_landing;
        stub.leads_to = address;
      }
    }
  }
}

uint64_t Placement::branch_target(uint64_t place, const Instruction& branch,
                                  const CodeLocation& location) const {
  const uint64_t target = resolve(location);
  const uint64_t distance = target > place ? target - place : place - target;
  if (!far_ || distance <= machine_.branches.reach_of(branch)) return target;
  uint64_t best = ~uint64_t{0}, result = target;
  const auto [first, last] = pools_around(place);
  for (uint32_t pool = first; pool < last; ++pool) {
    const auto departure = departures_.find({pool, key_of(location)});
    if (departure == departures_.end()) continue;
    const uint64_t address = stubs_[departure->second].address;
    const uint64_t d = address > place ? address - place : place - address;
    if (d < best) {
      best = d;
      result = address;
    }
  }
  return result;
}

}  // namespace respike
