#pragma once
// Units of .debug_info and their abbreviations; private to this folder.

#include <llvm/BinaryFormat/Dwarf.h>

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "optimizer/base/bytes.h"

namespace respike::debug {

namespace dwarf = llvm::dwarf;

/// The contents of a unit's header, and the bases that its first entry states.
struct Unit {
  uint64_t offset = 0;   // of the header, in the section
  uint64_t entries = 0;  // of the first entry
  uint64_t end = 0;
  uint64_t abbreviations = 0;        // offset in .debug_abbrev
  uint64_t abbreviations_field = 0;  // the place of this offset in the header
  dwarf::FormParams form;
  uint8_t type = 0;  // DW_UT_*; 0 before DWARF 5
  bool in_types_section = false;

  std::optional<uint64_t> low_pc;  // of the input: the base of its lists
  std::optional<uint64_t> addr_base;
  uint64_t addr_base_field = 0;  // the place of this base in the first entry
  std::optional<uint64_t> rnglists_base;
  std::optional<uint64_t> loclists_base;
  /// The base of the distances in its lists in the output: the value of its low_pc. nullopt: there
  /// is no such address.
  std::optional<uint64_t> new_base;

  bool is64() const { return form.Format == dwarf::DWARF64; }
  unsigned offset_size() const { return form.getDwarfOffsetByteSize(); }
  uint64_t read_offset(ByteReader& reader) const {
    return is64() ? reader.read<uint64_t>() : reader.read<uint32_t>();
  }
};

/// The headers of all units of .debug_info, or of .debug_types. Throws Error for headers that are
/// damaged or of an unknown version.
std::vector<Unit> read_units(std::span<const uint8_t> section, bool is_types_section);

struct Attribute {
  uint16_t name = 0;
  uint16_t form = 0;
  int64_t implicit = 0;  // of DW_FORM_implicit_const
  static constexpr uint8_t kVariable = 255;
  uint8_t size = kVariable;  // bytes of a value, where all values have the same size
};

/// An abbreviation: which attributes the entries with its code have.
struct Declaration {
  uint64_t code = 0;
  uint16_t tag = 0;
  bool has_children = false;
  std::vector<Attribute> attributes;

  /// Indices of attributes, or kNoAttribute.
  static constexpr uint8_t kNoAttribute = 255;
  uint8_t low_pc = kNoAttribute;
  uint8_t high_pc = kNoAttribute;
  bool matters = false;  // an attribute holds an address, or an offset of a list or a table
  bool has_entry_pc = false;
  static constexpr uint32_t kVariable = ~uint32_t{0};
  uint32_t size = 0;  // bytes of all values of an entry, where they are fixed
  /// All entries have their code in several pieces: ranges replace low_pc and high_pc.
  bool in_pieces = false;
  /// Only some do: these get the number of a copy that is in pieces; 0: there is no such copy.
  uint64_t copy_in_pieces = 0;
  /// The file would describe the code before rewriting: the entry must not name the file.
  bool without_file = false;
  uint8_t callee = kNoAttribute;  // of a call
  /// Calls name their callees by offsets in the section: a callee may be in another unit.
  bool callee_is_far = false;

  bool has_extent() const { return low_pc != kNoAttribute && high_pc != kNoAttribute; }
};

/// Attributes of a declaration: bit i stands for attribute i.
using AttributeSet = uint64_t;

/// What becomes of the fields of low_pc and high_pc when an entry gets ranges. The fields' bytes
/// stay where they are, so that no offset of an entry changes. The ranges begin at the entry of the
/// code, so the entry point is repeated only where that is free: a number of .debug_addr may be
/// needed for a return address.
struct ExtentFields {
  bool possible = false;       // one of the fields has room for an offset
  bool ranges_in_low = false;  // the offset is in low_pc's field
  uint16_t low_name = 0;       // low_pc keeps its value under another name; 0: it is padding
};

class Abbreviations {
 public:
  /// Reads the table at `offset`, for units of one form. Throws Error when it is damaged.
  Abbreviations(std::span<const uint8_t> section, uint64_t offset, const dwarf::FormParams& form);

  /// How many declarations the table has.
  size_t size() const { return dense_.size() + sparse_.size(); }
  /// Throws Error when the table has no such code.
  Declaration& find(uint64_t code) {
    if (code - 1 < dense_.size()) return dense_[code - 1];
    return find_sparse(code);
  }
  /// The number of a copy of `declaration` without some attributes, and with a string of padding
  /// after the others.
  uint64_t copy_without(const Declaration& declaration, bool in_pieces, AttributeSet attributes);
  /// Makes a copy of `declaration` that is in pieces, if its number takes as many bytes; otherwise
  /// puts `declaration` itself in pieces.
  void add_copy_in_pieces(Declaration& declaration);
  /// Appends the table with the changed declarations.
  void write(const dwarf::FormParams& form, ByteWriter& out) const;

 private:
  Declaration& find_sparse(uint64_t code);

  std::vector<Declaration> dense_;  // codes 1, 2, 3 ...
  std::map<uint64_t, Declaration> sparse_;
  struct Copy {
    uint64_t code = 0;  // of the original
    bool in_pieces = false;
    AttributeSet left_out = 0;

    auto operator<=>(const Copy&) const = default;
  };
  uint64_t number_of(const Copy& copy);

  std::map<Copy, uint64_t> copies_;  // and their numbers, after all others
};

ExtentFields extent_fields(const Declaration& declaration, const dwarf::FormParams& form);

/// Attributes with numbers that nothing else uses, from here on; their values are padding.
inline constexpr uint16_t kPadding = 0x3d52;

/// Bytes of a value of `form`; nullopt: it depends on the value.
std::optional<unsigned> fixed_size(uint16_t form, const dwarf::FormParams& params);
/// Moves past a value. Throws Error for unknown forms.
void skip_value(uint16_t form, const dwarf::FormParams& params, ByteReader& reader);

bool is_address_index(uint16_t form);
/// The number of the address in the unit's pool. `reader` is at the value.
uint64_t read_address_index(uint16_t form, ByteReader& reader);
/// Whether the attribute's value is an offset of a location list, if it is an offset.
bool may_be_location_list(uint16_t attribute, uint16_t form, unsigned version);
/// Whether the value is an expression.
bool is_expression(uint16_t attribute, uint16_t form, unsigned version);
/// Whether the value is an offset into another debug section.
bool is_section_offset(uint16_t form, unsigned version);
/// Whether the value is a distance between two places in the code: of an entry point.
bool is_distance(const Attribute& attribute);
/// Whether the value may change when code moves.
bool matters(const Attribute& attribute, unsigned version);

}  // namespace respike::debug
