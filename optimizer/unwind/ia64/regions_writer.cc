// The table of unwind regions and its information blocks (region_encoding.h), for code in its new
// places.
//
// As in .eh_frame (../eh_frame/frame_writer.cc), neighbouring ranges of one owner share an entry as
// long as they agree on the CIE, which here stands for handlers, and on the LSDA. Each entry has a
// block with descriptors, which do not say where the code is: equal blocks without an LSDA are
// written once. Example: a thousand functions that save b0 in r33 by slot 2 and have 30 slots share
// one block. An entry whose ranges have no LSDA needs no personality routine, since the routine
// would only pass exceptions on. Descriptors of the input that were not understood are an opaque
// state: they are written as they were, and count slots from the same place. Where a block itself
// was not understood, block and code have stayed, and the entry names the old block.
//
// Unwinders look for an entry by binary search, so ranges are sorted by address. They look up
// return addresses themselves, not minus one: the caller ensures that something follows a last
// call.

#include "optimizer/unwind/ia64/regions_writer.h"

#include <algorithm>
#include <map>
#include <string>

#include <fmt/format.h>

#include "optimizer/unwind/ia64/descriptor_writer.h"
#include "optimizer/unwind/ia64/region_encoding.h"
#include "optimizer/unwind/lsda/lsda_writer.h"

namespace respike {
namespace {

using namespace regions;

constexpr size_t kWord = 8;

class TableWriter {
 public:
  TableWriter(const UnwindTables& tables, std::span<const UnwindRange> ranges,
              const RegionBases& bases, uint64_t address, const TableRoom& room)
      : tables_(tables), ranges_(ranges), bases_(bases), address_(address), room_(room) {}

  RegionSections write();

 private:
  bool may_share(const UnwindRange& head, const UnwindRange& before, const UnwindRange& range,
                 uint32_t& lsda) const;
  void add_entry(std::span<const UnwindRange> ranges, uint32_t lsda);
  void write_descriptors_of(std::span<const UnwindRange> ranges);
  uint64_t write_block(std::span<const UnwindRange> ranges, uint32_t lsda);
  void write_handlers(std::span<const UnwindRange> ranges, uint32_t lsda);
  void write_table(RegionSections& sections);

