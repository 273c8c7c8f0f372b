// What refers to code, and how.
//
// The linker keeps every relocation, but its addends are wrong for section symbols. So position,
// type and symbol come from the relocation, and the value from the contents: a gp-relative address
// from the two halves in the instructions (halves.cc), a slot's value from the global offset table,
// a word's value from the data. The section of the relocation's symbol decides whether a value
// means code; the number does not.
//
// Example: an address formed just below an array of .data may well fall into .text, which lies
// before .data; its symbol is .data, so it is no reference to code.

#include <algorithm>

#include <fmt/format.h>

#include "optimizer/base/bytes.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/lift/address_halves.h"
#include "optimizer/lift/addresses.h"
#include "optimizer/lift/halves.h"
#include "optimizer/lift/lifter.h"
#include "optimizer/lift/references.h"
#include "optimizer/lift/tables.h"

namespace respike {

bool refers_to_moving(const Lifter& lifter, uint32_t symbol) {
  if (lifter.is_code_symbol(symbol)) return true;
  if (symbol >= lifter.image.symbols.size()) return false;
  const Symbol& s = lifter.image.symbols[symbol];
  return s.defined_in_section() && s.section < lifter.image.sections.size() &&
         is_unwind_section(lifter.image.sections[s.section].name);
}

bool is_absolute(const Lifter& lifter, uint32_t symbol) {
  return symbol < lifter.image.symbols.size() &&
         lifter.image.symbols[symbol].section >= Symbol::kReserved;
}

void keep_absolute(Lifter& lifter, uint64_t place, uint64_t value) {
  lifter.make_opaque_at(
      value, fmt::format("the word at {:#x} holds its address or the same number", place));
}

void refuse_unknown(const Lifter& lifter, uint64_t place, uint32_t symbol) {
  if (!lifter.is_code_symbol(symbol))
    throw Error(fmt::format("{:#x} refers to unwind tables relative to an unknown gp", place),
                lifter.image.path);
}

bool is_border(const Lifter& lifter, uint32_t symbol, uint64_t target) {
  if (symbol >= lifter.image.symbols.size()) return false;
  const Symbol& s = lifter.image.symbols[symbol];
  if (!s.defined_in_section() || s.section >= lifter.image.sections.size()) return false;
  const Section& section = lifter.image.sections[s.section];
  return s.type != Symbol::Type::section && s.value == target &&
         target == section.address + section.size;
}

static std::optional<ReferenceKind> data_kind(RelocationRole role) {
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
    case RelocationRole::image_relative32:
      return ReferenceKind::table_relative32;
    default:
      return std::nullopt;
  }
}

/// Whether a relocation with that role says nothing about the words of data that may move.
static bool says_nothing(RelocationRole role) {
  return role == RelocationRole::ignored || role == RelocationRole::unwind_gp_relative64 ||
         role == RelocationRole::unwind_segment_relative64;
}

void add_code_pointer(Lifter& lifter, uint64_t address, ReferenceKind kind, uint64_t target,
                      uint64_t base) {
  if (kind == ReferenceKind::address64)
    if (const auto end = ocaml_hull_word(lifter, address)) {
      const auto where =
          *end ? CodeLocation::Where::enclosure_end : CodeLocation::Where::enclosure_start;
      lifter.program.code_pointers.push_back(
          {.address = address, .kind = kind, .target = {.where = where, .address = target}});
      return;
    }
  if (kind != ReferenceKind::address64 && kind != ReferenceKind::pc_relative32)
    keep_odd_frame_table(lifter, address);
  else if (is_ocaml_return_address(lifter, address, target)) {
    lifter.program.code_pointers.push_back(
        {.address = address,
         .kind = kind,
         .target = {.where = CodeLocation::Where::return_point, .address = target},
         .base = base});
    return;
  }
  const uint32_t range = lifter.range_at(target);
  const Section* section = range == kNone ? lifter.image.section_at(target) : nullptr;
  if (section != nullptr && is_unwind_section(section->name)) {
    CodePointer pointer{.address = address, .kind = kind, .target = {}, .base = base};
    pointer.target = {.where = CodeLocation::Where::address, .address = target};
    lifter.program.code_pointers.push_back(pointer);
    return;
  }
  if (range == kNone) return;  // a border symbol such as etext: stays in place
  if (!lifter.map().starts_group(target)) {
    lifter.make_opaque(
        lifter.program[lifter.program.ranges[range].procedure],
        fmt::format("data at {:#x} refers into the middle of an instruction", address));
    return;
  }
  unsigned marks = kLeader | kReferenced | kAddressTakenMark;
  if (data_kind(lifter.machine.abi.jump_table_entry) != kind) marks |= kLabelMark;
  lifter.mark(target, marks);
  CodePointer pointer{.address = address, .kind = kind, .target = {}, .base = base};
  pointer.target.where = CodeLocation::Where::address;
  pointer.target.address = target;
  lifter.program.code_pointers.push_back(pointer);
}

