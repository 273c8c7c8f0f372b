// What refers to code, and how.
//
// The linker keeps every relocation, but its addends are wrong for section symbols, so position,
// type and symbol come from the relocation and the value from the contents: a gp-relative address
// from the two halves in the instructions, a slot's from the global offset table, a word's from the
// data. Whether a value means code is decided by the section of the relocation's symbol, never by
// the number alone: an address formed just below an array may well fall into the text before it.
//
// gp loads compute gp from an anchor, an address that the base register holds: the entry of the
// procedure, the return address of the call before, or the landing pad, since the unwinder leaves
// the address it jumps to in the register of return addresses. With gp known, the anchor is gp
// minus the displacement in the instructions, wherever the pair stands.

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "optimizer/base/bytes.h"
#include "optimizer/lift/lifter.h"

namespace respike {
namespace {

/// Calls f(range index, relocation) for every kept relocation of code inside a procedure.
template <typename F>
void for_each_code_relocation(const Lifter& lifter, F f) {
  uint32_t range = 0;
  const auto& ranges = lifter.program.ranges;
  for (const CodeSection& code : lifter.code)
    for (const Relocation& relocation : *code.relocations) {
      while (range < ranges.size() && ranges[range].end <= relocation.address) ++range;
      if (range == ranges.size()) return;
      if (relocation.address >= ranges[range].start) f(range, relocation);
    }
}

/// Whether the instruction at `address` has the field of such a half of a pair.
bool is_half(const Lifter& lifter, uint64_t address, bool low) {
  const Instruction* instruction = lifter.instruction_at(address);
  return instruction != nullptr && (low ? lifter.target.is_lower_half(*instruction)
                                        : lifter.target.is_upper_half(*instruction));
}

/// The place of the lower half of a gp load.
uint64_t low_place(const Relocation& relocation) {
  return relocation.address + static_cast<uint64_t>(relocation.addend);
}

/// gp minus the anchor of a gp load whose upper half is at `place`; nullopt when it is no such
/// pair.
std::optional<int64_t> gp_load_value(const Lifter& lifter, const Relocation& relocation) {
  if (!is_half(lifter, relocation.address, false) || !is_half(lifter, low_place(relocation), true))
    return std::nullopt;
  const Instruction* high = lifter.instruction_at(relocation.address);
  const Instruction* low = lifter.instruction_at(low_place(relocation));
  return lifter.target.field(*high, ReferenceKind::gp_load_high) +
         lifter.target.field(*low, ReferenceKind::gp_load_low);
}

/// Whether the base register of a gp load can hold `anchor` in this procedure.
bool is_anchor(const Lifter& lifter, const Procedure& procedure, uint64_t anchor,
               uint64_t gp_load) {
  if (anchor == procedure.address) return true;
  const bool pad = (lifter.marks_at(anchor) & kLandingPadMark) != 0;
  const bool start = pad || lifter.is_entry_anchor(anchor, gp_load);
  const uint32_t range = lifter.range_at(start ? anchor : anchor - lifter.unit());
  if (range == kNone) return false;
  if (&lifter.program[lifter.program.ranges[range].procedure] != &procedure) return false;
  if (start) return true;
  const Instruction* before = lifter.instruction_at(anchor - lifter.unit());
  if (before == nullptr) return false;
  const ControlFlow flow = lifter.target.control_flow(*before);
  return flow == ControlFlow::call || flow == ControlFlow::indirect_call ||
         lifter.target.is_get_pc(*before);
}

void find_gp_load(Lifter& lifter, Procedure& procedure, const Relocation& relocation) {
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
      if (anchor != procedure.address) lifter.mark(anchor, kLeader);
      return true;
    };
    // A procedure has one gp: what its first load gives.
    if (procedure.gp && try_gp(*procedure.gp)) return;
    if (!procedure.gp)
      for (uint64_t gp : lifter.program.gp_values)
        if (try_gp(gp)) return;
  }
  lifter.make_opaque(procedure, fmt::format("it computes gp from an unknown address at {:#x}",
                                            relocation.address));
}

/// The sections that emission writes anew and may move.
bool is_unwind_section(const Section& section) {
  return section.name == ".eh_frame" || section.name == ".eh_frame_hdr" ||
         section.name == ".gcc_except_table";
}

