// Units and abbreviations (DWARF 5, sections 7.5.1 and 7.5.3).
//
// An entry whose code is in several pieces needs ranges instead of low_pc and high_pc. The sizes of
// the fields are the same in all entries. So the abbreviation changes, for all entries that use it,
// and the fields do not: no offset of an entry has to change, and debug information is full of such
// offsets. LLVM's reader of abbreviations is not used, because it cannot say where fields are
// without building trees of all entries first.
//
// Example: "low_pc addr, high_pc data8" becomes "entry_pc addr, ranges sec_offset, padding data4".

#include "optimizer/debug/unit.h"

#include <fmt/format.h>

#include <algorithm>

namespace respike::debug {

std::vector<Unit> read_units(std::span<const uint8_t> section, bool is_types_section) {
  std::vector<Unit> units;
  ByteReader reader(section, is_types_section ? ".debug_types" : ".debug_info");
  while (!reader.at_end()) {
    Unit unit;
    unit.in_types_section = is_types_section;
    unit.offset = reader.position();
    uint64_t length = reader.read<uint32_t>();
    unit.form.Format = length == dwarf::DW_LENGTH_DWARF64 ? dwarf::DWARF64 : dwarf::DWARF32;
    if (unit.is64()) length = reader.read<uint64_t>();
    if (length > reader.remaining())
      throw Error(fmt::format("the unit at {:#x} is longer than its section", unit.offset));
    unit.end = reader.position() + length;
    unit.form.Version = reader.read<uint16_t>();
    if (unit.form.Version < 2 || unit.form.Version > 5)
      throw Error(fmt::format("the unit at {:#x} has the version {}, which is not known",
                              unit.offset, unit.form.Version));
    if (unit.form.Version == 5) {
      unit.type = reader.read<uint8_t>();
      unit.form.AddrSize = reader.read<uint8_t>();
    }
    unit.abbreviations_field = reader.position();
    unit.abbreviations = unit.read_offset(reader);
    if (unit.form.Version < 5) unit.form.AddrSize = reader.read<uint8_t>();
    if (unit.form.AddrSize != 8)
      throw Error(fmt::format("the unit at {:#x} has addresses of {} bytes", unit.offset,
                              unit.form.AddrSize));
    const bool has_type =
        is_types_section || unit.type == dwarf::DW_UT_type || unit.type == dwarf::DW_UT_split_type;
    const bool has_number =
        unit.type == dwarf::DW_UT_skeleton || unit.type == dwarf::DW_UT_split_compile;
    if (has_type || has_number) reader.skip(8);
    if (has_type) unit.read_offset(reader);
    unit.entries = reader.position();
    if (unit.entries > unit.end)
      throw Error(fmt::format("the unit at {:#x} is shorter than its header", unit.offset));
    reader.seek(unit.end);
    units.push_back(unit);
  }
  return units;
}

bool is_address_index(uint16_t form) {
  switch (form) {
    case dwarf::DW_FORM_addrx:
    case dwarf::DW_FORM_addrx1:
    case dwarf::DW_FORM_addrx2:
    case dwarf::DW_FORM_addrx3:
    case dwarf::DW_FORM_addrx4:
    case dwarf::DW_FORM_GNU_addr_index:
      return true;
    default:
      return false;
  }
}

uint64_t read_address_index(uint16_t form, ByteReader& reader) {
  switch (form) {
    case dwarf::DW_FORM_addrx1:
      return reader.read<uint8_t>();
    case dwarf::DW_FORM_addrx2:
      return reader.read<uint16_t>();
    case dwarf::DW_FORM_addrx3: {
      const auto bytes = reader.take(3);
      return bytes[0] | uint64_t{bytes[1]} << 8 | uint64_t{bytes[2]} << 16;
    }
    case dwarf::DW_FORM_addrx4:
      return reader.read<uint32_t>();
    default:
      return reader.uleb128();
  }
}

bool is_section_offset(uint16_t form, unsigned version) {
  return form == dwarf::DW_FORM_sec_offset ||
         (version < 4 && (form == dwarf::DW_FORM_data4 || form == dwarf::DW_FORM_data8));
}

bool is_expression(uint16_t attribute, uint16_t form, unsigned version) {
  if (form == dwarf::DW_FORM_exprloc) return true;
  if (version >= 4) return false;
  const bool block = form == dwarf::DW_FORM_block || form == dwarf::DW_FORM_block1 ||
                     form == dwarf::DW_FORM_block2 || form == dwarf::DW_FORM_block4;
  return block && attribute != dwarf::DW_AT_const_value;
}

bool may_be_location_list(uint16_t attribute, uint16_t form, unsigned version) {
  if (form == dwarf::DW_FORM_loclistx) return true;
  if (!is_section_offset(form, version)) return false;
  switch (attribute) {
    case dwarf::DW_AT_location:
    case dwarf::DW_AT_string_length:
    case dwarf::DW_AT_return_addr:
    case dwarf::DW_AT_frame_base:
    case dwarf::DW_AT_segment:
    case dwarf::DW_AT_static_link:
    case dwarf::DW_AT_use_location:
    case dwarf::DW_AT_vtable_elem_location:
      return true;
    case dwarf::DW_AT_data_member_location:
    case dwarf::DW_AT_data_location:
    case dwarf::DW_AT_allocated:
    case dwarf::DW_AT_associated:
    case dwarf::DW_AT_lower_bound:
    case dwarf::DW_AT_upper_bound:
    case dwarf::DW_AT_count:
    case dwarf::DW_AT_byte_size:
    case dwarf::DW_AT_bit_size:
    case dwarf::DW_AT_byte_stride:
    case dwarf::DW_AT_bit_stride:
    case dwarf::DW_AT_rank:
    case dwarf::DW_AT_call_value:
    case dwarf::DW_AT_call_target:
    case dwarf::DW_AT_call_target_clobbered:
    case dwarf::DW_AT_call_data_location:
    case dwarf::DW_AT_call_data_value:
    case dwarf::DW_AT_GNU_call_site_value:
    case dwarf::DW_AT_GNU_call_site_target:
      return form == dwarf::DW_FORM_sec_offset;
    default:
      return false;
  }
}

bool is_distance(const Attribute& attribute) {
  return attribute.name == dwarf::DW_AT_entry_pc && attribute.form != dwarf::DW_FORM_addr &&
         !is_address_index(attribute.form);
}

bool matters(const Attribute& attribute, unsigned version) {
  switch (attribute.form) {
    case dwarf::DW_FORM_addr:
    case dwarf::DW_FORM_loclistx:
    case dwarf::DW_FORM_rnglistx:
    case dwarf::DW_FORM_exprloc:
    case dwarf::DW_FORM_sec_offset:
      return true;
    default:
      break;
  }
  switch (attribute.name) {
    case dwarf::DW_AT_low_pc:
    case dwarf::DW_AT_high_pc:
    case dwarf::DW_AT_stmt_list:
    case dwarf::DW_AT_ranges:
    case dwarf::DW_AT_dwo_name:
    case dwarf::DW_AT_GNU_dwo_name:
      return true;
    default:
      return is_address_index(attribute.form) || is_distance(attribute) ||
             may_be_location_list(attribute.name, attribute.form, version) ||
             is_expression(attribute.name, attribute.form, version);
  }
}

std::optional<unsigned> fixed_size(uint16_t form, const dwarf::FormParams& params) {
  const auto size = dwarf::getFixedFormByteSize(static_cast<dwarf::Form>(form), params);
  return size ? std::optional<unsigned>(*size) : std::nullopt;
}

void skip_value(uint16_t form, const dwarf::FormParams& params, ByteReader& reader) {
  if (const auto size = fixed_size(form, params)) return reader.skip(*size);
  switch (form) {
    case dwarf::DW_FORM_block:
    case dwarf::DW_FORM_exprloc:
      return reader.skip(reader.uleb128());
    case dwarf::DW_FORM_block1:
      return reader.skip(reader.read<uint8_t>());
    case dwarf::DW_FORM_block2:
      return reader.skip(reader.read<uint16_t>());
    case dwarf::DW_FORM_block4:
      return reader.skip(reader.read<uint32_t>());
    case dwarf::DW_FORM_string:
      reader.c_string();
      return;
    case dwarf::DW_FORM_sdata:
      reader.sleb128();
      return;
    case dwarf::DW_FORM_udata:
    case dwarf::DW_FORM_ref_udata:
    case dwarf::DW_FORM_strx:
    case dwarf::DW_FORM_addrx:
    case dwarf::DW_FORM_loclistx:
    case dwarf::DW_FORM_rnglistx:
    case dwarf::DW_FORM_GNU_addr_index:
    case dwarf::DW_FORM_GNU_str_index:
      reader.uleb128();
      return;
    case dwarf::DW_FORM_LLVM_addrx_offset:
      reader.uleb128();
      return reader.skip(4);
    case dwarf::DW_FORM_indirect: {
      const uint64_t actual = reader.uleb128();
      if (actual == dwarf::DW_FORM_indirect || actual == dwarf::DW_FORM_implicit_const)
        throw Error("a value's form leads to no value");
      return skip_value(static_cast<uint16_t>(actual), params, reader);
    }
    default:
      throw Error(fmt::format("a value has the form {:#x}, which is not known", form));
  }
}

ExtentFields extent_fields(const Declaration& declaration, const dwarf::FormParams& form) {
  const Attribute& low = declaration.attributes[declaration.low_pc];
  const Attribute& high = declaration.attributes[declaration.high_pc];
  const unsigned needed = form.getDwarfOffsetByteSize();
  const bool is_unit = declaration.tag == dwarf::DW_TAG_compile_unit ||
                       declaration.tag == dwarf::DW_TAG_partial_unit ||
                       declaration.tag == dwarf::DW_TAG_skeleton_unit;
  ExtentFields fields;
  if (fixed_size(high.form, form).value_or(0) >= needed) {
    fields.possible = true;
    if (is_unit && (low.form == dwarf::DW_FORM_addr || is_address_index(low.form)))
      fields.low_name = dwarf::DW_AT_low_pc;  // the base of the lists of the unit
    else if (!declaration.has_entry_pc && form.Version >= 3 && low.form == dwarf::DW_FORM_addr)
      fields.low_name = dwarf::DW_AT_entry_pc;
  } else if (fixed_size(low.form, form).value_or(0) >= needed) {
    fields.possible = true;
    fields.ranges_in_low = true;
  }
  return fields;
}

Abbreviations::Abbreviations(std::span<const uint8_t> section, uint64_t offset,
                             const dwarf::FormParams& form) {
  ByteReader reader(section, ".debug_abbrev");
  reader.seek(offset);
  const auto small = [&](const char* what) {
    const uint64_t value = reader.uleb128();
    if (value > 0xffff) throw Error(fmt::format("an abbreviation has {} {:#x}", what, value));
    return static_cast<uint16_t>(value);
  };
  for (uint64_t code = reader.uleb128(); code != 0; code = reader.uleb128()) {
    Declaration declaration;
    declaration.code = code;
    declaration.tag = small("the tag");
    declaration.has_children = reader.read<uint8_t>() != 0;
    while (true) {
      Attribute attribute;
      attribute.name = small("an attribute");
      attribute.form = small("the form");
      if (attribute.name == 0 && attribute.form == 0) break;
      if (attribute.form == dwarf::DW_FORM_implicit_const) attribute.implicit = reader.sleb128();
      if (const auto size = fixed_size(attribute.form, form))
        attribute.size = static_cast<uint8_t>(*size);
      if (attribute.size == Attribute::kVariable)
        declaration.size = Declaration::kVariable;
      else if (declaration.size != Declaration::kVariable)
        declaration.size += attribute.size;
      if (matters(attribute, form.Version)) {
        if (attribute.form == dwarf::DW_FORM_indirect)
          throw Error("an address has an indirect form");
        declaration.matters = true;
      }
      const auto index = static_cast<uint8_t>(declaration.attributes.size());
      if (index == Declaration::kNoAttribute)
        throw Error("an abbreviation has too many attributes");
      if (attribute.name == dwarf::DW_AT_low_pc) declaration.low_pc = index;
      if (attribute.name == dwarf::DW_AT_high_pc) declaration.high_pc = index;
      if (attribute.name == dwarf::DW_AT_entry_pc) declaration.has_entry_pc = true;
      const bool is_call = declaration.tag == dwarf::DW_TAG_call_site ||
                           declaration.tag == dwarf::DW_TAG_GNU_call_site;
      if (is_call && (attribute.name == dwarf::DW_AT_call_origin ||
                      attribute.name == dwarf::DW_AT_abstract_origin)) {
        declaration.callee = index;
        declaration.matters = true;
      }
      declaration.attributes.push_back(attribute);
    }
    const bool is_new = code == dense_.size() + 1
                            ? (dense_.push_back(declaration), true)
                            : code > dense_.size() && sparse_.emplace(code, declaration).second;
    if (!is_new) throw Error(fmt::format("the abbreviation {} is declared twice", code));
  }
}

uint64_t Abbreviations::number_of(const Copy& copy) {
  const uint64_t last = sparse_.empty() ? dense_.size() : sparse_.rbegin()->first;
  if (last > ~uint64_t{0} / 2)
    throw Error("an abbreviation has a number without numbers behind it");
  return copies_.try_emplace(copy, last + copies_.size() + 1).first->second;
}

uint64_t Abbreviations::copy_without(const Declaration& declaration, bool in_pieces,
                                     AttributeSet attributes) {
  return number_of({declaration.code, in_pieces, attributes});
}

void Abbreviations::add_copy_in_pieces(Declaration& declaration) {
  if (declaration.in_pieces || declaration.copy_in_pieces != 0) return;
  const auto size = [](uint64_t number) {
    ByteWriter bytes;
    bytes.uleb128(number);
    return bytes.size();
  };
  const Copy copy{declaration.code, true, 0};
  const uint64_t number = number_of(copy);
  if (size(number) == size(declaration.code)) {
    declaration.copy_in_pieces = number;
  } else {
    copies_.erase(copy);
    declaration.in_pieces = true;
  }
}

Declaration& Abbreviations::find_sparse(uint64_t code) {
  const auto found = sparse_.find(code);
  if (found == sparse_.end())
    throw Error(fmt::format("an entry has the abbreviation {}, which is not declared", code));
  return found->second;
}

namespace {

/// A form for padding of so many bytes, at most 8.
std::vector<uint16_t> padding_forms(unsigned size) {
  std::vector<uint16_t> forms;
  for (const auto& [bytes, form] :
       {std::pair(8u, dwarf::DW_FORM_data8), std::pair(4u, dwarf::DW_FORM_data4),
        std::pair(2u, dwarf::DW_FORM_data2), std::pair(1u, dwarf::DW_FORM_data1)})
    for (; size >= bytes; size -= bytes) forms.push_back(form);
  return forms;
}

void write_declaration(const Declaration& declaration, const dwarf::FormParams& form,
                       ByteWriter& out, AttributeSet left_out = 0) {
  const auto write = [&](uint16_t name, uint16_t attribute_form) {
    out.uleb128(name);
    out.uleb128(attribute_form);
  };
  uint16_t next_padding = kPadding;
  const unsigned offset_size = form.getDwarfOffsetByteSize();
  const auto write_ranges = [&](uint16_t old_form) {
    uint16_t ranges = dwarf::DW_FORM_sec_offset;
    if (form.Version < 4) ranges = offset_size == 8 ? dwarf::DW_FORM_data8 : dwarf::DW_FORM_data4;
    write(dwarf::DW_AT_ranges, ranges);
    for (const uint16_t padding : padding_forms(*fixed_size(old_form, form) - offset_size))
      write(next_padding++, padding);
  };
  // A skeleton without its file is a plain unit, whose header is shorter: see Rewriter::make_plain.
  const bool made_plain =
      declaration.without_file && declaration.tag == dwarf::DW_TAG_skeleton_unit;
  out.uleb128(declaration.code);
  out.uleb128(made_plain ? uint16_t{dwarf::DW_TAG_compile_unit} : declaration.tag);
  out.write<uint8_t>(declaration.has_children ? 1 : 0);
  if (made_plain) write(next_padding++, dwarf::DW_FORM_data8);
  ExtentFields fields;
  if (declaration.in_pieces) fields = extent_fields(declaration, form);
  for (size_t i = 0; i < declaration.attributes.size(); ++i) {
    const Attribute& attribute = declaration.attributes[i];
    if (i < 64 && (left_out >> i & 1) != 0) continue;
    const bool names_file = attribute.name == dwarf::DW_AT_dwo_name ||
                            attribute.name == dwarf::DW_AT_GNU_dwo_name ||
                            attribute.name == dwarf::DW_AT_GNU_dwo_id;
    if (fields.possible && i == declaration.low_pc) {
      if (fields.ranges_in_low)
        write_ranges(attribute.form);
      else
        write(fields.low_name != 0 ? fields.low_name : next_padding++, attribute.form);
    } else if (fields.possible && i == declaration.high_pc) {
      if (fields.ranges_in_low) {
        write(next_padding++, attribute.form);
        if (attribute.form == dwarf::DW_FORM_implicit_const) out.sleb128(attribute.implicit);
      } else {
        write_ranges(attribute.form);
      }
    } else if (declaration.callee_is_far && i == declaration.callee) {
      write(dwarf::DW_AT_call_origin, dwarf::DW_FORM_ref_addr);
    } else {
      const bool is_lost = declaration.without_file && names_file;
      write(is_lost ? next_padding++ : attribute.name, attribute.form);
      if (attribute.form == dwarf::DW_FORM_implicit_const) out.sleb128(attribute.implicit);
    }
  }
  // Not a block: dwz relies on which attributes have blocks.
  if (left_out != 0) write(next_padding++, dwarf::DW_FORM_string);
  write(0, 0);
}

}  // namespace

void Abbreviations::write(const dwarf::FormParams& form, ByteWriter& out) const {
  for (const Declaration& declaration : dense_) write_declaration(declaration, form, out);
  for (const auto& [code, declaration] : sparse_) write_declaration(declaration, form, out);
  for (const auto& [copy, number] : copies_) {
    Declaration declaration =
        copy.code - 1 < dense_.size() ? dense_[copy.code - 1] : sparse_.at(copy.code);
    declaration.code = number;
    declaration.in_pieces |= copy.in_pieces;
    write_declaration(declaration, form, out, copy.left_out);
  }
  out.write<uint8_t>(0);
}

}  // namespace respike::debug
