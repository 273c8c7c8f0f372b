// A call refers to the entry of its callee (DW_AT_call_origin). For values at a procedure's entry
// (`x=x@entry`) gdb asks whether a call leads to the address where a frame's procedure is entered:
// the start of the first range of its block. Where the callee's entry has ranges, gdb 13 takes the
// start of each range for a target, which has two faults. It writes the targets past their memory
// where there are more than two (read.c, read_call_site_scope, allocates one byte for each
// address). And it takes a tail call of a procedure with two ranges for a call of unknown code,
// since the second range is no entry of a procedure (loc.c, func_addr_to_tail_call_list); then no
// procedure that such tail calls can reach shows values at its entry. An expression for the target
// (DW_AT_call_target) does not help: gdb evaluates expressions in a frame, and before a tail call
// the frame is already gone.
//
// So calls refer to another entry, which has one range: an entry point (DW_TAG_entry_point) with
// the first piece of the callee. Entry points are in a unit of their own after all others, since no
// entry of the input changes its place:
//
//     partial_unit
//       dwarf_procedure
//         entry_point  low_pc 0x5000  high_pc 0x18  linkage_name "sum"
//
// gdb takes low_pc for the target; LLDB takes the name and finds the procedure by its symbol. The
// tags keep other readers away from the unit: a second subprogram of the same code would get into
// indices by address (LLDB, libbacktrace) and by name; gdb reads a partial unit only when another
// unit refers into it; and gdb makes a symbol of an entry point of the unit, but skips the children
// of a DWARF procedure.
//
// gdb does not find a unit that .debug_names does not list, so images with that section get no such
// unit.

#include "optimizer/debug/entry_points.h"

#include <algorithm>

namespace respike::debug {
namespace {

enum Abbreviation : uint8_t { kEnd, kUnit, kContainer, kNamed, kNameless };

}  // namespace

EntryPoints::EntryPoints(const Image& image, std::span<const Unit> units, uint64_t size)
    : image_(image), start_(size), may_be_added_(image.section_named(".debug_names") == nullptr) {
  unit_.form = {4, 8, dwarf::DWARF32};
  for (const Unit& unit : units) {
    if (unit.in_types_section) continue;
    unit_.form.Version = std::max(unit_.form.Version, unit.form.Version);
    if (unit.is64()) unit_.form.Format = dwarf::DWARF64;
  }
  entries_.write<uint8_t>(kUnit);
  entries_.write<uint8_t>(kContainer);
}

void EntryPoints::add(uint64_t procedure, uint64_t old_start,
                      std::span<const AddressMap::Range> ranges) {
  procedures_[procedure] = {old_start, ranges.front(), ranges.size(), 0};
}

size_t EntryPoints::pieces(uint64_t procedure) const {
  const auto found = procedures_.find(procedure);
  return found == procedures_.end() ? 1 : found->second.pieces;
}

/// The name of a procedure's symbol, without its version; empty: no symbol.
std::string_view EntryPoints::name_of(uint64_t address) {
  if (names_.empty())
    for (const Symbol& symbol : image_.symbols)
      if (symbol.type == Symbol::Type::procedure && symbol.defined_in_section())
        names_.try_emplace(symbol.value, symbol.name.substr(0, symbol.name.find('@')));
  const auto found = names_.find(address);
  return found == names_.end() ? std::string_view() : found->second;
}

uint64_t EntryPoints::refer(uint64_t procedure) {
  const auto found = procedures_.find(procedure);
  if (found == procedures_.end()) return procedure;
  Procedure& callee = found->second;
  if (callee.entry_point != 0) return callee.entry_point;
  ByteWriter header;
  write_header(0, header);
  callee.entry_point = start_ + header.size() + entries_.size();
  const std::string_view name = name_of(callee.old_start);
  entries_.write<uint8_t>(name.empty() ? kNameless : kNamed);
  entries_.write(callee.first.first);
  entries_.write(static_cast<uint32_t>(callee.first.second - callee.first.first));
  if (!name.empty()) entries_.c_string(name);
  return callee.entry_point;
}

/// The header of the unit, without the length of the rest.
void EntryPoints::write_header(uint64_t abbreviations, ByteWriter& out) const {
  const auto write_offset = [&](uint64_t value) {
    if (unit_.is64())
      out.write(value);
    else
      out.write(static_cast<uint32_t>(value));
  };
  if (unit_.is64()) out.write<uint32_t>(dwarf::DW_LENGTH_DWARF64);
  write_offset(0);
  out.write(unit_.form.Version);
  if (unit_.form.Version >= 5) {
    out.write<uint8_t>(dwarf::DW_UT_partial);
    out.write(unit_.form.AddrSize);
  }
  write_offset(abbreviations);
  if (unit_.form.Version < 5) out.write(unit_.form.AddrSize);
}

void EntryPoints::append(std::vector<uint8_t>& info, ByteWriter& abbreviations) const {
  const bool is_used = std::ranges::any_of(
      procedures_, [](const auto& each) { return each.second.entry_point != 0; });
  if (!is_used) return;
  ByteWriter unit;
  write_header(abbreviations.size(), unit);
  unit.append(entries_.bytes());
  unit.write<uint16_t>(0);  // the ends of the two lists of children
  if (unit_.is64())
    unit.patch<uint64_t>(4, unit.size() - 12);
  else
    unit.patch<uint32_t>(0, static_cast<uint32_t>(unit.size() - 4));
  info.insert(info.end(), unit.bytes().begin(), unit.bytes().end());

  const auto declare = [&](Abbreviation number, dwarf::Tag tag, bool has_children,
                           std::initializer_list<std::pair<dwarf::Attribute, dwarf::Form>> all) {
    abbreviations.uleb128(number);
    abbreviations.uleb128(tag);
    abbreviations.write<uint8_t>(has_children ? 1 : 0);
    for (const auto& [name, form] : all) {
      abbreviations.uleb128(name);
      abbreviations.uleb128(form);
    }
    abbreviations.write<uint16_t>(0);
  };
  const std::pair low(dwarf::DW_AT_low_pc, dwarf::DW_FORM_addr);
  const std::pair high(dwarf::DW_AT_high_pc, dwarf::DW_FORM_data4);
  const std::pair name(dwarf::DW_AT_linkage_name, dwarf::DW_FORM_string);
  declare(kUnit, dwarf::DW_TAG_partial_unit, true, {});
  declare(kContainer, dwarf::DW_TAG_dwarf_procedure, true, {});
  declare(kNamed, dwarf::DW_TAG_entry_point, false, {low, high, name});
  declare(kNameless, dwarf::DW_TAG_entry_point, false, {low, high});
  abbreviations.write<uint8_t>(kEnd);
}

}  // namespace respike::debug
