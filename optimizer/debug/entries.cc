// Entries keep their places and sizes; only the numbers in them change.
//
// Two passes over .debug_info. The first finds the abbreviations of entries whose code is now in
// several pieces: these entries get ranges (unit.h). The second writes the numbers: addresses,
// offsets of line tables and of lists. So references between entries, indices by name and type
// signatures stay as they are, and memory stays at the size of the sections. LLVM's reader is not
// used here: a patch needs the place of each field, and LLVM keeps trees of entries instead.
//
// Example: a function at 0x1040 of 0x30 bytes, whose cold half moved away. The fields "low_pc
// 0x1040, high_pc 0x30" become "entry_pc 0x5000, ranges 0x7c", and at 0x7c of .debug_rnglists are
// [0x5000, 0x5018) and [0x7020, 0x7038).

#include "optimizer/debug/entries.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <set>

#include "optimizer/debug/aranges.h"
#include "optimizer/debug/entry_points.h"
#include "optimizer/debug/entry_reader.h"
#include "optimizer/debug/expressions.h"
#include "optimizer/debug/frames.h"
#include "optimizer/debug/lines.h"
#include "optimizer/debug/lists.h"
#include "optimizer/debug/sections.h"
#include "optimizer/debug/stale_scopes.h"
#include "optimizer/debug/unit.h"

namespace respike::debug {
namespace {

constexpr size_t kMostPieces = 2;  // of a procedure whose own entry a call may name

class Rewriter {
 public:
  Rewriter(const Image& image, const AddressMap& map, Diagnostics& diagnostics);

  void run(NewImage& output);

 private:
  struct FirstPass;
  struct SecondPass;

  std::vector<uint8_t>& out(const Unit& unit) { return unit.in_types_section ? types_ : info_; }

  void read_bases(Unit& unit, const Entry& entry);
  void find_numbers(const Unit& unit, const Entry& entry);
  bool may_do_without_start(const Unit& unit, const Entry& entry, size_t index) const;
  void settle_numbers();
  void find_pieces(Unit& unit, Entry& entry);
  void find_file(const Unit& unit, const Entry& entry);
  bool keeps_its_inside(const Unit& unit, const Entry& entry);
  void choose_abbreviation(const Unit& unit, Entry& entry);
  void decide_base(Unit& unit, const Entry& entry);
  void make_plain(const Unit& unit, const Entry& entry);
  void leave_out(const Unit& unit, const Entry& entry, AttributeSet attributes);
  void rewrite_entry(const Unit& unit, const Entry& entry);
  void rewrite_extent(const Unit& unit, const Entry& entry);
  bool rewrite_address(const Unit& unit, const Entry& entry, size_t index);
  void rewrite_lists(const Unit& unit, const Entry& entry, size_t index);
  void rewrite_locations(const Unit& unit, const Entry& entry, size_t index);
  void rewrite_macros(uint64_t offset);
  bool rewrite_callee(const Unit& unit, const Entry& entry);

  void put_number(const Unit& unit, uint64_t place, unsigned size, uint64_t value);
  void put_offset(const Unit& unit, uint64_t place, uint64_t value) {
    put_number(unit, place, unit.offset_size(), value);
  }

