#pragma once
// The formats of unwind tables: what lifting asks of a reader, and what emission asks of a writer.
//
// An image describes its frames in one format; each format is a subfolder here. A reader turns the
// tables of an image into unwind states and call sites (ir/unwind.h), by address; lift/ assigns
// them to blocks. Emission says which state and which call site holds in which range of the output;
// a writer turns these ranges into the contents of sections.
//
// Example: an image with a section .eh_frame has one FDE for main. read_unwind() gives the FDE's
// rows: from 0x120000460 on state 0, from 0x120000468 on state 1. When main moves by 64 bytes, the
// writer gets the range of state 0 at 0x1200004a0 and the range of state 1 after it.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "optimizer/image/image.h"
#include "optimizer/image/image_rules.h"
#include "optimizer/ir/program.h"
#include "optimizer/ir/unwind.h"

namespace respike {

using AddressRanges = std::vector<std::pair<uint64_t, uint64_t>>;  // half-open

// ---- Reading

struct UnwindInput {
  UnwindTables tables;
  std::vector<Fde> fdes;  // sorted by start
};

// ---- Writing

/// A range of output code with one unwind state and one call-site record. Ranges are sorted by
/// address and do not overlap; adjacent ranges with the same `owner` may share an FDE.
struct UnwindRange {
  uint64_t start = 0;
  uint64_t end = 0;
  uint32_t owner = 0;      // procedure or stub: ranges of different owners never share an FDE
  uint32_t state = kNone;  // index of UnwindTables::states; kNone: not described, a gap
  bool stays = false;      // code at the same address as in the input
  // LSDA part; lsda == kNone: no LSDA applies to this range, except a range that stays.
  uint32_t lsda = kNone;
  uint64_t kept_lsda = 0;    // Fde::kept_lsda
  bool terminate = false;    // covered by an LSDA but by no call-site record
  uint64_t landing_pad = 0;  // output address, 0: none
  uint64_t action = 0;
};

/// A field of the written tables that a kept relocation should describe, against the address
/// `target`.
struct UnwindFixup {
  uint64_t address = 0;
  uint64_t target = 0;
  RelocationRole role = RelocationRole::pc_relative32;
};

struct UnwindRequest {
  const Image& image;  // the input, whose tables are replaced
  const UnwindTables& tables;
  std::span<const UnwindRange> ranges;
  uint64_t address = 0;  // 16-aligned: where new tables go
};

/// New contents of a section of the input, and where the section goes; or a new section.
struct NewUnwindTable {
  const Section* section = nullptr;  // null: a new section ...
  uint64_t address = 0;
  std::vector<uint8_t> contents;
  std::vector<UnwindFixup> fixups;
  std::string name = {};  // ... of this name
};

// ---- Formats

/// A way to describe frames. A null function is not needed by the format.
struct UnwindFormat {
  /// Whether the image describes its frames in this format.
  bool (*is_used_by)(const Image& image);
  /// Whether a section of this name holds tables of the format: emission writes them anew.
  bool (*owns_section)(std::string_view name);
  /// As read_unwind(), for an image that uses the format.
  UnwindInput (*read)(const Image& image, AddressRanges* unreadable);
  /// The new tables, by address: one for each section of the input that exists and may move, and
  /// others in new sections. Throws Error when a state cannot be expressed or an offset does not
  /// fit.
  std::vector<NewUnwindTable> (*write)(const UnwindRequest& request);
  /// The ranges of code that are described together. Only for a format whose unwinders look up
  /// return addresses themselves: there, the code after a call has to be in the range of the call.
  /// Null where unwinders look up the address before.
  AddressRanges (*return_regions)(const Image& image);
  /// Whether unwinders read the code of the prolog, so that each piece of a procedure needs a
  /// prolog before it (transform/prolog_copies.h), and a prolog stays in one piece.
  bool reads_prologs = false;
  /// How tables of `after`, an output, contradict each other, in one sentence; nullopt where they
  /// agree. Null for formats that state nothing twice. `tables`: the tables read from `after`.
  std::optional<std::string> (*contradiction)(const Image& before, const Image& after,
                                              const UnwindTables& tables);
  /// What the format's unwinders assume of an image.
  std::span<const ImageRule> (*rules)();
};

/// All formats. An image that uses several counts as using the first of them.
std::span<const UnwindFormat* const> unwind_formats();

/// The format by which the image describes its frames, or nullptr when it describes none.
const UnwindFormat* unwind_format_of(const Image& image);

/// Whether a section of this name holds unwind tables of any format.
bool is_unwind_section(std::string_view name);

/// Reads the unwind tables of `image`. A description that cannot be read (an unknown encoding or
/// operation) is left out and its range reported in `unreadable`; throws Error only when a table is
/// damaged beyond its own framing.
UnwindInput read_unwind(const Image& image, AddressRanges* unreadable = nullptr);

/// Whether unwinders look up return addresses as they are (UnwindFormat::return_regions).
bool looks_up_return_addresses(const Image& image);

/// UnwindFormat::return_regions by address.
class ReturnRegions {
 public:
  ReturnRegions() = default;
  /// No regions where unwinders look up the address before, or the table cannot be read.
  explicit ReturnRegions(const Image& image);

  /// The start of the region that holds `address`, or nullopt. Binary search.
  std::optional<uint64_t> start_of(uint64_t address) const;

 private:
  AddressRanges regions_;  // by start
};

/// The target, after the table `from` is written anew at `to` with `size` bytes, of a reference to
/// `address` in the table. References are to the start, to the end, or to the terminating word
/// before the end. Any place inside counts as the start: start-up code of static images means the
/// entries after those of its own object.
inline uint64_t moved_table_address(uint64_t address, const Section& from, uint64_t to,
                                    uint64_t size) {
  constexpr uint64_t kTerminator = 4;
  const uint64_t behind = from.address + from.size - address;
  return behind <= kTerminator ? to + size - behind : to;
}

}  // namespace respike
