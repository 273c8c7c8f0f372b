// Unwind information for code in its new places: which state holds at which addresses.
//
// Every block is in one state at its start and changes it at pseudo-instructions. A block that does
// not move has the same states at its old addresses. The writer of the image's unwind format
// (unwind/unwind.h) takes the ranges of all code, by address.
//
// Example: a block at 0x120004020 of 24 bytes lowers the stack pointer by its second instruction.
// So the ranges [0x120004020, 0x120004028) and [0x120004028, 0x120004038) have two states.
//
// Some unwinders look up return addresses themselves, not the call before. So no-ops after a call
// belong to the call's range, see close_gaps() and Packing::needs_padding().

#include <algorithm>

#include <fmt/format.h>

#include "optimizer/base/bytes.h"
#include "optimizer/emit/emitter.h"

namespace respike {
namespace {

/// Appends a range. Merges it with the last range when only the addresses differ.
void append(std::vector<UnwindRange>& ranges, const UnwindRange& range) {
  if (range.start == range.end) return;
  if (!ranges.empty()) {
    UnwindRange& last = ranges.back();
    if (last.end == range.start && last.owner == range.owner && last.state == range.state &&
        last.lsda == range.lsda && last.kept_lsda == range.kept_lsda &&
        last.terminate == range.terminate && last.landing_pad == range.landing_pad &&
        last.action == range.action) {
      last.end = range.end;
      return;
    }
  }
  ranges.push_back(range);
}

}  // namespace

void Emitter::add_unwind_ranges(std::vector<UnwindRange>& ranges, ProcedureId id,
                                BlockId block_id) {
  const Procedure& procedure = program_[id];
  const BasicBlock& block = procedure.blocks[block_id];
  UnwindRange range;
  range.start = placement_.address(id, block_id);
  // Each symbol starts an FDE of its own: gdb first runs the program of an FDE up to the function's
  // start, and loses states remembered on the way.
  if (block_id == 0) ++unwind_owner_;
  range.owner = unwind_owner_;
  range.state = block.cfi_state;
  range.stays = !procedure.movable();
  const auto set_call_site = [&](uint32_t index) {
    range.lsda = kNone;
    range.terminate = false;
    range.landing_pad = range.action = 0;
    if (index == kNone) return;
    const CallSite& site = procedure.call_sites[index];
    range.lsda = site.lsda;
    range.terminate = site.terminate;
    range.action = site.action;
    if (site.landing_pad != kNone) range.landing_pad = placement_.address(id, site.landing_pad);
  };
  set_call_site(block.call_site);
  const uint64_t start = range.start;
  const BlockEnd how = placement_.packing().end(id, block_id);
  const bool appended = appends_branch(how);
  const bool changes = std::any_of(block.instructions.begin(), block.instructions.end(),
                                   [](const Instruction& i) { return i.is_pseudo(); });
  if (procedure.movable() && (changes || appended))
    placement_.packing().arrange(id, block_id, run_);
  const uint64_t end =
      appended ? start + run_.places.back() : start + placement_.packing().size(id, block_id);
  size_t written = 0;  // instructions before this one
  for (const Instruction& instruction : block.instructions) {
    if (!instruction.is_pseudo()) {
      ++written;
      continue;
    }
    range.end = end;
    if (!procedure.movable())
      range.end = program_.origin_base + instruction.origin;
    else if (written < run_.places.size())
      range.end = start + run_.places[written];
    append(ranges, range);
    range.start = range.end;
    range.state = static_cast<uint32_t>(instruction.immediate);
  }
  range.end = end;
  append(ranges, range);
  if (!appended) return;
  // The appended branch is already in the state of the block to which it leads. The exception is a
  // state with another CIE: a call before the branch returns to the branch, so both must be in one
  // FDE. Where unwinders read prologs, a branch from code after a prolog to the entry stays in the
  // state after that prolog, like the code that follows the branch.
  const BlockId next = block.edge(side_of_appended_branch(how))->target;
  range.start = end;
  range.end = start + placement_.packing().size(id, block_id);
  const uint32_t state = procedure.blocks[next].cfi_state;
  const auto& states = unwind_.states;
  const UnwindFormat* const format = unwind_format_of(image_);
  const bool leaves_prolog =
      format != nullptr && format->reads_prologs && state != kNone && range.state != kNone &&
      states[state].cfa_expression.size() < states[range.state].cfa_expression.size();
  if (!leaves_prolog &&
      (range.state == kNone || (state != kNone && states[state].cie == states[range.state].cie)))
    range.state = state;
  append(ranges, range);
}

/// Adds the ranges of stubs: a stub that uses the stack has a state with a deeper frame. Where
/// unwinders read prologs, stubs within a procedure with a frame get no range: a stub calls nothing
/// and does not fault, so only a debugger could miss the frame there.
void Emitter::add_stub_ranges(std::vector<UnwindRange>& ranges) {
  const unsigned unit = machine_.codec.groups.alignment();
  const UnwindFormat* const format = unwind_format_of(image_);
  for (const FarStub& stub : placement_.stubs()) {
    if (!stub.live || stub.target.where != CodeLocation::Where::block_start) continue;
    const uint32_t state = program_[stub.target.procedure].blocks[stub.target.block].cfi_state;
    if (state != kNone && unwind_.states[state].opaque) continue;  // of one table entry
    if (state != kNone && format != nullptr && format->reads_prologs &&
        !unwind_.states[state].cfa_expression.empty())
      continue;
    const uint32_t deep =
        deeper_.find(unwind_.states, state, machine_.abi.stack_pointer, machine_.stubs->frame);
    UnwindRange range;
    range.owner = ++unwind_owner_;
    const uint64_t size =
        stub.departure ? machine_.stubs->departure_size : machine_.stubs->landing_size;
    const uint64_t change = stub.address + (machine_.stubs->frame == 0 ? 0
                                            : stub.departure           ? unit
                                                                       : size - unit);
    range.start = stub.address;
    range.end = change;
    range.state = stub.departure ? state : deep;
    ranges.push_back(range);
    range.start = change;
    range.end = stub.address + size;
    range.state = stub.departure ? deep : state;
    ranges.push_back(range);
  }
}

/// Adds an FDE of code that does not move, cut wherever its state or its call site changes.
void Emitter::add_foreign_ranges(std::vector<UnwindRange>& ranges, const Fde& fde) {
  std::vector<uint64_t> cuts = {fde.start, fde.end};
  for (const Fde::Row& row : fde.rows) cuts.push_back(row.address);
  for (const Fde::CallSite& site : fde.call_sites) cuts.insert(cuts.end(), {site.start, site.end});
  std::sort(cuts.begin(), cuts.end());
  ++unwind_owner_;
  size_t row = 0, site = 0;
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    if (cuts[i] == cuts[i + 1] || cuts[i] < fde.start || cuts[i + 1] > fde.end) continue;
    UnwindRange range{.start = cuts[i], .end = cuts[i + 1], .owner = unwind_owner_, .stays = true};
    while (row + 1 < fde.rows.size() && fde.rows[row + 1].address <= range.start) ++row;
    if (row < fde.rows.size()) range.state = fde.rows[row].state;
    while (site < fde.call_sites.size() && fde.call_sites[site].end <= range.start) ++site;
    range.kept_lsda = fde.kept_lsda;
    if (fde.lsda != kNone) {
      range.lsda = fde.lsda;
      range.terminate = site == fde.call_sites.size() || fde.call_sites[site].start > range.start;
      if (!range.terminate) {
        range.action = fde.call_sites[site].action;
        const uint64_t pad = fde.call_sites[site].landing_pad;
        range.landing_pad = pad == 0 ? 0 : new_address(pad).value_or(pad);
      }
    }
    append(ranges, range);
  }
}