  const AddressMap& map_;
  Diagnostics& diagnostics_;
  Sections sections_;
  Budget budget_;
  LineTables lines_;
  AddressPool pool_;
  Lists ranges_, locations_;
  EntryReader entries_;
  StaleScopes scopes_;
  std::vector<Unit> units_;
  EntryPoints entry_points_;
  std::vector<uint8_t> info_, types_, macro_;
  std::set<uint64_t> macros_done_;
  std::vector<AddressMap::Range> found_;
  std::vector<MovedPart> parts_;
  size_t without_file_ = 0;
  size_t without_room_ = 0;   // entries that describe their first piece only
  uint64_t thread_size_ = 0;  // above all numbers of variables of threads
  /// Entries that are in pieces although their declarations are not, in the order of the walk.
  std::vector<uint64_t> in_pieces_;  // keys
  size_t next_in_pieces_ = 0;
  struct Start {
    const Unit* unit = nullptr;
    Declaration* declaration = nullptr;
    uint64_t entry = 0;  // key
    uint64_t number = 0;
  };
  std::vector<Start> starts_;
  std::set<uint64_t> without_start_;  // keys of entries with ranges instead of a number
};

std::vector<uint8_t> copy(std::span<const uint8_t> bytes) {
  return {bytes.begin(), bytes.end()};
}

uint64_t budget_for(const Sections& sections, const AddressMap& map) {
  uint64_t size = 0;
  for (size_t part = 0; part < kParts; ++part) size += sections.contents(Part(part)).size();
  return 1000 + 64 * uint64_t{map.pieces().size()} + 16 * size;
}

Rewriter::Rewriter(const Image& image, const AddressMap& map, Diagnostics& diagnostics)
    : map_(map),
      diagnostics_(diagnostics),
      sections_(image),
      budget_(budget_for(sections_, map)),
      lines_(sections_.contents(Part::line), map, budget_),
      pool_(sections_.contents(Part::addr), map, budget_),
      ranges_(Lists::Kind::ranges, sections_, map, pool_, budget_),
      locations_(Lists::Kind::locations, sections_, map, pool_, budget_),
      entries_(sections_, pool_, budget_),
      scopes_(entries_, map, ranges_, budget_),
      units_(read_units(sections_.contents(Part::info), false)),
      entry_points_(image, units_, sections_.contents(Part::info).size()),
      info_(copy(sections_.contents(Part::info))),
      types_(copy(sections_.contents(Part::types))),
      macro_(copy(sections_.contents(Part::macro))) {
  const auto types = read_units(sections_.contents(Part::types), true);
  units_.insert(units_.end(), types.begin(), types.end());
  for (const Symbol& symbol : image.symbols)
    if (symbol.type == Symbol::Type::tls)
      thread_size_ = std::max(thread_size_, symbol.value + symbol.size);
}

/// Of an entry of .debug_info or .debug_types.
uint64_t key_of(const Unit& unit, uint64_t offset) {
  return offset * 2 + (unit.in_types_section ? 1 : 0);
}

void Rewriter::put_number(const Unit& unit, uint64_t place, unsigned size, uint64_t value) {
  if (size < 8 && value >> (8 * size) != 0)
    throw Error(
        fmt::format("{:#x} does not fit into the field at {:#x} of .debug_info", value, place));
  std::memcpy(out(unit).data() + place, &value, size);
}

// ---- the first pass ----

/// Notes the bases of addresses and lists that the unit's own entry gives.
void Rewriter::read_bases(Unit& unit, const Entry& entry) {
  for (size_t i = 0; i < entry.declaration->attributes.size(); ++i) {
    const Attribute& attribute = entry.attribute(i);
    const bool is_offset = is_section_offset(attribute.form, unit.form.Version);
    switch (attribute.name) {
      case dwarf::DW_AT_addr_base:
      case dwarf::DW_AT_GNU_addr_base:
        if (!is_offset) break;
        unit.addr_base = entries_.offset_at(unit, entry.places[i]);
        unit.addr_base_field = entry.places[i];
        break;
      case dwarf::DW_AT_rnglists_base:
        if (is_offset) unit.rnglists_base = entries_.offset_at(unit, entry.places[i]);
        break;
      case dwarf::DW_AT_loclists_base:
        if (is_offset) unit.loclists_base = entries_.offset_at(unit, entry.places[i]);
        break;
      default:
        break;
    }
  }
  // Only now, as the address may be one of the pool.
  if (entry.declaration->low_pc != Declaration::kNoAttribute)
    unit.low_pc = entries_.address_in(unit, entry, entry.declaration->low_pc);
}

/// Notes what an entry uses numbers of .debug_addr for.
void Rewriter::find_numbers(const Unit& unit, const Entry& entry) {
  Declaration& declaration = *entry.declaration;
  for (size_t i = 0; i < declaration.attributes.size(); ++i) {
    const Attribute& attribute = entry.attribute(i);
    if (!is_address_index(attribute.form)) continue;
    ByteReader reader = entries_.reader_at(unit, entry.places[i]);
    const uint64_t number = read_address_index(attribute.form, reader);
    if (attribute.name == dwarf::DW_AT_call_return_pc)
      pool_.expect_return(unit, number);
    else if (may_do_without_start(unit, entry, i))
      starts_.push_back({&unit, &declaration, key_of(unit, entry.offset), number});
    else
      pool_.use_as_start(unit, number);
  }
}

/// Whether an attribute is the start of code that a list of ranges can also express, and no return
/// address.
bool Rewriter::may_do_without_start(const Unit& unit, const Entry& entry, size_t index) const {
  const Declaration& declaration = *entry.declaration;
  if (index != declaration.low_pc || entry.is_root || !declaration.has_extent()) return false;
  const ExtentFields fields = extent_fields(declaration, unit.form);
  if (!fields.possible || fields.ranges_in_low) return false;
  const auto extent = entries_.extent_of(unit, entry);
  return extent && extent->first < extent->second && map_.is_code(extent->first) &&
         map_.find(extent->first) != map_.find_behind(extent->first);
}

/// Where a number of .debug_addr is both the start of code and a return address, and the two move
/// apart, the entries of the code get ranges, which need no number. Otherwise one of the two would
/// need another number, which may take more bytes than there are.
void Rewriter::settle_numbers() {
  for (const Start& start : starts_) {
    const Unit& unit = *start.unit;
    if (pool_.is_start(unit, start.number) || !pool_.is_return(unit, start.number)) {
      pool_.use_as_start(unit, start.number);
      continue;
    }
    entries_.abbreviations_of(unit).add_copy_in_pieces(*start.declaration);
    without_start_.insert(start.entry);
  }
}

/// Decides whether an entry needs ranges.
void Rewriter::find_pieces(Unit& unit, Entry& entry) {
  Declaration& declaration = *entry.declaration;
  // An entry point is where its first piece is: gdb takes no other form (entry_points.cc).
  if (declaration.tag == dwarf::DW_TAG_entry_point) return;
  const bool is_procedure = declaration.tag == dwarf::DW_TAG_subprogram && !unit.in_types_section;
  if (is_procedure && !declaration.has_extent())
    for (size_t i = 0; i < declaration.attributes.size(); ++i)
      if (entry.attribute(i).name == dwarf::DW_AT_ranges)
        if (const auto list = entries_.list_in(unit, entry, i, Part::rnglists))
          if (const auto ranges = ranges_.new_ranges(unit, *list); ranges.size() > 1)
            entry_points_.add(entry.offset, ranges_.old_ranges(unit, *list).front().first, ranges);
  const auto extent = entries_.extent_of(unit, entry);
  if (!extent || extent->first >= extent->second || !map_.is_code(extent->first)) return;
  budget_.spend(map_.find_ranges_of_entry(extent->first, extent->second, found_));
  // A length in a field of no fixed size stays as it is.
  const uint16_t high = entry.attribute(declaration.high_pc).form;
  const bool is_fixed = is_address_index(high) || fixed_size(high, unit.form).value_or(0) != 0;
  const bool whole =
      found_.size() == 1 && found_.front().first == map_.find(extent->first) &&
      (is_fixed || found_.front().second - found_.front().first == extent->second - extent->first);
  if (whole) return;
  if (!extent_fields(declaration, unit.form).possible) {
    ++without_room_;
    return;
  }
  if (is_procedure && found_.size() > 1) entry_points_.add(entry.offset, extent->first, found_);
  entries_.abbreviations_of(unit).add_copy_in_pieces(declaration);
  if (!declaration.in_pieces) in_pieces_.push_back(key_of(unit, entry.offset));
}

/// Whether the unit's file still describes the code: all code of the unit is in one piece without
/// changes inside, the file has no lists in this image (GNU's form before DWARF 5), and its
/// addresses cannot be places of variables of threads.
bool Rewriter::keeps_its_inside(const Unit& unit, const Entry& entry) {
  for (const Attribute& attribute : entry.declaration->attributes)
    if (attribute.name == dwarf::DW_AT_GNU_ranges_base) return false;
  if (pool_.has_doubtful(unit, thread_size_)) return false;
  const auto extent = entries_.extent_of(unit, entry);
  if (!extent) return map_.pieces().empty();
  map_.find_parts(extent->first, extent->second, parts_);
  return parts_.size() == 1 &&
         parts_[0].new_end - parts_[0].new_start == extent->second - extent->first;
}

void Rewriter::find_file(const Unit& unit, const Entry& entry) {
  for (const Attribute& attribute : entry.declaration->attributes)
    if (attribute.name == dwarf::DW_AT_dwo_name || attribute.name == dwarf::DW_AT_GNU_dwo_name) {
      if (keeps_its_inside(unit, entry)) return;
      entry.declaration->without_file = true;
      ++without_file_;
      return;
    }
}

// ---- the second pass ----

/// Gives an entry in pieces the number of its abbreviation's copy.
void Rewriter::choose_abbreviation(const Unit& unit, Entry& entry) {
  const Declaration& declaration = *entry.declaration;
  const bool is_listed = next_in_pieces_ < in_pieces_.size() &&
                         in_pieces_[next_in_pieces_] == key_of(unit, entry.offset);
  if (is_listed) ++next_in_pieces_;
  const bool is_alone = is_listed || without_start_.contains(key_of(unit, entry.offset));
  entry.in_pieces = is_alone || declaration.in_pieces;
  if (!is_alone || declaration.in_pieces) return;
  ByteWriter number;
  number.uleb128(declaration.copy_in_pieces);
  std::ranges::copy(number.bytes(), out(unit).data() + entry.offset);
}

/// Chooses the base of the unit's lists: the value of its low_pc in the output, if it keeps one.
void Rewriter::decide_base(Unit& unit, const Entry& entry) {
  if (!unit.low_pc) return;
  const Declaration& declaration = *entry.declaration;
  const uint64_t low = *unit.low_pc;
  const bool is_field = entry.attribute(declaration.low_pc).form == dwarf::DW_FORM_addr;
  const auto extent = entries_.extent_of(unit, entry);
  const bool is_code = extent && extent->first < extent->second && map_.is_code(low);
  if (entry.in_pieces && extent_fields(declaration, unit.form).low_name != dwarf::DW_AT_low_pc)
    return;
  if (!is_field) {  // a number of the pool, which holds the start of the first procedure
    unit.new_base = map_.find(low).value_or(low);
  } else if (entry.in_pieces) {  // low_pc means only the base; lists of DWARF 4 have none
    found_.clear();
    if (unit.form.Version >= 5 && extent) map_.find_ranges(extent->first, extent->second, found_);
    unit.new_base = found_.empty() ? 0 : found_.front().first;
  } else if (is_code) {
    map_.find_ranges_of_entry(extent->first, extent->second, found_);
    unit.new_base = found_.empty() ? map_.find(low).value_or(0) : found_[0].first;
  } else if (!extent && low != 0 && map_.is_code(low)) {  // as rewrite_address() writes it
    unit.new_base = map_.find(low).value_or(0);
  } else {
    unit.new_base = low;
  }
}

void Rewriter::rewrite_extent(const Unit& unit, const Entry& entry) {
  const Declaration& declaration = *entry.declaration;
  const Attribute& low = entry.attribute(declaration.low_pc);
  const Attribute& high = entry.attribute(declaration.high_pc);
  const uint64_t low_place = entry.places[declaration.low_pc];
  const uint64_t high_place = entry.places[declaration.high_pc];
  const auto extent = entries_.extent_of(unit, entry);
  if (!extent) return;
  const bool is_code = extent->first < extent->second && map_.is_code(extent->first);
  found_.clear();
  if (is_code)
    budget_.spend(map_.find_ranges_of_entry(extent->first, extent->second, found_));
  else if (extent->first < extent->second)
    found_.emplace_back(extent->first, extent->second);
  if (entry.in_pieces) {
    const ExtentFields fields = extent_fields(declaration, unit.form);
    const uint64_t place = fields.ranges_in_low ? low_place : high_place;
    const unsigned size = *fixed_size(fields.ranges_in_low ? low.form : high.form, unit.form);
    std::memset(out(unit).data() + place, 0, size);
    put_offset(unit, place, ranges_.add_ranges(unit, found_));
    if (!fields.ranges_in_low && low.form == dwarf::DW_FORM_addr) {
      uint64_t start = found_.empty() ? 0 : found_.front().first;
      if (fields.low_name == dwarf::DW_AT_low_pc) start = unit.new_base.value_or(0);
      put_number(unit, low_place, 8, start);
    }
    return;
  }
  if (!is_code) return;
  const uint64_t start = found_.empty() ? map_.find(extent->first).value_or(0) : found_[0].first;
  const uint64_t end = found_.empty() ? start : found_[0].second;
  if (low.form == dwarf::DW_FORM_addr) put_number(unit, low_place, 8, start);
  if (high.form == dwarf::DW_FORM_addr) {
    put_number(unit, high_place, 8, end);
  } else if (const auto size = fixed_size(high.form, unit.form); size && *size != 0 && *size <= 8) {
    if (*size < 8 && (end - start) >> (8 * *size) != 0)
      throw Error("the code of an entry is too long for its field");
    put_number(unit, high_place, *size, end - start);
  }
}

/// Makes a plain unit of a skeleton that no longer names its file, as gdb demands. The header is
/// then 8 bytes shorter: the abbreviation's number moves forward, and the bytes it leaves, with the
/// rest of the header, become the value of an attribute for padding.
void Rewriter::make_plain(const Unit& unit, const Entry& entry) {
  const Declaration& declaration = *entry.declaration;
  if (!declaration.without_file || declaration.tag != dwarf::DW_TAG_skeleton_unit) return;
  const uint64_t number =
      entry.in_pieces && !declaration.in_pieces ? declaration.copy_in_pieces : declaration.code;
  if (unit.type != dwarf::DW_UT_skeleton || number >= 0x80)
    throw Error("a skeleton unit has a form that is not known");
  uint8_t* bytes = out(unit).data();
  bytes[unit.offset + (unit.is64() ? 14 : 6)] = dwarf::DW_UT_compile;
  bytes[unit.entries - 8] = static_cast<uint8_t>(number);
}

/// Writes a single address: of a label, an entry, a call. Returns false where the output has no
/// place for it.
bool Rewriter::rewrite_address(const Unit& unit, const Entry& entry, size_t index) {
  const auto old = entries_.address_in(unit, entry, index);
  if (!old || *old == 0) return true;
  const Attribute& attribute = entry.attribute(index);
  const bool returns = attribute.name == dwarf::DW_AT_call_return_pc ||
                       (attribute.name == dwarf::DW_AT_low_pc &&
                        entry.declaration->tag == dwarf::DW_TAG_GNU_call_site);
  if (!map_.is_code(returns ? *old - 1 : *old)) return true;
  // Where the call is removed, no frame returns.
  const uint64_t now = (returns ? map_.find_behind(*old) : map_.find(*old)).value_or(0);
  if (attribute.form == dwarf::DW_FORM_addr) {
    put_number(unit, entry.places[index], 8, now);
    return true;
  }
  if (!returns) return true;
  ByteReader reader = entries_.reader_at(unit, entry.places[index]);
  const uint64_t number = read_address_index(attribute.form, reader);
  const auto found = pool_.use_as_return(unit, number, now);
  if (!found || *found == number) return found.has_value();
  const uint64_t size = reader.position() - entry.places[index];
  if (attribute.form != dwarf::DW_FORM_addrx) {
    if (size < 8 && *found >> (8 * size) != 0) return false;
    std::memcpy(out(unit).data() + entry.places[index], &*found, size);
    return true;
  }
  ByteWriter bytes;
  bytes.uleb128(*found);
  if (bytes.size() != size) return false;
  std::ranges::copy(bytes.bytes(), out(unit).data() + entry.places[index]);
  return true;
}

/// Takes attributes out of an entry that is written in another form. The freed bytes hold the
/// number of another abbreviation, which may be longer, and padding.
void Rewriter::leave_out(const Unit& unit, const Entry& entry, AttributeSet attributes) {
  const auto& all = entry.declaration->attributes;
  if (all.size() >= 64) throw Error("an entry has more than 63 attributes");
  for (;;) {
    ByteWriter bytes;
    bytes.uleb128(entries_.abbreviations_of(unit).copy_without(*entry.declaration, entry.in_pieces,
                                                               attributes));
    for (size_t i = 0; i < all.size(); ++i) {
      if ((attributes >> i & 1) != 0) continue;
      const uint64_t end = i + 1 < all.size() ? entry.places[i + 1] : entry.end;
      bytes.append(std::span(out(unit)).subspan(entry.places[i], end - entry.places[i]));
    }
    const uint64_t size = entry.end - entry.offset;
    if (bytes.size() >= size) {
      // Without its other attributes the entry is short enough.
      const AttributeSet every = (AttributeSet{1} << all.size()) - 1;
      if (attributes == every) throw Error("an entry is too short for its abbreviation");
      attributes = every;
      continue;
    }
    bytes.bytes().resize(size - 1, ' ');
    bytes.write<uint8_t>(0);
    std::ranges::copy(bytes.bytes(), out(unit).data() + entry.offset);
    return;
  }
}

void Rewriter::rewrite_locations(const Unit& unit, const Entry& entry, size_t index) {
  const Attribute& attribute = entry.attribute(index);
  const auto old = entries_.list_in(unit, entry, index, Part::loclists);
  if (!old) return;
  if (attribute.form == dwarf::DW_FORM_loclistx)
    return locations_.move_numbered(unit, entries_.uleb128_at(unit, entry.places[index]), *old);
  if (attribute.name == dwarf::DW_AT_location) {
    for (size_t i = 0; i < entry.declaration->attributes.size(); ++i) {
      if (entry.attribute(i).name != dwarf::DW_AT_GNU_locviews ||
          !is_section_offset(entry.attribute(i).form, unit.form.Version))
        continue;
      const Lists::Moved moved =
          locations_.move_with_views(unit, *old, entries_.offset_at(unit, entry.places[i]));
      put_offset(unit, entry.places[index], moved.list);
      put_offset(unit, entry.places[i], moved.views);
      return;
    }
  }
  put_offset(unit, entry.places[index], locations_.move(unit, *old));
}

void Rewriter::rewrite_lists(const Unit& unit, const Entry& entry, size_t index) {
  const Attribute& attribute = entry.attribute(index);
  const uint64_t place = entry.places[index];
  if (may_be_location_list(attribute.name, attribute.form, unit.form.Version))
    return rewrite_locations(unit, entry, index);
  if (attribute.form == dwarf::DW_FORM_rnglistx)
    return ranges_.move_numbered(unit, entries_.uleb128_at(unit, place),
                                 *entries_.list_in(unit, entry, index, Part::rnglists));
  if (!is_section_offset(attribute.form, unit.form.Version)) return;
  switch (attribute.name) {
    case dwarf::DW_AT_stmt_list:
      return put_offset(unit, place, lines_.offset(entries_.offset_at(unit, place)));
    case dwarf::DW_AT_ranges:
    case dwarf::DW_AT_start_scope:
      return put_offset(unit, place, ranges_.move(unit, entries_.offset_at(unit, place)));
    case dwarf::DW_AT_rnglists_base:
      return put_offset(unit, place, ranges_.new_base());
    case dwarf::DW_AT_loclists_base:
      return put_offset(unit, place, locations_.new_base());
    case dwarf::DW_AT_macros:
    case dwarf::DW_AT_GNU_macros:
      return rewrite_macros(entries_.offset_at(unit, place));
    default:
      return;
  }
}

/// A part of .debug_macro names the line table of its files.
void Rewriter::rewrite_macros(uint64_t offset) {
  if (!macros_done_.insert(offset).second) return;
  ByteReader reader(macro_, ".debug_macro");
  reader.seek(offset);
  const auto version = reader.read<uint16_t>();
  const auto flags = reader.read<uint8_t>();
  if (version < 4 || version > 5)
    throw Error(fmt::format(".debug_macro has the version {}, which is not known", version));
  if ((flags & 2) == 0) return;
  const size_t place = reader.position();
  if ((flags & 1) != 0) {
    store(macro_.data() + place, lines_.offset(reader.read<uint64_t>()));
  } else {
    store(macro_.data() + place, static_cast<uint32_t>(lines_.offset(reader.read<uint32_t>())));
  }
}

/// Lets a call of a procedure in pieces refer to the procedure's entry point. Returns false where
/// the call cannot name its callee: gdb (13) writes past its memory where a call refers to a
/// procedure with more than two ranges. Without the callee gdb shows no values at its entry.
bool Rewriter::rewrite_callee(const Unit& unit, const Entry& entry) {
  const auto callee = entries_.callee_of(unit, entry);
  if (!callee || entry_points_.empty()) return true;
  if (unit.in_types_section) return false;  // no procedures are there
  Declaration& declaration = *entry.declaration;
  const auto size = fixed_size(entry.attribute(declaration.callee).form, unit.form);
  const unsigned needed = *fixed_size(dwarf::DW_FORM_ref_addr, unit.form);
  if (size != needed || !entry_points_.may_be_added())
    return entry_points_.pieces(*callee) <= kMostPieces;
  // All calls with this abbreviation get here.
  declaration.callee_is_far = true;
  put_number(unit, entry.places[declaration.callee], needed, entry_points_.refer(*callee));
  return true;
}

void Rewriter::rewrite_entry(const Unit& unit, const Entry& entry) {
  const Declaration& declaration = *entry.declaration;
  AttributeSet lost = 0;
  const auto lose = [&](size_t index) {
    if (index >= 64) throw Error("an entry has more than 63 attributes");
    lost |= AttributeSet{1} << index;
  };
  if (declaration.has_extent()) rewrite_extent(unit, entry);
  for (size_t i = 0; i < declaration.attributes.size(); ++i) {
    if (declaration.has_extent() && (i == declaration.low_pc || i == declaration.high_pc)) continue;
    const Attribute& attribute = entry.attribute(i);
    if (attribute.form == dwarf::DW_FORM_addr || is_address_index(attribute.form)) {
      if (!rewrite_address(unit, entry, i)) lose(i);
    } else if (is_expression(attribute.name, attribute.form, unit.form.Version)) {
      ByteReader reader = entries_.reader_at(unit, entry.places[i]);
      uint64_t size = 0;
      if (attribute.form == dwarf::DW_FORM_block1)
        size = reader.read<uint8_t>();
      else if (attribute.form == dwarf::DW_FORM_block2)
        size = reader.read<uint16_t>();
      else if (attribute.form == dwarf::DW_FORM_block4)
        size = reader.read<uint32_t>();
      else
        size = reader.uleb128();
      const auto expression = std::span(out(unit)).subspan(reader.position(), size);
      if (scopes_.is_stale(unit, declaration.tag, attribute, expression)) lose(i);
      move_addresses(map_, expression, unit.offset_size());
    } else if (is_distance(attribute)) {
      lose(i);
    } else {
      rewrite_lists(unit, entry, i);
    }
  }
  if (!rewrite_callee(unit, entry)) lose(declaration.callee);
  if (lost != 0) leave_out(unit, entry, lost);
}

/// Finds the abbreviations of entries whose code is now in several pieces.
struct Rewriter::FirstPass {
  Rewriter& rewriter;
  Unit& unit;

