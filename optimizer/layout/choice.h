#pragma once
// Which order of the code is wanted, in words, and that order.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "optimizer/ir/program.h"
#include "optimizer/layout/profiled.h"
#include "optimizer/profile/profile.h"

namespace respike {

struct LayoutChoice {
  enum class Order { original, random, scatter, profiled };
  Order order = Order::profiled;
  LayoutOptions layout;  // Order::profiled
  uint64_t seed = 1;     // Order::random, Order::scatter
};

/// The best known layouts, with counts and without: estimates know a branch's likely side, but not
/// what a program does often.
inline constexpr const char* kBestLayout = "ext-tsp,split,colour";
inline constexpr const char* kBestLayoutByEstimates = "ext-tsp";
/// The one of these two layouts that fits the profile. An empty profile is treated like no profile.
const char* best_layout(const Profile& profile);

/// Sets `order` and `layout` as a list of words says (docs/commands.md, --layout). Returns nullopt,
/// or what is wrong with the list.
std::optional<std::string> parse_layout(std::string_view list, LayoutChoice& choice);

/// The order that is wanted. With `only_if_gained` and a forecast, a layout by counts that costs
/// more than the input gives way to a cheaper layout, in which procedures stay together in the
/// input's order. `input`: executed_in_input(); `forecast`: filled by Order::profiled, or null.
Layout make_layout(const Program& program, const LayoutChoice& choice, bool only_if_gained,
                   std::span<const ExecutedCode> input, Forecast* forecast);

}  // namespace respike
