#pragma once
// Count sets: counts of one shape that are kept apart from others, e.g. those of one day. Internal
// to database*.cc and merging.

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiledb/counts.h"
#include "profiledb/database.h"

namespace respike {

class Session;

/// Procedures with counts, each with its ordinal in a shape; sorted by ordinal.
using EnteredProcedures = std::vector<std::pair<uint32_t, ProcedureProfile>>;

/// The highest weight of a run or a profile.
inline constexpr double kMostWeight = 1e6;

/// The value of RunRow::ended when no process saw the end.
inline constexpr std::string_view kUnknownEnd = "unknown";

/// Days since 1970.
int64_t current_day();

/// The count set of a shape with this purpose, day and weight; added if there is none. This and the
/// next two functions must be called inside a transaction.
Id find_set(Database::State& state, Id shape, const std::string& purpose, int64_t day,
            double weight);
/// Adds an empty count set.
Id add_set(Database::State& state, Id shape, const std::string& purpose, int64_t day,
           double weight);
/// Calls `each` with the ordinal and the counts of each procedure of a count set of this shape, in
/// the order of ordinals.
void for_each_counted(Session& session, Id set, const Shape& shape,
                      const std::function<void(uint32_t, const ProcedureProfile&)>& each);
/// Adds the counts of `entered` and a number of runs to a count set.
void add_to_set(Database::State& state, Id set, const EnteredProcedures& entered, double runs);

}  // namespace respike
