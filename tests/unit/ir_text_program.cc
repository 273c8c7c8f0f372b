// A case has only the lines that matter to it, and this file makes up the rest. Example:
// `procedure 0 "f"` with a block of two instructions stands at 0x1000 in a section .text of eight
// bytes, and a symbol f names it, unless lines of the case say otherwise.

#include "tests/unit/ir_text_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <sstream>

#include "optimizer/base/bytes.h"
#include "optimizer/ir/text/text.h"
#include "optimizer/ir/text/text_words.h"
#include "optimizer/layout/orders.h"
#include "optimizer/machine/listing.h"
#include "optimizer/machine/machines.h"

namespace respike {
namespace {

using text::Words;

constexpr std::array<std::string_view, 20> kRoleNames = {"unsupported",
                                                         "ignored",
                                                         "branch",
                                                         "hint",
                                                         "gp_high",
                                                         "gp_low",
                                                         "gp_relative16",
                                                         "gp_offset",
                                                         "absolute",
                                                         "address_high",
                                                         "gp_load",
                                                         "got_load",
                                                         "address64",
                                                         "address32",
                                                         "gp_relative32",
                                                         "pc_relative32",
                                                         "pc_relative64",
                                                         "image_relative32",
                                                         "unwind_gp_relative64",
                                                         "unwind_segment_relative64"};
static_assert(kRoleNames.size() ==
              static_cast<size_t>(RelocationRole::unwind_segment_relative64) + 1);

constexpr uint64_t kFirstAddress = 0x1000, kAlignment = 16;

}  // namespace

std::string_view name_of(RelocationRole role) {
  return kRoleNames[static_cast<size_t>(role)];
}

const Machine& machine_of(const std::string& text, const Machine& fake) {
  if (text.find("program alpha") != std::string::npos) return alpha_machine();
  if (text.find("program ia64") != std::string::npos) return ia64_machine();
  return fake;
}

TextProgram::TextProgram(const std::string& text, uint64_t reach, uint64_t conditional_reach)
    : fake_(make_fake_machine(reach, conditional_reach)),
      program(parse_program(text, machine_of(text, fake_))) {
  if (program.ranges.empty()) give_addresses();
  image.path = "case";
  image.sections.emplace_back();
  image.symbols.emplace_back();
  constexpr std::string_view kWith = "// with: ";
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(kWith)) read_line(std::string_view(line).substr(kWith.size()));
  make_image();
  program.image = &image;
}

Layout TextProgram::layout() const {
  return fragments.empty() ? original_layout(program) : Layout{fragments};
}

// ---- lines ----

void TextProgram::read_line(std::string_view line) {
  Words words(line);
  const std::string_view first = words.next();
  if (first == "section") {
    read_section(line);
  } else if (first == "entry") {
    image.entry = words.next_number<uint64_t>();
  } else if (first == "word32" || first == "word64") {
    const auto address = words.next_number<uint64_t>();
    words_.push_back({address, words.next_number<uint64_t>(), first == "word32" ? 4u : 8u});
  } else if (first == "fragment") {
    Layout::Fragment fragment{.procedure = words.next_number<ProcedureId>(), .blocks = {}};
    words.take_number("alignment", fragment.start.alignment);
    words.take_number("phase", fragment.start.phase);
    while (!words.at_end()) fragment.blocks.push_back(words.next_number<BlockId>());
    fragments.push_back(std::move(fragment));
  } else if (first == "foreign") {
    Fde fde;
    fde.start = words.next_number<uint64_t>();
    fde.end = words.next_number<uint64_t>();
    program.foreign_fdes.push_back(fde);
  } else if (first == "falls_into") {
    const auto from = words.next_number<ProcedureId>();
    program.falls_into.emplace_back(from, words.next_number<ProcedureId>());
  } else if (first == "symbol") {
    Symbol symbol;
    symbol.name = names_.emplace_back(words.next());
    symbol.value = words.next_number<uint64_t>();
    symbol.type = Symbol::Type::procedure;
    symbol.local = words.take("local");
    words.take_number("size", symbol.size);
    if (words.take("object")) symbol.type = Symbol::Type::object;
    image.symbols.push_back(symbol);
  } else if (first == "relocation") {
    NamedRelocation named;
    named.relocation.address = words.next_number<uint64_t>();
    const std::string_view role = words.next();
    const auto found = std::ranges::find(kRoleNames, role);
    if (found == kRoleNames.end()) throw Error(fmt::format("'{}' is no role", role));
    named.relocation.role = static_cast<RelocationRole>(found - kRoleNames.begin());
    named.symbol = words.next();
    words.take_number("addend", named.relocation.addend);
    relocations_.push_back(named);
  } else {
    throw Error(fmt::format("'with: {}' is not known", first));
  }
}

