// Which gp is in use where.
//
// A gp load computes gp from an anchor, an address that the base register holds: the entry of the
// procedure, the return address of the call before, or the landing pad, since the unwinder leaves
// the address to which it jumps in the register of return addresses. With gp known, the anchor is
// gp minus the displacement in the instructions, wherever the pair is.
//
// Example: "ldah gp, 2(ra); lda gp, 16(gp)" adds 0x20010 to its anchor. With gp = 0x120030010 the
// anchor is 0x120010000, the return point of a call in the procedure.
//
// Nearly all images have one gp. Very large images have a gp for each part to which the linker gave
// a global offset table of its own. There a procedure that loads no gp, and a word of a jump table,
// mean something else with each gp. Where the gp is uncertain, nothing is guessed: all code to
// which the word or the procedure may refer, with any gp of the image, stays in place, and so does
// the procedure.

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "optimizer/base/bytes.h"
#include "optimizer/lift/lifter.h"

namespace respike {
namespace {

/// The place of the lower half of a gp load.
uint64_t low_place(const Relocation& relocation) {
  return relocation.address + static_cast<uint64_t>(relocation.addend);
}

/// gp minus the anchor of a gp load; nullopt when the relocation's two instructions are not a gp
/// load.
std::optional<int64_t> gp_load_value(const Lifter& lifter, const Relocation& relocation) {
  if (!lifter.is_half(relocation.address, false) || !lifter.is_half(low_place(relocation), true))
    return std::nullopt;
  const Instruction* high = lifter.instruction_at(relocation.address);
  const Instruction* low = lifter.instruction_at(low_place(relocation));
  return lifter.machine.fixups.field(*high, ReferenceKind::gp_load_high) +
         lifter.machine.fixups.field(*low, ReferenceKind::gp_load_low);
}

/// Whether `anchor` was a landing pad of an image without unwind tables. The maker of the image
/// left the tables out, so control never gets there. A pad loads gp first, and no control comes
/// from above, except from calls that do not return (see pads.cc).
bool was_pad(const Lifter& lifter, uint64_t anchor, uint64_t gp_load) {
  if (!lifter.unwind.fdes.empty() || lifter.image.names_procedures || anchor != gp_load)
    return false;
  const CodeMap& map = lifter.map();
  const uint64_t first = lifter.code_at(anchor)->start;
  uint64_t at = anchor;
  while (at > first && lifter.is_padding(map.previous(at), at)) at = map.previous(at);
  if (at == first) return false;
  const auto before = lifter.machine.facts(*lifter.instruction_at(map.previous(at)));
  return !before.falls_through || is_call(before.flow);
}

/// Whether the base register of a gp load can hold `anchor` in this procedure.
bool is_anchor(const Lifter& lifter, const Procedure& procedure, uint64_t anchor,
               uint64_t gp_load) {
  if (anchor == procedure.address) return true;
  const bool pad =
      (lifter.marks_at(anchor) & kLandingPadMark) != 0 || was_pad(lifter, anchor, gp_load);
  const bool start = pad || lifter.is_entry_anchor(anchor, gp_load);
  const uint32_t range = lifter.range_at(start ? anchor : lifter.map().previous(anchor));
  if (range == kNone) return false;
  if (&lifter.program[lifter.program.ranges[range].procedure] != &procedure) return false;
  if (start) return true;
  const Instruction* before = lifter.instruction_at(lifter.map().previous(anchor));
  if (before == nullptr) return false;
  const ControlFlow flow = lifter.machine.facts(*before).flow;
  return is_call(flow) || lifter.machine.facts(*before).get_pc;
}

/// False when the gp load is not understood.
bool find_gp_load(Lifter& lifter, Procedure& procedure, const Relocation& relocation) {
  const auto value = gp_load_value(lifter, relocation);
  const uint64_t low = low_place(relocation);
  const uint32_t low_range = lifter.range_at(low);
  const bool inside = low_range != kNone &&
                      &lifter.program[lifter.program.ranges[low_range].procedure] == &procedure;
  const bool again = !lifter.found.empty() && lifter.found.back().pair == relocation.address;
  if (value && inside && !again) {
    const auto try_gp = [&](uint64_t gp) {
      const uint64_t anchor = gp - static_cast<uint64_t>(*value);
      if (!is_anchor(lifter, procedure, anchor, relocation.address)) return false;
      procedure.gp = gp;
      lifter.found.push_back(
          {relocation.address, anchor, relocation.address, ReferenceKind::gp_load_high});
      lifter.found.push_back({low, anchor, relocation.address, ReferenceKind::gp_load_low});
      if (anchor != procedure.address)
        lifter.mark(anchor, was_pad(lifter, anchor, relocation.address)
                                ? kLeader | kReferenced | kLandingPadMark
                                : kLeader);
      return true;
    };
    // A procedure has one gp: the gp that its first load gives.
    if (procedure.gp && try_gp(*procedure.gp)) return true;
    if (!procedure.gp) {
      const uint64_t by_entry = procedure.address + static_cast<uint64_t>(*value);
      const auto& known = lifter.program.gp_values;
      if (std::find(known.begin(), known.end(), by_entry) != known.end() && try_gp(by_entry))
        return true;
      for (uint64_t gp : known)
        if (try_gp(gp)) return true;
    }
  }
  lifter.make_opaque(procedure, fmt::format("it computes gp from an unknown address at {:#x}",
                                            relocation.address));
  return false;
}

/// Counts the gps of loads whose anchor is certain: loads at the entry of a procedure, to which the
/// procedure value points, and, only for all_gps, loads after an instruction that reads its own
/// address. Loads at entries count more, since a rewriting may move the other loads.
void count_gp_values(Lifter& lifter) {
  std::map<uint64_t, std::pair<size_t, size_t>> votes;  // at entries, elsewhere
  for_each_code_relocation(lifter, [&](uint32_t range, const Relocation& relocation) {
    if (relocation.role != RelocationRole::gp_load) return;
    const auto value = gp_load_value(lifter, relocation);
    if (!value) return;
    const uint64_t place = relocation.address;
    const CodeRange& r = lifter.program.ranges[range];
    const uint64_t gp = place + static_cast<uint64_t>(*value);
    if (place == lifter.program[r.procedure].address)
      ++votes[gp].first;
    else if (place > r.start &&
             lifter.machine.facts(*lifter.instruction_at(lifter.map().previous(place))).get_pc)
      ++votes[gp].second;
  });
  std::vector<std::pair<size_t, uint64_t>> ranked;
  for (const auto& [gp, count] : votes) ranked.emplace_back(count.first, gp);
  std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  // Each gp load may try all gps. The largest images have a few.
  constexpr size_t kMostValues = 256;
  auto& values = lifter.program.gp_values;
  for (const auto& [count, gp] : ranked) {
    lifter.all_gps.push_back(gp);
    if (count != 0 && values.size() < kMostValues) values.push_back(gp);
  }
}

/// A procedure that never loads gp shares the gp of its neighbours: they come from one object, or
/// from objects to which the linker gave one table. Between neighbours with different gps the gp is
/// unknown. A rewriting changes neighbours, but its note lists the gp of every procedure that had a
/// known gp. A procedure whose gp load is not understood (in `failed`) may use any gp, and no gp is
/// taken from procedures on its other side.
void share_gp_values(Lifter& lifter, const std::vector<bool>& failed) {
  constexpr uint64_t kNobodyKnows = ~uint64_t{0};
  auto& procedures = lifter.program.procedures;
  const bool noted = lifter.provenance && !lifter.provenance->gp_values.empty();
  if (noted)
    for (const auto& [entry, gp] : lifter.provenance->gp_values) {
      const uint32_t range = lifter.range_at(entry);
      if (range == kNone) continue;
      Procedure& procedure = procedures[lifter.program.ranges[range].procedure];
      if (!procedure.gp) procedure.gp = gp;
    }
  std::vector<std::optional<uint64_t>> next(procedures.size() + 1);
  for (size_t i = procedures.size(); i-- > 0;)
    next[i] = failed[i] ? kNobodyKnows : procedures[i].gp ? procedures[i].gp : next[i + 1];
  std::optional<uint64_t> previous;
  for (size_t i = 0; i < procedures.size(); ++i) {
    if (failed[i]) {
      previous = kNobodyKnows;
    } else if (procedures[i].gp) {
      previous = procedures[i].gp;
    } else if (noted || previous == kNobodyKnows || next[i] == kNobodyKnows ||
               (previous && next[i] && *previous != *next[i])) {
      lifter.gp_unknown[i] = true;
    } else {
      procedures[i].gp = previous ? previous : next[i];
    }
  }
}

}  // namespace

namespace {

/// Places of loads of gp from the procedure value, and what they add.
using EntryLoads = std::vector<std::pair<uint64_t, int64_t>>;

EntryLoads loads_from_procedure_value(const Lifter& lifter) {
  EntryLoads loads;
  for (const CodeSection& code : lifter.code)
    for (const Relocation& relocation : *code.relocations) {
      if (relocation.role != RelocationRole::gp_load) continue;
      const auto value = gp_load_value(lifter, relocation);
      if (!value) continue;
      const Operands operands = lifter.machine.operands(*lifter.instruction_at(relocation.address));
      if (operands.uses != 0 && operands.registers[0] == lifter.machine.abi.procedure_value)
        loads.emplace_back(relocation.address, *value);
    }
  return loads;
}

/// The gp that most of the loads give, if they are at entries. `loads` is not empty.
uint64_t likely_gp(const EntryLoads& loads) {
  std::map<uint64_t, size_t> votes;
  for (const auto& [place, value] : loads) ++votes[place + static_cast<uint64_t>(value)];
  return std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; })->first;
}

