#pragma once
// Reads the entries of .debug_info and .debug_types of the input; private to this folder.
//
// Example: for_entries(unit, ...) stops at the entry of a function, and extent_of() says that its
// code was at [0x1040, 0x1070), whether the end is an address, a length or a number of .debug_addr.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "optimizer/debug/address_map.h"
#include "optimizer/debug/budget.h"
#include "optimizer/debug/lists.h"
#include "optimizer/debug/sections.h"
#include "optimizer/debug/unit.h"

namespace respike::debug {

/// An entry: its declaration and where the values of its attributes are.
struct Entry {
  uint64_t offset = 0;  // in the section
  uint64_t end = 0;
  Declaration* declaration = nullptr;
  bool is_root = false;    // the unit's own entry
  bool in_pieces = false;  // ranges replace low_pc and high_pc
  std::array<uint64_t, Declaration::kNoAttribute> places;

  const Attribute& attribute(size_t i) const { return declaration->attributes[i]; }
};

class EntryReader {
 public:
  /// All arguments must outlive this object.
  EntryReader(const Sections& sections, const AddressPool& pool, Budget& budget)
      : sections_(sections), pool_(pool), budget_(budget) {}

  /// The unit's declarations. Throws Error when the table is damaged.
  Abbreviations& abbreviations_of(const Unit& unit);

  /// Walks the entries of a unit in the order of the section. Calls visitor.see(entry) for the
  /// unit's own entry and each entry that matters; visitor.enter(entry) before an entry's children,
  /// with nullptr for an entry that does not matter; and visitor.leave() after the children. Throws
  /// Error for damaged entries.
  template <typename Visitor>
  void walk(const Unit& unit, Visitor&& visitor);

  /// A reader that starts at a place of the unit's section and ends with the unit.
  ByteReader reader_at(const Unit& unit, uint64_t place) const;
  /// A number of 1, 2, 4 or 8 bytes.
  uint64_t number_at(const Unit& unit, uint64_t place, unsigned size) const;
  uint64_t offset_at(const Unit& unit, uint64_t place) const {
    return number_at(unit, place, unit.offset_size());
  }
  uint64_t uleb128_at(const Unit& unit, uint64_t place) const {
    return reader_at(unit, place).uleb128();
  }
  /// The address that an attribute gives; nullopt: it gives something else.
  std::optional<uint64_t> address_in(const Unit& unit, const Entry& entry, size_t index) const;
  /// The former range of the code of an entry with low_pc and high_pc; nullopt: no such code.
  std::optional<AddressMap::Range> extent_of(const Unit& unit, const Entry& entry) const;
  /// Where the list that an attribute names, by its offset or by its number (`lists` has numbered
  /// lists), begins in its section of the input; nullopt: it names none.
  std::optional<uint64_t> list_in(const Unit& unit, const Entry& entry, size_t index,
                                  Part lists) const;
  /// The place of the entry of the procedure that a call names; nullopt: the call names none.
  std::optional<uint64_t> callee_of(const Unit& unit, const Entry& entry) const;

  /// The new .debug_abbrev, and the place of each unit's table in it.
  struct NewAbbreviations;
  NewAbbreviations write_abbreviations() const;

 private:
  using Form = std::tuple<uint64_t, unsigned, bool>;  // of a table: offset, version, 64-bit DWARF
  static Form form_of(const Unit& unit) {
    return {unit.abbreviations, unit.form.Version, unit.is64()};
  }

  const Sections& sections_;
  const AddressPool& pool_;
  Budget& budget_;
  std::map<Form, Abbreviations> abbreviations_;
};

struct EntryReader::NewAbbreviations {
  ByteWriter contents;
  std::map<Form, uint64_t> places;

  uint64_t place(const Unit& unit) const { return places.at(form_of(unit)); }
};

template <typename Visitor>
void EntryReader::walk(const Unit& unit, Visitor&& visitor) {
  Abbreviations& abbreviations = abbreviations_of(unit);
  ByteReader reader = reader_at(unit, unit.entries);
  Entry entry;
  entry.is_root = true;
  while (!reader.at_end()) {
    entry.offset = reader.position();
    const uint64_t code = reader.uleb128();
    if (code == 0) {  // the end of a list of children
      visitor.leave();
      continue;
    }
    Declaration& declaration = abbreviations.find(code);
    if (!declaration.matters && !entry.is_root && declaration.size != Declaration::kVariable) {
      reader.skip(declaration.size);
      if (declaration.has_children) visitor.enter(nullptr);
      continue;
    }
    entry.declaration = &declaration;
    const auto& attributes = declaration.attributes;
    for (size_t i = 0; i < attributes.size(); ++i) {
      entry.places[i] = reader.position();
      if (attributes[i].size != Attribute::kVariable)
        reader.skip(attributes[i].size);
      else
        skip_value(attributes[i].form, unit.form, reader);
    }
    entry.end = reader.position();
    if (entry.is_root || declaration.matters) visitor.see(entry);
    entry.is_root = false;
    if (declaration.has_children) visitor.enter(&entry);
  }
}

}  // namespace respike::debug
