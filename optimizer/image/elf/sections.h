#pragma once
// The sections of an output file: their list, their order and their headers.

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/image/elf/layout.h"

namespace respike::elf {

/// A section of the output. `contents` is copied to `offset`, unless the section stays in place or
/// is encoded from a table.
struct OutputSection {
  uint32_t number = 0;
  std::string_view name;
  uint32_t type = 0;
  uint64_t flags = 0;
  uint64_t address = 0;
  uint64_t offset = 0;  // the input's, until the writer places the section
  uint64_t size = 0;
  uint32_t link = 0;  // `link` and `info` hold indices of the output
  uint32_t info = 0;
  uint64_t alignment = 1;
  uint64_t entry_size = 0;
  std::span<const uint8_t> contents;
  bool in_added_segment = false;

  bool allocated() const { return (flags & llvm::ELF::SHF_ALLOC) != 0; }
};

/// While writing, sections have numbers: first the sections of the input, then NewImage::added,
/// then new relocation sections. The index of a section is its place in the output's header table.
struct SectionTable {
  std::vector<OutputSection> sections;         // by index; [0] is the null section
  std::vector<uint32_t> index;                 // by number: index in the output; 0 when dropped
  std::vector<const RelocationTable*> tables;  // by number: the table in a relocation section
  uint32_t symbol_table = 0;                   // numbers; 0 when absent
  uint32_t symbol_strings = 0;
  uint32_t section_strings = 0;
  std::deque<std::string> made_names;

  OutputSection& numbered(uint32_t number) { return sections[index[number]]; }
};

/// Whether a section that moves stays within the part that the input loads from the file: in room
/// that other sections left, not in the added segment. The writer writes its contents there.
bool stays_in_segment(const Image& input, const NewImage::MovedSection& moved);

/// Whether the section moves to an address of its own, not with the other sections of its block.
bool moves_by_itself(const NewImage& output, uint32_t section);

/// Throws Error when `output` does not fit `input`. A rewriter's request is trusted, but a mistake
/// in it must not become a broken file.
void check_request(const Image& input, const NewImage& output);

/// `plan` is null when nothing is added to memory; `symbols` are the symbols of the output.
SectionTable describe_sections(const Image& input, const NewImage& output, const SegmentPlan* plan,
                               std::span<const Symbol> symbols);

}  // namespace respike::elf