void Emitter::write_unwind_tables() {
  if (program_.unreadable_fde)
    throw Error(
        fmt::format("the unwind information of the code at {:#x} is not understood and would "
                    "be lost",
                    *program_.unreadable_fde),
        image_.path);
  const UnwindFormat* format = unwind_format_of(image_);
  if (format == nullptr) return;
  std::vector<UnwindRange> ranges = unwind_ranges();
  if (looks_up_return_addresses(image_)) close_gaps(ranges);
  const uint64_t address = segment_.tables_address(placement_.added_end());
  for (NewUnwindTable& table : format->write({image_, unwind_, ranges, address}))
    move_table(std::move(table));
}

/// Between blocks of code that stays there may be no-ops that no block holds. The range before them
/// is extended over them: calls that do not return have their return address there.
void Emitter::close_gaps(std::vector<UnwindRange>& ranges) const {
  auto range = program_.ranges.begin();
  for (size_t i = 0; i < ranges.size(); ++i) {
    // The range of the program that holds the end: adjacent code in one state is one unwind range.
    while (range != program_.ranges.end() && range->end < ranges[i].end) ++range;
    if (range == program_.ranges.end()) return;
    if (ranges[i].end <= range->start || program_[range->procedure].movable()) continue;
    if (unwind_.states[ranges[i].state].opaque) continue;
    uint64_t end = range->end;
    if (i + 1 < ranges.size()) end = std::min(end, ranges[i + 1].start);
    ranges[i].end = std::max(ranges[i].end, end);
  }
}

