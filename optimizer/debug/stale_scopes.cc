// Follows which values are stale in the scopes around an entry.
//
// Problem: an attribute with a single location holds in its whole scope, but hot-cold optimization
// may have removed the computation of the value for a part of that scope.
//
// Idea: the walk over the entries keeps a stack with the stale values of each scope entered: the
// union over all pieces of the scope's code, from low_pc and high_pc or from its list of ranges. A
// call counts only the code before its return address. An entry without code inherits from the
// scope around it.
//
// Example: in one piece of f register 3 is stale. A location "register 3" of a variable directly in
// f is dropped; the same location in an inner block without that piece stays.

#include "optimizer/debug/stale_scopes.h"

#include "optimizer/debug/expressions.h"

namespace respike::debug {

/// Adds the values that are stale in the code that was at [start, end).
void StaleScopes::add_stale(uint64_t start, uint64_t end, StaleValues& stale) {
  if (start >= end || !map_.is_code(start)) return;
  map_.find_parts(start, end, parts_);
  budget_.spend(parts_.size());
  for (const MovedPart& part : parts_)
    if (!part.stays())
      if (const StaleValues* values = map_.stale_values(map_.pieces()[part.piece]))
        stale |= *values;
}

/// What is stale somewhere in an entry with code, or at a call; else the same as around it.
const StaleValues* StaleScopes::stale_inside(const Unit& unit, const Entry& entry) {
  const Declaration& declaration = *entry.declaration;
  StaleValues stale;
  if (const auto extent = reader_.extent_of(unit, entry)) {
    add_stale(extent->first, extent->second, stale);
  } else {
    bool is_known = false;
    for (size_t i = 0; i < declaration.attributes.size(); ++i) {
      const Attribute& attribute = entry.attribute(i);
      const auto list = attribute.name == dwarf::DW_AT_ranges
                            ? reader_.list_in(unit, entry, i, Part::rnglists)
                            : std::nullopt;
      if (list) {
        for (const auto& [start, end] : ranges_.old_ranges(unit, *list))
          add_stale(start, end, stale);
      } else if (attribute.name == dwarf::DW_AT_call_return_pc ||
                 (attribute.name == dwarf::DW_AT_low_pc &&
                  declaration.tag == dwarf::DW_TAG_GNU_call_site)) {
        const auto behind = reader_.address_in(unit, entry, i);
        if (behind && *behind != 0) add_stale(*behind - 1, *behind, stale);
      } else {
        continue;
      }
      is_known = true;
    }
    if (!is_known) return scopes_.empty() ? nullptr : scopes_.back();
  }
  return stale.none() ? nullptr : &*known_stale_.insert(std::move(stale)).first;
}

void StaleScopes::enter(const Unit& unit, const Entry* entry) {
  if (!map_.has_stale_values()) return;
  if (entry != nullptr)
    scopes_.push_back(stale_inside(unit, *entry));
  else
    scopes_.push_back(scopes_.empty() ? nullptr : scopes_.back());
}

void StaleScopes::leave() {
  if (!scopes_.empty()) scopes_.pop_back();
}

bool StaleScopes::is_stale(const Unit& unit, uint16_t tag, const Attribute& attribute,
                           std::span<const uint8_t> expression) const {
  if (scopes_.empty() || scopes_.back() == nullptr) return false;
  switch (attribute.name) {
    case dwarf::DW_AT_location:  // of a call's parameter: where the callee looks for it
      return tag != dwarf::DW_TAG_call_site_parameter &&
             tag != dwarf::DW_TAG_GNU_call_site_parameter &&
             needs_any(*scopes_.back(), expression, unit.offset_size());
    case dwarf::DW_AT_call_value:
    case dwarf::DW_AT_call_data_value:
    case dwarf::DW_AT_call_target:
    case dwarf::DW_AT_GNU_call_site_value:
    case dwarf::DW_AT_GNU_call_site_data_value:
    case dwarf::DW_AT_GNU_call_site_target:
      return needs_any(*scopes_.back(), expression, unit.offset_size());
    default:
      return false;
  }
}

}  // namespace respike::debug
