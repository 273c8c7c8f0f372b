// Code that OCaml's native compiler made, and the tables that its runtime reads.
//
// The compiler puts a label in front of the code of each unit and one behind, and a table in data
// that holds the return address of each call, by which the garbage collector finds what frames on
// the stack hold.
//
//     camlM__code_begin ... camlM__code_end     `.` or `$` instead of `__` in other versions
//     camlM__frametable: .quad COUNT; .quad RETURN; .short SIZE, LIVE ...; .quad RETURN; ...
//
// At the start the runtime takes the lowest and the highest of the labels for the ends of all OCaml
// code: a closure can be written by Marshal, and an overflow of the stack becomes an exception,
// only if the address of the code is between them. What is marshalled are distances from the first
// label, and a hash of all the code's bytes. So this code stays as a whole, understood, and its
// return addresses are no labels to which something might jump.
//
// Example: the array [| (fun x -> x + 1) |], of which `Marshal.to_string f [Closures]` is taken.
//
// Limits: the hash differs from that of the original where code of OCaml refers to code that moves,
// so the one does not read closures that the other wrote. Code of C may move to between the labels.
//
// Source: OCaml's runtime/startup_nat.c, codefrag.c, signals_nat.c, stack.h, backtrace_nat.c.

#include "optimizer/lift/ocaml.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

namespace respike {
namespace {

constexpr std::string_view kPrefix = "caml";

bool is_code(const Image& image, const Symbol& symbol) {
  return symbol.defined_in_section() && symbol.section < image.sections.size() &&
         image.sections[symbol.section].executable();
}

std::vector<OcamlExtent> sorted(std::vector<OcamlExtent> extents) {
  std::ranges::sort(extents, {}, &OcamlExtent::start);
  return extents;
}

}  // namespace

bool any_holds(const std::vector<OcamlExtent>& extents, uint64_t address) {
  const auto behind = std::ranges::upper_bound(extents, address, {}, &OcamlExtent::start);
  return behind != extents.begin() && address < (behind - 1)->end;
}

std::vector<OcamlExtent> ocaml_code(const Image& image) {
  constexpr std::string_view kBegin = "code_begin", kEnd = "code_end";
  std::map<std::string_view, uint64_t> begins, ends;  // by the name in front of these words
  for (const Symbol& symbol : image.symbols) {
    const std::string_view name = symbol.name;
    if (!name.starts_with(kPrefix) || !is_code(image, symbol)) continue;
    if (name.ends_with(kBegin))
      begins[name.substr(0, name.size() - kBegin.size())] = symbol.value;
    else if (name.ends_with(kEnd))
      ends[name.substr(0, name.size() - kEnd.size())] = symbol.value;
  }
  std::vector<OcamlExtent> code;
  for (const auto& [unit, begin] : begins)
    if (const auto end = ends.find(unit); end != ends.end() && end->second > begin)
      code.push_back({begin, end->second});
  return sorted(std::move(code));
}

std::vector<OcamlExtent> ocaml_frame_tables(const Image& image) {
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
    const Section* section = nullptr;
    for (const Section& each : image.sections)
      if (each.allocated() && start >= each.address && start - each.address < each.size)
        section = &each;
    if (section == nullptr) continue;
    const auto next = std::ranges::upper_bound(all, start);
    const uint64_t end = section->address + section->size;
    tables.push_back({start, next == all.end() ? end : std::min(*next, end)});
  }
  return sorted(std::move(tables));
}

}  // namespace respike
