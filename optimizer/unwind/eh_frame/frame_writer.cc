// .eh_frame and the sections that depend on it (Linux Standard Base 5, section 10.6), for code in
// its new places.
//
// Neighbouring ranges of one owner share an FDE as long as they agree on the CIE and on the LSDA.
// So a contiguous procedure has one FDE, as before, and every fragment of a split procedure has an
// FDE of its own: the CFI of an FDE begins at the CIE's state and leads to the state of its first
// range. A range without an LSDA may be in an FDE with one: the range gets a record without a
// landing pad, and exceptions pass through it either way.
//
// Example: f was split into a hot and a cold fragment, so f gets two FDEs of one CIE, each with an
// LSDA.
//
// Sections are written one after the other: the LSDAs come after .eh_frame, and pc-relative
// pointers in them need their address. Then the LSDA pointers in .eh_frame are patched.

#include "optimizer/unwind/eh_frame/frame_writer.h"

#include "optimizer/unwind/eh_frame/cfi_operations.h"
#include "optimizer/unwind/eh_frame/cfi_writer.h"
#include "optimizer/unwind/lsda/lsda_writer.h"
#include "optimizer/unwind/lsda/pointer_encoding.h"

namespace respike {
namespace {

constexpr size_t kEntryAlignment = 4;       // as GNU as pads entries with 32-bit pointers
constexpr uint64_t kSectionAlignment = 16;  // of the section after .eh_frame; an input may ask for
                                            // this

class FrameWriter {
 public:
  FrameWriter(const UnwindTables& tables, std::span<const UnwindRange> ranges, uint64_t address)
      : tables_(tables),
        ranges_(ranges),
        address_(address),
        cfi_(tables),
        cie_offsets_(tables.cies.size(), kNone) {}

  FrameSections write(bool with_header);

 private:
  struct Description {  // what the other sections need to know about an FDE
    uint64_t start = 0;
    size_t offset = 0;          // of the FDE in .eh_frame
    size_t lsda_pointer = 0;    // offset in .eh_frame; 0: none
    size_t first = 0, end = 0;  // ranges
    uint32_t lsda = kNone;
    uint64_t kept_lsda = 0;  // address
  };

  uint64_t place() const { return address_ + out_.size(); }
  size_t group_end(size_t first, uint32_t& lsda) const;
  void write_fde(size_t first, size_t end, uint32_t lsda);
  void write_cie(uint32_t index);
  void write_augmentation(const Cie& cie);
  void write_pointer(uint8_t encoding, uint64_t target);
  void collect_rows(size_t first, size_t end);
  void finish_entry(size_t offset);
  void write_lsdas(FrameSections& sections);
  void patch_lsda_pointer(const Description& fde, uint64_t lsda_address);
  void write_header(FrameSections& sections) const;

