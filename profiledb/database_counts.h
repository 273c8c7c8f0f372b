#pragma once
// Count sets: counts of one shape that are kept apart. Internal to database*.cc and merging.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "profiledb/database.h"

namespace respike {

/// Procedures with counts and their ordinals in a shape.
using EnteredProcedures = std::vector<std::pair<uint32_t, ProcedureProfile>>;

/// Weights of runs, profiles and confidence.
inline constexpr double kMostWeight = 1e6;

/// RunRow::ended when nobody saw it.
inline constexpr std::string_view kUnknownEnd = "unknown";

/// Days since 1970.
int64_t current_day();

/// The set of a shape with this purpose, day and weight; added if there is none. These functions
/// are for the inside of transactions.
Id find_set(Database::State& state, Id shape, const std::string& purpose, int64_t day,
            double weight);
/// A new one.
Id add_set(Database::State& state, Id shape, const std::string& purpose, int64_t day,
           double weight);
/// Adds counts to a set, and so many runs.
void add_to_set(Database::State& state, Id set, const EnteredProcedures& entered, double runs);

}  // namespace respike
