// Reads the values of attributes of the input's entries (DWARF 5, section 7.5).
//
// A value is found by its place in the section, which the walk in the header notes, and by the form
// in the abbreviation. A table of abbreviations is read once for each form of unit that uses it,
// and kept, since both passes over the entries change and write it (unit.cc).
//
// Example: low_pc of form addrx with the value 4 gives address 4 of the unit's part of .debug_addr;
// high_pc of form data4 with the value 0x30 is a length, so extent_of() returns [low, low + 0x30).
//
// The file is not trusted: readers end with the unit, numbers of lists are checked against their
// table, and tables of abbreviations, which may overlap, are paid from the budget.

#include "optimizer/debug/entry_reader.h"

namespace respike::debug {
namespace {

constexpr unsigned kCostOfDeclaration = 16;  // relative to an entry of a list

}  // namespace

Abbreviations& EntryReader::abbreviations_of(const Unit& unit) {
  const Form form = form_of(unit);
  auto known = abbreviations_.find(form);
  if (known == abbreviations_.end()) {
    Abbreviations read(sections_.contents(Part::abbrev), unit.abbreviations, unit.form);
    // Tables may overlap in a damaged section.
    budget_.spend(uint64_t{kCostOfDeclaration} * read.size());
    known = abbreviations_.emplace(form, std::move(read)).first;
  }
  return known->second;
}

ByteReader EntryReader::reader_at(const Unit& unit, uint64_t place) const {
  const auto section = sections_.contents(unit.in_types_section ? Part::types : Part::info);
  ByteReader reader(section.first(unit.end), ".debug_info");
  reader.seek(place);
  return reader;
}

uint64_t EntryReader::number_at(const Unit& unit, uint64_t place, unsigned size) const {
  ByteReader reader = reader_at(unit, place);
  switch (size) {
    case 1:
      return reader.read<uint8_t>();
    case 2:
      return reader.read<uint16_t>();
    case 4:
      return reader.read<uint32_t>();
    default:
      return reader.read<uint64_t>();
  }
}

std::optional<uint64_t> EntryReader::address_in(const Unit& unit, const Entry& entry,
                                                size_t index) const {
  const uint16_t form = entry.attribute(index).form;
  if (form == dwarf::DW_FORM_addr) return number_at(unit, entry.places[index], 8);
  if (!is_address_index(form)) return std::nullopt;
  ByteReader reader = reader_at(unit, entry.places[index]);
  return pool_.old_address(unit, read_address_index(form, reader));
}

std::optional<AddressMap::Range> EntryReader::extent_of(const Unit& unit,
                                                        const Entry& entry) const {
  const Declaration& declaration = *entry.declaration;
  if (!declaration.has_extent()) return std::nullopt;
  const auto low = address_in(unit, entry, declaration.low_pc);
  if (!low) return std::nullopt;
  if (const auto high = address_in(unit, entry, declaration.high_pc)) {
    return std::pair(*low, *high);
  }
  const Attribute& high = entry.attribute(declaration.high_pc);
  uint64_t length = 0;
  if (high.form == dwarf::DW_FORM_implicit_const)
    length = static_cast<uint64_t>(high.implicit);
  else if (high.form == dwarf::DW_FORM_udata || high.form == dwarf::DW_FORM_sdata)
    length = reader_at(unit, entry.places[declaration.high_pc]).uleb128();
  else if (const auto size = fixed_size(high.form, unit.form))
    length = number_at(unit, entry.places[declaration.high_pc], *size);
  return std::pair(*low, *low + length);
}

std::optional<uint64_t> EntryReader::list_in(const Unit& unit, const Entry& entry, size_t index,
                                             Part lists) const {
  const Attribute& attribute = entry.attribute(index);
  if (is_section_offset(attribute.form, unit.form.Version))
    return offset_at(unit, entry.places[index]);
  if (attribute.form != dwarf::DW_FORM_rnglistx && attribute.form != dwarf::DW_FORM_loclistx)
    return std::nullopt;
  const auto& base = lists == Part::rnglists ? unit.rnglists_base : unit.loclists_base;
  if (!base) throw Error("a unit refers to lists by number, but has no base of them");
  ByteReader table(sections_.contents(lists), "a table of lists");
  if (*base < 4) throw Error("a unit's base of lists is not behind a header");
  table.seek(*base - 4);  // the header ends with the number of lists
  const auto count = table.read<uint32_t>();
  const uint64_t number = reader_at(unit, entry.places[index]).uleb128();
  if (number >= count) throw Error("a unit refers to a list behind its table");
  table.skip(number * unit.offset_size());
  return *base + unit.read_offset(table);
}

std::optional<uint64_t> EntryReader::callee_of(const Unit& unit, const Entry& entry) const {
  const Declaration& declaration = *entry.declaration;
  if (declaration.callee == Declaration::kNoAttribute) return std::nullopt;
  const uint16_t form = entry.attribute(declaration.callee).form;
  const uint64_t place = entry.places[declaration.callee];
  switch (form) {
    case dwarf::DW_FORM_ref_udata:
      return unit.offset + reader_at(unit, place).uleb128();
    case dwarf::DW_FORM_ref_addr:
      return number_at(unit, place, *fixed_size(form, unit.form));
    case dwarf::DW_FORM_ref1:
    case dwarf::DW_FORM_ref2:
    case dwarf::DW_FORM_ref4:
    case dwarf::DW_FORM_ref8:
      return unit.offset + number_at(unit, place, *fixed_size(form, unit.form));
    default:
      return std::nullopt;
  }
}

EntryReader::NewAbbreviations EntryReader::write_abbreviations() const {
  NewAbbreviations result;
  for (const auto& [form, table] : abbreviations_) {
    result.places[form] = result.contents.size();
    dwarf::FormParams params;
    params.Version = static_cast<uint16_t>(std::get<1>(form));
    params.AddrSize = 8;
    params.Format = std::get<2>(form) ? dwarf::DWARF64 : dwarf::DWARF32;
    table.write(params, result.contents);
  }
  return result;
}

}  // namespace respike::debug