  void see(Entry& entry) {
    if (entry.is_root) {
      rewriter.read_bases(unit, entry);
      rewriter.pool_.move(unit);
      rewriter.find_file(unit, entry);
    }
    rewriter.find_numbers(unit, entry);
    rewriter.find_pieces(unit, entry);
  }
  void enter(const Entry*) {}
  void leave() {}
};

/// Writes the numbers.
struct Rewriter::SecondPass {
  Rewriter& rewriter;
  Unit& unit;

  void see(Entry& entry) {
    rewriter.choose_abbreviation(unit, entry);
    if (entry.is_root) {
      rewriter.decide_base(unit, entry);
      rewriter.make_plain(unit, entry);
      rewriter.ranges_.start_unit(unit);
      rewriter.locations_.start_unit(unit);
    }
    rewriter.rewrite_entry(unit, entry);
  }
  void enter(const Entry* entry) { rewriter.scopes_.enter(unit, entry); }
  void leave() { rewriter.scopes_.leave(); }
};

void Rewriter::run(NewImage& output) {
  for (Unit& unit : units_) entries_.walk(unit, FirstPass{*this, unit});
  settle_numbers();
  for (Unit& unit : units_) {
    scopes_.start_unit();
    entries_.walk(unit, SecondPass{*this, unit});
  }
  EntryReader::NewAbbreviations abbreviations = entries_.write_abbreviations();
  entry_points_.append(info_, abbreviations.contents);
  pool_.place_parts();
  for (const Unit& unit : units_) {
    put_offset(unit, unit.abbreviations_field, abbreviations.place(unit));
    if (unit.addr_base) put_offset(unit, unit.addr_base_field, pool_.new_base(*unit.addr_base));
  }

  std::vector<NewImage::ReplacedSection> replaced;
  std::vector<NewImage::AddedSection> added;
  const auto put = [&](Part part, std::vector<uint8_t> contents) {
    if (const auto section = sections_.section(part)) {
      replaced.push_back({*section, sections_.packed(part, std::move(contents))});
    } else if (!contents.empty()) {
      NewImage::AddedSection& made = added.emplace_back();
      made.name = kPartNames[static_cast<size_t>(part)];
      made.contents = std::move(contents);
    }
  };
  put(Part::info, std::move(info_));
  put(Part::types, std::move(types_));
  put(Part::abbrev, std::move(abbreviations.contents.bytes()));
  put(Part::line, lines_.take_contents());
  put(Part::addr, pool_.take_contents());
  put(Part::ranges, ranges_.take_contents(false));
  put(Part::rnglists, ranges_.take_contents(true));
  put(Part::loc, locations_.take_contents(false));
  put(Part::loclists, locations_.take_contents(true));
  put(Part::aranges, move_aranges(sections_.contents(Part::aranges), map_, budget_));
  put(Part::macro, std::move(macro_));
  put(Part::frame, move_frames(sections_.contents(Part::frame), map_, budget_));
  output.replaced = std::move(replaced);
  std::move(added.begin(), added.end(), std::back_inserter(output.added));
  if (without_room_ != 0)
    diagnostics_.warn(fmt::format(
        "{} entr{} of the debug information describe{} the first piece of code only: "
        "there is no room for a list of ranges",
        without_room_, without_room_ == 1 ? "y" : "ies", without_room_ == 1 ? "s" : ""));
  if (without_file_ != 0)
    diagnostics_.warn(
        fmt::format("the .dwo files of {} unit{} describe the code before rewriting: the output "
                    "does not refer to them, and has their lines only",
                    without_file_, without_file_ == 1 ? "" : "s"));
}

}  // namespace

void rewrite(const Image& image, const AddressMap& map, NewImage& output,
             Diagnostics& diagnostics) {
  Rewriter(image, map, diagnostics).run(output);
}

}  // namespace respike::debug