  const UnwindTables& tables_;
  std::span<const UnwindRange> ranges_;
  const RegionBases& bases_;
  uint64_t address_;
  TableRoom room_;
  ByteWriter out_;
  ByteWriter descriptors_;  // of the block being written
  std::vector<RegionSpan> spans_;
  std::map<std::vector<uint8_t>, uint64_t> blocks_;  // without handlers: descriptors -> address
  std::vector<RegionEntry> entries_;
  std::vector<UnwindFixup> fixups_;
};

RegionSections TableWriter::write() {
  for (size_t first = 0; first < ranges_.size();) {
    const UnwindRange& head = ranges_[first];
    size_t end = first + 1;
    if (head.state != kNone && head.start != head.end) {
      uint32_t lsda = head.lsda;
      while (end < ranges_.size() && may_share(head, ranges_[end - 1], ranges_[end], lsda)) ++end;
      add_entry(ranges_.subspan(first, end - first), lsda);
    }
    first = end;
  }
  RegionSections sections;
  write_table(sections);
  sections.information = std::move(out_.bytes());
  sections.information_fixups = std::move(fixups_);
  return sections;
}

/// Whether `range` may be in the entry that starts with `head` and ends with `before`. If so, sets
/// the entry's LSDA.
bool TableWriter::may_share(const UnwindRange& head, const UnwindRange& before,
                            const UnwindRange& range, uint32_t& lsda) const {
  if (range.owner != head.owner || range.state == kNone) return false;
  if (slot_number(range.start) != slot_number(before.end)) return false;
  if (tables_.states[range.state].cie != tables_.states[head.state].cie) return false;
  if (range.kept_lsda != head.kept_lsda) return false;
  if (range.lsda == kNone) return true;
  if (lsda != kNone && lsda != range.lsda) return false;
  lsda = range.lsda;
  return true;
}

void TableWriter::add_entry(std::span<const UnwindRange> ranges, uint32_t lsda) {
  RegionEntry entry{ranges.front().start, ranges.back().end, 0};
  if (entry.start % kBundleSize != 0 || entry.end % kBundleSize != 0)
    throw Error(
        fmt::format("the unwind region of code at {:#x} to {:#x} starts or ends inside of a bundle",
                    entry.start, entry.end));
  if (ranges.front().kept_lsda != 0) {
    entry.information = ranges.front().kept_lsda;
    entries_.push_back(entry);
    return;
  }
  write_descriptors_of(ranges);
  if (lsda == kNone) {
    const auto [known, added] = blocks_.try_emplace(descriptors_.bytes(), 0);
    if (added) known->second = write_block(ranges, lsda);
    entry.information = known->second;
  } else {
    entry.information = write_block(ranges, lsda);
  }
  entries_.push_back(entry);
}

void TableWriter::write_descriptors_of(std::span<const UnwindRange> ranges) {
  const CfiState& first = tables_.states[ranges.front().state];
  descriptors_.bytes().clear();
  if (first.opaque) return descriptors_.append(first.cfa_expression);
  spans_.clear();
  for (const UnwindRange& range : ranges) {
    if (slot_number(range.end) < slot_number(range.start))
      throw Error("ranges of the new unwind tables overlap");
    const uint64_t slots = slot_number(range.end) - slot_number(range.start);
    if (slots == 0) continue;
    if (!spans_.empty() && spans_.back().state == range.state)
      spans_.back().slots += slots;
    else
      spans_.push_back({range.state, slots});
  }
  write_descriptors(tables_, spans_, descriptors_);
  descriptors_.align(kWord);
}

/// Writes a block and returns its address.
uint64_t TableWriter::write_block(std::span<const UnwindRange> ranges, uint32_t lsda) {
  out_.align(kWord);
  if (out_.size() > INT32_MAX) throw Error("the new unwind information is larger than 2 GB");
  const uint64_t address = address_ + out_.size();
  const std::string& handlers = tables_.cies[tables_.states[ranges.front().state].cie].augmentation;
  uint64_t header = uint64_t{kVersion} << kVersionShift | descriptors_.size() / kWord;
  if (lsda != kNone) {
    if (handlers.find('e') != std::string::npos) header |= kSearchHandler;
    if (handlers.find('u') != std::string::npos) header |= kUnwindHandler;
    if (header >> 32 << 32 == uint64_t{kVersion} << kVersionShift)
      throw Error("code with an exception table has no personality routine");
  }
  out_.write<uint64_t>(header);
  out_.append(descriptors_.bytes());
  if (lsda != kNone) write_handlers(ranges, lsda);
  return address;
}

void TableWriter::write_handlers(std::span<const UnwindRange> ranges, uint32_t lsda) {
  if (!bases_.data) throw Error("an image without gp has personality routines");
  const Cie& cie = tables_.cies[tables_.states[ranges.front().state].cie];
  fixups_.push_back(
      {address_ + out_.size(), cie.personality, RelocationRole::unwind_gp_relative64});
  out_.write<uint64_t>(cie.personality - *bases_.data);
  LsdaWriter writer(address_ + out_.size(), bases_.data);
  writer.write(tables_.lsdas[lsda], ranges);
  out_.append(writer.take_bytes());
  for (const UnwindFixup& fixup : writer.take_fixups()) fixups_.push_back(fixup);
}

void TableWriter::write_table(RegionSections& sections) {
  out_.align(2 * kWord);
  const bool fits = room_.size != 0 && entries_.size() * kEntrySize <= room_.size;
  sections.table_address = fits ? room_.address : address_ + out_.size();
  ByteWriter table;
  uint64_t previous_end = 0;
  for (const RegionEntry& entry : entries_) {
    if (entry.start < previous_end) throw Error("entries of the new unwind tables overlap");
    previous_end = entry.end;
    for (const uint64_t address : {entry.start, entry.end, entry.information}) {
      sections.table_fixups.push_back({sections.table_address + table.size(), address,
                                       RelocationRole::unwind_segment_relative64});
      table.write<uint64_t>(address - bases_.segment);
    }
  }
  sections.table = std::move(table.bytes());
}

}  // namespace

RegionSections write_regions(const UnwindTables& tables, std::span<const UnwindRange> ranges,
                             const RegionBases& bases, uint64_t address, const TableRoom& room) {
  return TableWriter(tables, ranges, bases, address, room).write();
}

}  // namespace respike
