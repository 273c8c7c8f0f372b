// Comparing two programs: everything but the walk over their code (same_program.cc).
//
// The walk is only as good as its set of entries. Control enters code from outside at the image's
// entry, at symbols and through words of data that hold addresses; opaque code may be entered at
// any of its blocks. Each entry has a partner that does not depend on the emitter's record:
//
// - for a symbol: the symbol of the same name at the same position in the table;
// - for a word of data: the word at the same address, since data does not move;
// - for code that does not move: the code at the same address.
//
// Example: the word at 0x120010018 holds 0x120000460 in the input and 0x120004000 in the output,
// both by a relocation: the code at these addresses is a pair.
//
// All other data must be equal byte by byte, except sections that describe where code is: unwind
// tables are compared by what they say about each instruction, relocations and dynamic entries by
// their meaning.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "optimizer/base/bytes.h"
#include "optimizer/base/equal_span.h"
#include "optimizer/check/same_program_internal.h"
#include "optimizer/image/provenance.h"
#include "optimizer/ir/lookup.h"

namespace respike {
namespace {

/// Sections whose contents say where code is.
bool describes_code(std::string_view name) {
  return is_unwind_section(name) || name == ".dynamic" || name == ".dynsym" || name == ".reloc" ||
         name.starts_with(".rela.") || name.starts_with(".note") || name == kStackTraces;
}

/// Read-only sections that only a program header or the dynamic section names: they may move.
bool is_found_by_headers(std::string_view name) {
  constexpr std::string_view kNames[] = {".interp",       ".hash",        ".gnu.hash",
                                         ".dynstr",       ".gnu.version", ".gnu.version_r",
                                         ".gnu.version_d"};
  return std::ranges::find(kNames, name) != std::end(kNames);
}

/// Tables that hold something for each dynamic symbol, in their order: new entries come last.
bool may_name_more(std::string_view name) {
  return name == ".dynstr" || name == ".gnu.version";
}

/// Tables by which the dynamic linker finds symbols; that all are found is a rule of loaders.
bool may_find_more(std::string_view name) {
  return name == ".hash" || name == ".gnu.hash";
}

std::string name_of(const Symbol& symbol) {
  return symbol.name.empty() ? fmt::format("the nameless symbol at {:#x}", symbol.value)
                             : fmt::format("the symbol {}", symbol.name);
}

bool in_executable_section(const Image& image, const Symbol& symbol) {
  return symbol.defined_in_section() && symbol.section < image.sections.size() &&
         image.sections[symbol.section].executable();
}

bool same_kind(const Symbol& a, const Symbol& b) {
  return a.name == b.name && a.raw == b.raw;
}

}  // namespace

Comparison::Comparison(const Program& before, const Program& after,
                       const std::vector<GpLoad>* needless, AddedCode* added, SharedWalk* shared,
                       size_t worker)
    : before_(before, classes_),
      after_(after, classes_),
      shared_(shared),
      worker_(worker),
      added_(added),
      needless_loads_(needless) {
  if (before.image == nullptr) return;
  if (auto note = read_provenance(*before.image)) dead_ends_ = std::move(note->dead_ends);
}

void Comparison::push(const CodeLocation& before, const CodeLocation& after) {
  add({{before.procedure, before.block, 0}, {after.procedure, after.block, 0}});
}

/// Compares everything except code, and fills the worklist with the entries.
void Comparison::find_entries() {
  code_pointers();
  const Image *before = before_.program.image, *after = after_.program.image;
  if (before == nullptr || after == nullptr) return procedures_by_number();
  const auto own_entry = added_ != nullptr ? added_->entry() : std::nullopt;
  pair_addresses(before->entry, own_entry.value_or(after->entry), "the entry of the image");
  appended();
  symbols();
  dynamic_symbols();
  pinned_blocks();
  relocated_words();
  sections();
  dynamic_relocations();
  unwind_tables();
  foreign_code();
}

/// The bytes after the image stay after it, perhaps after padding.
void Comparison::appended() {
  const auto before = before_.program.image->appended, after = after_.program.image->appended;
  const bool fits = after.size() >= before.size();
  const auto padding = fits ? after.first(after.size() - before.size()) : after;
  if (!fits || !std::ranges::equal(before, after.last(before.size())) ||
      std::ranges::any_of(padding, [](uint8_t byte) { return byte != 0; }))
    differ("what lies behind the image in the input does not lie behind the output");
}

/// Programs that were not lifted (in tests) have no images: procedures with equal numbers
/// correspond.
void Comparison::procedures_by_number() {
  const auto &before = before_.program.procedures, &after = after_.program.procedures;
  if (before.size() != after.size()) return differ("the numbers of procedures differ");
  for (ProcedureId id = 0; id < before.size(); ++id) {
    if (before[id].name != after[id].name)
      return differ(fmt::format("procedure {} is {} in the input and {} in the output", id,
                                before[id].name, after[id].name));
    if (!before[id].blocks.empty() && !after[id].blocks.empty())
      push({.procedure = id, .block = 0}, {.procedure = id, .block = 0});
  }
}

/// Code that does not move may be entered anywhere: all its blocks are entries.
void Comparison::pinned_blocks() {
  for (ProcedureId id = 0; id < before_.program.procedures.size(); ++id) {
    const Procedure& procedure = before_.program[id];
    if (procedure.movable()) continue;
    for (BlockId b = 0; b < procedure.blocks.size(); ++b) {
      const BasicBlock& block = procedure.blocks[b];
      if (block.origin == kNone) continue;
      const auto list = block.instructions.span();
      const bool padding = std::all_of(list.begin(), list.end(), [&](const Instruction& i) {
        return i.is_pseudo() || (i.opcode != kInvalid && before_.machine.facts(i).nop);
      });
      const auto partner = after_.find(before_.program.address_of(block));
      if (partner)
        add({{id, b, 0}, *partner});
      else if (!padding)
        return differ(
            fmt::format("code that must stay is gone: input {}", before_.describe({id, b, 0})));
    }
  }
}

/// Code that is not understood may have been decoded from wrong places, in both images in the same
/// way: a call that was not seen and whose target moved leads elsewhere. The relocations of such
/// code say where its words lead. Example: `call g` after data, which reads as another instruction.
void Comparison::relocated_words() {
  if (before_.program.map.groups().fixed()) return;
  const Image& image = *before_.program.image;
  for (const RelocationTable& table : image.relocations) {
    if (table.target >= image.sections.size() || !image.sections[table.target].executable())
      continue;
    for (const Relocation& relocation : table.relocations)
      if (!difference_ && is_outside_of_understood_code(relocation.address))
        relocated_word(relocation);
  }
}

void Comparison::relocated_word(const Relocation& relocation) {
  const bool distance =
      relocation.role == RelocationRole::branch || relocation.role == RelocationRole::pc_relative32;
  const Image& image = *before_.program.image;
  if (!distance && relocation.role != RelocationRole::address32) return;
  if (relocation.symbol >= image.symbols.size() ||
      !in_executable_section(image, image.symbols[relocation.symbol]))
    return;
  const auto word_of = [&](const ComparedProgram& side) -> std::optional<uint32_t> {
    const Section* section = side.program.image->section_at(relocation.address);
    if (section == nullptr) return std::nullopt;
    const uint64_t at = relocation.address - section->address;
    if (at > section->contents.size() || section->contents.size() - at < 4) return std::nullopt;
    return load<uint32_t>(section->contents.data() + at);
  };
  const auto before = word_of(before_), after = word_of(after_);
  if (!before || !after) return;
  // A linker that relaxed the instruction left another word; if so, the relocation says nothing.
  const uint64_t value =
      image.symbols[relocation.symbol].value + static_cast<uint64_t>(relocation.addend);
  if (static_cast<uint32_t>(value - (distance ? relocation.address : 0)) != *before) return;
  // Distances count from the end of the instruction, which is known only for branches.
  const bool unchanged = *before == *after;
  if (unchanged && relocation.role == RelocationRole::pc_relative32)
    for (uint64_t nearby = value; nearby <= value + 8; ++nearby)
      if (!is_inside_moved(nearby)) return;
  const uint64_t target = value + (distance ? 4 : 0);
  if (unchanged && !is_inside_moved(target)) return same_way(target);
  const auto moved = static_cast<int32_t>(*after - *before);
  pair_addresses(target, target + static_cast<uint64_t>(int64_t{moved}),
                 fmt::format("what the code at {:#x} refers to", relocation.address));
}

/// Whether a procedure that stays has the same bytes in both images, except for the words with
/// relocations, which relocated_words() and code_pointers() compare.
bool Comparison::has_same_bytes(ProcedureId procedure) {
  const Image &input = *before_.program.image, &output = *after_.program.image;
  const auto& ranges = before_.program.ranges;
  if (ranges_by_procedure_.empty()) {
    for (uint32_t i = 0; i < ranges.size(); ++i)
      ranges_by_procedure_.emplace_back(ranges[i].procedure, i);
    std::ranges::sort(ranges_by_procedure_);
  }
  for (const auto& [owner, index] :
       equal_span(ranges_by_procedure_, procedure, &std::pair<ProcedureId, uint32_t>::first)) {
    const CodeRange& range = ranges[index];
    const auto before = input.bytes_at(range.start, range.end - range.start);
    const auto after = output.bytes_at(range.start, range.end - range.start);
    if (!before || !after) return false;
    std::vector<bool> told(before->size());
    for (const RelocationTable& table : input.relocations) {
      const auto first =
          std::ranges::lower_bound(table.relocations, range.start, {}, &Relocation::address);
      for (auto each = first; each != table.relocations.end() && each->address < range.end;
           ++each) {
        if (each->symbol >= input.symbols.size() ||
            !in_executable_section(input, input.symbols[each->symbol]))
          continue;
        const size_t size = each->role == RelocationRole::address64 ? 8 : 4;
        for (size_t i = 0; i < size && each->address - range.start + i < told.size(); ++i)
          told[each->address - range.start + i] = true;
      }
    }
    for (size_t i = 0; i < told.size(); ++i)
      if (!told[i] && (*before)[i] != (*after)[i]) return false;
  }
  return true;
}

/// Outside of all procedures control runs on to the next procedure: the bytes on the way stay.
void Comparison::same_way(uint64_t address) {
  if (before_.range_at(address) != nullptr) return;
  const Section *before = before_.program.image->section_at(address),
                *after = after_.program.image->section_at(address);
  if (before == nullptr || after == nullptr || !before->executable()) return;
  const auto& ranges = before_.program.ranges;
  const auto next = std::ranges::lower_bound(ranges, address, {}, &CodeRange::start);
  const uint64_t stop = std::min(
      next == ranges.end() ? ~uint64_t{0} : next->start,
      std::min(before->address + before->contents.size(), after->address + after->contents.size()));
  const auto bytes = [&](const Section& section) {
    return section.contents.subspan(address - section.address, stop - address);
  };
  if (address < stop && !std::ranges::equal(bytes(*before), bytes(*after)))
    differ(fmt::format("the code at {:#x}, outside of all procedures, has changed", address));
}

void Comparison::code_pointers() {
  const auto& before = before_.program.code_pointers;
  std::span<const CodePointer> after = after_.program.code_pointers;
  std::vector<CodePointer> common;
  if (added_ != nullptr) {
    std::ranges::copy_if(after, std::back_inserter(common), [&](const CodePointer& pointer) {
      return !added_->has_word(pointer.address);
    });
    after = common;
  }
  const auto outside = [](const CodePointer& pointer) {
    return pointer.target.where == CodeLocation::Where::address;
  };
  // Words with the ends of an enclosure stay as they are as long as the enclosed code stays.
  const bool encloses = enclosed_moves();
  const auto names_end = [&](const CodePointer& pointer) {
    return !encloses && (pointer.target.where == CodeLocation::Where::enclosure_start ||
                         pointer.target.where == CodeLocation::Where::enclosure_end);
  };
  for (size_t i = 0; i < std::max(before.size(), after.size()); ++i) {
    if (i == before.size() || i == after.size() || before[i].address != after[i].address)
      return differ(fmt::format("the word at {:#x} holds an address of code in one image only",
                                i == before.size() ? after[i].address
                                : i == after.size()
                                    ? before[i].address
                                    : std::min(before[i].address, after[i].address)));
    const auto where = before[i].target.where;
    if (before[i].kind != after[i].kind || before[i].base != after[i].base ||
        where != after[i].target.where ||
        (names_end(before[i]) && before[i].target.address != after[i].target.address) ||
        (outside(before[i]) && !same_outside(before[i].target.address, after[i].target.address)))
      return differ(
          fmt::format("the word at {:#x} refers to code in different ways", before[i].address));
    // Return points are compared at the end, see listed_calls().
    if (where == CodeLocation::Where::block_start) push(before[i].target, after[i].target);
  }
}

/// Words of data that hold return addresses: there a runtime finds what the frame of a caller
/// holds. So each call of the input that has such a word must be one call of the output, to which
/// the word belongs.
void Comparison::listed_calls() {
  const auto& before = before_.program.code_pointers;
  const auto& after = after_.program.code_pointers;
  std::set<uint32_t> copied;
  for (const Visit& pair : more_call_partners_) copied.insert(pair.before);
  auto partner = after.begin();
  for (const CodePointer& pointer : before) {
    if (pointer.target.where != CodeLocation::Where::return_point) continue;
    partner = std::lower_bound(
        partner, after.end(), pointer.address,
        [](const CodePointer& p, uint64_t address) { return p.address < address; });
    if (partner == after.end()) return;  // code_pointers() has reported this
    const uint32_t call = before_.numbers(pointer.target.procedure, pointer.target.block);
    const uint32_t other = after_.numbers(partner->target.procedure, partner->target.block);
    if (call_partner_[call] == kNone) continue;  // nothing leads to the call
    if (call_partner_[call] != other || copied.contains(call))
      return differ(fmt::format(
          "the word at {:#x} is to hold the return address of the call in the block at {}",
          pointer.address, before_.describe({pointer.target.procedure, pointer.target.block, 0})));
  }
}

/// Whether the instruction at `address` overlaps a code pointer of the input.
bool Comparison::is_code_pointer(uint64_t address) const {
  const auto& pointers = before_.program.code_pointers;
  auto after = std::upper_bound(pointers.begin(), pointers.end(), address,
                                [](uint64_t a, const CodePointer& p) { return a < p.address; });
  return after != pointers.begin() &&
         address - (after - 1)->address < pointer_size((after - 1)->kind);
}

/// Two addresses that code outside of the image may know: they must be the same code, or the same
/// place outside of all code. The end of a procedure that moved is not such a place.
void Comparison::pair_addresses(uint64_t before, uint64_t after, std::string_view what) {
  const auto from = before_.find(before), to = after_.find(after);
  if (from && to) {
    add({*from, *to});
    return;
  }
  if (!from && !to && !is_inside_moved(before) && same_outside(before, after)) return;
  differ(
      fmt::format("{} is {:#x} in the input and {:#x} in the output, which are not the same "
                  "code",
                  what, before, after));
}

/// Whether an address lies in a procedure that may have moved.
bool Comparison::is_inside_moved(uint64_t address) const {
  const CodeRange* range = before_.range_at(address);
  return range != nullptr && before_.program[range->procedure].movable();
}

/// Whether an address lies in an opaque procedure, or in no procedure.
bool Comparison::is_outside_of_understood_code(uint64_t address) const {
  const CodeRange* range = before_.range_at(address);
  return range == nullptr || before_.program[range->procedure].state == Procedure::State::opaque;
}

/// The output may have more local symbols, for fragments; all others keep their order. Symbols of
/// sections have no names to match. Names of source files say nothing about code, and for objects
/// without a name linkers write the name of a temporary file. Symbols in debug sections that the
/// output has dropped, such as symbols that link-time optimization puts into .debug_info, have
/// become null symbols.
void Comparison::symbols() {
  const Image &input = *before_.program.image, &output = *after_.program.image;
  const auto &before = input.symbols, &after = output.symbols;
  const auto is_dropped = [&](const Symbol& symbol) {
    if (!symbol.defined_in_section() || symbol.section >= input.sections.size()) return false;
    const Section& section = input.sections[symbol.section];
    return !section.allocated() && output.section_named(section.name) == nullptr;
  };
  const auto is_added = [](const Symbol& symbol) {
    return symbol.local || (symbol.name.empty() && !symbol.defined_in_section());
  };
  size_t j = 0;
  for (const Symbol& expected : before) {
    if (expected.type == Symbol::Type::section || expected.type == Symbol::Type::file) continue;
    if (is_dropped(expected)) continue;
    while (j < after.size() && !same_kind(expected, after[j]) && is_added(after[j])) ++j;
    if (j == after.size() || !same_kind(expected, after[j]))
      return differ(name_of(expected) + " is missing");
    symbol(expected, after[j++]);
    if (difference_) return;
  }
}

void Comparison::dynamic_symbols() {
  const auto& before = before_.program.image->dynamic_symbols;
  const auto& after = after_.program.image->dynamic_symbols;
  if (before.size() > after.size()) return differ("dynamic symbols are missing");
  for (size_t i = 0; i < before.size(); ++i) {
    if (!same_kind(before[i], after[i]))
      return differ(fmt::format("dynamic symbol {} is {} in the input and {} in the output", i,
                                before[i].name, after[i].name));
    symbol(before[i], after[i]);
    if (difference_) return;
  }
  new_dynamic_symbols();
}

/// The output may name fragments of procedures that have dynamic symbols: each new symbol is hidden
/// from other images, and lies in the procedure whose name it has.
void Comparison::new_dynamic_symbols() {
  const size_t known = before_.program.image->dynamic_symbols.size();
  const auto symbols = std::span(after_.program.image->dynamic_symbols);
  if (symbols.size() == known) return;
  std::multimap<std::string_view, ProcedureId> named;
  for (const Symbol& symbol : symbols.first(known))
    if (const auto place = after_.block_at(symbol.value);
        place && symbol.type == Symbol::Type::procedure && symbol.defined_in_section())
      named.emplace(symbol.name, place->procedure);
  for (const Symbol& symbol : symbols.subspan(known)) {
    const size_t suffix = symbol.name.rfind(".frag.");
    const auto place = after_.block_at(symbol.value);
    std::string_view procedure = symbol.name.substr(0, suffix);
    if (!named.contains(procedure) && procedure.ends_with(".cold")) procedure.remove_suffix(5);
    const auto [first, last] = named.equal_range(procedure);
    const bool is_meant = place && std::any_of(first, last, [&](const auto& owner) {
                            return owner.second == place->procedure;
                          });
    if (suffix == std::string_view::npos || !symbol.local || !is_meant)
      return differ(fmt::format("the new dynamic symbol {} names other code", symbol.name));
  }
}

void Comparison::symbol(const Symbol& before, const Symbol& after) {
  const Image& image = *before_.program.image;
  const auto what = [&] { return name_of(before); };
  if (before.defined_in_section() != after.defined_in_section() ||
      (!before.defined_in_section() && before.section != after.section))
    return differ(what() + " is defined in one image only");
  const bool code = in_executable_section(image, before);
  if (!code && (before.size != after.size || before.visibility != after.visibility ||
                before.local_entry != after.local_entry))
    return differ(what() + " has another size or visibility");
  if (!before.defined_in_section() || before.type == Symbol::Type::tls) {
    if (before.value != after.value) differ(what() + " has another value");
    return;
  }
  if (!code || before.type == Symbol::Type::section ||
      !image.sections[before.section].contains(before.value)) {
    const bool inside_moved = image.section_at(before.value) != nullptr &&
                              describes_code(image.section_at(before.value)->name);
    if (!inside_moved && !same_outside(before.value, after.value))
      differ(fmt::format("{} is {:#x} in the input and {:#x} in the output", what(), before.value,
                         after.value));
    return;
  }
  if (after.visibility != before.visibility ||
      (after.local_entry != before.local_entry && after.local_entry != 0))
    return differ(what() + " announces another entry");
  pair_addresses(before.value, after.value, what());
  if (!keeps_alignment(before.value, after.value))
    return differ(what() + " is no longer aligned as in the input");
  const uint64_t local_entry = after.local_entry;
  if (local_entry == 0) return;
  const auto from = before_.block_at(before.value + local_entry);
  const auto to = after_.find(after.value + local_entry);
  if (from && !to) return differ(what() + " announces an entry that is not there");
  if (from) add({{from->procedure, from->block, 0}, *to});
}

/// Programs may keep numbers in the low bits of entries' addresses, see Placement.
bool Comparison::keeps_alignment(uint64_t before, uint64_t after) const {
  constexpr uint64_t kUsual = 16, kPage = 4096;
  const Image& image = *before_.program.image;
  const Section* section = image.section_at(before);
  const bool asks = section != nullptr && section->alignment > image.section_alignment;
  const uint64_t most = asks ? std::clamp(section->alignment, kUsual, kPage) : kUsual;
  const auto place = before_.block_at(before);
  if (!place || !before_.program[place->procedure].blocks[place->block].has(BasicBlock::kEntry))
    return true;
  const uint64_t own = std::min(before & (~before + 1), most);
  // Where instructions are fixed groups of bytes, only a requested alignment is kept.
  if (before_.program.map.groups().fixed() && own <= kUsual) return true;
  return (after & (own - 1)) == 0;
}

void Comparison::sections() {
  const Image &before = *before_.program.image, &after = *after_.program.image;
  // Sections with equal names stay in place, or in order.
  std::multimap<std::string_view, const Section*> named;
  for (const Section& each : after.sections)
    if (each.allocated()) named.emplace(each.name, &each);
  for (const Section& each : before.sections) {
    if (!each.allocated() || difference_) continue;
    const auto [first, last] = named.equal_range(each.name);
    auto partner = std::find_if(
        first, last, [&](const auto& entry) { return entry.second->address == each.address; });
    if (partner == last) partner = first;
    if (partner != last) {
      section(each, *partner->second);
      named.erase(partner);
    } else if (!describes_code(each.name)) {
      differ(fmt::format("the section {} is missing", each.name));
    }
  }
  for (size_t i = 0; i < before.loader_entries.size() && !difference_; ++i) {
    const auto& [kind, raw, value] = before.loader_entries[i];
    if (i >= after.loader_entries.size() || after.loader_entries[i].raw != raw)
      return differ(fmt::format("dynamic entry {} has another tag", i));
    uint64_t now = after.loader_entries[i].value;
    if (kind == LoaderEntry::Kind::initializer && added_ != nullptr)
      now = added_->initializer().value_or(now);
    if (before.loader_entries[i].enters_code())
      pair_addresses(value, now,
                     kind == LoaderEntry::Kind::initializer ? "the initializer" : "the finalizer");
    else if (kind == LoaderEntry::Kind::names_size) {
      const Section* names = after.section_named(".dynstr");
      if (now < value || names == nullptr || now != names->size)
        return differ("the size of the names of dynamic symbols is wrong");
    } else if ((value != now || kind == LoaderEntry::Kind::symbol_lookup) &&
               !same_outside(value, now))
      differ(fmt::format("dynamic entry {} is {:#x} in the input and {:#x} in the output", i, value,
                         now));
  }
}

void Comparison::section(const Section& before, const Section& after) {
  if (describes_code(before.name)) return;
  const auto& ranges = before_.program.ranges;
  const auto code =
      std::lower_bound(ranges.begin(), ranges.end(), before.address,
                       [](const CodeRange& range, uint64_t a) { return range.start < a; });
  if (before.executable() && code != ranges.end() && before.contains(code->start)) return;
  if (!is_found_by_headers(before.name) && before.address != after.address)
    return differ(fmt::format("the section {} moved", before.name));
  const bool grows = after_.program.image->dynamic_symbols.size() >
                         before_.program.image->dynamic_symbols.size() &&
                     before.contents.size() == before.size && before.size < after.size;
  if (grows && may_find_more(before.name)) return;
  if (!(grows && may_name_more(before.name)) &&
      (before.size != after.size || before.contents.size() != after.contents.size()))
    return differ(fmt::format("the section {} has another size", before.name));
  const uint64_t end = before.address + before.contents.size();
  const auto compare = [&](uint64_t from, uint64_t to) {  // addresses
    const uint8_t* old_bytes = before.contents.data() + (from - before.address);
    const uint8_t* new_bytes = after.contents.data() + (from - before.address);
    if (std::memcmp(old_bytes, new_bytes, to - from) == 0) return true;
    while (*old_bytes == *new_bytes) ++old_bytes, ++new_bytes, ++from;
    differ(fmt::format("the data at {:#x} in {} differs", from, before.name));
    return false;
  };
  const auto& pointers = before_.program.code_pointers;
  auto pointer = std::lower_bound(pointers.begin(), pointers.end(), before.address,
                                  [](const CodePointer& p, uint64_t a) { return p.address < a; });
  uint64_t at = before.address;
  for (; pointer != pointers.end() && pointer->address < end; ++pointer) {
    if (at < pointer->address && !compare(at, pointer->address)) return;
    at = std::min(end, pointer->address + pointer_size(pointer->kind));
  }
  if (at < end) compare(at, end);
}

void Comparison::dynamic_relocations() {
  const auto& before = before_.program.image->dynamic_relocations;
  const auto& after = after_.program.image->dynamic_relocations;
  if (before.size() != after.size())
    return differ("the numbers of dynamic relocation sections differ");
  for (size_t i = 0; i < before.size(); ++i) {
    if (before[i].relocations.size() != after[i].relocations.size())
      return differ("the numbers of dynamic relocations differ");
    for (size_t j = 0; j < before[i].relocations.size() && !difference_; ++j)
      dynamic_relocation(before[i].relocations[j], after[i].relocations[j]);
  }
}

/// The walk does not reach code that is in no procedure, but unwinders do: both images must unwind
/// such code in the same way. Where the input's descriptors are not understood, they must cover the
/// same range.
void Comparison::foreign_code() {
  const auto differs = [&](uint64_t address) {
    differ(fmt::format("the unwind information of the code at {:#x} differs", address));
  };
  const auto& after = after_.program.foreign_fdes;  // sorted, like those of `before`
  for (const Fde& fde : before_.program.foreign_fdes) {
    std::vector<uint64_t> places = {fde.start};  // where something changes
    for (const Fde::Row& row : fde.rows) places.push_back(row.address);
    for (const Fde::CallSite& site : fde.call_sites)
      places.insert(places.end(), {site.start, site.end});
    for (const uint64_t at : places) {
      if (at < fde.start || at >= fde.end) continue;
      const auto next =
          std::upper_bound(after.begin(), after.end(), at,
                           [](uint64_t a, const Fde& candidate) { return a < candidate.start; });
      if (next == after.begin() || at >= (next - 1)->end) return differs(at);
      if (!same_unwinding(fde, *(next - 1), at)) return differs(at);
      const bool same_range = fde.start == (next - 1)->start && fde.end == (next - 1)->end;
      if (is_opaque(before_.program.unwind, fde) && !same_range) return differs(at);
      if (fde.kept_lsda != (next - 1)->kept_lsda) return differs(at);
    }
  }
  kept_exception_tables();
}

/// Exception tables that are not understood stay, and their ends are unknown.
void Comparison::kept_exception_tables() {
  const Image &before = *before_.program.image, &after = *after_.program.image;
  std::set<const Section*> sections;
  for (const Fde& fde : before_.program.foreign_fdes)
    if (const Section* section = before.section_at(fde.kept_lsda))
      if (fde.kept_lsda != 0) sections.insert(section);
  for (const Section* section : sections) {
    const auto now = after.bytes_at(section->address, section->contents.size());
    if (!now || !std::ranges::equal(section->contents, *now))
      differ(
          fmt::format("the section {} holds exception tables that are not understood, but did not "
                      "stay as it is",
                      section->name));
  }
}

/// Whether both FDEs say the same at the address, and exceptions lead to the same code.
bool Comparison::same_unwinding(const Fde& before, const Fde& after, uint64_t address) {
  const auto state_at = [&](const ComparedProgram& side, const Fde& fde) {
    const auto next =
        std::upper_bound(fde.rows.begin(), fde.rows.end(), address,
                         [](uint64_t a, const Fde::Row& row) { return a < row.address; });
    return side.state_class(next == fde.rows.begin() ? kNone : (next - 1)->state);
  };
  if (state_at(before_, before) != state_at(after_, after)) return false;
  const auto site_at = [&](const Fde& fde) -> const Fde::CallSite* {
    const auto site =
        std::lower_bound(fde.call_sites.begin(), fde.call_sites.end(), address,
                         [](const Fde::CallSite& s, uint64_t a) { return s.end <= a; });
    return site != fde.call_sites.end() && site->start <= address ? &*site : nullptr;
  };
  const Fde::CallSite *from = site_at(before), *to = site_at(after);
  if (before.lsda == kNone || after.lsda == kNone) {
    // A call site without a landing pad means the same as no table.
    const bool passes =
        before.lsda == kNone ? after.lsda == kNone || to != nullptr : from != nullptr;
    return passes && (from == nullptr || from->landing_pad == 0) &&
           (to == nullptr || to->landing_pad == 0);
  }
  if (from == nullptr || to == nullptr) return from == to;
  if ((from->landing_pad == 0) != (to->landing_pad == 0)) return false;
  if (from->landing_pad != 0) pair_addresses(from->landing_pad, to->landing_pad, "a landing pad");
  return before_.action_class(before.lsda, from->action) ==
         after_.action_class(after.lsda, to->action);
}

void Comparison::unwind_tables() {
  for (const UnwindFormat* format : unwind_formats())
    if (format->contradiction != nullptr)
      if (const auto fault = format->contradiction(*before_.program.image, *after_.program.image,
                                                   after_.program.unwind))
        return differ(*fault);
}

/// Whether enclosed code of the input moves.
bool Comparison::enclosed_moves() {
  if (!enclosed_moves_) enclosed_moves_ = encloses_moving(before_.program);
  return *enclosed_moves_;
}

/// The address in a word of data that holds a return address or an end of the enclosure; nullopt
/// for other words.
std::optional<uint64_t> Comparison::place_behind_code(const ComparedProgram& side, uint64_t word) {
  const CodePointer* found = pointer_at(side.program, word);
  if (found == nullptr) return std::nullopt;
  switch (found->target.where) {
    case CodeLocation::Where::return_point: {
      const BasicBlock& call = side.program[found->target.procedure].blocks[found->target.block];
      return side.program.address_of(call) + call.origin_size;
    }
    case CodeLocation::Where::enclosure_start:
      return enclosed_moves() ? side.program.enclosure.start : found->target.address;
    case CodeLocation::Where::enclosure_end:
      return enclosed_moves() ? side.program.enclosure.end : found->target.address;
    default:
      return std::nullopt;
  }
}

/// Without a symbol the addend is an address, perhaps of code. With a symbol, symbol and addend
/// together are an address.
void Comparison::dynamic_relocation(const Relocation& before, const Relocation& after) {
  const auto what = [&] { return fmt::format("the dynamic relocation of {:#x}", before.address); };
  if (before.address != after.address || before.raw != after.raw || before.symbol != after.symbol)
    return differ(what() + " is another one in the output");
  if (const auto place = place_behind_code(after_, before.address); before.symbol == 0 && place) {
    if (after.addend != static_cast<int64_t>(*place))
      differ(what() + " has another addend than the word of data");
    return;
  }
  if (before.symbol == 0 && before_.block_at(static_cast<uint64_t>(before.addend)) &&
      is_code_pointer(before.address))
    return pair_addresses(static_cast<uint64_t>(before.addend), static_cast<uint64_t>(after.addend),
                          what());
  if (before.addend != after.addend) return differ(what() + " has another addend");
  const auto &old_symbols = before_.program.image->dynamic_symbols,
             &new_symbols = after_.program.image->dynamic_symbols;
  if (before.symbol == 0 || before.addend == 0 || before.symbol >= old_symbols.size() ||
      before.symbol >= new_symbols.size())
    return;
  const Symbol &from = old_symbols[before.symbol], &to = new_symbols[before.symbol];
  if (!in_executable_section(*before_.program.image, from)) return;
  const auto addend = static_cast<uint64_t>(before.addend);
  pair_addresses(from.value + addend, to.value + addend, what());
}

}  // namespace respike