/// One half of a gp-relative address. Halves of one address share symbol and addend, right or
/// wrong.
struct Half {
  ProcedureId procedure = kNone;
  uint32_t symbol = 0;
  int64_t addend = 0;
  bool low = false;
  uint64_t place = 0;

  auto key() const { return std::tuple(procedure, symbol, addend); }
  bool operator<(const Half& other) const {
    return std::tuple(key(), low, place) < std::tuple(other.key(), other.low, other.place);
  }
};

bool refers_to_moving(const Lifter& lifter, uint32_t symbol) {
  if (lifter.is_code_symbol(symbol)) return true;
  if (symbol >= lifter.image.symbols.size()) return false;
  const Symbol& s = lifter.image.symbols[symbol];
  return s.defined_in_section() && s.section < lifter.image.sections.size() &&
         is_unwind_section(lifter.image.sections[s.section]);
}

/// Whether the address is the end of the section that its symbol belongs to, such as __stop_NAME:
/// code that another section starts with is not meant.
bool is_border(const Lifter& lifter, uint32_t symbol, uint64_t target) {
  if (symbol >= lifter.image.symbols.size()) return false;
  const Symbol& s = lifter.image.symbols[symbol];
  if (!s.defined_in_section() || s.section >= lifter.image.sections.size()) return false;
  const Section& section = lifter.image.sections[s.section];
  return s.type != Symbol::Type::section && s.value == target &&
         target == section.address + section.size;
}

void add_gp_relative(Lifter& lifter, Procedure& procedure, uint64_t place, uint64_t target,
                     ReferenceKind kind) {
  const uint32_t range = lifter.range_at(target);
  if (range == kNone) {
    const Section* section = lifter.image.section_at(target);
    // Borders of code never move; the unwind tables do.
    if (section == nullptr || !is_unwind_section(*section)) return;
  } else if ((target - lifter.program.ranges[range].start) % lifter.unit() != 0) {
    lifter.make_opaque(procedure,
                       fmt::format("it refers into the middle of an instruction at {:#x}", target));
    return;
  }
  lifter.mark(target, kLeader | kReferenced | kAddressTakenMark | kLabelMark);
  lifter.found.push_back({place, target, 0, kind});
}

/// The register that an upper half defines, or that a lower half is based on.
Register register_of(const Lifter& lifter, const Half& half) {
  const Operands operands = lifter.target.operands(*lifter.instruction_at(half.place));
  if (!half.low) return operands.size > operands.uses ? operands.registers[operands.uses] : 0;
  // A store's base follows the value it stores.
  return operands.uses != 0 ? operands.registers[operands.uses - 1] : 0;
}

/// Upper halves by the register that they define, then by place.
std::multimap<std::pair<Register, uint64_t>, const Half*> by_register(const Lifter& lifter,
                                                                      std::span<const Half> highs) {
  std::multimap<std::pair<Register, uint64_t>, const Half*> result;
  for (const Half& high : highs)
    result.emplace(std::pair(register_of(lifter, high), high.place), &high);
  return result;
}

/// The upper half that `low` adds to: defines its register, nearest before it, else nearest behind.
const Half* partner_of(const Lifter& lifter, std::span<const Half> highs,
                       const std::multimap<std::pair<Register, uint64_t>, const Half*>& sorted,
                       const Half& low) {
  const Register base = register_of(lifter, low);
  const auto behind = sorted.lower_bound({base, low.place});
  if (behind != sorted.begin() && std::prev(behind)->first.first == base)
    return std::prev(behind)->second;
  if (behind != sorted.end() && behind->first.first == base) return behind->second;
  return highs.empty() ? nullptr : &highs.front();
}

