#pragma once
// The values that hot-cold optimization removed somewhere in the scopes around an entry; private to
// this folder.
//
// Example: in a part of a function, register 3 may lack the value that it had in the input
// (emit/stale_values.h). A variable of the function that is in register 3 "for all of the scope"
// loses its location. A variable of a block without that part keeps its own.

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "optimizer/debug/address_map.h"
#include "optimizer/debug/budget.h"
#include "optimizer/debug/entry_reader.h"
#include "optimizer/debug/lists.h"

namespace respike::debug {

class StaleScopes {
 public:
  /// All arguments must outlive this object.
  StaleScopes(const EntryReader& reader, const AddressMap& map, Lists& ranges, Budget& budget)
      : reader_(reader), map_(map), ranges_(ranges), budget_(budget) {}

  void start_unit() { scopes_.clear(); }
  /// Enters the children of an entry; nullptr: of an entry without code.
  void enter(const Unit& unit, const Entry* entry);
  void leave();

  /// Whether the value of an attribute of an entry in the entered scopes may be wrong in a part of
  /// its scope, although the attribute applies to all of it.
  bool is_stale(const Unit& unit, uint16_t tag, const Attribute& attribute,
                std::span<const uint8_t> expression) const;

 private:
  void add_stale(uint64_t start, uint64_t end, StaleValues& stale);
  const StaleValues* stale_inside(const Unit& unit, const Entry& entry);

  const EntryReader& reader_;
  const AddressMap& map_;
  Lists& ranges_;
  Budget& budget_;
  /// What is stale in the entered scopes, innermost last; nullptr: nothing. Empty where nothing is
  /// stale in the image.
  std::vector<const StaleValues*> scopes_;
  std::set<StaleValues> known_stale_;
  std::vector<MovedPart> parts_;
};

}  // namespace respike::debug
