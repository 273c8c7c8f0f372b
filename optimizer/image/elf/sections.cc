// Describes the sections of an output.
//
// A section of the input stays, moves into the added segment or is dropped; the rewriter's request
// adds new sections. The header table keeps the input's order, except that the sections of the
// added segment come, sorted by address, after all other allocated sections. So the table stays
// sorted by address, as tools expect, apart from dynamic symbols. Example: .text, .data, .symtab of
// an input become .text, .data, .text.respike, .symtab. Indices change as a result, and every index
// in a header is translated here; symbols are translated when they are encoded.
//
// A loaded segment whose sections have all moved gets a section that describes its contents.
//
// Sizes are final after this step, except those of the two string tables.

#include "optimizer/image/elf/sections.h"

#include <algorithm>

#include "optimizer/image/elf/tables.h"

namespace respike::elf {

namespace ELF = llvm::ELF;

namespace {

constexpr std::string_view kPlaceholderName = ".replaced.respike";

uint32_t input_count(const Image& input) {
  return static_cast<uint32_t>(input.sections.size());
}

void require(const Image& input, bool condition, const char* what) {
  if (!condition) throw Error(std::string("the output cannot be written: ") + what, input.path);
}

void check_table(const Image& input, const NewImage& output, const RelocationTable& table) {
  const size_t count = output.symbols.empty() ? input.symbols.size() : output.symbols.size();
  require(input, count != 0, "relocations need a symbol table");
  require(input, table.target < input.sections.size() + output.added.size(),
          "relocations apply to no section");
  require(input,
          table.section < input.sections.size() &&
              (table.section == 0 || (input.sections[table.section].raw.type == ELF::SHT_RELA &&
                                      !input.sections[table.section].allocated())),
          "relocations belong to no relocation section");
  require(input,
          std::all_of(table.relocations.begin(), table.relocations.end(),
                      [&](const Relocation& relocation) { return relocation.symbol < count; }),
          "a relocation's symbol does not exist");
}

void check_symbols(const Image& input, const NewImage& output) {
  require(input, output.symbols.empty() || !input.symbols.empty(), "there is no symbol table");
  require(input, output.symbols.empty() || output.symbols.size() >= input.symbols.size(),
          "symbols got lost");
  require(input,
          output.dynamic_symbols.empty() ||
              output.dynamic_symbols.size() >= input.dynamic_symbols.size(),
          "dynamic symbols got lost");
  const size_t numbers = input.sections.size() + output.added.size();
  for (const auto* list : {&output.symbols, &output.dynamic_symbols})
    for (const Symbol& symbol : *list)
      require(input, !symbol.defined_in_section() || symbol.section < numbers,
              "a symbol's section does not exist");
  const auto globals = output.symbols.begin() + count_local_symbols(output.symbols);
  require(input,
          std::none_of(globals, output.symbols.end(),
                       [](const Symbol& symbol) { return symbol.local; }),
          "a local symbol comes after a global one");
}

/// ELF's numbers for an added section.
uint32_t type_of(Section::Kind kind) {
  switch (kind) {
    case Section::Kind::zero:
      return ELF::SHT_NOBITS;
    case Section::Kind::note:
      return ELF::SHT_NOTE;
    default:
      return ELF::SHT_PROGBITS;
  }
}

uint64_t flags_of(uint8_t properties) {
  const auto flag = [&](Section::Property property, uint64_t number) {
    return (properties & property) != 0 ? number : 0;
  };
  return flag(Section::kAllocated, ELF::SHF_ALLOC) |
         flag(Section::kExecutable, ELF::SHF_EXECINSTR) | flag(Section::kWritable, ELF::SHF_WRITE) |
         flag(Section::kThreadLocal, ELF::SHF_TLS);
}

enum class Fate : uint8_t { kept, dropped, in_added_segment };

/// What happens to each section of the input. A relocation section shares the fate of its target.
std::vector<Fate> decide_fates(const Image& input, const NewImage& output,
                               const SegmentPlan* plan) {
  std::vector<Fate> fates(input.sections.size(), Fate::kept);
  std::vector<bool> moves(input.sections.size());
  for (const auto& moved : output.moved) {
    require(input, !moves[moved.section], "a section moves twice");
    moves[moved.section] = true;
    if (!stays_in_segment(input, moved)) fates[moved.section] = Fate::in_added_segment;
  }
  if (plan != nullptr)
    for (const uint32_t section : plan->block.sections) {
      require(input, !moves[section] || fates[section] == Fate::in_added_segment,
              "a section has to make room for a program header");
      fates[section] = Fate::in_added_segment;
    }
  for (const uint32_t section : output.dropped_sections) fates[section] = Fate::dropped;
  for (const RelocationTable& table : input.relocations) fates[table.section] = Fate::dropped;
  for (const RelocationTable& table : output.relocations) fates[table.section] = Fate::kept;
  for (uint32_t i = 1; i < fates.size(); ++i) {
    const Section& section = input.sections[i];
    if (section.raw.type == ELF::SHT_RELA && !section.allocated() &&
        section.raw.info < fates.size() && fates[section.raw.info] == Fate::dropped)
      fates[i] = Fate::dropped;
  }
  return fates;
}

/// Address and number of the sections of the added segment, sorted.
std::vector<std::pair<uint64_t, uint32_t>> added_segment_sections(const Image& input,
                                                                  const NewImage& output,
                                                                  const SegmentPlan* plan) {
  std::vector<std::pair<uint64_t, uint32_t>> result;
  if (plan != nullptr)
    for (const uint32_t section : plan->block.sections)
      if (!moves_by_itself(output, section))
        result.emplace_back(plan->block.moved(input.sections[section].address), section);
  for (const auto& moved : output.moved)
    if (!stays_in_segment(input, moved)) result.emplace_back(moved.address, moved.section);
  for (uint32_t i = 0; i < output.added.size(); ++i)
    if ((output.added[i].properties & Section::kAllocated) != 0)
      result.emplace_back(output.added[i].address, input_count(input) + i);
  std::sort(result.begin(), result.end());
  return result;
}

/// Loaded segments that no longer have a section. Their contents stay, but `strip` would remove
/// them and leave a segment whose place within a page differs from that in the file, which dynamic
/// linkers refuse. Example: the read-only segment of a library that holds only unwind tables.
std::vector<uint32_t> emptied_segments(const Image& input, const NewImage& output,
                                       std::span<const Fate> fates) {
  std::vector<uint64_t> kept;  // addresses
  std::vector<bool> moves(input.sections.size());
  for (const auto& moved : output.moved) {
    moves[moved.section] = true;
    if (stays_in_segment(input, moved)) kept.push_back(moved.address);
  }
  for (uint32_t i = 1; i < fates.size(); ++i)
    if (fates[i] == Fate::kept && !moves[i] && input.sections[i].allocated() &&
        input.sections[i].size != 0)
      kept.push_back(input.sections[i].address);
  std::vector<uint32_t> emptied;
  for (uint32_t i = 0; i < input.segments.size(); ++i) {
    const Segment& segment = input.segments[i];
    if (!segment.loaded() || segment.file_size == 0 || segment.offset == 0) continue;
    const auto holds = [&](uint64_t address) {
      return address - segment.address < segment.memory_size;
    };
    const bool had_sections = std::ranges::any_of(
        input.sections, [&](const Section& s) { return s.allocated() && holds(s.address); });
    if (had_sections && std::ranges::none_of(kept, holds)) emptied.push_back(i);
  }
  return emptied;
}

/// GNU's strip and objcopy read a section before the sections that refer to it, and write sections
/// in that order; but the numbers of sections in dynamic symbols stay. So the output uses their
/// order: dynamic symbols that have moved precede relocations by these symbols, and relocations
/// that an input kept for a section follow that section.
void put_in_reading_order(const Image& input, std::vector<uint32_t>& order) {
  const auto type = [&](uint32_t number) {
    return number < input.sections.size() ? input.sections[number].raw.type
                                          : uint32_t{ELF::SHT_NULL};
  };
  if (const auto symbols = std::ranges::find(order, uint32_t{ELF::SHT_DYNSYM}, type);
      symbols != order.end()) {
    const auto relocations = std::find_if(order.begin(), symbols, [&](uint32_t number) {
      return type(number) == ELF::SHT_RELA && input.sections[number].allocated() &&
             input.sections[number].raw.link == *symbols;
    });
    std::rotate(relocations, symbols, symbols + 1);
  }
  std::vector<bool> present(input.sections.size()), follows(input.sections.size());
  for (const uint32_t number : order)
    if (number < present.size()) present[number] = true;
  std::vector<std::vector<uint32_t>> followers(input.sections.size());
  for (const RelocationTable& table : input.relocations) {
    const uint32_t target = input.sections[table.section].raw.info;
    if (table.section == 0 || !present[table.section] || type(target) == ELF::SHT_RELA ||
        target >= present.size() || !present[target])
      continue;
    follows[table.section] = true;
    followers[target].push_back(table.section);
  }
  std::vector<uint32_t> ordered;
  ordered.reserve(order.size());
  for (const uint32_t number : order) {
    if (number < follows.size() && follows[number]) continue;
    ordered.push_back(number);
    if (number < followers.size())
      ordered.insert(ordered.end(), followers[number].begin(), followers[number].end());
  }
  order = std::move(ordered);
}

/// The numbers of the output's sections, in order. `emptied`: segments; each gets a section, with
/// the last numbers.
std::vector<uint32_t> order_sections(const Image& input, const NewImage& output,
                                     const SegmentPlan* plan, std::span<const Fate> fates,
                                     std::span<const uint32_t> emptied) {
  std::vector<uint32_t> order;
  size_t after_allocated = 1;
  for (uint32_t i = 0; i < fates.size(); ++i) {
    if (fates[i] != Fate::kept) continue;
    order.push_back(i);
    if (input.sections[i].allocated()) after_allocated = order.size();
  }
  const auto tables = std::ranges::count(output.relocations, 0u, &RelocationTable::section);
  uint32_t placeholder = input_count(input) + static_cast<uint32_t>(output.added.size() + tables);
  for (const uint32_t segment : emptied) {
    const auto behind =
        std::find_if(order.begin() + 1, order.begin() + after_allocated, [&](uint32_t number) {
          return number < input.sections.size() && input.sections[number].allocated() &&
                 input.sections[number].address > input.segments[segment].address;
        });
    order.insert(behind, placeholder++);
    ++after_allocated;
  }
  for (const auto& [address, number] : added_segment_sections(input, output, plan))
    order.insert(order.begin() + after_allocated++, number);
  put_in_reading_order(input, order);
  uint32_t next = input_count(input);
  for (const auto& added : output.added) {
    if ((added.properties & Section::kAllocated) == 0) order.push_back(next);
    ++next;
  }
  for (const RelocationTable& table : output.relocations)
    if (table.section == 0) order.push_back(next++);
  return order;
}

/// Makes the headers of sections, one by one, once their indices are known.
class Describer {
 public:
  Describer(const Image& input, const NewImage& output, const SegmentPlan* plan,
            std::span<const Symbol> symbols, std::span<const uint32_t> emptied, SectionTable& table)
      : input_(input),
        output_(output),
        plan_(plan),
        symbols_(symbols),
        emptied_(emptied),
        table_(table) {
    in_block_.resize(input.sections.size());
    if (plan != nullptr)
      for (const uint32_t section : plan->block.sections) in_block_[section] = true;
    moved_.resize(input.sections.size());
    for (const auto& moved : output.moved) moved_[moved.section] = &moved;
    replaced_.resize(input.sections.size());
    for (const auto& replaced : output.replaced) replaced_[replaced.section] = &replaced;
  }

