// Packing instructions into bundles.
//
// The order stays. The fewest bundles are found greedily: each bundle takes as many of the next
// instructions as any template allows. A packing that is further down the list never needs more
// bundles for the rest, since the bundles of a longer rest also hold a shorter rest. A template
// takes instructions from left to right, each into the first slot that fits the instruction. Stops
// need no choice: every template exists with and without a stop at its end, and templates with a
// stop inside exist without this stop, so stops are set only where the code has stops.
//
// Example: ld8, ld8;; add, br;; takes two bundles. MMI holds the loads, with a no-op in slot 2 and
// the stop after it; MIB holds the add in slot 0, a no-op and the branch.
//
// Many packings have the fewest bundles, and some of these issue faster. The processor takes two
// bundles a cycle and has two I units, which no-ops also occupy. So among all packings with the
// fewest bundles, the packing with the fewest cycles by these two rules from a fresh start is
// taken; among several such packings, the packing with the fullest last bundle. Other ports do not
// count, nor does the place where a branch enters.
//
// Sources: Intel Itanium Architecture Software Developer's Manual, volume 1, section 3.3 (bundles,
// groups), volume 3, table 4-3 (templates); br.cloop, br.ctop and the like must be in slot 2
// (volume 3, "br"). Issue: see models/itanium2/issue.cc.

#include "optimizer/machine/ia64/bundling.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>

#include "optimizer/machine/ia64/codec.h"
#include "optimizer/machine/ia64/meaning.h"

namespace respike::ia64 {
namespace {

struct Shape {
  Unit units[3];
  int stop;  // after this slot; -1: none. The bundle may also have a stop at its end
};

constexpr Unit M = Unit::m, I = Unit::i, F = Unit::f, B = Unit::b, L = Unit::l, X = Unit::x;
constexpr std::array<Shape, 12> kShapes = {{{{M, M, I}, -1},
                                            {{M, M, I}, 0},
                                            {{M, I, I}, -1},
                                            {{M, I, I}, 1},
                                            {{M, F, I}, -1},
                                            {{M, M, F}, -1},
                                            {{M, I, B}, -1},
                                            {{M, M, B}, -1},
                                            {{M, F, B}, -1},
                                            {{M, B, B}, -1},
                                            {{B, B, B}, -1},
                                            {{M, L, X}, -1}}};

/// An instruction to be packed, or half of a long instruction.
struct Item {
  uint32_t index;     // in the list
  uint8_t units;      // units whose slots the item fits, a bit per Unit
  bool in_last_slot;  // fits no other slot
  bool stop;          // after the item