void sort_places(std::vector<uint64_t>& places) {
  std::ranges::sort(places);
  places.erase(std::unique(places.begin(), places.end()), places.end());
}

}  // namespace

std::vector<uint64_t> likely_formed_addresses(const Lifter& lifter) {
  std::vector<uint64_t> places;
  const EntryLoads loads = loads_from_procedure_value(lifter);
  if (loads.empty()) return places;
  const uint64_t gp = likely_gp(loads);
  for (const CodeSection& code : lifter.code) {
    std::map<Register, std::pair<uint32_t, int64_t>> upper;  // the last symbol and half of each
    for (const Relocation& relocation : *code.relocations) {
      if (relocation.role == RelocationRole::got_load && lifter.machine.gp != nullptr) {
        const auto load_code = lifter.code_from(relocation.address);
        const auto offset = load_code.empty() ? std::nullopt : lifter.machine.gp->offset(load_code);
        const auto slot =
            offset ? lifter.image.bytes_at(gp + static_cast<uint64_t>(*offset), 8) : std::nullopt;
        if (slot && lifter.is_code_symbol(relocation.symbol))
          places.push_back(load<uint64_t>(slot->data()));
        continue;
      }
      const bool low = relocation.role == RelocationRole::gp_low;
      if ((!low && relocation.role != RelocationRole::gp_high) ||
          !lifter.is_code_symbol(relocation.symbol) || !lifter.is_half(relocation.address, low))
        continue;
      const Instruction& half = *lifter.instruction_at(relocation.address);
      const Operands operands = lifter.machine.operands(half);
      const auto value =
          lifter.machine.fixups.field(half, low ? ReferenceKind::gp_low : ReferenceKind::gp_high);
      if (!low && operands.size > operands.uses) {
        upper[operands.registers[operands.uses]] = {relocation.symbol, value};
      } else if (low && operands.uses != 0) {
        const auto known = upper.find(operands.registers[operands.uses - 1]);
        if (known != upper.end() && known->second.first == relocation.symbol)
          places.push_back(gp + static_cast<uint64_t>(known->second.second + value));
      }
    }
  }
  sort_places(places);
  return places;
}

