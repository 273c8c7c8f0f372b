// Moves the addresses of .debug_addr (DWARF 5, section 7.27).
//
// Problem: entries refer to addresses by number. One number may be both the start of code and a
// return address, and the two may move apart.
//
// Idea: all addresses are first moved as starts of code, in place. A return address replaces its
// word where no start uses the word; otherwise it gets a number after the last one of its part, and
// the part and its header grow when the section is written. Bases of units after it move up by the
// addresses that were added before.
//
// Example: a part holds addresses 0 to 4, and number 4 is both. The function moves to 0x5000, the
// return address to 0x7010: word 4 becomes 0x5000, and the call gets number 5 with 0x7010.
//
// Limit: parts without a header (DWARF 4, GNU's form) cannot grow.

#include "optimizer/debug/address_pool.h"

#include <iterator>

namespace respike::debug {

AddressPool::AddressPool(std::span<const uint8_t> section, const AddressMap& map, Budget& budget)
    : section_(section),
      map_(map),
      budget_(budget),
      contents_(section.begin(), section.end()),
      is_start_(section.size() / 4 + 1),
      is_return_(section.size() / 4 + 1),
      is_done_(section.size() / 4 + 1) {}

uint64_t AddressPool::place(const Unit& unit, uint64_t index) const {
  if (!unit.addr_base) throw Error("a unit refers to addresses, but has no base of them");
  const uint64_t base = *unit.addr_base;
  if (base > section_.size() || index >= (section_.size() - base) / 8)
    throw Error("a unit refers to addresses outside of .debug_addr");
  return base + index * 8;
}

uint64_t AddressPool::old_address(const Unit& unit, uint64_t index) const {
  return load<uint64_t>(section_.data() + place(unit, index));
}

void AddressPool::move(const Unit& unit) {
  if (!unit.addr_base || *unit.addr_base > section_.size() || parts_.contains(*unit.addr_base))
    return;
  const uint64_t start = *unit.addr_base;
  Part part;
  part.end = section_.size();
  if (unit.form.Version >= 5) {  // the header before the addresses has their length
    const unsigned header = unit.is64() ? 16 : 8, lead = unit.is64() ? 12 : 4;
    if (start < header) throw Error("a unit's base of addresses is not behind a header");
    const uint8_t* bytes = section_.data() + start - header;
    const uint64_t length = unit.is64() ? load<uint64_t>(bytes + 4) : load<uint32_t>(bytes);
    if (length < header - lead || length - (header - lead) > part.end - start)
      throw Error("a part of .debug_addr is longer than the section");
    part.end = start + (length - (header - lead));
    part.header = header;
  }
  parts_[start] = part;
  for (uint64_t at = start; at + 8 <= part.end && !is_done_[at / 4]; at += 8) {
    is_done_[at / 4] = true;
    budget_.spend(1);
    const auto address = load<uint64_t>(section_.data() + at);
    if (!map_.is_moved(address)) continue;
    if (const auto now = map_.find(address)) store(contents_.data() + at, *now);
  }
}

bool AddressPool::has_doubtful(const Unit& unit, uint64_t limit) {
  const auto part = unit.addr_base ? parts_.find(*unit.addr_base) : parts_.end();
  if (part == parts_.end()) return false;
  for (uint64_t at = part->first; at + 8 <= part->second.end; at += 8) {
    budget_.spend(1);
    const auto number = load<uint64_t>(section_.data() + at);
    if (number < limit && map_.is_moved(number)) return true;
  }
  return false;
}

void AddressPool::use_as_start(const Unit& unit, uint64_t index) {
  is_start_[place(unit, index) / 4] = true;
}

std::optional<uint64_t> AddressPool::use_as_return(const Unit& unit, uint64_t index,
                                                   uint64_t address) {
  const uint64_t at = place(unit, index);
  if (!is_start_[at / 4]) {
    store(contents_.data() + at, address);
    return index;
  }
  if (load<uint64_t>(contents_.data() + at) == address) return index;
  const auto part = parts_.find(*unit.addr_base);
  if (part == parts_.end() || part->second.header == 0) return std::nullopt;
  std::vector<uint64_t>& added = part->second.added;
  added.push_back(address);
  return (part->second.end - part->first) / 8 + added.size() - 1;
}

void AddressPool::place_parts() {
  uint64_t added = 0;
  for (auto& [start, part] : parts_) {
    part.added_in_front = added;
    added += 8 * part.added.size();
  }
}

uint64_t AddressPool::new_base(uint64_t old_base) const {
  const auto behind = parts_.lower_bound(old_base);
  if (behind == parts_.begin()) return old_base;
  const Part& front = std::prev(behind)->second;
  return old_base + front.added_in_front + 8 * front.added.size();
}

std::vector<uint8_t> AddressPool::take_contents() {
  ByteWriter out;
  uint64_t done = 0;
  for (const auto& [start, part] : parts_) {
    if (part.added.empty()) continue;
    if (start < done + part.header) throw Error("parts of .debug_addr overlap");
    out.append(std::span(contents_).subspan(done, part.end - done));
    const uint64_t header = out.size() - (part.end - start) - part.header;
    for (const uint64_t address : part.added) out.write(address);
    const uint64_t size = 8 * part.added.size();
    const uint8_t* length = contents_.data() + (start - part.header);
    if (part.header == 16)
      out.patch<uint64_t>(header + 4, load<uint64_t>(length + 4) + size);
    else
      out.patch<uint32_t>(header, static_cast<uint32_t>(load<uint32_t>(length) + size));
    done = part.end;
  }
  out.append(std::span(contents_).subspan(done));
  return std::move(out.bytes());
}

}  // namespace respike::debug
