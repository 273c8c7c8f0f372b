// Which code of the output came from which code of the input, for the debug information.
//
// Code writers note pieces (debug/address_map.h) while they write. A branch that emission adds is
// described like the code to which it leads: when the branch is executed, registers and memory are
// in that code's state.

#include <algorithm>

#include <fmt/format.h>

#include "optimizer/debug/debug.h"
#include "optimizer/debug/debug_file.h"
#include "optimizer/emit/emitter.h"

namespace respike {

void Emitter::note_far_stubs() {
  uint32_t number = static_cast<uint32_t>(placement_.fragments().size());
  for (const FarStub& stub : placement_.stubs()) {
    if (!stub.live) continue;
    if (places_ != nullptr)
      places_->push_back({.address = stub.address, .kind = PlacedInstruction::Kind::stub});
    if (!notes_pieces_ || stub.target.where != CodeLocation::Where::block_start) continue;
    const BasicBlock& target = program_[stub.target.procedure].blocks[stub.target.block];
    if (target.origin == kNone) continue;
    const uint64_t size =
        stub.departure ? machine_.stubs->departure_size : machine_.stubs->landing_size;
    const uint64_t old = program_.address_of(target);
    pieces_.push_back({.new_start = stub.address,
                       .new_end = stub.address + size,
                       .old_from = old,
                       .old_start = old,
                       .old_end = program_.map.next(old),
                       .fragment = number++,
                       .kind = MovedPiece::Kind::bridge});
  }
}

namespace {

std::vector<AddressMap::Range> merged(std::vector<AddressMap::Range> ranges) {
  std::ranges::sort(ranges);
  std::vector<AddressMap::Range> result;
  for (const auto& [start, end] : ranges) {
    if (!result.empty() && start <= result.back().second)
      result.back().second = std::max(result.back().second, end);
    else
      result.emplace_back(start, end);
  }
  return result;
}

}  // namespace

void Emitter::write_debug_sections() {
  if (places_ != nullptr) std::ranges::sort(*places_, {}, &PlacedInstruction::address);
  AddressMap map;
  if (notes_pieces_) {
    // Padding between movable procedures makes room as well.
    std::vector<AddressMap::Range> moved = placement_.free_ranges(), code;
    for (const CodeRange& range : program_.ranges)
      if (program_[range.procedure].movable()) moved.emplace_back(range.start, range.end);
    moved = merged(std::move(moved));
    for (const Section& section : image_.sections)
      if (section.allocated() && section.executable() && section.size != 0)
        code.emplace_back(section.address, section.address + section.size);
    std::ranges::sort(code);
    std::vector<StaleValues> stale(stale_values_.size());
    for (const auto& [values, number] : stale_values_) stale[number] = values;
    map = AddressMap(std::move(pieces_), std::move(moved), std::move(code), std::move(stale));
  }
  respike::write_debug_sections(image_, map, out_, diagnostics_);
  if (debug_ == nullptr) {
    if (image_.section_named(kDebugLink) != nullptr)
      diagnostics_.warn(fmt::format(
          "the reference to the debug file ({}) is left out: image optimize --debug-file rewrites "
          "this file, too",
          kDebugLink));
    return;
  }
  NewImage::AddedSection& link = out_.added.emplace_back();
  link.name = kDebugLink;
  link.alignment = 4;
  link.contents = debug_link(debug_->name);
  respike::write_debug_sections(debug_->input, map, debug_sections_, diagnostics_);
}

}  // namespace respike
