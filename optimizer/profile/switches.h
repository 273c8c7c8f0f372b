#pragma once
// The large switches of a program, for matching builds: the target of the n-th word of a table.

#include <cstdint>
#include <vector>

#include "optimizer/base/bytes.h"
#include "optimizer/ir/program.h"
#include "optimizer/profile/profile.h"

namespace respike {

/// The tables of each procedure's blocks that have kLeastSwitch words or more, in the order of
/// their addresses: jump tables, and tables of labels (`&&label` in C).
std::vector<std::vector<Switch>> find_switches(const Program& program);

inline constexpr size_t kLeastSwitch = 16;

void write_switches(ByteWriter& out, const std::vector<Switch>& switches);
/// Throws Error when a target is not one of the `blocks` blocks.
std::vector<Switch> read_switches(ByteReader& in, size_t blocks);

}  // namespace respike
