// .eh_frame (Linux Standard Base 5, section 10.6): a sequence of entries, each with its length. A
// CIE holds facts that many procedures share, an FDE describes the code of one address range.
//
// First the framing is read, and the range of every FDE. Overlapping FDEs are put aside; the
// programs of the other FDEs are executed in address order (cfi_reader.h) and their exception
// tables are read (../lsda/lsda_reader.h). An FDE with an unknown operation or encoding is data,
// not an error: its range is reported and the code there stays as it is. Identical CIEs, one per
// object file in images of some linkers, become one.
//
// As in libgcc a zero length ends the table; static images have one from crtend.o, and unwinders
// find nothing after it either. Lengths of 64 bits are refused: unwinders disagree about the size
// of the field after them, and no linker writes them.

#include "optimizer/unwind/eh_frame/frame_reader.h"

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>

#include "optimizer/unwind/eh_frame/cfi_operations.h"
#include "optimizer/unwind/eh_frame/cfi_reader.h"
#include "optimizer/unwind/lsda/lsda_reader.h"
#include "optimizer/unwind/lsda/pointer_encoding.h"
#include "optimizer/unwind/lsda/pointers.h"
#include "optimizer/unwind/overlaps.h"
#include "optimizer/unwind/state_table.h"

namespace respike {
namespace {

struct CieEntry {
  size_t offset = 0;     // in the section
  uint32_t cie = kNone;  // kNone: not understood
  std::optional<uint8_t> address_encoding;
};

struct PendingFde {
  uint64_t start = 0;
  uint64_t end = 0;
  uint64_t lsda = 0;  // address
  uint32_t cie = kNone;
  size_t program = 0;  // offset in the section
  size_t program_size = 0;
};

class FrameReader {
 public:
  FrameReader(const Image& image, const Section& section)
      : image_(image),
        section_(section),
        pointers_(image),
        states_(input_.tables.states, 100'000 + 4 * section.contents.size()),
        cfi_(states_, input_.tables.states, pointers_),
        lsdas_(image, pointers_, input_.tables.lsdas) {}

  void read_entries();
  void read_fdes();
  UnwindInput take_result() { return std::move(input_); }
  bool restored_cie_rules() const { return cfi_.restored_cie_rules(); }
  AddressRanges take_unreadable();

 private:
  void read_cie(ByteReader entry, size_t offset, size_t base);
  void read_cie_fields(ByteReader& entry, size_t base, Cie& cie, CieEntry& result);
  void read_augmentation(ByteReader& data, size_t base, Cie& cie, CieEntry& result);
  uint32_t merge(Cie cie);
  void read_fde(ByteReader entry, size_t base, const CieEntry& cie);
  void read_exception_table(uint64_t address, Fde& fde);
  void keep_as_it_is(const PendingFde& pending, bool may_hold_addresses);
  void read_lsda_pointer(ByteReader& entry, size_t base, const Cie& cie, PendingFde& fde);
  const CieEntry& cie_at(size_t offset) const;

  const Image& image_;
  const Section& section_;
  UnwindInput input_;
  PointerReader pointers_;
  StateTable states_;
  CfiReader cfi_;
  LsdaReader lsdas_;
  std::vector<CieEntry> cies_;  // by offset
  std::unordered_map<std::string, uint32_t> merged_;
  std::vector<PendingFde> pending_;
  AddressRanges unreadable_;
};

void FrameReader::read_entries() {
  ByteReader reader(section_.contents, "section .eh_frame");
  while (!reader.at_end()) {
    const size_t offset = reader.position();
    const auto length = reader.read<uint32_t>();
    if (length == 0) return;
    if (length == 0xffffffff) throw Error("section .eh_frame has an entry with a 64-bit length");
    const size_t base = reader.position();
    ByteReader entry(reader.take(length), "an entry of section .eh_frame");
    const auto cie_distance = entry.read<uint32_t>();
    if (cie_distance == 0) {
      read_cie(entry, offset, base);
    } else {
      if (cie_distance > base) throw Error("an FDE refers to no CIE");
      read_fde(entry, base, cie_at(base - cie_distance));
    }
  }
}

const CieEntry& FrameReader::cie_at(size_t offset) const {
  if (!cies_.empty() && cies_.back().offset == offset) return cies_.back();
  const auto found = std::lower_bound(cies_.begin(), cies_.end(), offset,
                                      [](const CieEntry& a, size_t b) { return a.offset < b; });
  if (found == cies_.end() || found->offset != offset) throw Error("an FDE refers to no CIE");
  return *found;
}

/// Here and below, `base` is the offset in the section of the entry's first byte after its length.
void FrameReader::read_cie(ByteReader entry, size_t offset, size_t base) {
  CieEntry result;
  result.offset = offset;
  Cie cie;
  try {
    read_cie_fields(entry, base, cie, result);
    result.cie = merge(std::move(cie));
  } catch (const Error&) {
    // FDEs of this CIE are reported.
  }
  cies_.push_back(result);
}

void FrameReader::read_cie_fields(ByteReader& entry, size_t base, Cie& cie, CieEntry& result) {
  cie.version = entry.read<uint8_t>();
  if (cie.version != 1 && cie.version != 3 && cie.version != 4)
    throw Error("unknown version of a CIE");
  cie.augmentation = entry.c_string();
  if (cie.augmentation.empty()) result.address_encoding = eh_pe::kAbsolute;
  if (cie.version == 4 && (entry.read<uint8_t>() != 8 || entry.read<uint8_t>() != 0))
    throw Error("a CIE is not for a flat 64-bit address space");
  cie.code_alignment = entry.uleb128();
  cie.data_alignment = entry.sleb128();
  if (cie.code_alignment == 0 || cie.code_alignment > 0xffff || cie.data_alignment == 0 ||
      !fits_signed(cie.data_alignment, 16))
    throw Error("a CIE has an alignment factor out of range");
  cie.return_register = cie.version == 1 ? entry.read<uint8_t>() : entry.uleb128();
  if (!cie.augmentation.empty()) {
    if (cie.augmentation[0] != 'z') throw Error("unknown augmentation of a CIE");
    const uint64_t size = entry.uleb128();
    const size_t data_base = base + entry.position();
    ByteReader data(entry.take(size), "the augmentation of a CIE");
    read_augmentation(data, data_base, cie, result);
  }
  const auto program = entry.take(entry.remaining());
  cie.initial_instructions.assign(program.begin(), program.end());
}

void FrameReader::read_augmentation(ByteReader& data, size_t base, Cie& cie, CieEntry& result) {
  bool has_address_encoding = false;
  for (size_t i = 1; i < cie.augmentation.size(); ++i) {
    switch (cie.augmentation[i]) {
      case 'R':
        cie.address_encoding = data.read<uint8_t>();
        result.address_encoding = cie.address_encoding;
        has_address_encoding = true;
        break;
      case 'L':
        cie.lsda_encoding = data.read<uint8_t>();
        break;
      case 'P':
        cie.personality_encoding = data.read<uint8_t>();
        cie.personality = pointers_.read(data, cie.personality_encoding,
                                         section_.address + base + data.position());
        break;
      case 'S':
        cie.signal_frame = true;
        break;
      case 'B':  // return addresses are signed with another key
        break;
      default:
        throw Error("unknown augmentation of a CIE");
    }
  }
  if (!has_address_encoding) result.address_encoding = eh_pe::kAbsolute;
}

uint32_t FrameReader::merge(Cie cie) {
  CfiState initial = cfi_.initial_state(cie);
  ByteWriter key;
  key.c_string(cie.augmentation);
  for (const uint8_t byte :
       {cie.version, cie.address_encoding, cie.lsda_encoding, cie.personality_encoding})
    key.write(byte);
  for (const uint64_t number : {cie.code_alignment, static_cast<uint64_t>(cie.data_alignment),
                                cie.return_register, cie.personality})
    key.write(number);
  key.append(cie.initial_instructions);
  const uint32_t next = static_cast<uint32_t>(input_.tables.cies.size());
  std::string text(key.bytes().begin(), key.bytes().end());
  if (const auto found = merged_.find(text); found != merged_.end()) return found->second;
  initial.cie = next;
  cie.initial_state = states_.index_of(initial);
  input_.tables.cies.push_back(std::move(cie));
  merged_.emplace(std::move(text), next);
  return next;
}

void FrameReader::read_fde(ByteReader entry, size_t base, const CieEntry& cie) {
  PendingFde fde;
  uint64_t size = 0;
  const uint8_t encoding = cie.address_encoding.value_or(eh_pe::kOmit);
  if (!eh_pe::is_supported(encoding) || (encoding & eh_pe::kIndirect) != 0) {
    unreadable_.emplace_back(0, UINT64_MAX);  // the entry may describe any code
    return;
  }
  try {
    fde.start = pointers_.read(entry, encoding, section_.address + base + entry.position());
    size = eh_pe::read_number(entry, encoding);
  } catch (const Error&) {
    unreadable_.emplace_back(0, UINT64_MAX);
    return;
  }
  if (size == 0) return;
  fde.end = size > UINT64_MAX - fde.start ? UINT64_MAX : fde.start + size;
  try {
    const Section* code = image_.section_at(fde.start);
    if (code == nullptr || !code->executable() || fde.end - code->address > code->contents.size())
      throw Error("an FDE describes what is no code");
    if (cie.cie == kNone) throw Error("an FDE has a CIE that is not understood");
    fde.cie = cie.cie;
    read_lsda_pointer(entry, base, input_.tables.cies[fde.cie], fde);
    fde.program = base + entry.position();
    fde.program_size = entry.remaining();
    pending_.push_back(fde);
  } catch (const Error&) {
    unreadable_.emplace_back(fde.start, fde.end);
  }
}

void FrameReader::read_lsda_pointer(ByteReader& entry, size_t base, const Cie& cie,
                                    PendingFde& fde) {
  if (cie.augmentation.empty()) return;
  const uint64_t size = entry.uleb128();
  if (size > entry.remaining()) throw Error("the augmentation of an FDE is too long");
  const size_t end = entry.position() + size;
  if (cie.lsda_encoding != eh_pe::kOmit) {
    if ((cie.lsda_encoding & eh_pe::kIndirect) != 0) throw Error("an LSDA pointer is indirect");
    fde.lsda = pointers_.read(entry, cie.lsda_encoding, section_.address + base + entry.position());
    if (entry.position() > end) throw Error("the augmentation of an FDE is too short");
  }
  entry.seek(end);
}

void FrameReader::read_fdes() {
  set_overlaps_aside(pending_, unreadable_);
  std::vector<uint64_t> tables;
  for (const PendingFde& pending : pending_)
    if (pending.lsda != 0) tables.push_back(pending.lsda);
  lsdas_.set_starts(std::move(tables));
  input_.fdes.reserve(pending_.size());
  for (const PendingFde& pending : pending_) {
    Fde fde;
    fde.start = pending.start;
    fde.end = pending.end;
    bool may_hold_addresses = true;
    try {
      cfi_.read_rows(input_.tables.cies[pending.cie],
                     section_.contents.subspan(pending.program, pending.program_size),
                     section_.address + pending.program, fde);
      may_hold_addresses = cfi_.held_addresses();
      if (pending.lsda != 0) lsdas_.read(pending.lsda, fde);
      input_.fdes.push_back(std::move(fde));
    } catch (const Error&) {
      keep_as_it_is(pending, may_hold_addresses);
    }
  }
}

/// Reads the exception table of code that stays. A table that is not understood also stays. Landing
/// pads count from the start of the code unless the table says otherwise, in its first bytes.
void FrameReader::read_exception_table(uint64_t address, Fde& fde) {
  try {
    return lsdas_.read(address, fde);
  } catch (const Error&) {
    fde.kept_lsda = address;
  }
  const Section* section = image_.section_at(address);
  if (section == nullptr || address - section->address >= section->contents.size()) return;
  ByteReader reader(section->contents.subspan(address - section->address), "an exception table");
  const auto encoding = reader.read<uint8_t>();
  fde.pads_elsewhere = encoding != eh_pe::kOmit;
  if (!fde.pads_elsewhere) return;
  try {
    fde.landing_pad_start = pointers_.read(reader, encoding, address + reader.position());
  } catch (const Error&) {
    // It is not known.
  }
}

/// An FDE with an operation or an exception table that is not understood becomes an opaque state of
/// code that stays: it is written again with the same operations. An address among these operations
/// (DW_CFA_set_loc) might be relative to its own place.
void FrameReader::keep_as_it_is(const PendingFde& pending, bool may_hold_addresses) {
  const auto program = section_.contents.subspan(pending.program, pending.program_size);
  Fde fde;
  fde.start = pending.start;
  fde.end = pending.end;
  try {
    if (may_hold_addresses && std::ranges::find(program, cfa::kSetLoc) != program.end())
      throw Error("an FDE may hold an address that cannot be copied");
    CfiState state;
    state.cie = pending.cie;
    state.opaque = state.cfa_is_expression = true;
    state.cfa_expression.assign(program.begin(), program.end());
    fde.rows.push_back({pending.start, states_.index_of(state)});
    if (pending.lsda != 0) read_exception_table(pending.lsda, fde);
    input_.fdes.push_back(std::move(fde));
  } catch (const Error&) {
    unreadable_.emplace_back(pending.start, pending.end);
  }
}

AddressRanges FrameReader::take_unreadable() {
  sort_ranges(unreadable_);
  return std::move(unreadable_);
}

}  // namespace

UnwindInput read_frames(const Image& image, AddressRanges* unreadable) {
  const Section* section = image.section_named(".eh_frame");
  if (section == nullptr) return {};
  FrameReader reader(image, *section);
  reader.read_entries();
  reader.read_fdes();
  if (unreadable != nullptr) *unreadable = reader.take_unreadable();
  return reader.take_result();
}

bool restores_cie_rules(const Image& image) {
  const Section* section = image.section_named(".eh_frame");
  if (section == nullptr) return false;
  FrameReader reader(image, *section);
  reader.read_entries();
  reader.read_fdes();
  return reader.restored_cie_rules();
}

}  // namespace respike
