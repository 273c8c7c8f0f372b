#pragma once
// The words of the text form, in the order of the enumerations; private to this folder.

#include <array>
#include <string_view>

#include "optimizer/ir/program.h"

namespace respike {

inline constexpr std::array<std::string_view, 17> kReferenceKindNames = {
    "branch",        "branch_hint",     "gp_high",   "gp_low",        "gp_load_high",
    "gp_load_low",   "gp_offset",       "pc_high",   "pc_low",        "address_high",
    "address_low",   "address64",       "address32", "gp_relative32", "pc_relative32",
    "pc_relative64", "table_relative32"};
static_assert(kReferenceKindNames.size() ==
              static_cast<size_t>(ReferenceKind::table_relative32) + 1);

inline constexpr std::array<std::string_view, 4> kEdgeKindNames = {"fall_through", "taken",
                                                                   "indirect", "landing_pad"};
static_assert(kEdgeKindNames.size() == static_cast<size_t>(Edge::Kind::landing_pad) + 1);

inline constexpr std::array<std::string_view, 7> kCfiRuleNames = {
    "undefined", "same_value", "offset", "val_offset", "register", "expression", "val_expression"};
static_assert(kCfiRuleNames.size() == static_cast<size_t>(CfiRule::Kind::val_expression) + 1);

struct BlockFlagName {
  uint32_t flag;
  std::string_view name;
};
inline constexpr std::array<BlockFlagName, 5> kBlockFlagNames = {{
    {BasicBlock::kEntry, "entry"},
    {BasicBlock::kAddressTaken, "address_taken"},
    {BasicBlock::kLandingPad, "landing_pad"},
    {BasicBlock::kGluedToNext, "glued"},
    {BasicBlock::kMayLeave, "may_leave"},
}};

}  // namespace respike
