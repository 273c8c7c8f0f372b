// The table of unwind regions (region_encoding.h) and its information blocks.
//
// The table is where a program header says, because unwinders look for it there. Entries are put in
// order, and overlapping entries are set aside. Then the block of each entry is executed
// (descriptor_reader.h) and its exception table is read (../lsda/lsda_reader.h). As with .eh_frame,
// anything unknown is data: its code stays as it is, and where even its block cannot be found, its
// range is reported.
//
// Descriptors that are not understood do not depend on the address of the code, as long as the code
// stays as it is: they become an opaque state, which is written again for the same range. An
// exception table does depend on the address of the code: the block of a table that cannot be read
// stays in its place, as the code does.
//
// The conventions have no CIE. The handlers that blocks share become a CIE, so that code with
// different personality routines has different states. Example: all C++ functions of a program
// without other languages share one CIE; C functions have another, without handlers.
//
// The file is not trusted: blocks may overlap, so the number of descriptors in all blocks together
// is limited.

#include "optimizer/unwind/ia64/regions_reader.h"

#include <algorithm>
#include <map>

#include "optimizer/unwind/ia64/descriptor_reader.h"
#include "optimizer/unwind/ia64/region_encoding.h"
#include "optimizer/unwind/ia64/region_table.h"
#include "optimizer/unwind/lsda/lsda_reader.h"
#include "optimizer/unwind/lsda/pointer_encoding.h"
#include "optimizer/unwind/lsda/pointers.h"
#include "optimizer/unwind/overlaps.h"
#include "optimizer/unwind/state_table.h"