/// section NAME ADDRESS SIZE code|data
void TextProgram::read_section(std::string_view line) {
  Words words(line);
  words.next();
  Section section;
  section.name = words.next();
  section.address = words.next_number<uint64_t>();
  section.size = words.next_number<uint64_t>();
  section.properties = words.next() == "code" ? Section::kAllocated | Section::kExecutable
                                              : Section::kAllocated | Section::kWritable;
  image.sections.push_back(section);
}

// ---- addresses ----

void TextProgram::give_addresses() {
  for (ProcedureId id = 0; id < program.procedures.size(); ++id) give_addresses(id);
}

void TextProgram::give_addresses(ProcedureId id) {
  Procedure& procedure = program[id];
  const Machine& machine = *program.machine;
  if (procedure.address == 0) {
    procedure.address = kFirstAddress;
    if (id != 0)
      procedure.address = align_up(program[id - 1].address + program[id - 1].size, kAlignment);
  }
  uint64_t at = procedure.address;
  std::vector<uint32_t> places;
  uint32_t blocks = 0;
  for (BasicBlock& block : procedure.blocks) {
    std::vector<Instruction> own;  // instructions of the input
    for (const Instruction& i : block.instructions)
      if (i.origin != kNone) own.push_back(i);
    if (own.empty()) continue;
    ++blocks;
    places.resize(own.size());
    const uint64_t size = machine.codec.arrange(own, places.data());
    block.origin = static_cast<uint32_t>(at);
    block.origin_size = static_cast<uint32_t>(size);
    auto place = places.begin();
    for (Instruction& i : block.instructions)
      if (i.origin != kNone) i.origin = static_cast<uint32_t>(at + *place++);
    at += size;
  }
  procedure.size = at - procedure.address;
  program.ranges.push_back({procedure.address, at, id, 0, blocks});
}

// ---- the image ----

void TextProgram::make_image() {
  const bool has_code = std::ranges::any_of(image.sections, &Section::executable);
  if (!has_code && !program.ranges.empty()) {
    Section text;
    text.name = ".text";
    text.properties = Section::kAllocated | Section::kExecutable;
    text.address = program.ranges.front().start;
    text.size = program.ranges.back().end - text.address;
    image.sections.insert(image.sections.begin() + 1, text);
  }
  uint64_t size = 0;
  for (Section& section : image.sections) {
    section.offset = size;
    size += section.size;
    if (section.size == 0) continue;
    image.segments.push_back(
        {.kind = Segment::Kind::loaded,
         .rights = section.executable() ? Segment::kExecutable : Segment::kWritable,
         .offset = section.offset,
         .address = section.address,
         .file_size = section.size,
         .memory_size = section.size});
  }
  file_.resize(size);
  image.file = file_;
  image.loaded_end = file_.size();
  for (Section& section : image.sections)
    section.contents = image.file.subspan(section.offset, section.size);
  image.index_sections();
  write_code();
  for (const Word& word : words_) {
    const auto offset = image.offset_of(word.address);
    if (!offset) throw Error(fmt::format("no section holds {:#x}", word.address));
    for (unsigned i = 0; i < word.bytes; ++i)
      file_[*offset + i] = static_cast<uint8_t>(word.value >> 8 * i);
  }
  make_symbols();
}

