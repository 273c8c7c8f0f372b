// Gp-relative addresses formed by two instructions, one for each half.
//
// Relocations give symbol and addend. Where symbol and addend distinguish the address from all
// other addresses of the procedure, nothing else is needed: every upper half belongs to every lower
// half. Where sections of one object were merged and their addends are wrong, several addresses
// share symbol and addend, and it matters to which upper half a lower half adds. A search over the
// flow of control finds this upper half (half_tracer.cc). The distance between instructions says
// nothing, since a rewriting changes it.
//
// An upper half may serve several lower halves, and several upper halves may reach a lower half.
// But they must agree on one address, since emission fills in all of them by their target. Where an
// address remains unknown, the procedure is opaque, and everything to which its halves may refer
// stays.
//
// The linker's fields are trusted: a lower half on a path that is taken adds to an upper half of
// its address. So one taken path is enough, and where all paths lead to the same upper half, the
// address is known.
//
// Example: .text+8 occurs twice with the upper halves 0x10000 and 0x20000 and the lower halves 8
// and 16. Four sums are possible, and two of them are addresses of the program.

#include "optimizer/lift/halves.h"

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "optimizer/lift/half_tracer.h"
#include "optimizer/lift/jumps.h"
#include "optimizer/lift/references.h"

namespace respike {
namespace {

/// The register to which a lower half adds.
Register base_of(const Lifter& lifter, const Half& low) {
  const Operands operands = lifter.machine.operands(*lifter.instruction_at(low.place));
  // A store names the value to store before its base.
  return operands.uses != 0 ? operands.registers[operands.uses - 1] : 0;
}

std::vector<uint64_t> distinct(std::vector<uint64_t> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

std::vector<uint64_t> values_of(std::span<const Half> halves) {
  std::vector<uint64_t> values;
  for (const Half& half : halves) values.push_back(half.value);
  return distinct(std::move(values));
}

}  // namespace

void GpHalves::collect() {
  for_each_code_relocation(lifter_, [&](uint32_t range, const Relocation& relocation) {
    const RelocationRole role = relocation.role;
    if (role != RelocationRole::gp_high && role != RelocationRole::gp_low) return;
    const ProcedureId procedure = lifter_.program.ranges[range].procedure;
    const bool low = role == RelocationRole::gp_low;
    if (!lifter_.is_half(relocation.address, low)) {
      lifter_.make_opaque(
          lifter_.program[procedure],
          fmt::format("the relocation at {:#x} does not fit its instruction", relocation.address));
      return;
    }
    const auto value = static_cast<uint64_t>(
        lifter_.machine.fixups.field(*lifter_.instruction_at(relocation.address),
                                     low ? ReferenceKind::gp_low : ReferenceKind::gp_high));
    halves_.push_back(
        {procedure, relocation.symbol, relocation.addend, low, relocation.address, value});
  });
  std::sort(halves_.begin(), halves_.end());
}

/// The group of halves_[begin, end), which have one key, upper halves first.
HalfGroup GpHalves::group_of(size_t begin, size_t end) const {
  const auto halves = std::span(halves_).subspan(begin, end - begin);
  const auto middle =
      std::find_if(halves.begin(), halves.end(), [](const Half& h) { return h.low; });
  HalfGroup group;
  group.highs = halves.first(static_cast<size_t>(middle - halves.begin()));
  group.lows = halves.subspan(group.highs.size());
  group.moving = refers_to_moving(lifter_, halves.front().symbol);
  const auto highs = values_of(group.highs), lows = values_of(group.lows);
  constexpr size_t kMostSums = 1 << 20;  // more is hostile
  if (!highs.empty() && lows.size() > kMostSums / highs.size())
    throw Error(fmt::format("too many halves at {:#x} may be of one address", halves.front().place),
                lifter_.image.path);
  for (const uint64_t high : highs)
    for (const uint64_t low : lows) group.sums.push_back(high + low);
  group.sums = distinct(std::move(group.sums));
  return group;
}

uint64_t GpHalves::target_of(const HalfGroup& group, uint64_t sum) const {
  return lifter_.gp_of(lifter_.program[group.front().procedure]) + sum;
}

bool GpHalves::is_table(uint64_t target) const {
  return std::binary_search(lifter_.table_words.begin(), lifter_.table_words.end(), target);
}

void GpHalves::refer(const Half& half, uint64_t target) {
  if (!is_border(lifter_, half.symbol, target))
    add_formed_address(lifter_, lifter_.program[half.procedure], half.place, target,
                       half.low ? ReferenceKind::gp_low : ReferenceKind::gp_high);
}

void GpHalves::read(HalfGroup group) {
  Procedure& procedure = lifter_.program[group.front().procedure];
  const bool gp_unknown = lifter_.is_gp_unknown(procedure);
  if (!group.moving && (gp_unknown || group.sums.empty())) return;
  if (group.highs.empty())
    throw Error(fmt::format("half of an address of code stands alone at {:#x}, so that nobody can "
                            "tell which code must stay",
                            group.front().place),
                lifter_.image.path);
  if (gp_unknown) {
    refuse_unknown(lifter_, group.front().place, group.front().symbol);
    lifter_.make_opaque(
        procedure,
        fmt::format("it refers to code relative to an unknown gp at {:#x}", group.front().place));
    unknown_.push_back(std::move(group));
  } else if (group.lows.empty()) {
    lifter_.make_opaque(procedure, fmt::format("half of an address of code stands alone at {:#x}",
                                               group.front().place));
  } else {
    const bool choice = note_tables(group);
    if (group.moving ? group.sums.size() > 1 : choice)
      open_.push_back(std::move(group));
    else if (group.moving)
      for (const auto halves : {group.highs, group.lows})
        for (const Half& half : halves) refer(half, target_of(group, group.sums.front()));
  }
}

/// Notes every table to which a lower half may refer as used, until settle() decides. Returns
/// whether there is a choice.
bool GpHalves::note_tables(const HalfGroup& group) {
  const std::vector<uint64_t> highs = values_of(group.highs);
  bool any = false;
  for (const Half& low : group.lows)
    for (const uint64_t high : highs)
      if (const uint64_t target = target_of(group, high + low.value); is_table(target)) {
        lifter_.tables.push_back({low.place, target});
        any = true;
      }
  return any && highs.size() > 1;
}

void GpHalves::find() {
  collect();
  for (size_t i = 0; i < halves_.size();) {
    size_t j = i;
    while (j < halves_.size() && halves_[j].key() == halves_[i].key()) ++j;
    read(group_of(i, j));
    i = j;
  }
}

void GpHalves::keep_unknown(WordGps& gps) const {
  for (const HalfGroup& group : unknown_)
    for (const uint64_t sum : group.sums)
      gps.keep_targets(group.lows.empty() ? group.front().place : group.lows.front().place,
                       static_cast<int64_t>(sum));
}

/// The addresses of open groups to which control may get.
std::vector<uint64_t> GpHalves::labels() const {
  std::vector<uint64_t> result;
  for (const HalfGroup& group : open_)
    if (group.moving)
      for (const uint64_t sum : group.sums) result.push_back(target_of(group, sum));
  return distinct(std::move(result));
}

/// The addresses of the halves, upper halves first; nullopt for an address that does not matter.
/// Empty when an address that matters is unknown.
std::vector<std::optional<uint64_t>> GpHalves::targets_of(const HalfGroup& group,
                                                          HalfTracer& tracer) const {
  const std::vector<uint64_t> highs = values_of(group.highs);
  std::vector<uint64_t> places;
  for (const Half& high : group.highs) places.push_back(high.place);
  std::vector<std::optional<uint64_t>> targets(group.highs.size() + group.lows.size());
  for (size_t i = 0; i < group.lows.size(); ++i) {
    const Half& low = group.lows[i];
    // Data stays in place: only addresses that may be tables matter.
    if (!group.moving && std::ranges::none_of(highs, [&](uint64_t high) {
          return is_table(target_of(group, high + low.value));
        }))
      continue;
    auto& target = targets[group.highs.size() + i];
    for (const uint64_t place : tracer.sources(low.place, base_of(lifter_, low), places)) {
      const auto at = static_cast<size_t>(std::ranges::lower_bound(places, place) - places.begin());
      const uint64_t sum = target_of(group, group.highs[at].value + low.value);
      if (target.value_or(sum) != sum) return {};
      if (group.moving && targets[at].value_or(sum) != sum) return {};
      target = targets[at] = sum;
    }
    if (!target) return {};
  }
  const bool complete = std::ranges::all_of(targets, [](const auto& t) { return t.has_value(); });
  if (group.moving && !complete) return {};
  return targets;
}

/// False when an address is unknown; nothing has changed in that case.
bool GpHalves::settle(const HalfGroup& group, HalfTracer& tracer) {
  const auto targets = targets_of(group, tracer);
  if (targets.empty()) return false;
  const auto lows = std::span(targets).subspan(group.highs.size());
  for (size_t i = 0; i < lows.size(); ++i)
    if (lows[i]) settled_.emplace(group.lows[i].place, *lows[i]);
  if (!group.moving) return true;
  for (size_t i = 0; i < group.highs.size(); ++i) refer(group.highs[i], *targets[i]);
  for (size_t i = 0; i < lows.size(); ++i) refer(group.lows[i], *lows[i]);
  return true;
}

void GpHalves::keep(const HalfGroup& group, uint64_t target) {
  const uint32_t range = lifter_.range_at(target);
  if (range == kNone) return;
  lifter_.make_opaque(lifter_.program[lifter_.program.ranges[range].procedure],
                      fmt::format("what is at {:#x} may refer to it, but by which upper half is "
                                  "not known",
                                  group.lows.front().place));
}

void GpHalves::give_up(const HalfGroup& group) {
  const uint64_t place = group.lows.front().place;
  if (group.moving && !lifter_.is_code_symbol(group.front().symbol))
    throw Error(fmt::format("{:#x} refers to unwind tables by an unknown upper half", place),
                lifter_.image.path);
  lifter_.make_opaque(
      lifter_.program[group.front().procedure],
      fmt::format("which upper half the half of an address at {:#x} adds to is not known", place));
  if (!group.moving) return;
  for (const uint64_t sum : group.sums) keep(group, target_of(group, sum));
}

void GpHalves::settle() {
  if (open_.empty()) return;
  effort_ = Effort(lifter_).instructions;
  const auto& ranges = lifter_.program.ranges;
  std::vector<std::vector<uint32_t>> ranges_of(lifter_.program.procedures.size());
  for (uint32_t i = 0; i < ranges.size(); ++i) ranges_of[ranges[i].procedure].push_back(i);
  const std::vector<uint64_t> places = labels();
  std::optional<HalfTracer> tracer;
  ProcedureId traced = kNone;
  for (const HalfGroup& group : open_) {
    const ProcedureId id = group.front().procedure;
    if (id != traced) tracer.emplace(lifter_, id, ranges_of[id], places, effort_);
    traced = id;
    if (!settle(group, *tracer)) give_up(group);
  }
  std::erase_if(lifter_.tables, [&](const TableReference& table) {
    const auto known = settled_.find(table.place);
    return known != settled_.end() && known->second != table.table;
  });
}

}  // namespace respike