namespace respike {
namespace {

using namespace regions;

struct Block {
  std::span<const uint8_t> descriptors;
  uint64_t flags = 0;
  uint64_t personality = 0;  // address of the word that holds its address
  uint64_t lsda = 0;         // address; 0: none
};

class RegionReader {
 public:
  RegionReader(const Image& image, size_t table_size)
      : image_(image),
        data_base_(region_bases(image).data),
        pointers_(image, data_base_),
        states_(input_.tables.states, 100'000 + 4 * table_size),
        lsdas_(image, pointers_, input_.tables.lsdas) {
    for (const Section& section : image.sections) budget_ += section.contents.size();
    budget_ *= 4;
  }

  void read(std::vector<RegionEntry> entries);
  UnwindInput take_result() { return std::move(input_); }
  AddressRanges take_unreadable();

 private:
  void read_entry(const RegionEntry& entry);
  void keep_as_it_is(const RegionEntry& entry);
  void find_landing_pads(uint64_t block_address, Fde& fde);
  Block read_block(uint64_t address);
  std::vector<RegionRow> rows_of(std::span<const uint8_t> descriptors, uint64_t slots);
  uint32_t cie_of(const Block& block);

  const Image& image_;
  std::optional<uint64_t> data_base_;
  UnwindInput input_;
  PointerReader pointers_;
  StateTable states_;
  LsdaReader lsdas_;
  std::map<std::pair<uint64_t, uint64_t>, uint32_t> cies_;  // by flags and personality
  AddressRanges unreadable_;
  uint64_t budget_ = 0;  // bytes of descriptors
};

void RegionReader::read(std::vector<RegionEntry> entries) {
  set_overlaps_aside(entries, unreadable_);
  input_.fdes.reserve(entries.size());
  for (const RegionEntry& entry : entries) {
    try {
      read_entry(entry);
    } catch (const Error&) {
      keep_as_it_is(entry);
    }
  }
}

void RegionReader::read_entry(const RegionEntry& entry) {
  if (entry.start % kBundleSize != 0 || entry.end % kBundleSize != 0)
    throw Error("an entry of the table of unwind regions starts or ends inside of a bundle");
  const Block block = read_block(entry.information);
  const uint64_t slots = (entry.end - entry.start) / kBundleSize * kBundleSlots;
  std::vector<RegionRow> rows = rows_of(block.descriptors, slots);
  const uint64_t first_slot = slot_number(entry.start);
  Fde fde;
  fde.start = entry.start;
  fde.end = entry.end;
  const uint32_t cie = cie_of(block);
  fde.rows.reserve(rows.size());
  for (RegionRow& row : rows) {
    row.state.cie = cie;
    fde.rows.push_back({slot_address(first_slot + row.slot), states_.index_of(row.state)});
  }
  if (block.lsda != 0) lsdas_.read(block.lsda, fde);
  for (const Fde::CallSite& site : fde.call_sites)  // throws for an address that is not a slot's
    for (const uint64_t address : {site.start, site.end, site.landing_pad}) slot_number(address);
  input_.fdes.push_back(std::move(fde));
}

/// A region whose block or exception table is not understood: code and block stay.
void RegionReader::keep_as_it_is(const RegionEntry& entry) {
  try {
    const Section* section = image_.section_at(entry.information);
    if (entry.start % kBundleSize != 0 || entry.end % kBundleSize != 0 || section == nullptr ||
        entry.information - section->address >= section->contents.size())
      throw Error("an unwind region cannot stay as it is");
    CfiState state;
    state.cie = cie_of({});
    state.opaque = state.cfa_is_expression = true;
    Fde fde;
    fde.start = entry.start;
    fde.end = entry.end;
    fde.rows.push_back({entry.start, states_.index_of(state)});
    fde.kept_lsda = entry.information;
    find_landing_pads(entry.information, fde);
    input_.fdes.push_back(std::move(fde));
  } catch (const Error&) {
    unreadable_.emplace_back(entry.start, entry.end);
  }
}

/// Notes whether the exception table of a block that stays may lead to code outside of the region,
/// and to which code. It does not if the first bytes of the table have no start of landing pads.
void RegionReader::find_landing_pads(uint64_t block_address, Fde& fde) {
  fde.pads_elsewhere = true;
  try {
    const Block block = read_block(block_address);
    if (block.lsda == 0) {
      fde.pads_elsewhere = false;
      return;
    }
    const Section* section = image_.section_at(block.lsda);
    if (section == nullptr) return;
    ByteReader reader(section->contents.subspan(block.lsda - section->address), "a table");
    const auto encoding = reader.read<uint8_t>();
    fde.pads_elsewhere = encoding != eh_pe::kOmit;
    if (fde.pads_elsewhere)
      fde.landing_pad_start = pointers_.read(reader, encoding, block.lsda + reader.position());
  } catch (const Error&) {
    // It is not known.
  }
}

Block RegionReader::read_block(uint64_t address) {
  constexpr size_t kWord = 8;
  const Section* section = image_.section_at(address);
  if (section == nullptr || address - section->address >= section->contents.size())
    throw Error("unwind descriptors lie outside of the image");
  if (address % kWord != 0) throw Error("unwind descriptors are not aligned");
  ByteReader reader(section->contents.subspan(address - section->address), "unwind descriptors");
  const auto header = reader.read<uint64_t>();
  if (header >> kVersionShift != kVersion) throw Error("unknown version of unwind descriptors");
  Block block;
  block.flags = header & ~(uint64_t{kVersion} << kVersionShift) & ~uint64_t{kLengthMask};
  if ((block.flags & ~uint64_t{kSearchHandler | kUnwindHandler}) != 0)
    throw Error("unwind descriptors have unknown flags");
  const uint64_t size = kWord * (header & kLengthMask);
  if (size > budget_) throw Error("unwind descriptors overlap");
  budget_ -= size;
  block.descriptors = reader.take(size);
  if (block.flags == 0) return block;
  if (!data_base_) throw Error("an image without gp has personality routines");
  block.personality = *data_base_ + reader.read<uint64_t>();
  block.lsda = address + reader.position();
  return block;
}

std::vector<RegionRow> RegionReader::rows_of(std::span<const uint8_t> descriptors, uint64_t slots) {
  try {
    return read_descriptors(descriptors, slots);
  } catch (const Error&) {
    RegionRow row;
    row.state.opaque = row.state.cfa_is_expression = true;
    row.state.cfa_expression.assign(descriptors.begin(), descriptors.end());
    return {row};
  }
}

uint32_t RegionReader::cie_of(const Block& block) {
  auto& cies = input_.tables.cies;
  const auto [known, added] =
      cies_.try_emplace({block.flags, block.personality}, static_cast<uint32_t>(cies.size()));
  if (!added) return known->second;
  Cie cie;
  cie.return_register = kReturnAddress;
  if (block.flags != 0) {
    constexpr uint8_t kWordFromBase = eh_pe::kDataRelative | eh_pe::kUdata8;
    if ((block.flags & kSearchHandler) != 0) cie.augmentation += 'e';
    if ((block.flags & kUnwindHandler) != 0) cie.augmentation += 'u';
    cie.personality_encoding = eh_pe::kIndirect | kWordFromBase;
    cie.lsda_encoding = kWordFromBase;  // an LSDA may follow the personality
    cie.personality = block.personality;
  }
  CfiState initial;
  initial.cie = known->second;
  initial.cfa_register = kStackPointer;
  cie.initial_state = states_.index_of(initial);
  cies.push_back(std::move(cie));
  return known->second;
}

AddressRanges RegionReader::take_unreadable() {
  sort_ranges(unreadable_);
  return std::move(unreadable_);
}

}  // namespace

UnwindInput read_regions(const Image& image, AddressRanges* unreadable) {
  std::vector<RegionEntry> entries = read_region_entries(image);
  RegionReader reader(image, entries.size() * kEntrySize);
  reader.read(std::move(entries));
  if (unreadable != nullptr) *unreadable = reader.take_unreadable();
  return reader.take_result();
}

}  // namespace respike