/// The linker's output: branches lead to the targets of the edges, other references are 0.
void TextProgram::write_code() {
  const Machine& machine = *program.machine;
  for (const Procedure& procedure : program.procedures)
    for (const BasicBlock& block : procedure.blocks) {
      std::vector<Instruction> code;
      for (Instruction i : block.instructions) {
        if (i.is_pseudo() || i.origin == kNone) continue;
        if (i.has_reference()) i.immediate = 0;
        i.flags &= static_cast<uint8_t>(~Instruction::kHasReference);
        code.push_back(i);
      }
      if (code.empty()) continue;
      if (const Edge* taken = block.edge(Edge::Kind::taken)) {
        const uint64_t to = program.address_of(procedure.blocks[taken->target]);
        machine.fixups.apply(code.back(), ReferenceKind::branch, code.back().origin, to, 0);
      }
      std::vector<uint8_t> bytes;
      machine.codec.encode(code, bytes);
      const auto offset = image.offset_of(program.address_of(block));
      if (!offset || *offset + bytes.size() > file_.size()) throw Error("no section holds a block");
      std::ranges::copy(bytes, file_.begin() + static_cast<ptrdiff_t>(*offset));
    }
}

/// Of sections and, unless the case has symbols, of procedures.
void TextProgram::make_symbols() {
  if (image.symbols.size() == 1)
    for (const Procedure& procedure : program.procedures) {
      Symbol symbol;
      symbol.name = names_.emplace_back(procedure.name);
      symbol.value = procedure.address;
      symbol.size = procedure.size;
      symbol.type = Symbol::Type::procedure;
      image.symbols.push_back(symbol);
    }
  std::vector<Symbol> sections;
  for (uint32_t i = 1; i < image.sections.size(); ++i) {
    Symbol& symbol = sections.emplace_back();
    symbol.name = image.sections[i].name;
    symbol.value = image.sections[i].address;
    symbol.section = i;
    symbol.type = Symbol::Type::section;
    symbol.local = true;
  }
  image.symbols.insert(image.symbols.begin() + 1, sections.begin(), sections.end());
  for (uint32_t i = 1; i < image.symbols.size(); ++i) {
    Symbol& symbol = image.symbols[i];
    if (symbol.type == Symbol::Type::section) continue;
    const Section* section = image.section_at(symbol.value);
    if (section == nullptr) throw Error(fmt::format("no section holds {}", symbol.name));
    symbol.section = static_cast<uint32_t>(section - image.sections.data());
    for (const CodeRange& range : program.ranges)
      if (symbol.value >= range.start && symbol.value < range.end)
        program[range.procedure].symbols.push_back(i);
  }
  for (const auto& [relocation, name] : relocations_) {
    const Section* section = image.section_at(relocation.address);
    const auto symbol = std::ranges::find(image.symbols, name, &Symbol::name);
    if (section == nullptr || symbol == image.symbols.end())
      throw Error(fmt::format("the relocation at {:#x} is out of place", relocation.address));
    const auto target = static_cast<uint32_t>(section - image.sections.data());
    if (image.relocations.empty() || image.relocations.back().target != target)
      image.relocations.push_back({.section = 0, .target = target, .relocations = {}});
    image.relocations.back().relocations.push_back(relocation);
    image.relocations.back().relocations.back().symbol =
        static_cast<uint32_t>(symbol - image.symbols.begin());
  }
}

// ---- listing ----

namespace {

class Lister {
 public:
  Lister(const Image& image, const Machine& machine) : image_(image), machine_(machine) {}

  std::string list() {
    if (image_.entry != 0) out_ += fmt::format("entry {:x}\n", image_.entry);
    for (uint32_t i = 1; i < image_.sections.size(); ++i) {
      const Section& section = image_.sections[i];
      if (section.executable() && !section.contents.empty()) list_code(i);
      if (section.allocated() && section.name.find("data") != std::string::npos) list_data(i);
    }
    return std::move(out_);
  }

 private:
  void list_code(uint32_t index) {
    const Section& section = image_.sections[index];
    out_ += fmt::format("section {} {:x}..{:x}\n", section.name, section.address,
                        section.address + section.size);
    std::vector<ListedLine> lines;
    if (const auto id = listed_as())
      find_listing(*id)->list(section.contents, section.address, lines);
    else
      list_fake(section, lines);
    const bool varies = machine_.codec.length != nullptr;
    for (size_t i = 0; i < lines.size(); ++i) {
      ListedLine& line = lines[i];
      labels(index, line.address);
      if (varies) std::ranges::replace(line.text, '\t', ' ');
      out_ += fmt::format("  {:x}: {}", line.address, line.text);
      if (line.target) out_ += name(*line.target);
      // Of instructions of one length, relocations stand at their start.
      const uint64_t end =
          i + 1 < lines.size() ? lines[i + 1].address : section.address + section.size;
      relocations(index, line.address, varies ? end : line.address + 1);
      if (varies)
        if (const size_t more = padding_behind(index, lines, i)) {
          out_ += fmt::format(", {} times", more + 1);
          i += more;
        }
      out_ += '\n';
    }
  }

