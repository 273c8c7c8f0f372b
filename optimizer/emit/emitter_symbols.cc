// Symbols: each symbol follows the code that it names, and each fragment that does not start with
// its procedure's entry gets symbols of its own.
//
// The new symbols of .symtab are local and come after all other local symbols, since relocations
// that are copied refer to symbols by numbers. A local symbol belongs to the source file whose
// symbol comes before it, so the new symbols are grouped by files, each group after a copy of the
// file's symbol. Example, with the static procedure `scan` of scan.c and the global procedure
// `main`:
//
//   file scan.c, scan, file crt.c, ...                      symbols of the input
//   file (no name), main.frag.0, file scan.c, scan.frag.0   new
//   main, ...                                               global symbols of the input
//
// Programs find names of their own code in the table of dynamic symbols. Where this table names a
// procedure, it also gets the names of the procedure's fragments (image/dynamic_tables.h).

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "optimizer/base/bytes.h"
#include "optimizer/emit/emitter.h"
#include "optimizer/image/dynamic_tables.h"

namespace respike {

uint32_t Emitter::section_of(uint64_t address) const {
  auto after = std::upper_bound(section_order_.begin(), section_order_.end(),
                                std::pair(address, ~uint32_t{0}));
  return after == section_order_.begin() ? 0 : (after - 1)->second;
}

/// Notes which section holds an address of the output, and which symbol stands for a section.
void Emitter::index_sections() {
  for (uint32_t i = 1; i < image_.sections.size(); ++i) {
    const Section& section = image_.sections[i];
    const bool moved = std::any_of(out_.moved.begin(), out_.moved.end(),
                                   [&](const auto& m) { return m.section == i; });
    if (section.allocated() && !section.thread_local_storage() && section.size != 0 && !moved)
      section_order_.emplace_back(section.address, i);
  }
  for (uint32_t i = 0; i < out_.added.size(); ++i)
    section_order_.emplace_back(out_.added[i].address,
                                static_cast<uint32_t>(image_.sections.size()) + i);
  for (const auto& moved : out_.moved) section_order_.emplace_back(moved.address, moved.section);
  std::sort(section_order_.begin(), section_order_.end());
  section_symbols_.assign(image_.sections.size() + out_.added.size(), kNone);
  for (uint32_t i = 0; i < image_.symbols.size(); ++i)
    if (image_.symbols[i].type == Symbol::Type::section &&
        image_.symbols[i].section < image_.sections.size())
      section_symbols_[image_.symbols[i].section] = i;
}

/// The end of the procedure's fragment at `address`; where the fragment has no code, `address`.
uint64_t Emitter::end_of_fragment(ProcedureId procedure, uint64_t address) const {
  const auto after = std::ranges::upper_bound(fragment_ranges_, address, {}, &CodeRange::start);
  if (after == fragment_ranges_.begin() || (after - 1)->procedure != procedure) return address;
  return std::max((after - 1)->end, address);
}

/// Whether the symbol names code. A symbol without a size at the address of a symbol with a size,
/// such as a function without code, does not.
bool Emitter::names_code(const Symbol& symbol) const {
  if (symbol.size != 0) return true;
  return symbol.type == Symbol::Type::procedure &&
         !std::ranges::binary_search(sized_symbols_, symbol.value);
}

/// Moves a symbol to the new place of the code or table that it names.
void Emitter::move_symbol(Symbol& symbol) const {
  if (!symbol.defined_in_section() || symbol.section >= image_.sections.size() ||
      symbol.type == Symbol::Type::tls)
    return;
  const Section& section = image_.sections[symbol.section];
  const bool is_section = symbol.type == Symbol::Type::section;
  for (const auto& moved : out_.moved)
    if (moved.section == symbol.section) {
      symbol.value = is_section ? moved.address
                                : moved_table_address(symbol.value, section, moved.address,
                                                      moved.contents.size());
      return;
    }
  if (is_section || !section.executable()) return;
  if (!section.contains(symbol.value)) return;  // the section's end stays
  const auto location = block_at(program_, symbol.value);
  if (!location || !program_[location->procedure].movable()) return;
  const uint64_t old = symbol.value;
  const bool has_size = names_code(symbol);
  symbol.value = placement_.address(location->procedure, location->block);
  symbol.section = section_of(symbol.value);
  if (has_size) {
    // The entry begins a part of its own: a symbol that covers the entry would hide where the
    // procedure starts.
    uint64_t end = end_of_fragment(location->procedure, symbol.value);
    const uint64_t entry = placement_.address(location->procedure, 0);
    if (symbol.value < entry && entry < end) end = entry;
    symbol.size = end - symbol.value;
  }
  const uint64_t offset = symbol.local_entry;
  if (offset != 0 && new_address(old + offset) != symbol.value + offset) symbol.local_entry = 0;
}

/// Where a fragment starts after the copy of a prolog, which is code only for unwinders.
uint64_t Emitter::start_of_code(const Layout::Fragment& fragment,
                                const PlacedFragment& placed) const {
  const UnwindFormat* format = unwind_format_of(image_);
  const BasicBlock& first = program_[fragment.procedure].blocks[fragment.blocks.front()];
  const bool is_copy = format != nullptr && format->reads_prologs && first.origin == kNone &&
                       first.cfi_state != kNone &&
                       unwind_.states[first.cfi_state].cfa_expression.empty();
  return is_copy && fragment.blocks.size() > 1
             ? placement_.address(fragment.procedure, fragment.blocks[1])
             : placed.address;
}

/// Symbols for the fragments that do not start with their procedure's entry.
std::vector<Emitter::FragmentSymbol> Emitter::fragment_symbols() {
  std::vector<uint32_t> fragments_of(program_.procedures.size());
  std::vector<std::pair<const PlacedFragment*, uint32_t>> numbered;
  for (const PlacedFragment& placed : placement_.fragments()) {
    const Layout::Fragment& fragment = layout_.fragments[placed.fragment];
    if (fragment.blocks.front() != 0)
      numbered.emplace_back(&placed, fragments_of[fragment.procedure]++);
  }
  std::vector<FragmentSymbol> symbols;
  // Names are views into the storage: one for each fragment in each table of symbols.
  out_.name_storage.reserve(2 * numbered.size());
  for (const auto& [placed, number] : numbered) {
    const Layout::Fragment& fragment = layout_.fragments[placed->fragment];
    // If the entry is in the middle of the fragment, the entry's own symbol covers the rest.
    const bool has_entry =
        std::find(fragment.blocks.begin(), fragment.blocks.end(), 0u) != fragment.blocks.end();
    const uint64_t end =
        has_entry ? placement_.address(fragment.procedure, 0) : placed->address + placed->size;
    const uint64_t start = start_of_code(fragment, *placed);
    if (end <= start) continue;
    FragmentSymbol& made = symbols.emplace_back();
    made.procedure = fragment.procedure;
    made.number = number;
    made.symbol.name = name_fragment(program_[fragment.procedure].name, number);
    made.symbol.value = start;
    made.symbol.size = end - start;
    made.symbol.section = section_of(start);
    made.symbol.type = Symbol::Type::procedure;
    made.symbol.local = true;
  }
  return symbols;
}

/// `NAME.frag.N`; for a mangled name `NAME.cold.frag.N`: gdb (13) takes names with a suffix for
/// clones of a C++ function, and stops at all clones except cold ones.
std::string_view Emitter::name_fragment(std::string_view procedure, uint32_t number) {
  const bool is_mangled = procedure.starts_with("_Z") || procedure.starts_with("_R");
  const auto cold = is_mangled && !procedure.ends_with(".cold") ? ".cold" : "";
  return out_.name_storage.emplace_back(fmt::format("{}{}.frag.{}", procedure, cold, number));
}

/// `symbols`, which have moved, with the symbols of fragments after the last local symbol.
std::vector<Symbol> Emitter::with_fragments(std::vector<Symbol> symbols,
                                            std::span<const FragmentSymbol> fragments) const {
  if (symbols.empty()) return symbols;  // a debug file without symbols gets none
  constexpr size_t kNoFile = 0;         // of global procedures
  size_t first_global = 0, file = kNoFile;
  std::map<std::pair<uint64_t, std::string_view>, size_t> files;  // of local procedures
  for (; first_global < symbols.size(); ++first_global) {
    const Symbol& symbol = symbols[first_global];
    if (first_global != 0 && !symbol.local) break;
    if (symbol.type == Symbol::Type::file) file = first_global;
    if (symbol.type == Symbol::Type::procedure)
      files.emplace(std::pair(symbol.value, symbol.name), file);
  }
  std::map<size_t, std::vector<Symbol>> groups;  // by file, in the order of files
  for (const FragmentSymbol& each : fragments) {
    const auto found = files.find(
        {placement_.address(each.procedure, 0), std::string_view(program_[each.procedure].name)});
    groups[found == files.end() ? kNoFile : found->second].push_back(each.symbol);
  }
  std::vector<Symbol> added;
  for (const auto& [owner, group] : groups) {
    const bool is_behind = owner == kNoFile && symbols[file].name.empty();
    if (file != kNoFile && !is_behind) {  // the table has symbols of files
      added.push_back(symbols[owner == kNoFile ? file : owner]);
      if (owner == kNoFile) added.back().name = {};
    }
    added.insert(added.end(), group.begin(), group.end());
  }
  symbols.insert(symbols.begin() + static_cast<ptrdiff_t>(first_global), added.begin(),
                 added.end());
  return symbols;
}

/// Dynamic symbols for fragments of the procedures that dynamic symbols name.
std::vector<Symbol> Emitter::dynamic_fragment_symbols(std::span<const FragmentSymbol> fragments) {
  std::map<uint64_t, std::string_view> names;  // by address: the first, as dladdr takes
  for (const Symbol& symbol : image_.dynamic_symbols)
    if (symbol.type == Symbol::Type::procedure && symbol.defined_in_section() && !symbol.local)
      names.emplace(symbol.value, symbol.name);
  std::vector<Symbol> added;
  for (const FragmentSymbol& each : fragments) {
    const auto name = names.find(program_[each.procedure].address);
    if (name == names.end()) continue;
    Symbol& symbol = added.emplace_back(each.symbol);
    symbol.name = name->second == program_[each.procedure].name
                      ? each.symbol.name
                      : name_fragment(name->second, each.number);
    symbol.local = false;
  }
  return added;
}

/// Adds dynamic symbols, where the tables can grow, and moves the tables to the end.
void Emitter::add_dynamic_symbols(std::vector<Symbol> added) {
  if (added.empty()) return;
  uint64_t end = segment_.tables_address(placement_.added_end());
  for (const auto& moved : out_.moved) end = std::max(end, moved.address + moved.contents.size());
  for (const auto& section : out_.added)
    end = std::max(end, section.address + section.contents.size());
  std::vector<Symbol> symbols = out_.dynamic_symbols;
  symbols.insert(symbols.end(), added.begin(), added.end());
  auto tables = grow_dynamic_tables(image_, symbols, end);
  if (tables.empty()) return;
  for (auto& table : tables) {
    const Section& old = image_.sections[table.section];
    std::fill_n(data_bytes(old.address, old.size), old.size, uint8_t{0});
    out_.moved.push_back(std::move(table));
  }
  out_.dynamic_symbols = std::move(symbols);
}

void Emitter::write_symbols(bool dynamic_fragments) {
  index_sections();
  for (const PlacedFragment& placed : placement_.fragments())
    if (placed.size != 0)
      fragment_ranges_.push_back({.start = placed.address,
                                  .end = placed.address + placed.size,
                                  .procedure = layout_.fragments[placed.fragment].procedure});
  std::ranges::sort(fragment_ranges_, {}, &CodeRange::start);
  for (const Symbol& symbol : image_.symbols)
    if (symbol.type == Symbol::Type::procedure && symbol.size != 0)
      sized_symbols_.push_back(symbol.value);
  std::ranges::sort(sized_symbols_);

  // New symbols go after the last local symbol; all others keep their order.
  const std::vector<FragmentSymbol> extra = fragment_symbols();
  first_global_ = 0;
  while (first_global_ < image_.symbols.size() &&
         (first_global_ == 0 || image_.symbols[first_global_].local))
    ++first_global_;
  out_.symbols = image_.symbols;
  for (Symbol& symbol : out_.symbols) move_symbol(symbol);
  out_.symbols = with_fragments(std::move(out_.symbols), extra);
  inserted_symbols_ = static_cast<uint32_t>(out_.symbols.size() - image_.symbols.size());
  out_.dynamic_symbols = image_.dynamic_symbols;
  for (Symbol& symbol : out_.dynamic_symbols) move_symbol(symbol);
  if (debug_ != nullptr) move_debug_symbols(extra);
  if (dynamic_fragments) add_dynamic_symbols(dynamic_fragment_symbols(extra));
}

/// The symbols of the debug file. It has more symbols than the image where `strip` removed some.
/// Its sections are those of the image, by name; the others hold debug information.
void Emitter::move_debug_symbols(std::span<const FragmentSymbol> fragments) {
  const auto section_of_image = match_sections(debug_->input, image_);
  for (Symbol symbol : debug_->input.symbols) {
    if (symbol.defined_in_section()) {
      if (section_of_image[symbol.section] == 0) continue;
      symbol.section = section_of_image[symbol.section];
    }
    move_symbol(symbol);
    debug_symbols_.push_back(symbol);
  }
  debug_symbols_ = with_fragments(std::move(debug_symbols_), fragments);
}

}  // namespace respike