std::vector<uint64_t> entries_that_load_gp(const Lifter& lifter) {
  std::vector<uint64_t> entries;
  const EntryLoads loads = loads_from_procedure_value(lifter);
  if (loads.empty()) return entries;
  const uint64_t gp = likely_gp(loads);
  // Where the instruction before leaves the next address in that register, the place need not be an
  // entry.
  const auto is_left_by_call = [&](uint64_t place) {
    if (place == lifter.code_at(place)->start) return false;
    const Instruction& before = *lifter.instruction_at(lifter.map().previous(place));
    const auto facts = lifter.machine.facts(before);
    if (facts.get_pc) return true;
    const Operands operands = lifter.machine.operands(before);
    return is_call(facts.flow) &&
           std::any_of(operands.registers + operands.uses, operands.registers + operands.size,
                       [&](Register r) { return r == lifter.machine.abi.procedure_value; });
  };
  for (const auto& [place, value] : loads) {
    const uint64_t entry = gp - static_cast<uint64_t>(value);
    if (entry <= place && lifter.code_at(entry) == lifter.code_at(place) &&
        lifter.map().starts_group(entry) && !is_left_by_call(entry))
      entries.push_back(entry);
  }
  sort_places(entries);
  return entries;
}

std::vector<uint64_t> descriptor_entries(const Lifter& lifter) {
  std::vector<uint64_t> entries;
  const DescriptorTable table = lifter.machine.abi.descriptors;
  const Section* section = lifter.image.section_named(table.section);
  if (section == nullptr) return entries;
  for (size_t at = 0; at + table.size <= section->contents.size(); at += table.size)
    entries.push_back(load<uint64_t>(&section->contents[at]));
  return entries;
}