  /// How many of the lines behind a no-op of one byte are the same, up to the next symbol.
  size_t padding_behind(uint32_t section, std::span<const ListedLine> lines, size_t at) const {
    size_t more = 0;
    while (lines[at].text == "nop" && at + more + 1 < lines.size() &&
           lines[at + more + 1].code == lines[at].code &&
           !has_label(section, lines[at + more + 1].address))
      ++more;
    return more;
  }

  bool has_label(uint32_t section, uint64_t address) const {
    return std::ranges::any_of(image_.symbols, [&](const Symbol& symbol) {
      return symbol.section == section && symbol.value == address &&
             symbol.type != Symbol::Type::section && !symbol.name.empty();
    });
  }

  std::optional<MachineId> listed_as() const {
    if (&machine_ == &alpha_machine()) return MachineId::alpha;
    if (&machine_ == &ia64_machine()) return MachineId::ia64;
    if (&machine_ == &x86_64_machine()) return MachineId::x86_64;
    return std::nullopt;
  }

  void list_fake(const Section& section, std::vector<ListedLine>& lines) const {
    std::vector<Instruction> code(section.contents.size() / 4);
    machine_.codec.decode(section.contents.first(4 * code.size()), 0, code.data());
    for (size_t i = 0; i < code.size(); ++i) {
      const uint64_t at = section.address + 4 * i;
      const std::string text = code[i].opcode == kInvalid
                                   ? fmt::format("{:08x}", static_cast<uint32_t>(code[i].immediate))
                                   : machine_.text.print(code[i], at);
      lines.push_back({.address = at, .code = "", .text = text, .target = {}});
    }
  }

  void list_data(uint32_t index) {
    const Section& section = image_.sections[index];
    if (section.contents.empty()) return;
    out_ += fmt::format("section {} {:x}..{:x}\n", section.name, section.address,
                        section.address + section.size);
    for (size_t at = 0; at + 4 <= section.contents.size(); at += 4) {
      labels(index, section.address + at);
      out_ += fmt::format("  {:x}: {:08x}", section.address + at,
                          load<uint32_t>(section.contents.data() + at));
      relocations(index, section.address + at, section.address + at + 4);
      out_ += '\n';
    }
  }

  void labels(uint32_t section, uint64_t address) {
    for (const Symbol& symbol : image_.symbols)
      if (symbol.section == section && symbol.value == address &&
          symbol.type != Symbol::Type::section && !symbol.name.empty())
        out_ += fmt::format("{}:  // {}{} bytes\n", symbol.name, symbol.local ? "local, " : "",
                            symbol.size);
  }

  /// The closest symbol before an address.
  std::string name(uint64_t address) const {
    const Symbol* best = nullptr;
    for (const Symbol& symbol : image_.symbols)
      if (symbol.type == Symbol::Type::procedure && symbol.value <= address &&
          (best == nullptr || symbol.value > best->value))
        best = &symbol;
    if (best == nullptr) return "";
    return best->value == address ? fmt::format(" <{}>", best->name)
                                  : fmt::format(" <{}+{:#x}>", best->name, address - best->value);
  }

  void relocations(uint32_t section, uint64_t start, uint64_t end) {
    for (const RelocationTable& table : image_.relocations) {
      if (table.target != section) continue;
      for (const Relocation& relocation : table.relocations) {
        if (relocation.address < start || relocation.address >= end) continue;
        const Symbol& symbol = image_.symbols[relocation.symbol];
        const std::string_view what = symbol.type == Symbol::Type::section
                                          ? image_.sections[symbol.section].name
                                          : symbol.name;
        out_ += fmt::format("  // {} {}{:+}", name_of(relocation.role), what, relocation.addend);
      }
    }
  }

  const Image& image_;
  const Machine& machine_;
  std::string out_;
};

}  // namespace

std::string list_image(const Image& image, const Machine& machine) {
  return Lister(image, machine).list();
}

}  // namespace respike
