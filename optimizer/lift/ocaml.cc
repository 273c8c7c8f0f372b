// Code that OCaml's native compiler made, and the tables that its runtime reads.
//
// The compiler puts a label before the code of each unit and a label after it. In data it puts a
// table with the return address of each call; by this table the garbage collector finds what frames
// on the stack hold. A program has a table of all labels.
//
//     camlM__code_begin ... camlM__code_end     `.` or `$` instead of `__` in other versions
//     camlM__frametable: .quad COUNT; .quad RETURN; .short SIZE, LIVE ...; .quad RETURN; ...
//     caml_code_segments: .quad camlM__code_begin, camlM__code_end, ..., 0
//
// At the start the runtime takes the lowest and the highest of the labels for the ends of all OCaml
// code. Marshal can write a closure, and an overflow of the stack becomes an exception, only if the
// address of the code is between these ends. Marshalled closures contain distances from the first
// label and a hash of all the code's bytes, which must all be mapped. So the code of a program
// moves together (Enclosure), and all its labels become its two ends. If one of its procedures has
// to stay, all stay. Code that is loaded later (natdynlink) stays as well: the runtime looks up the
// labels of each unit by name.
//
// Return addresses follow their calls; they are not labels to which a jump might lead. OCaml code
// leaves frames by jumping to a handler, whose address it has pushed. Such code forms an address
// inside of a procedure only for this purpose. A handler is an entry: control comes to it from
// everywhere. Calls follow no standard.
//
// Example: the array [| (fun x -> x + 1) |], of which `Marshal.to_string f [Closures]` is taken.
//
// Limits: the hash differs from that of the original, so neither program reads closures that the
// other wrote. Where the table is not understood (-function-sections, libraries), OCaml's code
// stays, but C code may move between the labels.
//
// Source: OCaml's runtime/startup_nat.c, codefrag.c, signals_nat.c, stack.h, backtrace_nat.c,
// dynlink_nat.c, amd64.S; asmcomp/amd64/emit.mlp.

#include "optimizer/lift/ocaml.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "optimizer/base/bytes.h"
#include "optimizer/lift/lifter.h"

