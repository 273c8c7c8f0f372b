// Emission: the image in its new order.
//
// Placement gives every block an address; from then on everything is a function of old places to
// new ones: instructions and their relocations, words of data that hold code addresses, symbols,
// unwind tables, dynamic section. Pinned and opaque procedures keep their bytes, except for fields
// that refer to code which moved. Relocations travel with their instruction; only relocations of
// the unwind tables, which are written anew, are made here.
//
// Example: block 2 of f moves from 0x120000480 to 0x120004020. A branch to it gets another
// displacement, a jump table's entry for it another value, and its rows of the unwind tables other
// addresses.

#include "optimizer/emit/emit.h"

#include <algorithm>

#include "optimizer/base/bytes.h"
#include "optimizer/emit/emitter.h"

namespace respike {

namespace {

NewImage make_output(const Program& program, Layout layout, Provenance note,
                     Diagnostics& diagnostics, EmitStatistics* statistics,
                     const Injection* injection, std::vector<PlacedInstruction>* places) {
  const AddedSegment segment =
      plan_added_segment(*program.image, injection != nullptr ? injection->memory : AddedMemory{});
  const uint64_t injected = injection != nullptr ? align_up(injection->code_size, 16) : 0;
  const Placement placement(program, layout, segment.free_address + injected);
  Emitter emitter(program, layout, placement, diagnostics, places);
  emitter.write_unwind_tables();  // needs addresses only; code may refer to the tables
  emitter.write_code();
  emitter.write_code_pointers();
  emitter.write_symbols();
  emitter.write_relocations();
  emitter.write_dynamic_section();
  if (injection != nullptr) emitter.inject(*injection, segment);
  emitter.write_provenance(std::move(note),
                           injection != nullptr ? NoteType::instrumented : NoteType::rewritten);
  emitter.write_debug_sections();
  const auto& added = emitter.output().added;
  if (segment.hides_notes && std::ranges::any_of(added, [](const NewImage::AddedSection& section) {
        return (section.properties & Section::kAllocated) != 0;
      }))
    diagnostics.warn(
        "there was no room for another program header: the program header of the notes is gone, so "
        "that the running program does not find its own build ID");
  if (statistics != nullptr) *statistics = emitter.statistics();
  return emitter.take_output();
}

}  // namespace

std::vector<uint8_t> emit(const Program& program, Layout layout, Provenance note,
                          Diagnostics& diagnostics, EmitStatistics* statistics,
                          const Injection* injection, std::vector<PlacedInstruction>* places) {
  // Layout, placement and emitter are gone when the file, which takes as much memory, is made.
  const NewImage output =
      make_output(program, std::move(layout), std::move(note), diagnostics, statistics, injection,
                  places);
  return write_image(*program.image, output);
}

}  // namespace respike
