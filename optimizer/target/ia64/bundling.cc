// Packing instructions into bundles, each as full as it gets.

#include "optimizer/target/ia64/bundling.h"

#include <algorithm>

#include "optimizer/base/error.h"
#include "optimizer/target/ia64/codec.h"
#include "optimizer/target/ia64/meaning.h"

namespace respike::ia64 {
namespace {

Instruction no_op(Unit unit) {
  Instruction result;
  const Op op = unit == Unit::m   ? Op::nop_m
                : unit == Unit::i ? Op::nop_i
                : unit == Unit::f ? Op::nop_f
                                  : Op::nop_b;
  result.opcode = opcode(op);
  set_unit(result, unit);
  return result;
}

bool only_last(const Instruction& i) {
  switch (op_of(i)) {
    case Op::br_wexit: case Op::br_wtop: case Op::br_cloop: case Op::br_cexit: case Op::br_ctop:
      return true;
    default:
      return false;
  }
}

/// How many of `code` the template takes; fills `slots`.
size_t take(const Template& t, std::span<const Instruction> code, Instruction* slots, uint32_t* place) {
  size_t next = 0;
  bool pending = false;  // a stop has to come before the next one
  for (unsigned slot = 0; slot < 3; ++slot) {
    slots[slot] = no_op(t.units[slot]);
    const bool fits = next < code.size() && !pending && fits_unit(op_of(code[next]), t.units[slot]) &&
                      (slot == 2 || !only_last(code[next]));
    const bool filler_ok = t.units[slot] != Unit::l && t.units[slot] != Unit::x;
    if (!fits && !filler_ok) return 0;
    if (fits) {
      slots[slot] = code[next];
      set_unit(slots[slot], t.units[slot]);
      place[next] = slot;
      pending = has_stop(code[next]);
      ++next;
    }
    set_stop(slots[slot], t.stops[slot]);
    if (t.stops[slot]) pending = false;
  }
  return pending ? 0 : next;
}

}  // namespace

Bundled bundle(std::span<const Instruction> code) {
  std::vector<Instruction> kept;
  Bundled result;
  std::vector<size_t> number(code.size());
  for (size_t i = 0; i < code.size(); ++i) {
    number[i] = kept.size();
    if (!is_nop(code[i]))
      kept.push_back(code[i]);
    else if (has_stop(code[i]) && !kept.empty())
      set_stop(kept.back(), true);
  }
  if (!kept.empty()) set_stop(kept.back(), true);
  std::vector<uint32_t> places(kept.size() + 1);
  std::span<const Instruction> rest = kept;
  while (!rest.empty()) {
    size_t best = 0;
    Instruction slots[3], best_slots[3];
    uint32_t place[3], best_place[3] = {};
    for (const Template& t : kTemplates) {
      if (t.units[0] == Unit::none) continue;
      const size_t count = take(t, rest, slots, place);
      if (count <= best) continue;
      best = count;
      std::copy(slots, slots + 3, best_slots);
      std::copy(place, place + 3, best_place);
    }
    if (best == 0) throw Error("an instruction fits no bundle");
    const auto base = static_cast<uint32_t>(result.slots.size() / 3 * kBundleSize);
    for (size_t i = 0; i < best; ++i) places[kept.size() - rest.size() + i] = base + best_place[i];
    result.slots.insert(result.slots.end(), best_slots, best_slots + 3);
    rest = rest.subspan(best);
  }
  places.back() = static_cast<uint32_t>(result.slots.size() / 3 * kBundleSize);
  for (const size_t n : number) result.place.push_back(places[n]);
  return result;
}

}  // namespace respike::ia64