namespace respike {
namespace {

constexpr std::string_view kPrefix = "caml", kBegin = "code_begin", kEnd = "code_end",
                           kRuntime = "caml_system";  // in assembly

bool is_code(const Image& image, const Symbol& symbol) {
  return symbol.defined_in_section() && symbol.section < image.sections.size() &&
         image.sections[symbol.section].executable();
}

/// In order; those that overlap become one.
std::vector<OcamlExtent> sorted(std::vector<OcamlExtent> extents) {
  std::ranges::sort(extents, {}, &OcamlExtent::start);
  size_t kept = 0;
  for (const OcamlExtent& extent : extents)
    if (kept > 0 && extent.start < extents[kept - 1].end)
      extents[kept - 1].end = std::max(extents[kept - 1].end, extent.end);
    else
      extents[kept++] = extent;
  extents.resize(kept);
  return extents;
}

/// Whether the symbol is one of the labels at the ends of a unit.
bool is_label(const Image& image, const Symbol& symbol) {
  return symbol.name.starts_with(kPrefix) && is_code(image, symbol) &&
         (symbol.name.ends_with(kBegin) || symbol.name.ends_with(kEnd));
}

/// The code of each unit, and of the runtime in assembly, by their labels; or only of the runtime.
std::vector<OcamlExtent> labelled_code(const Image& image, bool runtime_alone) {
  // By the name before these words: of two programs in one image, units may have the same name.
  std::map<std::string_view, std::vector<uint64_t>> begins, ends;
  for (const Symbol& symbol : image.symbols) {
    const std::string_view name = symbol.name;
    if (!is_label(image, symbol) || (runtime_alone && !name.starts_with(kRuntime))) continue;
    if (name.ends_with(kBegin))
      begins[name.substr(0, name.size() - kBegin.size())].push_back(symbol.value);
    else
      ends[name.substr(0, name.size() - kEnd.size())].push_back(symbol.value);
  }
  std::vector<OcamlExtent> code;
  for (auto& [unit, starts] : begins) {
    std::vector<uint64_t>& stops = ends[unit];
    std::ranges::sort(starts);
    std::ranges::sort(stops);
    for (const uint64_t start : starts) {
      const auto stop = std::ranges::upper_bound(stops, start);
      if (stop != stops.end()) code.push_back({start, *stop});
    }
  }
  return sorted(std::move(code));
}

std::vector<OcamlExtent> frame_tables_of(const Image& image) {
  std::vector<uint64_t> starts, all;
  for (const Symbol& symbol : image.symbols) {
    if (!symbol.defined_in_section() || is_code(image, symbol)) continue;
    all.push_back(symbol.value);
    if (symbol.name.starts_with(kPrefix) && symbol.name.ends_with("frametable") &&
        symbol.name != "caml_frametable")  // the addresses of all the tables
      starts.push_back(symbol.value);
  }
  std::ranges::sort(all);
  std::vector<OcamlExtent> tables;
  for (const uint64_t start : starts) {
    const Section* section = image.section_at(start);
    if (section == nullptr) continue;
    const auto next = std::ranges::upper_bound(all, start);
    const uint64_t end = section->address + section->size;
    tables.push_back({start, next == all.end() ? end : std::min(*next, end)});
  }
  return sorted(std::move(tables));
}

/// From the lowest start to the highest end; empty if code other than OCaml's lies in between.
/// Example: with -function-sections the runtime, written in C, lies between the units and the empty
/// unit caml_hot.
OcamlExtent hull_of(std::vector<OcamlExtent> units) {
  constexpr uint64_t kPadding = 64;  // bytes between two units, at most
  units = sorted(std::move(units));
  OcamlExtent hull;
  for (const OcamlExtent& unit : units) {
    if (hull.end == 0) hull = unit;
    if (unit.start > hull.end + kPadding) return {};
    hull.end = std::max(hull.end, unit.end);
  }
  return hull;
}

/// Reads the table of all units, as the runtime does.
void find_hull(const Image& image, Ocaml& ocaml) {
  constexpr uint64_t kWord = 8;
  const auto is_table = [&](const Symbol& symbol) {
    return symbol.name == "caml_code_segments" && symbol.defined_in_section() &&
           !is_code(image, symbol);
  };
  const auto table = std::ranges::find_if(image.symbols, is_table);
  if (table == image.symbols.end()) return;
  // Each of several programs (-output-complete-obj) has ends of its own.
  for (const Symbol& symbol : image.symbols)
    if (is_table(symbol) && symbol.value != table->value) return;
  std::unordered_map<uint64_t, uint64_t> formed;  // by the dynamic linker
  std::unordered_set<uint64_t> named;             // found by name: the labels would have to move
  for (const DynamicRelocationTable& each : image.dynamic_relocations)
    for (const Relocation& relocation : each.relocations)
      if (relocation.symbol != 0)
        named.insert(relocation.address);
      else if (relocation.role == RelocationRole::address64)
        formed.emplace(relocation.address, static_cast<uint64_t>(relocation.addend));
  const auto word_at = [&](uint64_t address) -> uint64_t {
    if (const auto known = formed.find(address); known != formed.end() && known->second != 0)
      return known->second;
    const auto bytes = image.bytes_at(address, kWord);
    return bytes ? load<uint64_t>(bytes->data()) : 0;
  };
  bool is_named = named.contains(table->value);
  std::vector<OcamlExtent> units;
  std::vector<std::pair<uint64_t, bool>> words;
  for (uint64_t at = table->value; const uint64_t start = word_at(at); at += 2 * kWord) {
    units.push_back({start, word_at(at + kWord)});
    is_named |= named.contains(at) || named.contains(at + kWord);
    words.emplace_back(at, false);
    words.emplace_back(at + kWord, true);
  }
  if (is_named) return;
  const OcamlExtent hull = hull_of(std::move(units));
  if (hull.start >= hull.end) return;
  ocaml.hull = hull;
  ocaml.hull_words = std::move(words);
}

}  // namespace

bool is_ocaml_unit_label(const Lifter& lifter, const Symbol& symbol) {
  return !lifter.ocaml.hull_words.empty() && is_label(lifter.image, symbol) &&
         !symbol.name.starts_with(kRuntime);
}

bool any_holds(const std::vector<OcamlExtent>& extents, uint64_t address) {
  const auto behind = std::ranges::upper_bound(extents, address, {}, &OcamlExtent::start);
  return behind != extents.begin() && address < (behind - 1)->end;
}

Ocaml find_ocaml(const Image& image) {
  Ocaml ocaml;
  find_hull(image, ocaml);
  // In an output the labels of the units follow single procedures, and the table is more exact.
  ocaml.code = labelled_code(image, !ocaml.hull_words.empty());
  const bool holds_runtime = std::ranges::any_of(ocaml.code, [&](const OcamlExtent& runtime) {
    return runtime.start < ocaml.hull.end && runtime.end > ocaml.hull.start;
  });
  if (holds_runtime && !ocaml.hull_words.empty()) {  // which stays
    ocaml.hull = {};
    ocaml.hull_words.clear();
    ocaml.code = labelled_code(image, false);
  }
  if (!ocaml.hull_words.empty()) ocaml.code.push_back(ocaml.hull);
  ocaml.code = sorted(std::move(ocaml.code));
  if (!ocaml.code.empty()) ocaml.frame_tables = frame_tables_of(image);
  return ocaml;
}

bool is_ocaml_return_address(const Lifter& lifter, uint64_t word, uint64_t target) {
  if (!any_holds(lifter.ocaml.frame_tables, word) || lifter.code_at(target - 1) == nullptr)
    return false;
  const uint64_t place = lifter.map().previous(target);
  if (!lifter.ocaml.is_code(place) || lifter.range_at(place) == kNone ||
      lifter.map().next(place) != target)
    return false;
  const Instruction* call = lifter.instruction_at(place);
  return call != nullptr && is_call(lifter.machine.facts(*call).flow);
}

void keep_odd_frame_table(Lifter& lifter, uint64_t word) {
  if (lifter.ocaml.table_is_odd || !any_holds(lifter.ocaml.frame_tables, word)) return;
  lifter.ocaml.table_is_odd = true;
  for (Procedure& procedure : lifter.program.procedures) {
    if (!procedure.enclosed) continue;
    lifter.pin(procedure, "a table of return addresses is not understood");
  }
}

std::optional<bool> ocaml_hull_word(const Lifter& lifter, uint64_t word) {
  const auto& words = lifter.ocaml.hull_words;
  const auto found = std::ranges::lower_bound(words, word, {}, &std::pair<uint64_t, bool>::first);
  if (found == words.end() || found->first != word) return std::nullopt;
  return found->second;
}

bool forms_ocaml_handler(const Lifter& lifter, uint64_t place, uint64_t target) {
  if (!lifter.ocaml.is_code(place) || !lifter.map().starts_group(target)) return false;
  const uint32_t from = lifter.range_at(place), to = lifter.range_at(target);
  if (to == kNone || from == kNone ||
      lifter.program.ranges[from].procedure != lifter.program.ranges[to].procedure)
    return false;
  const auto code = lifter.code_from(place);
  if (code.size() < 2) return false;
  const Operands formed = lifter.machine.operands(code[0]),
                 pushed = lifter.machine.operands(code[1]);
  const auto of = [](const Operands& operands, bool uses) {
    const auto all = std::span(operands.registers).first(operands.size);
    return uses ? all.first(operands.uses) : all.subspan(operands.uses);
  };
  const auto moved = of(pushed, false);
  return of(formed, false).size() == 1 &&
         std::ranges::find(of(pushed, true), of(formed, false)[0]) != of(pushed, true).end() &&
         moved.size() == 1 && moved[0] == lifter.machine.abi.stack_pointer;
}

}  // namespace respike