  bool fits(Unit unit) const { return (units >> static_cast<unsigned>(unit) & 1) != 0; }
};

uint8_t units_of(Op op) {
  unsigned units = 0;
  for (const Unit unit : {M, I, F, B, L, X})
    if (fits_unit(op, unit)) units |= 1u << static_cast<unsigned>(unit);
  return static_cast<uint8_t>(units);
}

/// Which item each slot of a bundle holds, counted from the bundle's first item; -1: a no-op.
struct Filling {
  const Shape* shape = nullptr;
  int items[3] = {-1, -1, -1};
  int taken = 0;
};

Op nop_of(Unit unit) {
  switch (unit) {
    case Unit::m:
      return Op::nop_m;
    case Unit::i:
      return Op::nop_i;
    case Unit::f:
      return Op::nop_f;
    default:
      return Op::nop_b;
  }
}

std::vector<Item> items_of(std::span<const Instruction> code, bool stop_at_end) {
  std::vector<Item> items;
  items.reserve(code.size());
  for (uint32_t i = 0; i < code.size(); ++i) {
    const Op op = op_of(code[i]);
    assert(!code[i].is_pseudo() && op != Op::invalid);
    const bool half_of_nop =
        op == Op::long_half && i + 1 < code.size() && op_of(code[i + 1]) == Op::nop_x;
    if (is_nop(code[i])) {
      if (has_stop(code[i]) && !items.empty()) items.back().stop = true;
    } else if (!half_of_nop) {
      items.push_back({i, units_of(op), is_loop_branch(op), has_stop(code[i])});
    }
  }
  if (!items.empty() && stop_at_end) items.back().stop = true;
  return items;
}

/// The items that a bundle of this shape takes. An item with a stop must be the bundle's last item
/// or come before the shape's stop; a shape takes nothing if no item needs the shape's stop.
Filling fill(const Shape& shape, std::span<const Item> items) {
  Filling filling{.shape = &shape};
  bool stop = false;            // needed before the next item
  bool stops = shape.stop < 0;  // the shape's stop, if any, has items on both sides
  for (int slot = 0; slot < 3 && filling.taken < static_cast<int>(items.size()); ++slot) {
    if (shape.stop >= 0 && slot == shape.stop + 1) {
      if (!stop) break;
      stop = false;
    }
    if (stop) {
      if (slot <= shape.stop) continue;
      break;
    }
    const Item& item = items[static_cast<size_t>(filling.taken)];
    if (!item.fits(shape.units[slot]) || (item.in_last_slot && slot != 2)) continue;
    filling.items[slot] = filling.taken++;
    stop = item.stop;
    stops = stops || slot > shape.stop;
  }
  if (!stops) filling.taken = 0;
  return filling;
}

/// The filling that takes the most items.
Filling best_filling(std::span<const Item> items) {
  Filling best;
  for (const Shape& shape : kShapes) {
    const Filling filling = fill(shape, items);
    if (filling.taken > best.taken) best = filling;
    if (best.taken == 3) break;
  }
  assert(best.taken > 0);  // each type of instruction has a slot in some shape
  return best;
}

// ---- which of the shortest packings ----

/// What one cycle has issued so far, at the end of a bundle.
struct Window {
  uint8_t bundles = 0;  // 0: the next cycle has not begun
  uint8_t i = 0;        // I ports in use
  static constexpr uint8_t kMostBundles = 2, kMostI = 2;
  static constexpr size_t kCount = (kMostBundles + 1) * (kMostI + 1);
  size_t index() const { return bundles * (kMostI + size_t{1}) + i; }
  static Window at(uint8_t index) {
    return {static_cast<uint8_t>(index / (kMostI + 1)), static_cast<uint8_t>(index % (kMostI + 1))};
  }
};

/// Issues a bundle; returns how many cycles the bundle's groups need beyond one cycle each.
uint32_t issue(const Filling& filling, std::span<const Item> items, Window& window) {
  uint32_t splits = 0;
  const auto next_cycle = [&](bool split) {
    window = {.bundles = 1, .i = 0};
    splits += split;
  };
  if (window.bundles == Window::kMostBundles)
    next_cycle(true);
  else
    ++window.bundles;
  for (int slot = 0; slot < 3; ++slot) {
    const Unit unit = filling.shape->units[slot];
    const int item = filling.items[slot];
    if (unit == I) {
      const bool on_m_too = item >= 0 && items[static_cast<size_t>(item)].fits(M);
      if (window.i < Window::kMostI)
        ++window.i;
      else if (!on_m_too)
        next_cycle(true), window.i = 1;
    }
    if (slot == filling.shape->stop) next_cycle(false);
  }
  if (items[static_cast<size_t>(filling.taken) - 1].stop) window = {};
  return splits;
}

/// The last bundle of one packing of the first items, and the window before this bundle.
struct Step {
  uint8_t shape = 0;  // of kShapes
  uint8_t taken = 0;  // items
  uint8_t window = 0;
};

/// Dynamic programming over the number of packed items and the window after them. Only bundles
/// after which the rest needs the fewest bundles are tried, so all ways to a state have the same
/// number of bundles.
std::vector<Filling> best_packing(std::span<const Item> items) {
  constexpr uint32_t kNever = std::numeric_limits<uint32_t>::max();
  std::vector<uint32_t> left(items.size() + 1);  // the fewest bundles of the items from there on
  for (size_t at = items.size(); at-- > 0;)
    left[at] = 1 + left[at + static_cast<size_t>(best_filling(items.subspan(at)).taken)];
  std::array<std::array<uint32_t, Window::kCount>, 4> splits;  // by the number of items, modulo 4
  for (auto& each : splits) each.fill(kNever);
  splits[0][0] = 0;
  std::vector<std::array<Step, Window::kCount>> steps(items.size() + 1);
  for (size_t at = 0; at < items.size(); ++at) {
    auto& here = splits[at % 4];
    const bool reached = std::ranges::any_of(here, [](uint32_t n) { return n != kNever; });
    for (uint8_t shape = 0; reached && shape < kShapes.size(); ++shape)
      for (size_t most = std::min<size_t>(3, items.size() - at); most != 0; --most) {
        const auto rest = items.subspan(at, most);
        const Filling filling = fill(kShapes[shape], rest);
        if (filling.taken == 0) break;
        most = static_cast<size_t>(filling.taken);
        if (left[at + most] + 1 != left[at]) break;  // with fewer items the rest is no smaller
        for (uint8_t w = 0; w < Window::kCount; ++w) {
          if (here[w] == kNever) continue;
          Window window = Window::at(w);
          const uint32_t count = here[w] + issue(filling, rest, window);
          if (at + most == items.size()) window = {};  // with or without a stop there
          uint32_t& least = splits[(at + most) % 4][window.index()];
          if (count >= least) continue;
          least = count;
          steps[at + most][window.index()] = {shape, static_cast<uint8_t>(most), w};
        }
      }
    here.fill(kNever);
  }
  std::vector<Filling> result;
  for (size_t at = items.size(), window = 0; at != 0;) {
    const Step step = steps[at][window];
    at -= step.taken;
    window = step.window;
    result.push_back(fill(kShapes[step.shape], items.subspan(at, step.taken)));
  }
  std::reverse(result.begin(), result.end());
  return result;
}

Instruction nop(Unit unit) {
  Instruction instruction;
  instruction.opcode = opcode(nop_of(unit));
  return instruction;
}

}  // namespace

Bundled bundle(std::span<const Instruction> code, bool stop_at_end) {
  const std::vector<Item> items = items_of(code, stop_at_end);
  Bundled result;
  result.slots.reserve(items.size() * 3 / 2);
  result.places.assign(code.size(), kNone);
  size_t first = 0;  // the first item of the bundle
  for (const Filling& filling : best_packing(items)) {
    const auto taken = std::span(items).subspan(first, static_cast<size_t>(filling.taken));
    first += taken.size();
    const auto start = static_cast<uint32_t>(result.slots.size() / 3 * kBundleSize);
    for (int slot = 0; slot < 3; ++slot) {
      const Unit unit = filling.shape->units[slot];
      const Item* item = filling.items[slot] < 0 ? nullptr : &taken[filling.items[slot]];
      Instruction& out = result.slots.emplace_back(item ? code[item->index] : nop(unit));
      set_unit(out, unit);
      set_stop(out, slot == filling.shape->stop || (slot == 2 && taken.back().stop));
      if (item) result.places[item->index] = start + static_cast<uint32_t>(slot);
    }
  }
  auto next = static_cast<uint32_t>(result.slots.size() / 3 * kBundleSize);
  for (size_t i = code.size(); i-- > 0; next = result.places[i])
    if (result.places[i] == kNone) result.places[i] = next;
  return result;
}

size_t bundle_count(std::span<const Instruction> code) {
  const std::vector<Item> items = items_of(code, true);
  size_t count = 0;
  for (auto rest = std::span(items); !rest.empty(); ++count)
    rest = rest.subspan(static_cast<size_t>(best_filling(rest).taken));
  return count;
}

}  // namespace respike::ia64
