#pragma once
// .debug_addr (DWARF 5, section 7.27): addresses to which entries and lists refer by number;
// private to this folder.
//
// Example: address number 4 is the start of a function, and also the place to which a call before
// the function returns. The two move apart, so the call gets a number of its own after the others.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "optimizer/debug/address_map.h"
#include "optimizer/debug/budget.h"
#include "optimizer/debug/unit.h"

namespace respike::debug {

class AddressPool {
 public:
  AddressPool(std::span<const uint8_t> section, const AddressMap& map, Budget& budget);

  /// The input's address. Throws Error for numbers outside of the section.
  uint64_t old_address(const Unit& unit, uint64_t index) const;
  /// Moves all addresses of the unit's part of the pool as starts of code.
  void move(const Unit& unit);
  /// Whether the unit's part of the pool has a number below `limit` that is also an address of
  /// moved code.
  bool has_doubtful(const Unit& unit, uint64_t limit);
  /// An entry uses the address as the start of code.
  void use_as_start(const Unit& unit, uint64_t index);
  bool is_start(const Unit& unit, uint64_t index) const {
    return is_start_[place(unit, index) / 4];
  }
  /// An entry will use the address as a return address.
  void expect_return(const Unit& unit, uint64_t index) {
    is_return_[place(unit, index) / 4] = true;
  }
  bool is_return(const Unit& unit, uint64_t index) const {
    return is_return_[place(unit, index) / 4];
  }
  /// An entry uses the address as a return address, which is `address` now. Returns the number
  /// under which the entry finds it; nullopt: the start of code has the place, and DWARF 4 cannot
  /// add another.
  std::optional<uint64_t> use_as_return(const Unit& unit, uint64_t index, uint64_t address);

  /// No address is added after this call.
  void place_parts();
  /// The new place of the pool's part that began at `old_base`.
  uint64_t new_base(uint64_t old_base) const;
  std::vector<uint8_t> take_contents();

 private:
  uint64_t place(const Unit& unit, uint64_t index) const;

  std::span<const uint8_t> section_;
  const AddressMap& map_;
  Budget& budget_;
  std::vector<uint8_t> contents_;
  std::vector<bool> is_start_, is_return_, is_done_;  // by place / 4
  struct Part {
    uint64_t end = 0;
    unsigned header = 0;          // its size before the part; 0: no header
    std::vector<uint64_t> added;  // addresses after the input's
    uint64_t added_in_front = 0;  // bytes of other parts
  };
  std::map<uint64_t, Part> parts_;  // by their starts
};

}  // namespace respike::debug
