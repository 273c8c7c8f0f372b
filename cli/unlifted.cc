// Listings by symbols alone: every executable section from its start to its end, with a headline
// wherever a symbol of a procedure stands. The end of a procedure is where its symbol's size says.

#include "cli/unlifted.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>

#include "cli/messages.h"
#include "optimizer/base/error.h"
#include "optimizer/ir/procedure_name.h"

namespace respike::cli {
namespace {

struct NamedCode {
  uint64_t address = 0;
  uint64_t size = 0;
  std::string_view name;
};

bool holds_code(const Section& section) {
  return section.allocated() && section.executable() && !section.contents.empty();
}

/// One for each address that a procedure's symbol names, in address order; the first name counts.
std::vector<NamedCode> named_code(const Image& image) {
  std::vector<NamedCode> list;
  for (const auto* symbols : {&image.symbols, &image.dynamic_symbols}) {
    for (const Symbol& symbol : *symbols) {
      if (symbol.type != Symbol::Type::procedure || !symbol.defined_in_section()) continue;
      const Section* section = image.section_at(symbol.value);
      if (section != nullptr && holds_code(*section))
        list.push_back({symbol.value, symbol.size, symbol.name});
    }
  }
  std::ranges::stable_sort(list, {}, &NamedCode::address);
  const auto same = [](const NamedCode& a, const NamedCode& b) { return a.address == b.address; };
  list.erase(std::unique(list.begin(), list.end(), same), list.end());
  return list;
}

/// The last entry at or before the address, or nullptr.
const NamedCode* code_before(std::span<const NamedCode> list, uint64_t address) {
  const auto after = std::ranges::upper_bound(list, address, {}, &NamedCode::address);
  return after == list.begin() ? nullptr : &*std::prev(after);
}

/// "name", "name+0x10", or the address where no procedure is.
std::string place_text(std::span<const NamedCode> list, uint64_t address) {
  const NamedCode* code = code_before(list, address);
  if (code == nullptr || address - code->address >= std::max<uint64_t>(code->size, 1))
    return fmt::format("{:#x}", address);
  if (code->address == address) return printable(code->name);
  return fmt::format("{}+{:#x}", printable(code->name), address - code->address);
}

void append_lines(std::string& out, std::span<const ListedLine> lines,
                  std::span<const NamedCode> list) {
  for (const ListedLine& line : lines) {
    const NamedCode* code = code_before(list, line.address);
    if (code != nullptr && code->address == line.address)
      fmt::format_to(std::back_inserter(out), "\n{:x} <{}>: {} bytes\n", code->address,
                     printable(code->name), code->size);
    fmt::format_to(std::back_inserter(out), "    {:x}:  {}", line.address, line.text);
    if (line.target)
      fmt::format_to(std::back_inserter(out), "  ; {}", place_text(list, *line.target));
    out += '\n';
  }
}

void print_section(const Section& section, const Listing& listing,
                   std::span<const NamedCode> list) {
  std::vector<ListedLine> lines;
  listing.list(section.contents, section.address, lines);
  std::string out = fmt::format("\nsection {}\n", printable(section.name));
  append_lines(out, lines, list);
  fmt::print("{}", out);
}

void print_procedure(const Image& image, const Listing& listing, std::span<const NamedCode> list,
                     const NamedCode& code) {
  const Section& section = *image.section_at(code.address);
  const uint64_t offset = code.address - section.address;
  const uint64_t rest = section.contents.size() - std::min(offset, section.contents.size());
  if (code.address % listing.unit() != 0)
    throw Error(fmt::format("procedure {} does not start where code can", code.name), image.path);
  std::vector<ListedLine> lines;
  listing.list(section.contents.subspan(section.contents.size() - rest, std::min(code.size, rest)),
               code.address, lines);
  std::string out;
  append_lines(out, lines, list);
  fmt::print("{}", out);
}

bool is_named(const NamedCode& code, const std::string& text) {
  if (code.name == text) return true;
  const auto meant = split_addressed_name(text);
  return meant && meant->name == code.name && meant->address == code.address;
}

}  // namespace

UnliftedSummary summarize_unlifted(const Image& image, const Listing& listing) {
  UnliftedSummary summary;
  summary.procedures = named_code(image).size();
  for (const Section& section : image.sections) {
    if (!holds_code(section)) continue;
    summary.text_bytes += section.contents.size();
    summary.instructions += listing.count_instructions(section.contents);
  }
  for (const RelocationTable& table : image.relocations)
    summary.relocations += table.relocations.size();
  return summary;
}

void print_unlifted(const Image& image, const Listing& listing,
                    const std::vector<std::string>& procedures) {
  const std::vector<NamedCode> list = named_code(image);
  if (procedures.empty()) {
    for (const Section& section : image.sections)
      if (holds_code(section)) print_section(section, listing, list);
    return;
  }
  for (const std::string& text : procedures) {
    bool found = false;
    for (const NamedCode& code : list) {
      if (!is_named(code, text)) continue;
      print_procedure(image, listing, list, code);
      found = true;
    }
    if (!found) throw Error(fmt::format("there is no procedure {}", text), image.path);
  }
}

}  // namespace respike::cli