void add_formed_address(Lifter& lifter, Procedure& procedure, uint64_t place, uint64_t target,
                        ReferenceKind kind) {
  const uint32_t range = lifter.range_at(target);
  if (range == kNone) {
    const Section* section = lifter.image.section_at(target);
    // Borders of code never move; the unwind tables do.
    if (section == nullptr || !is_unwind_section(section->name)) return;
  } else if (!lifter.map().starts_group(target)) {
    lifter.make_opaque(procedure,
                       fmt::format("it refers into the middle of an instruction at {:#x}", target));
    return;
  }
  lifter.mark(target, kLeader | kReferenced | kAddressTakenMark | kLabelMark);
  lifter.found.push_back({place, target, 0, kind});
}

namespace {

/// Whether every gp-relative address is in a procedure whose gp is known.
bool all_gps_are_known(const Lifter& lifter) {
  if (std::ranges::find(lifter.gp_unknown, true) != lifter.gp_unknown.end()) return false;
  for (const CodeSection& code : lifter.code)
    for (const Relocation& relocation : *code.relocations) {
      const RelocationRole role = relocation.role;
      if ((role == RelocationRole::gp_high || role == RelocationRole::gp_low) &&
          lifter.range_at(relocation.address) == kNone)
        return false;
    }
  return true;
}

std::optional<uint64_t> word_at(const Lifter& lifter, uint64_t address, unsigned size) {
  const auto bytes = lifter.image.bytes_at(address, size);
  if (!bytes) return std::nullopt;
  return size == 8 ? load<uint64_t>(bytes->data())
                   : static_cast<uint64_t>(int64_t{load<int32_t>(bytes->data())});
}

/// What a word of data may be relative to.
struct WordBases {
  WordGps gps;
  Tables tables;
};

void find_data_word(Lifter& lifter, const Relocation& relocation, ReferenceKind kind,
                    WordBases& bases) {
  const bool absolute = is_absolute(lifter, relocation.symbol);
  if (!absolute && !refers_to_moving(lifter, relocation.symbol)) return;
  const auto word = word_at(lifter, relocation.address, pointer_size(kind));
  if (!word) return;
  uint64_t target = *word, base = 0;
  if (kind == ReferenceKind::address32) target &= 0xffffffff;
  if (absolute) {
    if (kind == ReferenceKind::address32 || kind == ReferenceKind::address64)
      keep_absolute(lifter, relocation.address, target);
    return;
  }
  if (kind == ReferenceKind::gp_relative32) {
    const auto known = bases.gps.gp_of(relocation.address, static_cast<int64_t>(*word));
    if (!known) {
      refuse_unknown(lifter, relocation.address, relocation.symbol);
      return bases.gps.keep_targets(relocation.address, static_cast<int64_t>(*word));
    }
    base = *known;
    target += base;
  }
  if (kind == ReferenceKind::pc_relative32 || kind == ReferenceKind::pc_relative64)
    target += relocation.address;
  if (kind == ReferenceKind::table_relative32) {
    base = lifter.image.base;
    target += base;
  }
  const bool known = ocaml_hull_word(lifter, relocation.address) ||
                     is_ocaml_return_address(lifter, relocation.address, target);
  if (!known && is_border(lifter, relocation.symbol, target)) {
    lifter.border_words.push_back(relocation.address);
    return;
  }
  // Where the image can be loaded anywhere, a dynamic relocation holds the target as well.
  if (kind == ReferenceKind::address64 && lifter.machine.evidence.words_are_distances &&
      lifter.image.kind == Image::Kind::executable)
    target = bases.tables.target_at(relocation.address, target);
  add_code_pointer(lifter, relocation.address, kind, target, base);
}

void find_data_words(Lifter& lifter, WordBases& bases) {
  const bool distances = lifter.machine.evidence.words_are_distances;
  for (const RelocationTable& table : lifter.image.relocations) {
    const Section& section = lifter.image.sections[table.target];
    if (is_unwind_section(section.name) || section.executable()) continue;
    for (const Relocation& relocation : table.relocations) {
      if (says_nothing(relocation.role) || (distances && Tables::is_distance(relocation.role)))
        continue;
      if (const auto kind = data_kind(relocation.role))
        find_data_word(lifter, relocation, *kind, bases);
      else
        bases.tables.keep_unknown(relocation);
    }
    if (distances) bases.tables.find_distances(table.relocations);
  }
  bases.tables.settle();
}

/// The offset that the instruction of a relocation adds to gp.
std::optional<uint64_t> gp_offset(const Lifter& lifter, const Relocation& relocation) {
  const auto code = lifter.code_from(relocation.address);
  if (code.empty() || lifter.machine.gp == nullptr) return std::nullopt;
  const auto offset = lifter.machine.gp->offset(code);
  return offset ? std::optional(static_cast<uint64_t>(*offset)) : std::nullopt;
}

/// Finds an address of code that one instruction forms. Both parts of a long instruction refer to
/// the address.
void find_gp_offset(Lifter& lifter, Procedure& procedure, const Relocation& relocation) {
  if (!refers_to_moving(lifter, relocation.symbol)) return;
  const auto offset = gp_offset(lifter, relocation);
  if (!offset)
    return lifter.make_opaque(
        procedure,
        fmt::format("the relocation at {:#x} does not fit its instruction", relocation.address));
  const uint64_t target = lifter.gp_of(procedure) + *offset;
  if (is_border(lifter, relocation.symbol, target)) return;
  add_formed_address(lifter, procedure, relocation.address, target, ReferenceKind::gp_offset);
  if (lifter.machine.facts(*lifter.instruction_at(relocation.address)).prefix)
    add_formed_address(lifter, procedure, lifter.map().next(relocation.address), target,
                       ReferenceKind::gp_offset);
}

/// Finds a table whose address the code loads from the global offset table, or forms as a short
/// offset, as compilers do that leave explicit relocations to the assembler.
void find_table(Lifter& lifter, const Procedure& procedure, const Relocation& relocation,
                bool loaded) {
  const auto offset = gp_offset(lifter, relocation);
  if (!offset || lifter.is_gp_unknown(procedure)) return;
  const uint64_t address = lifter.gp_of(procedure) + *offset;
  const auto table = loaded ? word_at(lifter, address, 8) : address;
  if (table && std::binary_search(lifter.table_words.begin(), lifter.table_words.end(), *table))
    lifter.tables.push_back({relocation.address, *table});
}

/// Slots of the global offset table have no kept relocations; the instructions that load them have
/// relocations.
void find_got_slot(Lifter& lifter, const Procedure& procedure, const Relocation& relocation,
                   WordGps& gps) {
  const auto offset = gp_offset(lifter, relocation);
  if (!offset || !refers_to_moving(lifter, relocation.symbol)) return;
  if (lifter.is_gp_unknown(procedure)) {
    // A slot for one gp may be any word for another gp.
    refuse_unknown(lifter, relocation.address, relocation.symbol);
    for (const uint64_t gp : lifter.program.gp_values)
      if (const auto word = word_at(lifter, gp + *offset, 8))
        gps.keep_target(relocation.address, *word);
    return;
  }
  const uint64_t slot = lifter.gp_of(procedure) + *offset;
  const auto word = word_at(lifter, slot, 8);
  if (!word || *word == 0) return;
  if (is_border(lifter, relocation.symbol, *word)) {
    lifter.border_words.push_back(slot);
    return;
  }
  add_code_pointer(lifter, slot, ReferenceKind::address64, *word, 0);
  const uint32_t range = lifter.range_at(*word);
  if (range != kNone && *word != procedure.address &&
      &lifter.program[lifter.program.ranges[range].procedure] == &procedure)
    lifter.label_loads.push_back(relocation.address);  // by place, as relocations are
}

/// The dynamic linker finds some data by its distance from a symbol. The distance has to stay.
void keep_distance(Lifter& lifter, const Symbol& symbol, const Relocation& relocation) {
  const auto keep = [&](uint64_t address) {
    const uint32_t range = lifter.range_at(address);
    if (range == kNone) return;
    lifter.make_opaque(lifter.program[lifter.program.ranges[range].procedure],
                       fmt::format("the dynamic relocation of {:#x} counts from a symbol to a "
                                   "place inside of it",
                                   relocation.address));
  };
  const uint64_t target = symbol.value + static_cast<uint64_t>(relocation.addend);
  keep(target);
  if (symbol.type != Symbol::Type::section) keep(symbol.value);
  const uint32_t range = lifter.range_at(target);
  if (range != kNone && lifter.map().starts_group(target))
    lifter.mark(target, kLeader | kReferenced | kEntryMark);
}

/// Position-independent images repeat addresses in dynamic relocations without a symbol.
void find_dynamic_words(Lifter& lifter) {
  const auto& symbols = lifter.image.dynamic_symbols;
  for (const auto& table : lifter.image.dynamic_relocations)
    for (const Relocation& relocation : table.relocations) {
      if (relocation.addend == 0) continue;
      if (relocation.symbol == 0) {
        if (relocation.role == RelocationRole::address64)
          add_code_pointer(lifter, relocation.address, ReferenceKind::address64,
                           static_cast<uint64_t>(relocation.addend), 0);
      } else if (relocation.symbol < symbols.size()) {
        const Symbol& symbol = symbols[relocation.symbol];
        if (symbol.defined_in_section() && symbol.type != Symbol::Type::tls)
          keep_distance(lifter, symbol, relocation);
      }
    }
}

/// The linker makes descriptors, which have no relocations where addresses are fixed.
void find_descriptors(Lifter& lifter) {
  const DescriptorTable table = lifter.machine.abi.descriptors;
  const Section* section = lifter.image.section_named(table.section);
  if (section == nullptr) return;
  for (size_t at = 0; at + table.size <= section->contents.size(); at += table.size) {
    const auto entry = load<uint64_t>(&section->contents[at]);
    if (lifter.code_at(entry) == nullptr) continue;
    lifter.mark(entry, kEntryMark);
    add_code_pointer(lifter, section->address + at, ReferenceKind::address64, entry, 0);
  }
}

void collect_table_words(Lifter& lifter) {
  for (const RelocationTable& table : lifter.image.relocations) {
    const Section& section = lifter.image.sections[table.target];
    if (section.executable()) continue;
    // Words that hold addresses may be variables, and the unwind tables hold many.
    const bool addresses = lifter.machine.abi.jump_table_entry == RelocationRole::address32;
    if (addresses && (section.writable() || is_unwind_section(section.name))) continue;
    for (const Relocation& relocation : table.relocations)
      if (relocation.role == lifter.machine.abi.jump_table_entry)
        lifter.table_words.push_back(relocation.address);
  }
  auto& words = lifter.table_words;
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
}

void find_code_reference(Lifter& lifter, Procedure& procedure, const Relocation& relocation,
                         WordBases& bases) {
  switch (relocation.role) {
    case RelocationRole::ignored:
    case RelocationRole::unwind_gp_relative64:
    case RelocationRole::unwind_segment_relative64:
    case RelocationRole::branch:  // decoded, like branches without a relocation
    case RelocationRole::hint:
    case RelocationRole::gp_load:  // see gp.cc
    case RelocationRole::gp_high:  // see halves.cc
    case RelocationRole::gp_low:
    case RelocationRole::address_high:  // see address_halves.cc
      break;
    case RelocationRole::gp_relative16:
      find_table(lifter, procedure, relocation, false);
      if (lifter.is_code_symbol(relocation.symbol))
        lifter.make_opaque(
            procedure, fmt::format("a 16-bit offset refers to code at {:#x}", relocation.address));
      break;
    case RelocationRole::gp_offset:
      find_table(lifter, procedure, relocation, false);
      find_gp_offset(lifter, procedure, relocation);
      break;
    case RelocationRole::got_load:
      find_table(lifter, procedure, relocation, true);
      find_got_slot(lifter, procedure, relocation, bases.gps);
      break;
    case RelocationRole::address64:
    case RelocationRole::address32:
    case RelocationRole::gp_relative32:
    case RelocationRole::pc_relative32:
    case RelocationRole::pc_relative64:
    case RelocationRole::image_relative32:
      lifter.make_opaque(procedure, fmt::format("it holds data at {:#x}", relocation.address));
      find_data_word(lifter, relocation, *data_kind(relocation.role), bases);
      break;
    case RelocationRole::absolute:
      if (refers_to_moving(lifter, relocation.symbol))
        lifter.make_opaque(procedure, fmt::format("it holds an absolute address of code at {:#x}",
                                                  relocation.address));
      break;
    case RelocationRole::unsupported:
      lifter.make_opaque(procedure, fmt::format("relocation type {} at {:#x} is not understood",
                                                relocation.raw, relocation.address));
      break;
  }
}

/// Whether the call at `at` is the last instruction of its range and calls the procedure right
/// after it, which need not stay there: compilers put a procedure that never returns after its last
/// caller. Unwind information of its own distinguishes such a procedure from hand-written code that
/// pops its return address. `described`: the starts of procedures with unwind information, sorted.
bool calls_next_procedure(const Lifter& lifter, const CodeRange& range, uint64_t at,
                          const std::vector<uint64_t>& described) {
  if (!is_call(lifter.machine.facts(*lifter.instruction_at(at)).flow)) return false;
  const uint64_t next = lifter.map().next(at);
  const uint32_t behind = lifter.range_at(next);
  return behind != kNone && lifter.program.ranges[behind].procedure != range.procedure &&
         lifter.program[lifter.program.ranges[behind].procedure].address == next &&
         std::ranges::binary_search(described, next);
}

/// Code that reads its own address is understood only where it computes gp from that address.
void check_get_pc(Lifter& lifter) {
  std::vector<uint64_t> anchors;
  for (const FoundReference& found : lifter.found)
    if (found.kind == ReferenceKind::gp_load_high) anchors.push_back(found.target);
  std::sort(anchors.begin(), anchors.end());
  std::vector<uint64_t> described;
  for (const Fde& fde : lifter.unwind.fdes) described.push_back(fde.start);
  std::sort(described.begin(), described.end());
  for (const CodeRange& range : lifter.program.ranges)
    for (const Instruction& instruction : lifter.code_in(range.start, range.end)) {
      if (!lifter.machine.facts(instruction).get_pc) continue;
      const uint64_t at = lifter.program.origin_base + instruction.origin;
      if (!std::binary_search(anchors.begin(), anchors.end(), lifter.map().next(at)) &&
          !calls_next_procedure(lifter, range, at, described))
        lifter.make_opaque(lifter.program[range.procedure],
                           fmt::format("it computes with its own address at {:#x}", at));
    }
}

/// Places of kept relocations of data, sorted: for these words it is known whether they refer to
/// code.
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
/// of the global offset table that no instruction loads any more, and words that hand-made tools
/// left. Slots are addresses; other words pin the procedure to which they would refer. The search
/// only runs where code lies high, since otherwise small numbers would look like addresses.
/// Position-independent images have dynamic relocations for all such words.
void sweep_data(Lifter& lifter) {
  constexpr uint64_t kLowestTelling = uint64_t{1} << 24;
  if (lifter.code.empty() || lifter.code.front().start < kLowestTelling ||
      lifter.image.kind != Image::Kind::executable)
    return;
  const std::vector<uint64_t> known = relocated_words(lifter);
  for (const Section& section : lifter.image.sections) {
    if (!section.allocated() || section.executable() || is_unwind_section(section.name) ||
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
      if (section.name == kLinkageTable && value == procedure.address)
        add_code_pointer(lifter, address, ReferenceKind::address64, value, 0);
      else
        lifter.pin(procedure, fmt::format("the data at {:#x} may hold an address in it, but has no "
                                          "relocation",
                                          address));
    }
  }
}

}  // namespace

void find_references(Lifter& lifter) {
  collect_table_words(lifter);
  Program& program = lifter.program;

  find_whole_addresses(lifter);
  GpHalves halves(lifter);
  halves.find();
  WordBases bases{WordGps(lifter), Tables(lifter)};
  halves.keep_unknown(bases.gps);
  check_get_pc(lifter);
  if (!lifter.machine.codec.relocates_fields())
    for_each_code_relocation(lifter, [&](uint32_t range, const Relocation& relocation) {
      find_code_reference(lifter, program[program.ranges[range].procedure], relocation, bases);
    });
  find_data_words(lifter, bases);
  find_dynamic_words(lifter);
  find_descriptors(lifter);
  sweep_data(lifter);
  halves.settle();
  find_address_halves(lifter);
  std::sort(lifter.tables.begin(), lifter.tables.end(),
            [](const auto& a, const auto& b) { return a.place < b.place; });
  for (const TableReference& table : lifter.tables) lifter.table_starts.push_back(table.table);
  std::sort(lifter.table_starts.begin(), lifter.table_starts.end());
  lifter.knows_users_of_tables = all_gps_are_known(lifter);
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
