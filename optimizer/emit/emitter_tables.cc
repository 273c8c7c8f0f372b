// Tables that describe code: relocations, the dynamic section and Respike's own note. See emit.cc;
// symbols are in emitter_symbols.cc, unwind information is in emitter_unwind.cc.

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "optimizer/base/bytes.h"
#include "optimizer/emit/emitter.h"
#include "optimizer/image/provenance.h"
#include "optimizer/ir/lookup.h"

namespace respike {

// ---- relocations ----

uint32_t Emitter::new_symbol_index(uint32_t symbol) const {
  return symbol >= first_global_ ? symbol + inserted_symbols_ : symbol;
}

uint32_t Emitter::section_symbol(uint32_t section) const {
  return section < section_symbols_.size() && section_symbols_[section] != kNone
             ? section_symbols_[section]
             : 0;
}

RelocationTable& Emitter::table_for(std::vector<RelocationTable>& tables, uint32_t section) const {
  for (RelocationTable& table : tables)
    if (table.target == section) return table;
  tables.push_back({.section = 0, .target = section, .relocations = {}});
  return tables.back();
}

void Emitter::add_unwind_relocations(std::vector<RelocationTable>& tables) {
  for (const auto& [section, fixups] : unwind_fixups_) {
    if (fixups.empty()) continue;
    RelocationTable& table = table_for(tables, section);
    for (const UnwindFixup& fixup : fixups) {
      const uint32_t to = section_of(fixup.target);
      const uint32_t symbol = section_symbol(to);
      const uint64_t base = symbol == 0 ? 0 : out_.symbols[new_symbol_index(symbol)].value;
      table.relocations.push_back({.address = fixup.address,
                                   .addend = static_cast<int64_t>(fixup.target - base),
                                   .symbol = new_symbol_index(symbol),
                                   .raw = relocation_number(image_, fixup.role),
                                   .role = fixup.role});
    }
  }
}

/// Where linkers keep the addends of section symbols right, makes symbol and addend mean what the
/// word of data holds now. `relocation` indexes the output's symbols.
void Emitter::follow_word(Relocation& relocation) const {
  const CodePointer* pointer = pointer_at(program_, relocation.address);
  if (pointer == nullptr || relocation.symbol >= out_.symbols.size()) return;
  const Symbol& symbol = out_.symbols[relocation.symbol];
  if (symbol.type != Symbol::Type::section) return;
  uint64_t made = resolve(pointer->target);
  if (pointer->kind == ReferenceKind::table_relative32) made += pointer->address - pointer->base;
  relocation.addend = static_cast<int64_t>(made - symbol.value);
}

/// For an upper half in code that stays: makes symbol and addend mean the new address that the half
/// belongs to. `relocation` indexes the output's symbols.
void Emitter::follow_half(Relocation& relocation, const CodeRange& range) const {
  const Procedure& procedure = program_[range.procedure];
  const auto origin = static_cast<uint32_t>(relocation.address - program_.origin_base);
  const auto first = procedure.blocks.begin() + range.first_block;
  const auto behind =
      std::upper_bound(first, procedure.blocks.begin() + range.end_block, origin,
                       [](uint32_t o, const BasicBlock& b) { return o < b.origin; });
  if (behind == first) return;
  for (const Instruction& instruction : (behind - 1)->instructions) {
    if (program_.origin_base + instruction.origin != relocation.address || instruction.is_pseudo())
      continue;
    const Reference* reference = reference_of(procedure, instruction);
    if (reference == nullptr || relocation.symbol >= out_.symbols.size()) return;
    relocation.addend =
        static_cast<int64_t>(resolve(reference->target) - out_.symbols[relocation.symbol].value);
  }
}

void Emitter::write_relocations() {
  std::vector<RelocationTable>& tables = out_.relocations;
  const auto is_moved = [&](uint32_t section) {
    return std::any_of(out_.moved.begin(), out_.moved.end(),
                       [&](const auto& m) { return m.section == section; });
  };
  for (const RelocationTable& input : image_.relocations) {
    RelocationTable table{.section = input.section, .target = input.target, .relocations = {}};
    if (!is_moved(input.target)) {
      const bool code = image_.sections[input.target].executable();
      uint32_t range = 0;
      for (const Relocation& relocation : input.relocations) {
        if (code) {  // relocations of moved code come below
          const auto& ranges = program_.ranges;
          while (range < ranges.size() && ranges[range].end <= relocation.address) ++range;
          if (range == ranges.size() || relocation.address < ranges[range].start ||
              program_[ranges[range].procedure].movable())
            continue;
        }
        table.relocations.push_back(relocation);
        table.relocations.back().symbol = new_symbol_index(relocation.symbol);
        if (machine_.evidence.addends_are_right && !code) follow_word(table.relocations.back());
        if (code && relocation.role == RelocationRole::address_high)
          follow_half(table.relocations.back(), program_.ranges[range]);
      }
    }
    tables.push_back(std::move(table));
  }
  RelocationTable* table = nullptr;
  uint32_t current = kNone;
  for (const MovedRelocation& moved : carried_) {
    Relocation relocation = *moved.relocation;
    relocation.address = moved.address;
    if (moved.pair != 0)
      relocation.addend = static_cast<int64_t>(gp_load_lows_[moved.pair - 1] - moved.address);
    if (moved.target != 0 && relocation.symbol < image_.symbols.size()) {
      const Symbol& symbol = out_.symbols[new_symbol_index(relocation.symbol)];
      const uint64_t made = symbol.value + static_cast<uint64_t>(relocation.addend);
      if (made + moved.behind != moved.target) {
        relocation.symbol = section_symbol(section_of(moved.target));
        relocation.addend = static_cast<int64_t>(
            moved.target - moved.behind - out_.symbols[new_symbol_index(relocation.symbol)].value);
      }
    }
    relocation.symbol = new_symbol_index(relocation.symbol);
    const uint32_t section = section_of(moved.address);
    if (section != current) {
      table = &table_for(tables, section);
      current = section;
    }
    table->relocations.push_back(relocation);
  }
  // Even an empty table shows that Respike, not the linker, made the added code.
  if (added_text_ != kNone)
    table_for(tables, static_cast<uint32_t>(image_.sections.size()) + added_text_);
  add_unwind_relocations(tables);
  for (RelocationTable& t : tables)
    std::stable_sort(
        t.relocations.begin(), t.relocations.end(),
        [](const Relocation& a, const Relocation& b) { return a.address < b.address; });
}

// ---- dynamic section and notes ----

void Emitter::write_dynamic_section() {
  out_.entry = new_address(image_.entry).value_or(image_.entry);  // outside of procedures it stays
  for (const LoaderEntry& entry : image_.loader_entries)
    if (entry.enters_code())
      if (const auto address = new_address(entry.value); address && *address != entry.value)
        out_.loader_changes.emplace_back(entry.kind, *address);
  out_.dynamic_relocations = image_.dynamic_relocations;
  for (DynamicRelocationTable& table : out_.dynamic_relocations)
    for (Relocation& relocation : table.relocations) {
      if (relocation.symbol != 0) continue;
      const CodePointer* pointer = pointer_at(program_, relocation.address);
      if (pointer != nullptr && pointer->kind == ReferenceKind::address64)
        relocation.addend = static_cast<int64_t>(resolve(pointer->target));
    }
}

/// Must follow write_dynamic_section(), which finds the code that starts and initializes the image.
void Emitter::inject(const Injection& injection) {
  constexpr auto kInitializer = LoaderEntry::Kind::initializer;
  Injection::Addresses addresses{.memory = segment_.memory_address,
                                 .code = segment_.free_address,
                                 .entry = out_.entry,
                                 .initializer = {},
                                 .resolve = [this](const CodeLocation& l) { return resolve(l); }};
  for (const LoaderEntry& entry : image_.loader_entries)
    if (entry.kind == kInitializer)
      addresses.initializer = new_address(entry.value).value_or(entry.value);
  Injection::Contents contents = injection.make(addresses);
  out_.entry = contents.entry;
  if (contents.initializer) {
    std::erase_if(out_.loader_changes, [](const auto& c) { return c.first == kInitializer; });
    out_.loader_changes.emplace_back(kInitializer, *contents.initializer);
  }
  NewImage::AddedSection code;
  code.name = ".text.respike.start";
  code.properties = Section::kAllocated | Section::kExecutable;
  code.address = addresses.code;
  code.alignment = 16;
  code.contents = std::move(contents.code);
  out_.added.push_back(std::move(code));
  NewImage::AddedSection memory;
  memory.name = ".bss.respike";
  memory.kind = Section::Kind::zero;
  memory.properties = Section::kAllocated | Section::kWritable;
  memory.address = addresses.memory;
  memory.alignment = injection.memory.alignment;
  memory.memory_size = injection.memory.size;
  if (!contents.memory.empty()) {
    memory.name = ".data.respike";
    memory.kind = Section::Kind::contents;
    memory.contents = std::move(contents.memory);
  }
  out_.added.push_back(std::move(memory));
  RelocationTable words{
      .section = 0,
      .target = static_cast<uint32_t>(image_.sections.size() + out_.added.size() - 1),
      .relocations = {}};
  const RelocationRole role =
      contents.wide_words ? RelocationRole::address64 : RelocationRole::address32;
  for (const auto& [place, address] : contents.words)
    words.relocations.push_back({.address = place,
                                 .addend = static_cast<int64_t>(address),
                                 .symbol = 0,
                                 .raw = relocation_number(image_, role),
                                 .role = role});
  if (!words.relocations.empty()) out_.relocations.push_back(std::move(words));
  std::move(contents.sections.begin(), contents.sections.end(), std::back_inserter(out_.added));
}

/// Adds the return points in a fragment at which other code than the call's own continuation
/// stands, since the call does not return. `known`: such places of the input. No place is added
/// where the same code follows the call as in the input, unless the place was known.
void Emitter::add_dead_ends(const Layout::Fragment& fragment, const std::vector<uint64_t>& known,
                            std::vector<uint64_t>& dead_ends) const {
  const Procedure& procedure = program_[fragment.procedure];
  for (size_t i = 0; i + 1 < fragment.blocks.size(); ++i) {
    const BasicBlock& block = procedure.blocks[fragment.blocks[i]];
    const ControlFlow flow = machine_.facts(block.instructions.back()).flow;
    if (!is_call(flow) || block.edge(Edge::Kind::fall_through) != nullptr) continue;
    const uint64_t end = program_.address_of(block) + block.origin_size;
    if (program_.address_of(procedure.blocks[fragment.blocks[i + 1]]) != end ||
        std::binary_search(known.begin(), known.end(), end))
      dead_ends.push_back(placement_.address(fragment.procedure, fragment.blocks[i + 1]));
  }
}

void Emitter::write_provenance(Provenance provenance, NoteType type) {
  provenance.type = type;
  provenance.input_build_id = image_.build_id;
  const auto input = read_provenance(image_);
  const auto known_dead_ends = input ? input->dead_ends : std::vector<uint64_t>();
  for (const PlacedFragment& placed : placement_.fragments()) {
    const Layout::Fragment& fragment = layout_.fragments[placed.fragment];
    if (placed.size == 0) continue;
    const Procedure& procedure = program_[fragment.procedure];
    const bool whole =
        fragment.blocks.front() == 0 &&
        std::any_of(procedure.symbols.begin(), procedure.symbols.end(), [&](uint32_t index) {
          const Symbol& symbol = image_.symbols[index];
          return symbol.type == Symbol::Type::procedure && symbol.value == procedure.address &&
                 symbol.size != 0;
        });
    const uint64_t owner = placement_.address(fragment.procedure, 0);
    // Blocks in another order are noted as fragments: their shape may look odd now but was
    // understood before.
    if (!whole || !std::is_sorted(fragment.blocks.begin(), fragment.blocks.end()))
      provenance.fragments.push_back({placed.address, placed.address + placed.size, owner});
    add_dead_ends(fragment, known_dead_ends, provenance.dead_ends);
  }
  if (input) {  // procedures that stay may be in fragments already
    const auto stays = [&](uint64_t address) {
      const auto location = block_at(program_, address);
      return location && !program_[location->procedure].movable();
    };
    std::copy_if(input->fragments.begin(), input->fragments.end(),
                 std::back_inserter(provenance.fragments),
                 [&](const auto& fragment) { return stays(fragment.start); });
    std::copy_if(input->dead_ends.begin(), input->dead_ends.end(),
                 std::back_inserter(provenance.dead_ends), stays);
  }
  std::sort(provenance.dead_ends.begin(), provenance.dead_ends.end());
  std::sort(provenance.fragments.begin(), provenance.fragments.end(),
            [](const auto& a, const auto& b) { return a.start < b.start; });
  for (const FarStub& stub : placement_.stubs()) {
    const uint64_t size =
        stub.departure ? machine_.stubs->departure_size : machine_.stubs->landing_size;
    provenance.far_stubs.push_back({stub.address, stub.address + size});
  }
  auto& stubs = provenance.far_stubs;
  std::sort(stubs.begin(), stubs.end(),
            [](const auto& a, const auto& b) { return a.start < b.start; });
  size_t kept = 0;
  for (size_t i = 0; i < stubs.size(); ++i) {
    if (kept != 0 && stubs[kept - 1].end == stubs[i].start)
      stubs[kept - 1].end = stubs[i].end;
    else
      stubs[kept++] = stubs[i];
  }
  stubs.resize(kept);
  if (program_.gp_values.size() > 1) {
    for (ProcedureId id = 0; id < program_.procedures.size(); ++id)
      if (program_[id].gp)
        provenance.gp_values.push_back({placement_.address(id, 0), *program_[id].gp});
    std::sort(provenance.gp_values.begin(), provenance.gp_values.end(),
              [](const auto& a, const auto& b) { return a.entry < b.entry; });
  }
  NewImage::AddedSection note;
  note.name = kNoteSection;
  note.kind = Section::Kind::note;
  note.alignment = 4;
  note.contents = encode_provenance(provenance);
  if (const Section* old = image_.section_named(kNoteSection))
    out_.dropped_sections.push_back(static_cast<uint32_t>(old - image_.sections.data()));
  out_.added.push_back(std::move(note));
}

}  // namespace respike