/// Moves a table to a new address, with new contents, or adds it.
void Emitter::move_table(NewUnwindTable table) {
  if (table.section == nullptr) {
    unwind_fixups_.emplace_back(image_.sections.size() + out_.added.size(),
                                std::move(table.fixups));
    NewImage::AddedSection& added = out_.added.emplace_back();
    added.name = std::move(table.name);
    added.properties = Section::kAllocated;
    added.address = table.address;
    added.alignment = 4;
    added.contents = std::move(table.contents);
    return;
  }
  const Section& old = *table.section;
  std::fill_n(data_bytes(old.address, old.size), old.size, uint8_t{0});
  const auto index = static_cast<uint32_t>(table.section - image_.sections.data());
  out_.moved.push_back({index, table.address, std::move(table.contents)});
  unwind_fixups_.emplace_back(index, std::move(table.fixups));
}

/// The unwind ranges of all code, by address.
std::vector<UnwindRange> Emitter::unwind_ranges() {
  std::vector<UnwindRange> ranges;
  for (ProcedureId id = 0; id < program_.procedures.size(); ++id)
    if (!program_[id].movable()) {
      ++unwind_owner_;
      for (BlockId block = 0; block < program_[id].blocks.size(); ++block)
        if (program_[id].blocks[block].origin != kNone) add_unwind_ranges(ranges, id, block);
    }
  for (const PlacedFragment& placed : placement_.fragments()) {
    const Layout::Fragment& fragment = layout_.fragments[placed.fragment];
    ++unwind_owner_;
    for (BlockId block : fragment.blocks) add_unwind_ranges(ranges, fragment.procedure, block);
  }
  add_stub_ranges(ranges);
  // Opaque states belong to whole FDEs, which are foreign.
  std::erase_if(ranges, [&](const UnwindRange& range) {
    return range.state == kNone || unwind_.states[range.state].opaque;
  });
  for (const Fde& fde : program_.foreign_fdes) add_foreign_ranges(ranges, fde);
  std::erase_if(ranges, [](const UnwindRange& range) { return range.state == kNone; });
  std::sort(ranges.begin(), ranges.end(),
            [](const UnwindRange& a, const UnwindRange& b) { return a.start < b.start; });
  return ranges;
}

}  // namespace respike
