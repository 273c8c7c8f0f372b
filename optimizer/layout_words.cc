// Layouts by name, as the command line and the database know them.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "optimizer/pipeline.h"

namespace respike {

const char* best_layout(const Profile& profile) {
  const bool ran = std::any_of(profile.procedures.begin(), profile.procedures.end(),
                               [](const ProcedureProfile& p) { return p.entered(); });
  return ran ? kBestLayout : kBestLayoutByEstimates;
}

std::optional<std::string> parse_layout(std::string_view list, OptimizeOptions& options) {
  using Order = OptimizeOptions::Order;
  using Blocks = LayoutOptions::Blocks;
  using Pieces = LayoutOptions::Pieces;
  for (const auto& [name, order] : {std::pair{"original", Order::original},
                                    {"random", Order::random},
                                    {"scatter", Order::scatter}})
    if (list == name) {
      options.order = order;
      return std::nullopt;
    }
  options.order = Order::profiled;
  LayoutOptions& layout = options.layout;
  layout = {};
  const auto set = [&]<typename T>(T& choice, T value) {
    const bool again = choice != T{};
    choice = value;
    return !again;
  };
  for (bool more = true; more;) {
    const size_t comma = list.find(',');
    const std::string_view word = list.substr(0, comma);
    more = comma != std::string_view::npos;
    if (more) list.remove_prefix(comma + 1);
    bool fine = false;
    if (word == "chain") fine = set(layout.blocks, Blocks::chain);
    if (word == "ext-tsp") fine = set(layout.blocks, Blocks::ext_tsp);
    if (word == "split") fine = set(layout.split, true);
    if (word == "place") fine = set(layout.pieces, Pieces::place);
    if (word == "colour") fine = set(layout.pieces, Pieces::colour);
    if (word == "cdsort") fine = set(layout.pieces, Pieces::cache_sorted);
    if (!fine)
      return fmt::format(
          "\"{}\" is out of place: a layout is original, random, scatter, or a list out of "
          "chain|ext-tsp, split, place|colour|cdsort",
          word);
  }
  return std::nullopt;
}

}  // namespace respike