  OutputSection describe(uint32_t number) {
    const uint32_t inputs = input_count(input_);
    if (number < inputs) return describe_input_section(number);
    if (number < inputs + output_.added.size()) return describe_added_section(number);
    const size_t others = table_.index.size() - emptied_.size();
    if (number < others) return describe_new_table(number);
    return describe_placeholder(number, input_.segments[emptied_[number - others]]);
  }

 private:
  OutputSection describe_input_section(uint32_t number) const;
  OutputSection describe_added_section(uint32_t number) const;
  OutputSection describe_new_table(uint32_t number);
  OutputSection describe_placeholder(uint32_t number, const Segment& segment) const;
  void translate_indices(OutputSection& section) const;
  std::span<const uint8_t> changed(const Section& section) const {
    return std::span(output_.contents).subspan(section.offset, section.size);
  }

  const Image& input_;
  const NewImage& output_;
  const SegmentPlan* plan_;
  std::span<const Symbol> symbols_;
  std::span<const uint32_t> emptied_;  // segments
  SectionTable& table_;
  std::vector<bool> in_block_;                              // by number
  std::vector<const NewImage::MovedSection*> moved_;        // by number
  std::vector<const NewImage::ReplacedSection*> replaced_;  // by number
};

OutputSection Describer::describe_input_section(uint32_t number) const {
  const Section& s = input_.sections[number];
  OutputSection result{.number = number,
                       .name = s.name,
                       .type = s.raw.type,
                       .flags = s.raw.flags,
                       .address = s.address,
                       .offset = s.offset,
                       .size = s.size,
                       .link = s.raw.link,
                       .info = s.raw.info,
                       .alignment = s.alignment,
                       .entry_size = s.raw.entry_size,
                       .contents = {}};
  if (number == 0) {
    result.alignment = 0;
    return result;
  }
  translate_indices(result);
  if (const auto* moved = moved_[number]; moved != nullptr) {
    result.address = moved->address;
    result.contents = moved->contents;
    result.size = moved->contents.size();
    result.in_added_segment = !stays_in_segment(input_, *moved);
    if (!result.in_added_segment) result.offset = *input_.offset_of(moved->address);
  } else if (s.allocated()) {
    if (!in_block_[number]) return result;
    result.address = plan_->block.moved(s.address);
    result.contents = changed(s);
    result.in_added_segment = true;
  } else if (number == table_.symbol_table) {
    result.size = symbols_.size() * sizeof(SymbolRecord);
    result.info = count_local_symbols(symbols_);
  } else if (table_.tables[number] != nullptr) {
    result.size = table_.tables[number]->relocations.size() * sizeof(RelaRecord);
  } else if (replaced_[number] != nullptr) {
    result.contents = replaced_[number]->contents;
    result.size = result.contents.size();
  } else if (s.kind != Section::Kind::zero) {
    result.contents = s.contents;
  }
  return result;
}

void Describer::translate_indices(OutputSection& section) const {
  const auto translate = [&](uint32_t number) {
    return number < input_.sections.size() ? table_.index[number] : 0;
  };
  section.link = translate(section.link);
  const bool info_is_index = (section.flags & ELF::SHF_INFO_LINK) != 0 ||
                             (section.type == ELF::SHT_RELA && !section.allocated());
  if (info_is_index) section.info = translate(section.info);
}

OutputSection Describer::describe_added_section(uint32_t number) const {
  const NewImage::AddedSection& added = output_.added[number - input_.sections.size()];
  OutputSection result;
  result.number = number;
  result.name = added.name;
  result.type = type_of(added.kind);
  result.flags = flags_of(added.properties);
  result.address = added.address;
  result.size = added.memory_size != 0 ? added.memory_size : added.contents.size();
  result.alignment = std::max<uint64_t>(added.alignment, 1);
  result.contents = added.contents;
  result.in_added_segment = result.allocated() && added.memory_size == 0;
  if (added.memory_size != 0 && plan_ != nullptr && plan_->with_memory) {
    const Segment& segment = input_.segments[*plan_->with_memory];
    result.offset = segment.offset + segment.file_size;
  }
  return result;
}

OutputSection Describer::describe_new_table(uint32_t number) {
  const RelocationTable& relocations = *table_.tables[number];
  const uint32_t target = relocations.target, inputs = input_count(input_);
  OutputSection result;
  result.number = number;
  result.name = table_.made_names.emplace_back(
      ".rela" +
      (target < inputs ? input_.sections[target].name : output_.added[target - inputs].name));
  result.type = ELF::SHT_RELA;
  result.flags = ELF::SHF_INFO_LINK;
  result.link = table_.index[table_.symbol_table];
  result.info = table_.index[target];
  result.alignment = 8;
  result.entry_size = sizeof(RelaRecord);
  result.size = relocations.relocations.size() * sizeof(RelaRecord);
  return result;
}

/// Contents of a segment that no section describes; they stay where they are.
OutputSection Describer::describe_placeholder(uint32_t number, const Segment& segment) const {
  OutputSection result;
  result.number = number;
  result.name = kPlaceholderName;
  result.type = ELF::SHT_PROGBITS;
  result.flags = flags_of(Section::kAllocated);
  if ((segment.rights & Segment::kWritable) != 0) result.flags |= ELF::SHF_WRITE;
  if ((segment.rights & Segment::kExecutable) != 0) result.flags |= ELF::SHF_EXECINSTR;
  result.address = segment.address;
  result.offset = segment.offset;
  result.size = segment.file_size;
  return result;
}

/// The rewriter's sections follow the contents that the segment starts with, without overlap.
void check_added_segment(const Image& input, const NewImage& output, const SegmentPlan& plan,
                         SectionTable& table) {
  uint64_t end = plan.where.free_address;
  bool tables = !plan.separate;  // whether tables come now
  for (const auto& [address, number] : added_segment_sections(input, output, &plan)) {
    const OutputSection& section = table.numbered(number);
    if (plan.block.has_section(number) && !moves_by_itself(output, number)) continue;
    if (!section.in_added_segment) {
      require(input,
              address == plan.where.memory_address && address + section.size == plan.memory_end,
              "added memory is not where it was planned");
      require(input, !plan.memory_segment || address >= end,
              "new contents need more room than was left before the added memory");
      continue;
    }
    const bool code = (section.flags & ELF::SHF_EXECINSTR) != 0;
    require(input, !plan.separate || !code || !tables, "code lies behind tables");
    if (!code && !tables) {
      tables = true;
      end = plan.tables + plan.where.before_tables;
    }
    require(input, address >= end, "sections of the added segment overlap");
    require(input, address % section.alignment == 0, "an added section is not aligned");
    require(input, section.type != ELF::SHT_NOBITS, "an added section has no contents");
    end = address + section.size;
  }
}

}  // namespace

bool stays_in_segment(const Image& input, const NewImage::MovedSection& moved) {
  return input.bytes_at(moved.address, moved.contents.size()).has_value();
}

bool moves_by_itself(const NewImage& output, uint32_t section) {
  return std::ranges::find(output.moved, section, &NewImage::MovedSection::section) !=
         output.moved.end();
}

void check_request(const Image& input, const NewImage& output) {
  require(input,
          output.contents.size() >= input.loaded_end && output.contents.size() <= input.file.size(),
          "the contents have another size");
  const uint64_t program_headers = reinterpret_cast<const FileHeader*>(input.file.data())->e_phoff;
  for (const auto& [start, size] :
       {std::pair(uint64_t{0}, sizeof(FileHeader)),
        std::pair(program_headers, input.segments.size() * sizeof(ProgramHeader))})
    require(input,
            std::ranges::equal(input.file.subspan(start, size),
                               std::span(output.contents).subspan(start, size)),
            "a relocation would change the headers of the file");
  check_symbols(input, output);
  for (const auto& moved : output.moved)
    require(input,
            moved.section < input.sections.size() && input.sections[moved.section].allocated(),
            "a section without an address moves");
  for (const auto& replaced : output.replaced)
    require(input,
            replaced.section < input.sections.size() &&
                !input.sections[replaced.section].allocated() &&
                input.sections[replaced.section].holds_program_data(),
            "a section that is no plain contents is replaced");
  for (const uint32_t section : output.dropped_sections)
    require(input, section < input.sections.size() && !input.sections[section].allocated(),
            "an allocated section is dropped");
  for (const RelocationTable& table : output.relocations) check_table(input, output, table);
  for (const DynamicRelocationTable& table : output.dynamic_relocations) {
    const auto known = std::find_if(
        input.dynamic_relocations.begin(), input.dynamic_relocations.end(),
        [&](const DynamicRelocationTable& other) { return other.section == table.section; });
    require(input,
            known != input.dynamic_relocations.end() &&
                known->relocations.size() == table.relocations.size(),
            "dynamic relocations got lost");
  }
}

SectionTable describe_sections(const Image& input, const NewImage& output, const SegmentPlan* plan,
                               std::span<const Symbol> symbols) {
  SectionTable table;
  const std::vector<Fate> fates = decide_fates(input, output, plan);
  const std::vector<uint32_t> emptied = emptied_segments(input, output, fates);
  const auto order = order_sections(input, output, plan, fates, emptied);
  require(input, order.size() < kFirstReservedSection, "there are too many sections");
  uint32_t next = input_count(input) + static_cast<uint32_t>(output.added.size());
  const auto tables = std::ranges::count(output.relocations, 0u, &RelocationTable::section);
  table.index.resize(next + static_cast<size_t>(tables) + emptied.size());
  for (uint32_t i = 0; i < order.size(); ++i) table.index[order[i]] = i;
  table.tables.resize(table.index.size());
  for (const RelocationTable& relocations : output.relocations)
    table.tables[relocations.section != 0 ? relocations.section : next++] = &relocations;

  for (uint32_t i = 1; i < input.sections.size(); ++i)
    if (input.sections[i].raw.type == ELF::SHT_SYMTAB) table.symbol_table = i;
  table.symbol_strings = input.sections[table.symbol_table].raw.link;
  table.section_strings = reinterpret_cast<const FileHeader*>(input.file.data())->e_shstrndx;
  for (const uint32_t needed : {table.symbol_table, table.symbol_strings, table.section_strings})
    require(input, needed == 0 || (table.index[needed] != 0 && !input.sections[needed].allocated()),
            "symbols or names are dropped, or lie in a loaded section");

  Describer describer(input, output, plan, symbols, emptied, table);
  table.sections.reserve(order.size());
  for (const uint32_t number : order) table.sections.push_back(describer.describe(number));
  if (plan != nullptr) check_added_segment(input, output, *plan, table);
  return table;
}

}  // namespace respike::elf