/// `halves`: all with one symbol and addend in one procedure, upper halves first. They are nearly
/// always of one address; but input sections of one object that went to the same output section
/// may use the same wrong addend.
void pair_halves(Lifter& lifter, std::span<const Half> halves) {
  Procedure& procedure = lifter.program[halves.front().procedure];
  const bool moving = refers_to_moving(lifter, halves.front().symbol);
  const auto middle =
      std::find_if(halves.begin(), halves.end(), [](const Half& h) { return h.low; });
  const auto highs = halves.first(static_cast<size_t>(middle - halves.begin()));
  const auto lows = halves.subspan(highs.size());
  const auto value = [&](const Half& h) {
    return static_cast<uint64_t>(lifter.target.field(
        *lifter.instruction_at(h.place), h.low ? ReferenceKind::gp_low : ReferenceKind::gp_high));
  };
  std::vector<std::optional<uint64_t>> target_of(highs.size());
  const auto alone = [&](const Half& h) {
    lifter.make_opaque(procedure,
                       fmt::format("half of an address of code stands alone at {:#x}", h.place));
  };
  const auto sorted = by_register(lifter, highs);
  for (const Half& low : lows) {
    const Half* high = partner_of(lifter, highs, sorted, low);
    if (high == nullptr) {
      if (moving) alone(low);
      continue;
    }
    const uint64_t target = lifter.gp_of(procedure) + value(*high) + value(low);
    if (std::binary_search(lifter.table_words.begin(), lifter.table_words.end(), target))
      lifter.tables.push_back({low.place, target});
    if (!moving) continue;
    if (!is_border(lifter, low.symbol, target))
      add_gp_relative(lifter, procedure, low.place, target, ReferenceKind::gp_low);
    auto& of_high = target_of[static_cast<size_t>(high - highs.data())];
    if (of_high && *of_high != target) alone(*high);
    of_high = target;
  }
  if (!moving) return;
  std::unordered_map<uint64_t, uint64_t> target_of_value;
  for (size_t i = 0; i < highs.size(); ++i)
    if (target_of[i]) target_of_value.emplace(value(highs[i]), *target_of[i]);
  for (size_t i = 0; i < highs.size(); ++i) {
    // An upper half whose lower half was taken for another's: theirs is the same address.
    const auto same = target_of_value.find(value(highs[i]));
    if (!target_of[i] && same != target_of_value.end()) target_of[i] = same->second;
    if (!target_of[i])
      alone(highs[i]);
    else if (!is_border(lifter, highs[i].symbol, *target_of[i]))
      add_gp_relative(lifter, procedure, highs[i].place, *target_of[i], ReferenceKind::gp_high);
  }
}

void find_gp_relative(Lifter& lifter) {
  std::vector<Half> halves;
  for_each_code_relocation(lifter, [&](uint32_t range, const Relocation& relocation) {
    const RelocationRole role = lifter.target.relocation_role(relocation.type);
    if (role != RelocationRole::gp_high && role != RelocationRole::gp_low) return;
    const ProcedureId procedure = lifter.program.ranges[range].procedure;
    const bool low = role == RelocationRole::gp_low;
    if (is_half(lifter, relocation.address, low))
      halves.push_back({procedure, relocation.symbol, relocation.addend, low, relocation.address});
    else
      lifter.make_opaque(
          lifter.program[procedure],
          fmt::format("the relocation at {:#x} does not fit its instruction", relocation.address));
  });
  std::sort(halves.begin(), halves.end());
  for (size_t i = 0; i < halves.size();) {
    size_t j = i;
    while (j < halves.size() && halves[j].key() == halves[i].key()) ++j;
    pair_halves(lifter, std::span(halves).subspan(i, j - i));
    i = j;
  }
}

/// Code pointers are found with an address; connect_blocks() turns it into a block.
void add_code_pointer(Lifter& lifter, uint64_t address, ReferenceKind kind, uint64_t target,
                      uint64_t gp) {
  const uint32_t range = lifter.range_at(target);
  const Section* section = range == kNone ? lifter.image.section_at(target) : nullptr;
  if (section != nullptr && is_unwind_section(*section)) {
    CodePointer pointer{.address = address, .kind = kind, .target = {}, .gp = gp};
    pointer.target = {.where = CodeLocation::Where::address, .address = target};
    lifter.program.code_pointers.push_back(pointer);
    return;
  }
  if (range == kNone) return;  // a border symbol such as etext: stays where it is
  if ((target - lifter.program.ranges[range].start) % lifter.unit() != 0) {
    lifter.make_opaque(
        lifter.program[lifter.program.ranges[range].procedure],
        fmt::format("data at {:#x} refers into the middle of an instruction", address));
    return;
  }
  unsigned marks = kLeader | kReferenced | kAddressTakenMark;
  if (kind != ReferenceKind::gp_relative32) marks |= kLabelMark;
  lifter.mark(target, marks);
  CodePointer pointer{.address = address, .kind = kind, .target = {}, .gp = gp};
  pointer.target.where = CodeLocation::Where::address;
  pointer.target.address = target;
  lifter.program.code_pointers.push_back(pointer);
}

