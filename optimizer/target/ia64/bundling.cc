// Packing instructions into bundles.
//
// The order stays, so it is enough to fill each bundle with as many of the next instructions as any
// template takes: whoever has packed more of a list never needs more bundles for the rest, since
// the bundles of a longer rest also hold a shorter one. A template takes instructions from left to
// right, each into the first slot that fits it. Stops need no choice: every template exists with
// and without a stop at its end, and those with a stop inside of them exist without it, so that a
// stop is only ever set where one is asked for.
//
// Among templates that take the same number the first one of kShapes wins. MMI and its kin come
// first, since the processor has four M units, but two I units, and an instruction of type A does
// with both.
//
// Sources: Intel Itanium Architecture Software Developer's Manual, volume 1, section 3.3 (bundles,
// groups), volume 3, table 4-3 (templates); br.cloop, br.ctop and the like must be in slot 2
// (volume 3, "br").

#include "optimizer/target/ia64/bundling.h"

#include <array>
#include <cassert>

#include "optimizer/target/ia64/codec.h"
#include "optimizer/target/ia64/meaning.h"

namespace respike::ia64 {
namespace {

struct Shape {
  Unit units[3];
  int stop;  // behind this slot; none at -1. One at the end comes on top
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

/// An instruction to be packed; of a long one each half.
struct Item {
  uint32_t index;  // in the list
  Op op;
  bool stop;  // behind it
};

/// Which item each slot of a bundle holds, counted from the bundle's first; -1: a no-op.
struct Filling {
  const Shape* shape = nullptr;
  int items[3] = {-1, -1, -1};
  int taken = 0;
};

bool fits(Op op, const Shape& shape, int slot) {
  return fits_unit(op, shape.units[slot]) && (slot == 2 || !is_loop_branch(op));
}

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
      items.push_back({i, op, has_stop(code[i])});
    }
  }
  if (!items.empty() && stop_at_end) items.back().stop = true;
  return items;
}

/// What a bundle of this shape takes of `items`. A stop is wanted behind the bundle's last item or
/// where the shape has one; a shape whose stop nobody wants takes nothing.
Filling fill(const Shape& shape, std::span<const Item> items) {
  Filling filling{.shape = &shape};
  bool stop = false;  // wanted in front of the next item
  for (int slot = 0; slot < 3 && filling.taken < static_cast<int>(items.size()); ++slot) {
    if (shape.stop >= 0 && slot == shape.stop + 1) {
      if (!stop) return {.shape = &shape};
      stop = false;
    }
    if (stop) {
      if (slot <= shape.stop) continue;
      break;
    }
    const Item& item = items[static_cast<size_t>(filling.taken)];
    if (!fits(item.op, shape, slot)) continue;
    filling.items[slot] = filling.taken++;
    stop = item.stop;
  }
  return filling;
}

Filling best_filling(std::span<const Item> items) {
  Filling best;
  for (const Shape& shape : kShapes) {
    const Filling filling = fill(shape, items);
    if (filling.taken > best.taken) best = filling;
  }
  assert(best.taken > 0);  // each type of instruction has a slot in some shape
  return best;
}

/// Calls f(filling, its items) for one bundle after the other.
template <typename F>
void for_each_bundle(std::span<const Item> items, F f) {
  while (!items.empty()) {
    const Filling filling = best_filling(items);
    const auto taken = static_cast<size_t>(filling.taken);
    f(filling, items.first(taken));
    items = items.subspan(taken);
  }
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
  for_each_bundle(items, [&](const Filling& filling, std::span<const Item> taken) {
    const auto start = static_cast<uint32_t>(result.slots.size() / 3 * kBundleSize);
    for (int slot = 0; slot < 3; ++slot) {
      const Unit unit = filling.shape->units[slot];
      const Item* item = filling.items[slot] < 0 ? nullptr : &taken[filling.items[slot]];
      Instruction& out = result.slots.emplace_back(item ? code[item->index] : nop(unit));
      set_unit(out, unit);
      set_stop(out, slot == filling.shape->stop || (slot == 2 && taken.back().stop));
      if (item) result.places[item->index] = start + static_cast<uint32_t>(slot);
    }
  });
  auto next = static_cast<uint32_t>(result.slots.size() / 3 * kBundleSize);
  for (size_t i = code.size(); i-- > 0; next = result.places[i])
    if (result.places[i] == kNone) result.places[i] = next;
  return result;
}

size_t bundle_count(std::span<const Instruction> code) {
  size_t count = 0;
  for_each_bundle(items_of(code, true), [&](const Filling&, std::span<const Item>) { ++count; });
  return count;
}

}  // namespace respike::ia64
