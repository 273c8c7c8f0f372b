#pragma once
// What a profile says, for lists of procedures and their blocks.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/profile/profile.h"

namespace respike {

/// Sums over a profile.
struct ProfileFigures {
  uint64_t procedures = 0, entered = 0;
  uint64_t not_exact = 0;     // procedures
  uint64_t instructions = 0;  // executed, at most 2^64 - 1

  bool operator==(const ProfileFigures&) const = default;
};
ProfileFigures figures_of(const Profile& profile);

/// The procedures that `names` name, or all if there are no names; the one that executed most comes
/// first. A name is NAME, or NAME@ADDRESS when several procedures have the name. Throws Error, with
/// the profile's `file`, for a name that no procedure has.
std::vector<const ProcedureProfile*> hottest_first(const Profile& profile,
                                                   const std::vector<std::string>& names,
                                                   const std::string& file);

/// By address of the procedure.
using ProcedureNames = std::map<uint64_t, std::string>;
ProcedureNames names_by_address(const Profile& profile);
/// The name of the procedure with an address; if it has none, the address, or `none` for address 0.
std::string name_or_address(const ProcedureNames& names, uint64_t address, std::string_view none);

/// The successors of each block, with counts: "taken 4: 1,204, 5: 17", "calls memcpy, 3: 12".
std::vector<std::string> ways_on(const ProcedureProfile& procedure, const ProcedureNames& names);

/// "fall_through", "taken", "indirect", "landing_pad".
std::string_view name_of(ProcedureProfile::Edge::Kind kind);

}  // namespace respike