std::optional<uint64_t> word_at(const Lifter& lifter, uint64_t address, unsigned size) {
  const auto bytes = lifter.image.bytes_at(address, size);
  if (!bytes) return std::nullopt;
  return size == 8 ? load<uint64_t>(bytes->data())
                   : static_cast<uint64_t>(int64_t{load<int32_t>(bytes->data())});
}

std::optional<ReferenceKind> data_kind(RelocationRole role) {
  switch (role) {
    case RelocationRole::address64:
      return ReferenceKind::address64;
    case RelocationRole::address32:
      return ReferenceKind::address32;
    case RelocationRole::gp_relative32:
      return ReferenceKind::gp_relative32;
    case RelocationRole::pc_relative32:
      return ReferenceKind::pc_relative32;
    case RelocationRole::pc_relative64:
      return ReferenceKind::pc_relative64;
    default:
      return std::nullopt;
  }
}

void find_data_word(Lifter& lifter, const Relocation& relocation, ReferenceKind kind, uint64_t gp) {
  if (!refers_to_moving(lifter, relocation.symbol)) return;
  const bool wide = kind == ReferenceKind::address64 || kind == ReferenceKind::pc_relative64;
  const auto word = word_at(lifter, relocation.address, wide ? 8 : 4);
  if (!word) return;
  uint64_t target = *word;
  if (kind == ReferenceKind::address32) target &= 0xffffffff;
  if (kind == ReferenceKind::gp_relative32) target += gp;
  if (kind == ReferenceKind::pc_relative32 || kind == ReferenceKind::pc_relative64)
    target += relocation.address;
  if (is_border(lifter, relocation.symbol, target))
    lifter.border_words.push_back(relocation.address);
  else
    add_code_pointer(lifter, relocation.address, kind, target, gp);
}

void find_data_words(Lifter& lifter) {
  // With several global pointers, a table's is that of the procedure that refers to it.
  std::vector<std::pair<uint64_t, uint64_t>> gp_of_table;
  if (lifter.program.gp_values.size() > 1)
    for (const TableReference& table : lifter.tables) {
      const uint32_t range = lifter.range_at(table.place);
      if (range != kNone)
        gp_of_table.emplace_back(
            table.table, lifter.gp_of(lifter.program[lifter.program.ranges[range].procedure]));
    }
  std::sort(gp_of_table.begin(), gp_of_table.end());
  const uint64_t default_gp = lifter.program.gp_values.empty() ? 0 : lifter.program.gp_values[0];
  for (const RelocationTable& table : lifter.image.relocations) {
    const Section& section = lifter.image.sections[table.target];
    if (is_unwind_section(section) || section.executable()) continue;
    for (const Relocation& relocation : table.relocations) {
      const auto kind = data_kind(lifter.target.relocation_role(relocation.type));
      if (!kind) continue;
      uint64_t gp = default_gp;
      if (*kind == ReferenceKind::gp_relative32 && !gp_of_table.empty()) {
        const auto next = std::upper_bound(gp_of_table.begin(), gp_of_table.end(),
                                           std::pair(relocation.address, ~uint64_t{0}));
        if (next != gp_of_table.begin()) gp = (next - 1)->second;
      }
      find_data_word(lifter, relocation, *kind, gp);
    }
  }
}

/// Slots of the global offset table have no kept relocations: the instructions that load them do.
void find_got_slot(Lifter& lifter, const Procedure& procedure, const Relocation& relocation) {
  const Instruction* instruction = lifter.instruction_at(relocation.address);
  if (instruction == nullptr || !refers_to_moving(lifter, relocation.symbol)) return;
  const uint64_t slot = lifter.gp_of(procedure) + static_cast<uint64_t>(lifter.target.field(
                                                      *instruction, ReferenceKind::gp_low));
  const auto word = word_at(lifter, slot, 8);
  if (!word || *word == 0) return;
  if (is_border(lifter, relocation.symbol, *word))
    lifter.border_words.push_back(slot);
  else
    add_code_pointer(lifter, slot, ReferenceKind::address64, *word, 0);
}