/// The gp of the first descriptor that has a gp: all descriptors hold the image's only gp. Where
/// the dynamic linker makes the descriptors, as in shared libraries, a loader entry gives it the
/// gp.
void find_gp_in_descriptors(Lifter& lifter) {
  const DescriptorTable table = lifter.machine.abi.descriptors;
  const Section* section = lifter.image.section_named(table.section);
  const size_t count = section == nullptr ? 0 : section->contents.size() / table.size;
  uint64_t gp = 0;
  for (size_t i = 0; i < count && gp == 0; ++i)
    gp = load<uint64_t>(&section->contents[i * table.size + 8]);
  for (const LoaderEntry& entry : lifter.image.loader_entries)
    if (gp == 0 && entry.kind == LoaderEntry::Kind::global_pointer) gp = entry.value;
  if (gp == 0) return;
  lifter.program.gp_values = lifter.all_gps = {gp};
  for (Procedure& procedure : lifter.program.procedures) procedure.gp = gp;
}

void find_gp_values(Lifter& lifter) {
  auto& procedures = lifter.program.procedures;
  if (!lifter.machine.abi.descriptors.section.empty()) {
    lifter.gp_unknown.resize(procedures.size());
    return find_gp_in_descriptors(lifter);
  }
  count_gp_values(lifter);
  std::vector<bool> failed(procedures.size());
  lifter.gp_unknown.resize(procedures.size());
  for_each_code_relocation(lifter, [&](uint32_t range, const Relocation& relocation) {
    if (relocation.role != RelocationRole::gp_load) return;
    const ProcedureId id = lifter.program.ranges[range].procedure;
    if (!find_gp_load(lifter, procedures[id], relocation)) failed[id] = true;
  });
  share_gp_values(lifter, failed);
  lifter.several_gps = lifter.all_gps.size() > 1;
  for (ProcedureId id = 0; id < procedures.size(); ++id) {
    if (failed[id]) lifter.gp_unknown[id] = lifter.several_gps = true;
    if (lifter.gp_unknown[id]) procedures[id].gp.reset();
  }
}

WordGps::WordGps(Lifter& lifter) : lifter_(lifter) {
  if (!lifter.several_gps) return;
  for (const TableReference& table : lifter.tables) {
    const uint32_t range = lifter.range_at(table.place);
    if (range == kNone) continue;
    const ProcedureId id = lifter.program.ranges[range].procedure;
    if (const auto gp = lifter.program[id].gp) users_.push_back({table.table, *gp, id});
  }
  std::sort(users_.begin(), users_.end());
  users_.erase(std::unique(users_.begin(), users_.end()), users_.end());
}

std::optional<uint64_t> WordGps::gp_of(uint64_t word, int64_t offset) {
  if (!lifter_.several_gps) return lifter_.all_gps.empty() ? 0 : lifter_.all_gps.front();
  auto user = std::upper_bound(users_.begin(), users_.end(), word,
                               [](uint64_t a, const User& u) { return a < u.table; });
  if (user == users_.begin()) return std::nullopt;
  const uint64_t start = (user - 1)->table;
  // The table is one run of words that begins at its start.
  const auto& words = lifter_.table_words;
  const auto first = std::lower_bound(words.begin(), words.end(), start);
  const auto last = std::lower_bound(first, words.end(), word);
  constexpr uint64_t kWord = 4;
  if (static_cast<uint64_t>(last - first) * kWord != word - start) return std::nullopt;
  std::optional<uint64_t> gp;
  while (user != users_.begin() && (user - 1)->table == start) {
    if (effort_ == 0) return std::nullopt;
    --effort_, --user;
    const uint32_t range = lifter_.range_at(user->gp + static_cast<uint64_t>(offset));
    if (range == kNone || lifter_.program.ranges[range].procedure != user->procedure) continue;
    if (gp && *gp != user->gp) return std::nullopt;
    gp = user->gp;
  }
  return gp;
}

void WordGps::keep_targets(uint64_t place, int64_t offset) {
  if (gave_up_) return;
  if (lifter_.all_gps.size() > effort_) {
    gave_up_ = true;  // hostile: no procedure is certain any more
    for (Procedure& procedure : lifter_.program.procedures)
      lifter_.make_opaque(procedure, "too much refers to code relative to an unknown gp");
    return;
  }
  effort_ -= lifter_.all_gps.size();
  for (const uint64_t gp : lifter_.all_gps) keep_target(place, gp + static_cast<uint64_t>(offset));
}

void WordGps::keep_target(uint64_t place, uint64_t target) {
  const uint32_t range = lifter_.range_at(target);
  if (range == kNone) return;
  lifter_.make_opaque(lifter_.program[lifter_.program.ranges[range].procedure],
                      fmt::format("what is at {:#x} may refer to it, but relative to which gp is "
                                  "not known",
                                  place));
}

}  // namespace respike