  const UnwindTables& tables_;
  std::span<const UnwindRange> ranges_;
  uint64_t address_;
  CfiWriter cfi_;
  ByteWriter out_;
  std::vector<uint32_t> cie_offsets_;  // kNone: not written yet
  std::vector<CfiRow> rows_;
  std::vector<Description> fdes_;
  std::vector<UnwindFixup> fixups_;
};

FrameSections FrameWriter::write(bool with_header) {
  uint64_t previous_end = 0;
  for (size_t first = 0; first < ranges_.size();) {
    const UnwindRange& range = ranges_[first];
    if (range.start < previous_end || range.end < range.start)
      throw Error("ranges of the new unwind tables overlap");
    previous_end = range.end;
    if (range.state == kNone || range.start == range.end) {
      ++first;
      continue;
    }
    uint32_t lsda = kNone;
    const size_t end = group_end(first, lsda);
    write_fde(first, end, lsda);
    previous_end = ranges_[end - 1].end;
    first = end;
  }
  out_.write<uint32_t>(0);  // the terminator

  FrameSections sections;
  write_lsdas(sections);
  sections.eh_frame = std::move(out_.bytes());
  sections.eh_frame_fixups = std::move(fixups_);
  sections.header_address =
      align_up(sections.lsda_address + sections.lsda.size(), kSectionAlignment);
  if (with_header) write_header(sections);
  return sections;
}

/// The end of the ranges that can share an FDE with range `first`; sets the LSDA of that FDE.
size_t FrameWriter::group_end(size_t first, uint32_t& lsda) const {
  const UnwindRange& head = ranges_[first];
  const uint32_t cie = tables_.states[head.state].cie;
  lsda = head.lsda;
  size_t end = first + 1;
  for (; end < ranges_.size(); ++end) {
    const UnwindRange& range = ranges_[end];
    if (range.start != ranges_[end - 1].end || range.end < range.start) break;
    if (range.owner != head.owner || range.state == kNone) break;
    if (tables_.states[range.state].cie != cie) break;
    if (range.lsda != kNone) {
      if (lsda != kNone && lsda != range.lsda) break;
      lsda = range.lsda;
    }
  }
  return end;
}

void FrameWriter::write_fde(size_t first, size_t end, uint32_t lsda) {
  const CfiState& state = tables_.states[ranges_[first].state];
  const uint32_t cie_index = state.cie;
  const Cie& cie = tables_.cies[cie_index];
  const uint64_t kept_lsda = ranges_[first].kept_lsda;
  const bool has_lsda = lsda != kNone || kept_lsda != 0;
  if (has_lsda && cie.lsda_encoding == eh_pe::kOmit)
    throw Error("code with an exception table has a CIE that knows of none");
  if (cie_offsets_[cie_index] == kNone) write_cie(cie_index);

  Description fde;
  fde.start = ranges_[first].start;
  fde.offset = out_.size();
  fde.first = first;
  fde.end = end;
  fde.lsda = lsda;
  fde.kept_lsda = kept_lsda;
  out_.write<uint32_t>(0);
  out_.write<uint32_t>(static_cast<uint32_t>(out_.size() - cie_offsets_[cie_index]));
  write_pointer(cie.address_encoding, fde.start);
  eh_pe::write_number(out_, cie.address_encoding, ranges_[end - 1].end - fde.start);
  if (!cie.augmentation.empty()) {
    const unsigned size = cie.lsda_encoding == eh_pe::kOmit ? 0 : eh_pe::size_of(cie.lsda_encoding);
    if (size == 0 && has_lsda) throw Error("an LSDA pointer has an encoding of varying size");
    out_.uleb128(size);
    if (has_lsda) fde.lsda_pointer = out_.size();
    for (unsigned i = 0; i < size; ++i) out_.write<uint8_t>(0);
  }
  if (state.opaque) {
    out_.append(state.cfa_expression);
  } else {
    collect_rows(first, end);
    cfi_.write(rows_, out_);
  }
  finish_entry(fde.offset);
  fdes_.push_back(fde);
}

void FrameWriter::collect_rows(size_t first, size_t end) {
  rows_.clear();
  for (const UnwindRange& range : ranges_.subspan(first, end - first))
    if (range.start != range.end && (rows_.empty() || rows_.back().state != range.state))
      rows_.push_back({range.start, range.state});
}

void FrameWriter::write_cie(uint32_t index) {
  const Cie& cie = tables_.cies[index];
  const size_t offset = out_.size();
  cie_offsets_[index] = static_cast<uint32_t>(offset);
  out_.write<uint32_t>(0);
  out_.write<uint32_t>(0);  // marks a CIE
  out_.write<uint8_t>(cie.version);
  out_.c_string(cie.augmentation);
  if (cie.version == 4) {
    out_.write<uint8_t>(8);  // size of an address
    out_.write<uint8_t>(0);  // size of a segment selector
  }
  out_.uleb128(cie.code_alignment);
  out_.sleb128(cie.data_alignment);
  if (cie.version == 1)
    out_.write<uint8_t>(static_cast<uint8_t>(cie.return_register));
  else
    out_.uleb128(cie.return_register);
  if (!cie.augmentation.empty()) write_augmentation(cie);
  out_.append(cie.initial_instructions);
  finish_entry(offset);
}

void FrameWriter::write_augmentation(const Cie& cie) {
  const size_t length = out_.size();
  out_.write<uint8_t>(0);  // size of the augmentation data: always less than 128
  for (const char letter : cie.augmentation) {
    if (letter == 'R') out_.write<uint8_t>(cie.address_encoding);
    if (letter == 'L') out_.write<uint8_t>(cie.lsda_encoding);
    if (letter == 'P') {
      out_.write<uint8_t>(cie.personality_encoding);
      write_pointer(cie.personality_encoding, cie.personality);
    }
  }
  const size_t size = out_.size() - length - 1;
  if (size > 0x7f) throw Error("the augmentation of a CIE is too long");
  out_.patch<uint8_t>(length, static_cast<uint8_t>(size));
}

void FrameWriter::write_pointer(uint8_t encoding, uint64_t target) {
  if (eh_pe::needs_fixup(encoding) && target != 0) fixups_.push_back({place(), target});
  eh_pe::write_number(out_, encoding, eh_pe::number_of(encoding, target, place()));
}

/// Pads the entry that starts at `offset` with DW_CFA_nop and sets its length.
void FrameWriter::finish_entry(size_t offset) {
  out_.align(kEntryAlignment, cfa::kNop);
  // Offsets of CIEs and .eh_frame_hdr have 32 bits, and gp-relative code reaches no further.
  if (out_.size() > INT32_MAX) throw Error("the new .eh_frame is larger than 2 GB");
  out_.patch<uint32_t>(offset, static_cast<uint32_t>(out_.size() - offset - 4));
}

void FrameWriter::write_lsdas(FrameSections& sections) {
  sections.lsda_address = align_up(place(), kSectionAlignment);
  LsdaWriter writer(sections.lsda_address);
  for (const Description& fde : fdes_) {
    if (fde.kept_lsda != 0) patch_lsda_pointer(fde, fde.kept_lsda);
    if (fde.lsda == kNone) continue;
    const auto ranges = ranges_.subspan(fde.first, fde.end - fde.first);
    patch_lsda_pointer(fde, writer.write(tables_.lsdas[fde.lsda], ranges));
  }
  sections.lsda = writer.take_bytes();
  sections.lsda_fixups = writer.take_fixups();
}

void FrameWriter::patch_lsda_pointer(const Description& fde, uint64_t lsda_address) {
  const UnwindRange& range = ranges_[fde.first];
  const uint8_t encoding = tables_.cies[tables_.states[range.state].cie].lsda_encoding;
  const uint64_t pointer = address_ + fde.lsda_pointer;
  if (eh_pe::needs_fixup(encoding)) fixups_.push_back({pointer, lsda_address});
  ByteWriter number;
  eh_pe::write_number(number, encoding, eh_pe::number_of(encoding, lsda_address, pointer));
  for (size_t i = 0; i < number.size(); ++i)
    out_.patch<uint8_t>(fde.lsda_pointer + i, number.bytes()[i]);
}

/// A table for binary search by address (LSB 5, section 10.6.2).
void FrameWriter::write_header(FrameSections& sections) const {
  const uint64_t header = sections.header_address;
  ByteWriter out;
  out.write<uint8_t>(1);  // version
  out.write<uint8_t>(eh_pe::kPcRelative | eh_pe::kSdata4);
  out.write<uint8_t>(eh_pe::kUdata4);
  out.write<uint8_t>(eh_pe::kDataRelative | eh_pe::kSdata4);
  eh_pe::write_number(out, eh_pe::kSdata4, address_ - (header + out.size()));
  eh_pe::write_number(out, eh_pe::kUdata4, fdes_.size());
  for (const Description& fde : fdes_) {  // sorted, as the ranges are
    eh_pe::write_number(out, eh_pe::kSdata4, fde.start - header);
    eh_pe::write_number(out, eh_pe::kSdata4, address_ + fde.offset - header);
  }
  sections.header = std::move(out.bytes());
}

}  // namespace

FrameSections write_frames(const UnwindTables& tables, std::span<const UnwindRange> ranges,
                           uint64_t address, bool with_header) {
  return FrameWriter(tables, ranges, address).write(with_header);
}

}  // namespace respike