/// Position-independent images repeat addresses in dynamic relocations without a symbol.
void find_dynamic_words(Lifter& lifter) {
  for (const auto& table : lifter.image.dynamic_relocations)
    for (const Relocation& relocation : table.relocations)
      if (relocation.symbol == 0 && relocation.addend != 0 &&
          lifter.target.relocation_role(relocation.type) == RelocationRole::address64)
        add_code_pointer(lifter, relocation.address, ReferenceKind::address64,
                         static_cast<uint64_t>(relocation.addend), 0);
}

void collect_table_words(Lifter& lifter) {
  for (const RelocationTable& table : lifter.image.relocations) {
    if (lifter.image.sections[table.target].executable()) continue;
    for (const Relocation& relocation : table.relocations)
      if (lifter.target.relocation_role(relocation.type) == RelocationRole::gp_relative32)
        lifter.table_words.push_back(relocation.address);
  }
  std::sort(lifter.table_words.begin(), lifter.table_words.end());
}

void find_code_reference(Lifter& lifter, Procedure& procedure, const Relocation& relocation) {
  switch (lifter.target.relocation_role(relocation.type)) {
    case RelocationRole::ignored:
    case RelocationRole::branch:  // decoded, like those without a relocation
    case RelocationRole::hint:
    case RelocationRole::gp_load:  // see find_references
    case RelocationRole::gp_high:  // see find_gp_relative
    case RelocationRole::gp_low:
      break;
    case RelocationRole::gp_relative16:
      if (lifter.is_code_symbol(relocation.symbol))
        lifter.make_opaque(
            procedure, fmt::format("a 16-bit offset refers to code at {:#x}", relocation.address));
      break;
    case RelocationRole::got_load:
      find_got_slot(lifter, procedure, relocation);
      break;
    case RelocationRole::address64:
    case RelocationRole::address32:
    case RelocationRole::gp_relative32:
    case RelocationRole::pc_relative32:
    case RelocationRole::pc_relative64:
      lifter.make_opaque(procedure, fmt::format("it holds data at {:#x}", relocation.address));
      find_data_word(lifter, relocation, *data_kind(lifter.target.relocation_role(relocation.type)),
                     lifter.gp_of(procedure));
      break;
    case RelocationRole::unsupported:
      lifter.make_opaque(procedure, fmt::format("relocation type {} at {:#x} is not understood",
                                                relocation.type, relocation.address));
      break;
  }
}

/// Code that reads its own address is understood only where it computes gp from it.
void check_get_pc(Lifter& lifter) {
  std::vector<uint64_t> anchors;
  for (const FoundReference& found : lifter.found)
    if (found.kind == ReferenceKind::gp_load_high) anchors.push_back(found.target);
  std::sort(anchors.begin(), anchors.end());
  for (const CodeRange& range : lifter.program.ranges)
    for (uint64_t at = range.start; at < range.end; at += lifter.unit())
      if (lifter.target.is_get_pc(*lifter.instruction_at(at)) &&
          !std::binary_search(anchors.begin(), anchors.end(), at + lifter.unit()))
        lifter.make_opaque(lifter.program[range.procedure],
                           fmt::format("it computes with its own address at {:#x}", at));
}

/// Kept relocations of data, sorted: whatever they cover is known to be code or known not to be.
std::vector<uint64_t> relocated_words(const Lifter& lifter) {
  std::vector<uint64_t> words;
  for (const RelocationTable& table : lifter.image.relocations)
    if (!lifter.image.sections[table.target].executable())
      for (const Relocation& relocation : table.relocations) words.push_back(relocation.address);
  for (const CodePointer& pointer : lifter.program.code_pointers) words.push_back(pointer.address);
  words.insert(words.end(), lifter.border_words.begin(), lifter.border_words.end());
  std::sort(words.begin(), words.end());
  return words;
}

