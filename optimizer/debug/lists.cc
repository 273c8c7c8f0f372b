// Lists of addresses (DWARF 5, sections 2.6.2, 2.17.3 and 7.7.3; DWARF 4, sections 2.6.2 and
// 2.17.3).
//
// Every list is decoded into addresses, each entry becomes the ranges that its code has now, and
// the list is encoded again. Lists are written in the order in which entries refer to them, each
// once for a unit.
//
// Where hot-cold optimization removed the computation of a value, entries that need the value are
// left out: debuggers say "optimized out" there.
//
// Example: the entry "[0x1040, 0x1060): in register 3" of code that is now in two places becomes
// "[0x5000, 0x5010): in register 3" and "[0x7020, 0x7030): in register 3".

#include "optimizer/debug/lists.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "optimizer/debug/expressions.h"

namespace respike::debug {

namespace {

constexpr unsigned kViewPair = 9;  // of a location list: gcc -gvariable-location-views=incompat5

}  // namespace

Lists::Lists(Kind kind, const Sections& sections, const AddressMap& map, const AddressPool& pool,
             Budget& budget)
    : kind_(kind),
      old5_(sections.contents(kind == Kind::ranges ? Part::rnglists : Part::loclists)),
      old4_(sections.contents(kind == Kind::ranges ? Part::ranges : Part::loc)),
      map_(map),
      pool_(pool),
      budget_(budget) {}

/// The header of the unit's part of a section of DWARF 5, with room for a table of offsets.
void Lists::start_part(const Unit& unit, uint64_t offsets) {
  part_ = new5_.size();
  part_is64_ = unit.is64();
  in_part_ = true;
  if (part_is64_) {
    new5_.write<uint32_t>(dwarf::DW_LENGTH_DWARF64);
    new5_.write<uint64_t>(0);
  } else {
    new5_.write<uint32_t>(0);
  }
  new5_.write<uint16_t>(5);
  new5_.write<uint8_t>(8);
  new5_.write<uint8_t>(0);
  new5_.write<uint32_t>(static_cast<uint32_t>(offsets));
  base_ = new5_.size();
  numbers_.assign(offsets, 0);
  for (uint64_t i = 0; i < offsets * unit.offset_size(); ++i) new5_.write<uint8_t>(0);
}

void Lists::start_unit(const Unit& unit) {
  done_.clear();
  const auto& old_base = kind_ == Kind::ranges ? unit.rnglists_base : unit.loclists_base;
  // The units that Clang makes of one module share a table; each has lists of its own in the table.
  if (in_part_ && old_base && old_base == part_old_base_ && unit.is64() == part_is64_) return;
  end_part();
  part_old_base_ = old_base;
  base_ = 0;
  if (unit.form.Version < 5 || !old_base) return;
  // The header before the table of offsets ends with the number of offsets.
  if (*old_base < 12 || *old_base > old5_.size())
    throw Error("a unit's base of lists is not behind a header");
  const auto count = load<uint32_t>(old5_.data() + *old_base - 4);
  if (count > (old5_.size() - *old_base) / unit.offset_size())
    throw Error("a table of lists is longer than its section");
  budget_.spend(count);
  start_part(unit, count);
}

void Lists::move_numbered(const Unit& unit, uint64_t number, uint64_t old_offset) {
  const bool is_new = !done_.contains({old_offset, ~uint64_t{0}});
  // Distances are relative to the base of one unit.
  if (is_new && numbers_.at(number) != 0) throw Error("two units refer to one list by its number");
  numbers_.at(number) = move(unit, old_offset) - base_;
}

void Lists::end_part() {
  if (!in_part_) return;
  const auto unused = [](uint64_t offset) { return offset == 0; };
  if (std::ranges::any_of(numbers_, unused)) {  // lead to an empty list
    std::ranges::replace_if(numbers_, unused, new5_.size() - base_);
    new5_.write<uint8_t>(dwarf::DW_LLE_end_of_list);
  }
  for (size_t i = 0; i < numbers_.size(); ++i) {
    if (part_is64_)
      new5_.patch<uint64_t>(base_ + i * 8, numbers_[i]);
    else
      new5_.patch<uint32_t>(base_ + i * 4, static_cast<uint32_t>(numbers_[i]));
  }
  numbers_.clear();
  if (part_is64_)
    new5_.patch<uint64_t>(part_ + 4, new5_.size() - part_ - 12);
  else
    new5_.patch<uint32_t>(part_, static_cast<uint32_t>(new5_.size() - part_ - 4));
  in_part_ = false;
}

std::vector<Lists::Entry> Lists::read5(const Unit& unit, uint64_t offset) {
  ByteReader reader(old5_, kind_ == Kind::ranges ? ".debug_rnglists" : ".debug_loclists");
  reader.seek(offset);
  const bool locations = kind_ == Kind::locations;
  std::vector<Entry> entries;
  uint64_t base = unit.low_pc.value_or(0);
  // The codes of both kinds are the same except two.
  static_assert(unsigned{dwarf::DW_RLE_offset_pair} == unsigned{dwarf::DW_LLE_offset_pair});
  while (true) {
    uint8_t code = reader.read<uint8_t>();
    if (code == dwarf::DW_LLE_end_of_list) return entries;
    Entry entry;
    if (!locations && code >= dwarf::DW_RLE_base_address) ++code;  // ranges have no default
    switch (code) {
      case dwarf::DW_LLE_base_addressx:
        base = pool_.old_address(unit, reader.uleb128());
        budget_.spend(1);
        continue;
      case dwarf::DW_LLE_base_address:
        base = reader.read<uint64_t>();
        budget_.spend(1);
        continue;
      case kViewPair:  // debuggers do without the views
        if (!locations) throw Error("a range list has views");
        reader.uleb128();
        reader.uleb128();
        budget_.spend(1);
        continue;
      case dwarf::DW_LLE_startx_endx:
        entry.start = pool_.old_address(unit, reader.uleb128());
        entry.end = pool_.old_address(unit, reader.uleb128());
        break;
      case dwarf::DW_LLE_startx_length:
        entry.start = pool_.old_address(unit, reader.uleb128());
        entry.end = entry.start + reader.uleb128();
        break;
      case dwarf::DW_LLE_offset_pair:
        entry.start = base + reader.uleb128();
        entry.end = base + reader.uleb128();
        break;
      case dwarf::DW_LLE_start_end:
        entry.start = reader.read<uint64_t>();
        entry.end = reader.read<uint64_t>();
        break;
      case dwarf::DW_LLE_start_length:
        entry.start = reader.read<uint64_t>();
        entry.end = entry.start + reader.uleb128();
        break;
      case dwarf::DW_LLE_default_location:
        entry.is_default = true;
        break;
      default:
        throw Error(fmt::format("a list has an entry of the kind {}, which is not known", code));
    }
    if (locations) entry.expression = reader.take(reader.uleb128());
    entries.push_back(entry);
    budget_.spend(1 + entry.expression.size());
  }
}

std::vector<Lists::Entry> Lists::read4(const Unit& unit, uint64_t offset) {
  ByteReader reader(old4_, kind_ == Kind::ranges ? ".debug_ranges" : ".debug_loc");
  reader.seek(offset);
  std::vector<Entry> entries;
  uint64_t base = unit.low_pc.value_or(0);
  while (true) {
    const auto first = reader.read<uint64_t>();
    const auto second = reader.read<uint64_t>();
    if (first == 0 && second == 0) return entries;
    budget_.spend(1);
    if (first == ~uint64_t{0}) {
      base = second;
      continue;
    }
    Entry entry;
    entry.start = base + first;
    entry.end = base + second;
    if (kind_ == Kind::locations) entry.expression = reader.take(reader.read<uint16_t>());
    entries.push_back(entry);
    budget_.spend(entry.expression.size());
  }
}

std::vector<Lists::Entry> Lists::read(const Unit& unit, uint64_t offset) {
  return unit.form.Version >= 5 ? read5(unit, offset) : read4(unit, offset);
}

void Lists::read_views(std::vector<Entry>& entries, uint64_t offset, bool dwarf5) {
  ByteReader reader(dwarf5 ? old5_ : old4_, "a list of views");
  reader.seek(offset);
  for (Entry& entry : entries) {
    entry.views.first = reader.uleb128();
    entry.views.second = reader.uleb128();
  }
}

/// Joins entries with equal contents whose code is adjacent now.
void Lists::join_neighbours(std::vector<Entry>& entries) {
  size_t kept = 0;
  for (size_t i = 1; i < entries.size(); ++i) {
    Entry& last = entries[kept];
    const Entry& next = entries[i];
    if (last.end == next.start && !last.is_default && !next.is_default &&
        std::ranges::equal(last.expression, next.expression)) {
      last.end = next.end;
      last.views.second = next.views.second;
    } else {
      entries[++kept] = next;
    }
  }
  if (!entries.empty()) entries.resize(kept + 1);
}

std::vector<Lists::Entry> Lists::moved(const Unit& unit, const std::vector<Entry>& entries) {
  std::vector<Entry> result;
  for (const Entry& entry : entries) {
    if (entry.is_default) {
      if (!map_.has_stale_values()) result.push_back(entry);
      continue;
    }
    if (entry.start >= entry.end) continue;
    if (!map_.is_code(entry.start)) {
      result.push_back(entry);
      continue;
    }
    size_t cost = 0;
    if (kind_ == Kind::ranges && result.empty())
      cost = map_.find_ranges_of_entry(entry.start, entry.end, ranges_);
    else if (kind_ == Kind::locations && map_.has_stale_values())
      cost = map_.find_ranges(entry.start, entry.end, ranges_, [&](const StaleValues& stale) {
        return needs_any(stale, entry.expression, unit.offset_size());
      });
    else
      cost = map_.find_ranges(entry.start, entry.end, ranges_);
    budget_.spend(cost + ranges_.size() * entry.expression.size());
    for (const auto& [start, end] : ranges_) {
      Entry part = entry;
      part.start = start;
      part.end = end;
      if (entry.views.first != 0 && map_.find(entry.start) != start) part.views.first = 0;
      if (entry.views.second != 0 && map_.find(entry.end) != end) part.views.second = 0;
      result.push_back(part);
    }
  }
  if (kind_ == Kind::locations) {
    std::ranges::stable_sort(result, {}, &Entry::start);
    join_neighbours(result);
  }
  return result;
}

Lists::Moved Lists::move_list(const Unit& unit, uint64_t old_offset,
                              std::optional<uint64_t> old_views) {
  const std::pair key(old_offset, old_views.value_or(~uint64_t{0}));
  if (const auto known = done_.find(key); known != done_.end()) return known->second;
  std::vector<Entry> entries = read(unit, old_offset);
  const bool dwarf5 = unit.form.Version >= 5;
  if (old_views) read_views(entries, *old_views, dwarf5);
  entries = moved(unit, entries);
  if (dwarf5 && kind_ == Kind::locations) put_unit_first(entries, unit);
  Moved result;
  if (old_views) {
    if (dwarf5 && !in_part_) start_part(unit, 0);
    ByteWriter& out = dwarf5 ? new5_ : new4_;
    result.views = out.size();
    for (const Entry& entry : entries) {
      out.uleb128(entry.views.first);
      out.uleb128(entry.views.second);
    }
  }
  result.list = write(unit, entries);
  return done_[key] = result;
}

std::vector<AddressMap::Range> Lists::old_ranges(const Unit& unit, uint64_t old_offset) {
  std::vector<AddressMap::Range> ranges;
  for (const Entry& entry : read(unit, old_offset)) ranges.emplace_back(entry.start, entry.end);
  return ranges;
}

std::vector<AddressMap::Range> Lists::new_ranges(const Unit& unit, uint64_t old_offset) {
  std::vector<AddressMap::Range> ranges;
  for (const Entry& entry : moved(unit, read(unit, old_offset)))
    ranges.emplace_back(entry.start, entry.end);
  return ranges;
}

uint64_t Lists::add_ranges(const Unit& unit, std::span<const AddressMap::Range> ranges) {
  std::vector<Entry> entries(ranges.size());
  for (size_t i = 0; i < ranges.size(); ++i) std::tie(entries[i].start, entries[i].end) = ranges[i];
  return write(unit, entries);
}

uint64_t Lists::write(const Unit& unit, const std::vector<Entry>& entries) {
  const bool dwarf5 = unit.form.Version >= 5;
  if (dwarf5 && !in_part_) start_part(unit, 0);
  const uint64_t offset = (dwarf5 ? new5_ : new4_).size();
  if (dwarf5)
    write5(entries, unit);
  else
    write4(entries, unit);
  return offset;
}

void Lists::write_expression(const Unit& unit, const Entry& entry, bool dwarf5, ByteWriter& out) {
  if (kind_ == Kind::ranges) return;
  if (dwarf5)
    out.uleb128(entry.expression.size());
  else
    out.write(static_cast<uint16_t>(entry.expression.size()));
  const size_t start = out.size();
  out.append(entry.expression);
  move_addresses(map_, std::span(out.bytes()).subspan(start), unit.offset_size());
}

/// Cuts a list into clusters: the addresses of a cluster take the fewest bytes as distances from
/// the unit's base, as distances from a base of their own (which costs 9 bytes), or one by one.
std::vector<Lists::Cluster> Lists::clusters_of(std::span<const Entry> entries,
                                               std::optional<uint64_t> unit_base) const {
  constexpr uint64_t kNear = 1 << 14;  // two bytes
  const auto bytes_of = [](uint64_t value) -> uint64_t {
    return value == 0 ? 1 : (static_cast<uint64_t>(std::bit_width(value)) + 6) / 7;
  };
  std::vector<Cluster> clusters;
  for (size_t i = 0; i < entries.size();) {
    Cluster cluster{i, i, Cluster::Base::none};
    uint64_t by_unit = 0, by_own = 9, alone = 0;
    const uint64_t first = entries[i].start;
    for (; i < entries.size(); ++i) {
      const Entry& entry = entries[i];
      if (entry.is_default != entries[cluster.begin].is_default || entry.start < first ||
          entry.start - first >= kNear)
        break;
      by_own += bytes_of(entry.start - first) + bytes_of(entry.end - first);
      if (unit_base)
        by_unit += bytes_of(entry.start - *unit_base) + bytes_of(entry.end - *unit_base);
      alone += 8 + bytes_of(entry.end - entry.start);
    }
    cluster.end = i;
    if (by_own < alone) cluster.base = Cluster::Base::own;
    if (unit_base && first >= *unit_base && by_unit < std::min(by_own, alone))
      cluster.base = Cluster::Base::unit;
    clusters.push_back(cluster);
  }
  return clusters;
}

void Lists::write5(const std::vector<Entry>& entries, const Unit& unit) {
  std::vector<Cluster> clusters = clusters_of(entries, unit.new_base);
  // After another cluster's base the unit's base is gone.
  bool changed = false;
  for (Cluster& cluster : clusters) {
    if (changed && cluster.base == Cluster::Base::unit)
      cluster.base = cluster.end - cluster.begin > 2 ? Cluster::Base::own : Cluster::Base::none;
    changed |= cluster.base == Cluster::Base::own;
  }
  write_clusters(entries, clusters, unit);
}

/// Moves the entries that are relative to the unit's base to the front of a location list, whose
/// order has no meaning.
void Lists::put_unit_first(std::vector<Entry>& entries, const Unit& unit) const {
  std::vector<Entry> front, back;
  for (const Cluster& cluster : clusters_of(entries, unit.new_base)) {
    auto& side = cluster.base == Cluster::Base::unit ? front : back;
    side.insert(side.end(), entries.begin() + static_cast<ptrdiff_t>(cluster.begin),
                entries.begin() + static_cast<ptrdiff_t>(cluster.end));
  }
  front.insert(front.end(), back.begin(), back.end());
  entries = std::move(front);
}

void Lists::write_clusters(std::span<const Entry> entries, std::span<const Cluster> clusters,
                           const Unit& unit) {
  const uint8_t shift = kind_ == Kind::ranges ? 1 : 0;
  for (const Cluster& cluster : clusters) {
    uint64_t base = unit.new_base.value_or(0);
    if (cluster.base == Cluster::Base::own) {
      base = entries[cluster.begin].start;
      new5_.write<uint8_t>(dwarf::DW_LLE_base_address - shift);
      new5_.write<uint64_t>(base);
    }
    for (size_t i = cluster.begin; i < cluster.end; ++i) {
      const Entry& entry = entries[i];
      if (entry.is_default) {
        new5_.write<uint8_t>(dwarf::DW_LLE_default_location);
      } else if (cluster.base == Cluster::Base::none) {
        new5_.write<uint8_t>(dwarf::DW_LLE_start_length - shift);
        new5_.write<uint64_t>(entry.start);
        new5_.uleb128(entry.end - entry.start);
      } else {
        new5_.write<uint8_t>(dwarf::DW_LLE_offset_pair);
        new5_.uleb128(entry.start - base);
        new5_.uleb128(entry.end - base);
      }
      write_expression(unit, entry, true, new5_);
    }
  }
  new5_.write<uint8_t>(dwarf::DW_LLE_end_of_list);
}

void Lists::write4(const std::vector<Entry>& entries, const Unit& unit) {
  if (unit.new_base != 0 && !entries.empty()) {  // where there is no base, readers differ
    new4_.write(~uint64_t{0});
    new4_.write<uint64_t>(0);
  }
  for (const Entry& entry : entries) {
    new4_.write(entry.start);
    new4_.write(entry.end);
    write_expression(unit, entry, false, new4_);
  }
  new4_.write<uint64_t>(0);
  new4_.write<uint64_t>(0);
}

}  // namespace respike::debug
