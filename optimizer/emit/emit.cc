// Emission: the image in its new order.
//
// Placement gives every block an address. From then on everything is a function from old places to
// new ones: instructions and their relocations, words of data that hold code addresses, symbols,
// unwind tables, dynamic section. Pinned and opaque procedures keep their bytes, except for fields
// that refer to moved code. Relocations travel with their instruction; only relocations of the
// unwind tables, which are written anew, are made here.
//
// Example: block 2 of f moves from 0x120000480 to 0x120004020. A branch to it gets another
// displacement, its entry in a jump table another value, and its rows of the unwind tables other
// addresses.

#include "optimizer/emit/emit.h"

#include <algorithm>

#include <fmt/format.h>

#include "optimizer/base/bytes.h"
#include "optimizer/debug/debug_file.h"
#include "optimizer/emit/emitter.h"

namespace respike {

namespace {

NewImage make_output(const Program& program, Layout layout, Provenance note,
                     Diagnostics& diagnostics, EmitStatistics* statistics,
                     const Injection* injection, std::vector<PlacedInstruction>* places,
                     const DebugFile* debug_file, bool dynamic_fragments,
                     NewDebugFile& new_debug_file) {
  const AddedSegment segment =
      plan_added_segment(*program.image, injection != nullptr ? injection->memory : AddedMemory{});
  const uint64_t injected = injection != nullptr ? align_up(injection->code_size, 16) : 0;
  const uint64_t start = align_up(segment.free_address + injected, alignment_of_code(program));
  const Placement placement(program, layout, start);
  Emitter emitter(program, layout, placement, segment, diagnostics, places, debug_file);
  emitter.write_unwind_tables();  // only needs addresses; code may refer to the tables
  emitter.write_code();
  emitter.write_code_pointers();
  emitter.write_symbols(dynamic_fragments);
  emitter.write_relocations();
  emitter.write_dynamic_section();
  if (injection != nullptr) emitter.inject(*injection);
  emitter.write_provenance(std::move(note),
                           injection != nullptr ? NoteType::instrumented : NoteType::rewritten);
  emitter.write_debug_sections();
  const auto& added = emitter.output().added;
  if (segment.hides_notes && std::ranges::any_of(added, [](const NewImage::AddedSection& section) {
        return (section.properties & Section::kAllocated) != 0;
      }))
    diagnostics.warn(fmt::format(
        "there was no room for another program header: the program header of {} is gone, so that "
        "the running program does not find its own build ID",
        "the notes"));
  for (const std::string& loss : segment.losses) diagnostics.warn(loss);
  if (statistics != nullptr) *statistics = emitter.statistics();
  if (debug_file != nullptr) new_debug_file = emitter.take_debug_file();
  return emitter.take_output();
}

/// Symbols get the numbers of sections in the written file instead of those in NewImage. In the
/// file, sections may follow new sections that make room for program headers, which the emitter
/// does not know.
void number_sections(std::vector<Symbol>& symbols, const Image& input, const NewImage& output,
                     const Image& written) {
  std::vector<uint32_t> numbers = match_sections(input, written);
  for (const NewImage::AddedSection& added : output.added) {
    const auto same = std::ranges::find_if(written.sections, [&](const Section& section) {
      return section.allocated() && section.name == added.name && section.address == added.address;
    });
    numbers.push_back(same == written.sections.end()
                          ? 0
                          : static_cast<uint32_t>(same - written.sections.begin()));
  }
  for (Symbol& symbol : symbols) {
    if (!symbol.defined_in_section()) continue;
    const uint32_t old = symbol.section;
    symbol.section = numbers[old];
    if (symbol.section == 0 || old >= input.sections.size()) continue;
    const bool was_moved =
        std::ranges::count(output.moved, old, &NewImage::MovedSection::section) != 0;
    if (!was_moved || symbol.type == Symbol::Type::section)
      symbol.value += written.sections[symbol.section].address - input.sections[old].address;
  }
}

}  // namespace

std::vector<uint8_t> emit(const Program& program, Layout layout, Provenance note,
                          Diagnostics& diagnostics, EmitStatistics* statistics,
                          const Injection* injection, std::vector<PlacedInstruction>* places,
                          DebugFile* debug_file, bool dynamic_fragments) {
  // Layout, placement and emitter are freed before the file is made, which takes as much memory.
  NewDebugFile new_debug_file;
  const NewImage output =
      make_output(program, std::move(layout), std::move(note), diagnostics, statistics, injection,
                  places, debug_file, dynamic_fragments, new_debug_file);
  std::vector<uint8_t> bytes = write_image(*program.image, output);
  if (debug_file == nullptr) return bytes;
  const Image written = view_image(bytes, "the rewritten image");
  number_sections(new_debug_file.symbols, *program.image, output, written);
  debug_file->bytes = write_debug_file(debug_file->input, new_debug_file, written);
  complete_debug_link(bytes, debug_file->bytes);
  require_debug_file(view_image(bytes, "the rewritten image"),
                     view_image(debug_file->bytes, "the rewritten debug file"));
  return bytes;
}

}  // namespace respike
