// The names of layouts on the command line and in the database, and the layout that a name means.
//
// A layout is one word ("original") or a list: an order of blocks, whether procedures are split,
// and an order of pieces. Each word sets one choice, and each choice may be set once.
//
// Example: "ext-tsp,split,colour" orders blocks by the ext-TSP score, parts hot from cold blocks,
// and orders pieces by colouring. "chain,ext-tsp" is an error, since both words order blocks.

#include "optimizer/layout/choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "optimizer/layout/orders.h"

namespace respike {
namespace {

/// The wanted layout. If it costs more than the input: a layout that keeps procedures together in
/// the input's order, provided that this layout costs less.
Layout make_profiled_layout(const Program& program, const LayoutOptions& wanted,
                            bool only_if_gained, std::span<const ExecutedCode> input,
                            Forecast* forecast) {
  Layout layout = profiled_layout(program, wanted, input, forecast);
  if (!only_if_gained || forecast == nullptr || !forecast->is_costlier()) return layout;
  Forecast other;
  Layout instead = profiled_layout(program, {.blocks = wanted.blocks}, input, &other);
  if (other.output.cycles >= forecast->output.cycles) return layout;
  *forecast = std::move(other);
  return instead;
}

}  // namespace

const char* best_layout(const Profile& profile) {
  const bool ran = std::any_of(profile.procedures.begin(), profile.procedures.end(),
                               [](const ProcedureProfile& p) { return p.entered(); });
  return ran ? kBestLayout : kBestLayoutByEstimates;
}

std::optional<std::string> parse_layout(std::string_view list, LayoutChoice& choice) {
  using Order = LayoutChoice::Order;
  using Blocks = LayoutOptions::Blocks;
  using Pieces = LayoutOptions::Pieces;
  for (const auto& [name, order] : {std::pair{"original", Order::original},
                                    {"random", Order::random},
                                    {"scatter", Order::scatter}})
    if (list == name) {
      choice.order = order;
      return std::nullopt;
    }
  choice.order = Order::profiled;
  LayoutOptions& layout = choice.layout;
  layout = {};
  const auto set = [&]<typename T>(T& part, T value) {
    const bool again = part != T{};
    part = value;
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

Layout make_layout(const Program& program, const LayoutChoice& choice, bool only_if_gained,
                   std::span<const ExecutedCode> input, Forecast* forecast) {
  switch (choice.order) {
    case LayoutChoice::Order::original:
      return original_layout(program);
    case LayoutChoice::Order::random:
      return random_layout(program, choice.seed);
    case LayoutChoice::Order::scatter:
      return scattered_layout(program, choice.seed);
    case LayoutChoice::Order::profiled:
      return make_profiled_layout(program, choice.layout, only_if_gained, input, forecast);
  }
  return {};
}

}  // namespace respike