/// Looks for words of data that read like an address of code although no relocation says so: slots
/// of the global offset table that no instruction loads any more, and what hand-made tools left
/// behind. The former are addresses; the others pin the procedure they would refer to. Only where
/// code lies high, or small numbers would look like addresses; position-independent images have
/// dynamic relocations for all of them.
void sweep_data(Lifter& lifter) {
  constexpr uint64_t kLowestTelling = uint64_t{1} << 24;
  if (lifter.code.empty() || lifter.code.front().start < kLowestTelling ||
      lifter.image.kind != Image::Kind::executable)
    return;
  const std::vector<uint64_t> known = relocated_words(lifter);
  for (const Section& section : lifter.image.sections) {
    if (!section.allocated() || section.executable() || is_unwind_section(section) ||
        !section.holds_program_data())
      continue;
    for (uint64_t offset = align_up(section.address, 8) - section.address;
         offset + 8 <= section.contents.size(); offset += 8) {
      const uint64_t value = load<uint64_t>(section.contents.data() + offset);
      if (value < lifter.code.front().start || value >= lifter.code.back().end) continue;
      const uint64_t address = section.address + offset;
      const uint32_t range = lifter.range_at(value);
      if (range == kNone || std::binary_search(known.begin(), known.end(), address)) continue;
      Procedure& procedure = lifter.program[lifter.program.ranges[range].procedure];
      if (section.name == ".got" && value == procedure.address)
        add_code_pointer(lifter, address, ReferenceKind::address64, value, 0);
      else
        lifter.pin(procedure, fmt::format("the data at {:#x} may hold an address in it, but has no "
                                          "relocation",
                                          address));
    }
  }
}

}  // namespace

void find_gp_values(Lifter& lifter) {
  std::map<uint64_t, size_t> votes;
  for_each_code_relocation(lifter, [&](uint32_t range, const Relocation& relocation) {
    if (lifter.target.relocation_role(relocation.type) != RelocationRole::gp_load) return;
    const CodeRange& r = lifter.program.ranges[range];
    if (relocation.address != lifter.program[r.procedure].address) return;
    if (const auto value = gp_load_value(lifter, relocation))
      ++votes[relocation.address + static_cast<uint64_t>(*value)];
  });
  std::vector<std::pair<size_t, uint64_t>> ranked;
  for (const auto& [gp, count] : votes) ranked.emplace_back(count, gp);
  std::sort(ranked.begin(), ranked.end(), [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first : a.second < b.second;
  });
  // Every load of gp may try them all. The tables of even the largest images need a few.
  constexpr size_t kMostValues = 256;
  if (ranked.size() > kMostValues) ranked.resize(kMostValues);
  for (const auto& [count, gp] : ranked) lifter.program.gp_values.push_back(gp);
}

void find_references(Lifter& lifter) {
  collect_table_words(lifter);
  Program& program = lifter.program;

  for_each_code_relocation(lifter, [&](uint32_t range, const Relocation& relocation) {
    if (lifter.target.relocation_role(relocation.type) == RelocationRole::gp_load)
      find_gp_load(lifter, program[program.ranges[range].procedure], relocation);
  });
  // A procedure that never loads gp shares that of its neighbours: they come from one object.
  // After a rewriting the neighbours are others, but its note tells.
  if (lifter.provenance)
    for (const auto& [entry, gp] : lifter.provenance->gp_values) {
      const uint32_t range = lifter.range_at(entry);
      if (range == kNone) continue;
      Procedure& procedure = program[program.ranges[range].procedure];
      if (!procedure.gp) procedure.gp = gp;
    }
  std::optional<uint64_t> previous;
  for (Procedure& procedure : program.procedures) {
    if (!procedure.gp) procedure.gp = previous;
    previous = procedure.gp;
  }
  find_gp_relative(lifter);
  check_get_pc(lifter);
  for_each_code_relocation(lifter, [&](uint32_t range, const Relocation& relocation) {
    find_code_reference(lifter, program[program.ranges[range].procedure], relocation);
  });
  find_data_words(lifter);
  find_dynamic_words(lifter);
  sweep_data(lifter);
  std::sort(lifter.tables.begin(), lifter.tables.end(),
            [](const auto& a, const auto& b) { return a.place < b.place; });
  for (const TableReference& table : lifter.tables) lifter.table_starts.push_back(table.table);
  std::sort(lifter.table_starts.begin(), lifter.table_starts.end());
  std::sort(lifter.found.begin(), lifter.found.end(),
            [](const auto& a, const auto& b) { return a.place < b.place; });
  auto& pointers = program.code_pointers;
  std::stable_sort(pointers.begin(), pointers.end(),
                   [](const auto& a, const auto& b) { return a.address < b.address; });
  pointers.erase(std::unique(pointers.begin(), pointers.end(),
                             [](const auto& a, const auto& b) { return a.address == b.address; }),
                 pointers.end());
  pointers.shrink_to_fit();
}

}  // namespace respike
