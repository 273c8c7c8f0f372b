// Lifting: from an image to procedures, blocks, edges and symbolic references.
//
// Kept relocations say where addresses of code are. Symbols and unwind tables say where procedures
// are. Direct branches are decoded. Then there is one step per question: which ranges of code
// exist, where blocks start, what refers to what, what follows what. A procedure that is not fully
// understood becomes opaque, with a reason; lifting goes on with the other procedures.
//
// Example: `image info` says "unknown indirect jump at 0x120001a30" about an opaque procedure; the
// reason comes from jumps.cc.
//
// All lookups by address are binary searches in sorted vectors; time is n log n with a tiny log
// part, memory one Instruction per unit of code, which blocks then use in place.

#include "optimizer/lift/lift.h"

#include <algorithm>

#include <fmt/format.h>

#include "optimizer/base/parallel.h"
#include "optimizer/lift/lifter.h"
#include "optimizer/machine/machines.h"

namespace respike {

CodeSection* Lifter::code_at(uint64_t address) {
  const auto after =
      std::upper_bound(code.begin(), code.end(), address,
                       [](uint64_t a, const CodeSection& section) { return a < section.start; });
  if (after == code.begin()) return nullptr;
  CodeSection& section = *(after - 1);
  return address < section.end ? &section : nullptr;
}

const Instruction* Lifter::instruction_at(uint64_t address) const {
  const CodeSection* section = code_at(address);
  if (section == nullptr || !map().holds(address)) return nullptr;
  return &section->instructions[section->index(address)];
}

std::span<const Instruction> Lifter::code_from(uint64_t address) const {
  const CodeSection* section = code_at(address);
  if (section == nullptr || !map().holds(address)) return {};
  return std::span<const Instruction>(section->instructions, section->marks.size())
      .subspan(section->index(address));
}

std::span<const Instruction> Lifter::code_in(uint64_t start, uint64_t end) const {
  const CodeSection* section = code_at(start);
  if (section == nullptr) return {};
  const size_t first = section->index(start);
  return {&section->instructions[first], section->index(end) - first};
}

void Lifter::mark(uint64_t address, unsigned marks) {
  if (CodeSection* section = code_at(address)) section->marks[section->index(address)] |= marks;
}

uint8_t Lifter::marks_at(uint64_t address) const {
  const CodeSection* section = code_at(address);
  return section == nullptr ? 0 : section->marks[section->index(address)];
}

std::span<const uint8_t> Lifter::bytes_of(const Instruction& instruction) const {
  const uint64_t address = program.origin_base + instruction.origin;
  const Section& section = image.sections[code_at(address)->section];
  return section.contents.subspan(address - section.address);
}

bool Lifter::is_padding(uint64_t start, uint64_t end) const {
  for (uint64_t address = start; address < end; address = map().next(address)) {
    const Instruction* instruction = instruction_at(address);
    if (instruction == nullptr) return false;
    if (machine.facts(*instruction).nop) continue;
    const auto bytes =
        image.bytes_at(map().group(address), map().group_end(address) - map().group(address));
    const auto fills = [&](uint8_t b) { return b == 0 || b == machine.codec.filler; };
    if (!bytes || !std::all_of(bytes->begin(), bytes->end(), fills)) return false;
  }
  return true;
}

std::optional<uint64_t> Lifter::resolve_flow(uint64_t address) const {
  const CodeSection* section = nullptr;
  for (int stubs = 0; stubs <= 2; ++stubs) {  // a departure, then a landing
    if (range_at(address) != kNone) return address;
    section = code_at(address);
    if (section == nullptr || !map().starts_group(address)) return std::nullopt;
    if (!provenance || provenance->far_stubs.empty() || machine.stubs == nullptr) break;
    const size_t behind = program.range_index.starts_up_to(program.ranges, address);
    const uint64_t end = behind < program.ranges.size()
                             ? std::min(program.ranges[behind].start, section->end)
                             : section->end;  // in the next range other threads change code
    const auto leads_to = machine.stubs->target(code_in(address, end), address);
    if (!leads_to) break;
    address = *leads_to;
  }
  if (range_at(address) != kNone) return address;
  const size_t next = program.range_index.starts_up_to(program.ranges, address);
  if (next == program.ranges.size() || program.ranges[next].start >= section->end)
    return std::nullopt;
  if (address < nops_before[next]) return std::nullopt;
  return program.ranges[next].start;
}

void Lifter::keep_way_from(uint64_t address, const char* reason) {
  if (const uint32_t range = range_at(address); range != kNone)
    return pin(program[program.ranges[range].procedure], reason);
  const CodeSection* section = code_at(address);
  if (section == nullptr) return;
  const auto next = std::ranges::lower_bound(program.ranges, address, {}, &CodeRange::start);
  if (next == program.ranges.end() || next->start >= section->end) {
    program.kept.emplace_back(address, section->end);
    return;
  }
  // A place in the middle of a no-op makes sense only together with the whole no-op.
  const uint64_t no_ops = nops_before[static_cast<size_t>(next - program.ranges.begin())];
  program.kept.emplace_back(std::min(address, no_ops), next->start);
  pin(program[next->procedure], reason);
}

bool Lifter::is_code_symbol(uint32_t symbol) const {
  if (symbol >= image.symbols.size()) return false;
  const Symbol& s = image.symbols[symbol];
  return s.defined_in_section() && s.section < image.sections.size() &&
         image.sections[s.section].executable();
}

bool Lifter::is_entry_anchor(uint64_t anchor, uint64_t gp_load) const {
  if ((marks_at(anchor) & kEntryMark) == 0 || range_at(anchor) == kNone) return false;
  const Operands operands = machine.operands(*instruction_at(gp_load));
  return operands.uses != 0 && operands.registers[0] == machine.abi.procedure_value;
}

const Relocation* Lifter::relocation_at(uint64_t address, RelocationRole role) const {
  const CodeSection* section = code_at(address);
  if (section == nullptr) return nullptr;
  auto relocation =
      std::lower_bound(section->relocations->begin(), section->relocations->end(), address,
                       [](const Relocation& r, uint64_t a) { return r.address < a; });
  for (; relocation != section->relocations->end() && relocation->address == address; ++relocation)
    if (relocation->role == role) return &*relocation;
  return nullptr;
}

void Lifter::make_opaque(Procedure& procedure, std::string reason) {
  if (procedure.state == Procedure::State::opaque) return;
  procedure.state = Procedure::State::opaque;
  procedure.reason = std::move(reason);
}

void Lifter::make_opaque_at(uint64_t address, std::string reason) {
  if (const uint32_t range = range_at(address); range != kNone)
    make_opaque(program[program.ranges[range].procedure], std::move(reason));
}

void Lifter::pin(Procedure& procedure, std::string reason) {
  if (procedure.state != Procedure::State::movable) return;
  procedure.state = Procedure::State::pinned;
  procedure.reason = std::move(reason);
}

uint64_t Lifter::gp_of(const Procedure& procedure) const {
  if (procedure.gp) return *procedure.gp;
  return program.gp_values.empty() ? 0 : program.gp_values.front();
}

void for_each_part(Program& program,
                   const std::function<void(size_t, Arena&, ProcedureId, ProcedureId)>& work) {
  std::vector<Arena*> arenas(kParts);
  for (Arena*& arena : arenas) arena = &program.arena->add_part();
  const size_t count = program.procedures.size();
  parallel_for(kParts, [&](size_t part) {
    work(part, *arenas[part], static_cast<ProcedureId>(count * part / kParts),
         static_cast<ProcedureId>(count * (part + 1) / kParts));
  });
}

/// Code that is decoded on its own.
struct Stretch {
  uint64_t start = 0;
  std::span<const uint8_t> bytes;
};

/// The code of a section. Where instructions have variable length, padding may decode as other
/// instructions. So decoding starts anew at each symbol of a procedure, and at each label, since
/// labels often name hand-written procedures.
std::vector<Stretch> stretches_of(const Lifter& lifter, const CodeSection& code) {
  std::vector<uint64_t> starts = {code.start, code.end};
  if (!lifter.machine.codec.groups.fixed())
    for (const Symbol& symbol : lifter.image.symbols)
      if ((symbol.type == Symbol::Type::procedure || symbol.type == Symbol::Type::none) &&
          symbol.section == code.section && symbol.value > code.start && symbol.value < code.end)
        starts.push_back(symbol.value);
  std::sort(starts.begin(), starts.end());
  starts.erase(std::unique(starts.begin(), starts.end()), starts.end());
  const auto bytes = lifter.image.sections[code.section].contents;
  std::vector<Stretch> stretches;
  for (size_t i = 0; i + 1 < starts.size(); ++i)
    stretches.push_back(
        {starts[i], bytes.subspan(starts[i] - code.start, starts[i + 1] - starts[i])});
  return stretches;
}

/// The lengths of the instructions of a section, in order.
std::vector<uint8_t> lengths_of(const Codec& codec, std::span<const Stretch> stretches) {
  std::vector<std::vector<uint8_t>> parts(stretches.size());
  parallel_for(stretches.size(), [&](size_t i) {
    for (auto bytes = stretches[i].bytes; !bytes.empty(); bytes = bytes.subspan(parts[i].back()))
      parts[i].push_back(static_cast<uint8_t>(codec.length(bytes)));
  });
  std::vector<uint8_t> lengths;
  for (const std::vector<uint8_t>& part : parts)
    lengths.insert(lengths.end(), part.begin(), part.end());
  return lengths;
}

/// The places of the instructions of these sections, which are in the order of their addresses.
CodeMap make_map(const Lifter& lifter) {
  const Codec& codec = lifter.machine.codec;
  if (codec.groups.fixed()) return CodeMap(codec.groups);
  std::vector<std::vector<uint8_t>> lengths;
  for (const CodeSection& code : lifter.code)
    lengths.push_back(lengths_of(codec, stretches_of(lifter, code)));
  std::vector<CodeMap::Lengths> sections;
  for (size_t i = 0; i < lengths.size(); ++i)
    sections.push_back({lifter.code[i].start, lengths[i]});
  return CodeMap(sections);
}

void decode_code(Lifter& lifter) {
  const unsigned unit = lifter.machine.codec.groups.alignment();
  std::vector<const std::vector<Relocation>*> relocations_of(lifter.image.sections.size());
  for (const RelocationTable& table : lifter.image.relocations)
    relocations_of[table.target] = &table.relocations;
  for (uint32_t index = 0; index < lifter.image.sections.size(); ++index) {
    const Section& section = lifter.image.sections[index];
    if (!section.allocated() || !section.executable() || section.contents.empty()) continue;
    const std::vector<Relocation>* relocations = relocations_of[index];
    // Linker-made code (the procedure linkage table) has no relocations and is left alone.
    if (relocations == nullptr) continue;
    const size_t size = section.contents.size() / unit * unit;
    if (size == 0 || section.address % unit != 0) continue;
    CodeSection code;
    code.section = index;
    code.start = section.address;
    code.end = section.address + size;
    code.relocations = relocations;
    lifter.code.push_back(std::move(code));
  }
  std::sort(lifter.code.begin(), lifter.code.end(),
            [](const CodeSection& a, const CodeSection& b) { return a.start < b.start; });
  Program& program = lifter.program;
  program.map = make_map(lifter);
  if (lifter.code.empty()) return;
  program.origin_base = lifter.code.front().start;
  for (CodeSection& code : lifter.code) {
    if (code.end - program.origin_base >= kNone)
      throw Error("its code spans more than 4 GB", lifter.image.path);
    code.map = &program.map;
    code.first = program.map.index(code.start);
    const size_t count = program.map.index(code.end) - code.first;
    code.marks.resize(count);
    code.instructions = program.arena->allocate<Instruction>(count);
    if (!lifter.machine.codec.groups.fixed()) code.origin_base = program.origin_base;
    const std::vector<Stretch> stretches = stretches_of(lifter, code);
    parallel_for(stretches.size(), [&](size_t i) {
      const auto& [start, bytes] = stretches[i];
      lifter.machine.codec.decode(bytes, static_cast<uint32_t>(start - program.origin_base),
                                  code.instructions + code.index(start));
    });
  }
}

/// Keeps the unwind information of code in no procedure, and unwind information that is not
/// understood: it is written back unchanged.
void keep_foreign_fdes(Lifter& lifter) {
  for (Fde& fde : lifter.unwind.fdes)
    if (lifter.code_at(fde.start) == nullptr || is_opaque(lifter.unwind.tables, fde))
      lifter.program.foreign_fdes.push_back(std::move(fde));
  if (!lifter.unreadable_unwind.empty())
    lifter.program.unreadable_fde = lifter.unreadable_unwind.front().first;
}

Program lift(const Image& image, Diagnostics& diagnostics) {
  return lift(image, machine_for(image), diagnostics);
}

Program lift(const Image& image, const Machine& machine, Diagnostics& diagnostics) {
  Lifter lifter(image, machine, diagnostics);
  lifter.program.image = &image;
  lifter.program.machine = &lifter.machine;
  lifter.unwind = read_unwind(image, &lifter.unreadable_unwind);
  lifter.provenance = read_provenance(image);

  decode_code(lifter);         // one Instruction per unit of code
  find_procedures(lifter);     // from here on the ranges of procedures are fixed
  mark_unwind_places(lifter);  // landing pads, call-site borders
  find_gp_values(lifter);
  find_references(lifter);  // relocated fields and words that depend on addresses of code
  keep_referred_gaps(lifter);
  mark_branch_targets(lifter);  // from here on every start of a block is marked
  build_blocks(lifter);         // from here on block numbers are fixed
  keep_odd_prologs(lifter);
  keep_unknown_personalities(lifter);
  keep_foreign_fdes(lifter);
  lifter.program.unwind = std::move(lifter.unwind.tables);
  join_exception_tables(lifter.program);  // from here on the tables of unwinding are fixed
  connect_blocks(lifter);                 // edges and symbolic references
  find_returns(lifter.program, lifter.machine);
  glue_sequences(lifter.program, lifter.machine);
  glue_epilogs(image, lifter.program, lifter.machine);
  follow_stops(lifter.program, lifter.machine);  // the last edges
  return std::move(lifter.program);
}

}  // namespace respike
