// Code that the program finds, measures or patches without references.
//
// Linkers and compilers let a program know where a section starts and ends, where no-ops may be
// patched, where an entry of a table of jumps lies, or how long a procedure is. Such code stays.
//
// Example: a program that compares a return address with __start_locks and __stop_locks.

#include <algorithm>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "optimizer/lift/ocaml.h"
#include "optimizer/lift/pieces.h"

namespace respike {
namespace {

/// Pins code in sections whose ends the program refers to by name: the program may compare
/// addresses with the ends, or count from them.
void pin_delimited_sections(Lifter& lifter) {
  std::set<std::string_view> names;
  for (const Symbol& symbol : lifter.image.symbols) {
    if (!symbol.defined_in_section()) continue;
    if (symbol.name.starts_with("__start_")) names.insert(symbol.name.substr(8));
    if (symbol.name.starts_with("__stop_")) names.insert(symbol.name.substr(7));
  }
  for (const CodeRange& range : lifter.program.ranges)
    if (names.contains(lifter.image.sections[lifter.code_at(range.start)->section].name))
      lifter.pin(lifter.program[range.procedure],
                 "the program knows where its section starts or ends");
}

/// Whether linkers put code into the section by rules of their own: by their default scripts,
/// compilers' code models, `-z keep-text-section-prefix`, or Respike. Linkers of Windows sort by
/// the name after "$".
bool is_usual_section(std::string_view name) {
  constexpr std::string_view kNames[] = {".text", ".ltext", ".init", ".fini", ".code", "CODE"};
  constexpr std::string_view kKinds[] = {"hot",     "unlikely", "startup", "exit",   "sorted",
                                         "unknown", "split",    "cold",    "respike"};
  if (name.empty()) return true;  // of no section header
  if (std::ranges::find(kNames, name) != std::end(kNames) || name.starts_with(".text$"))
    return true;
  for (const std::string_view text : {".text.", ".ltext."}) {
    if (!name.starts_with(text)) continue;
    const std::string_view kind = name.substr(text.size());
    return std::ranges::any_of(kKinds, [&](std::string_view known) {
      return kind == known || (kind.starts_with(known) && kind[known.size()] == '.');
    });
  }
  return false;
}

/// Code has a section of its own for a reason that no relocation gives: the section is unmapped
/// after the start, protected, copied, or stays while the rest of the text is mapped again. Its
/// procedures stay, and other procedures do not take its room (emit/placement.cc). Example: Node.js
/// maps its text on large pages by code in .lpstub. A procedure that asks for an alignment of more
/// than a page does not move either (analysis/packing.h).
void pin_special_sections(Lifter& lifter) {
  constexpr uint64_t kPage = 4096;
  for (const CodeRange& range : lifter.program.ranges) {
    const Section& section = lifter.image.sections[lifter.code_at(range.start)->section];
    const auto& name = section.name;
    if (section.alignment > std::max(kPage, lifter.image.section_alignment) &&
        range.start % (2 * kPage) == 0)
      lifter.pin(lifter.program[range.procedure], "it may need an alignment of more than a page");
    if (!is_usual_section(name))
      lifter.pin(lifter.program[range.procedure],
                 fmt::format("the program may use its section, {}, as a whole", name));
  }
}

/// Procedures with no-ops or calls that may be patched, or right after such no-ops, stay. No-ops
/// before a procedure stay as data.
void leave_patchable_procedures(Lifter& lifter) {
  const auto& ranges = lifter.program.ranges;
  for (const uint64_t place : patchable_places(lifter)) {
    const uint32_t range = lifter.range_at(place);
    if (range == kNone) continue;
    const Instruction* there = lifter.instruction_at(place);
    const bool nop = there != nullptr && lifter.machine.facts(*there).nop;
    lifter.make_opaque(lifter.program[ranges[range].procedure],
                       nop ? "the no-ops in it may be patched" : "the code in it may be patched");
    if (std::ranges::binary_search(lifter.data, ranges[range].procedure) &&
        range + 1 < ranges.size())
      lifter.make_opaque(lifter.program[ranges[range + 1].procedure],
                         "the no-ops in front of it may be patched");
  }
}

/// LLVM's stack maps and fault maps hold the address of each procedure and, without relocations,
/// the distances of places from it (llvm.org/docs/StackMaps.html).
void leave_mapped_procedures(Lifter& lifter) {
  for (const uint64_t place : addresses_in(lifter, {".llvm_stackmaps", ".llvm_faultmaps"}))
    if (const uint32_t range = lifter.range_at(place); range != kNone)
      lifter.make_opaque(lifter.program[lifter.program.ranges[range].procedure],
                         "a stack map or fault map tells places in it");
}

/// Clang's -fsanitize=cfi checks addresses of procedures by their places in a table of jumps. To
/// the linker, each jump of the table is a procedure, or the first jump is a procedure that stands
/// for the whole table. Example: f: jmp f.cfi; int3; int3; int3. Checks of other images
/// (-fsanitize-cfi-cross-dso) find the page of __cfi_check.
void pin_tables_of_jumps(Lifter& lifter) {
  constexpr int kPadding = 3;  // bytes, of an entry without endbr64
  for (const CodeRange& range : lifter.program.ranges) {
    Procedure& procedure = lifter.program[range.procedure];
    if (procedure.name == "__cfi_check") lifter.pin(procedure, "others look for it by its address");
    if (procedure.name.starts_with("__typeid_"))
      lifter.pin(procedure, "it is the first entry of a table of jumps");
    const Instruction* jump = lifter.instruction_at(range.start);
    if (jump != nullptr && lifter.machine.facts(*jump).marks_target &&
        lifter.map().group_end(range.start) < range.end)
      jump = lifter.instruction_at(lifter.map().group_end(range.start));
    if (jump == nullptr || lifter.machine.facts(*jump).flow != ControlFlow::branch) continue;
    const uint64_t behind = lifter.map().group_end(lifter.program.origin_base + jump->origin);
    const auto padding = lifter.image.bytes_at(behind, kPadding);
    const uint8_t filler = lifter.machine.codec.filler;
    if (filler != 0 && behind + kPadding <= range.end && padding &&
        std::ranges::count(*padding, filler) == kPadding)
      lifter.pin(procedure, "it is an entry of a table of jumps");
  }
}

/// Clang's -fsanitize=kcfi puts a number before each procedure, which callers compare: __cfi_f
/// holds the number and ends where f starts. Control runs from __cfi_f into f, so f stays as well.
void pin_numbered_procedures(Lifter& lifter) {
  for (Procedure& procedure : lifter.program.procedures)
    if (procedure.name.starts_with("__cfi_"))
      lifter.pin(procedure, "callers look for it in front of another procedure");
}

/// Hand-written code measures a procedure by a label after it. Example: `f_end` before g for `f_end
/// - f`. Where g follows without padding, the label and g have one address, so both f and g stay.
/// Where instructions have one length, compilers put labels of their own at entries ($f..ng).
void pin_measured_procedures(Lifter& lifter) {
  if (lifter.map().groups().fixed()) return;
  const auto& ranges = lifter.program.ranges;
  for (const Symbol& symbol : lifter.image.symbols) {
    if (symbol.type != Symbol::Type::none || !symbol.defined_in_section()) continue;
    const uint32_t range = lifter.range_at(symbol.value);
    if (range == kNone || range == 0) continue;
    const CodeRange &before = ranges[range - 1], &behind = ranges[range];
    if (behind.start != symbol.value || before.end != symbol.value ||
        before.procedure == behind.procedure ||
        lifter.program[behind.procedure].name == symbol.name || is_ocaml_unit_label(lifter, symbol))
      continue;
    constexpr const char* kReason = "a label between two procedures may tell where one ends";
    lifter.pin(lifter.program[before.procedure], kReason);
    lifter.pin(lifter.program[behind.procedure], kReason);
  }
}

/// OCaml's runtime compares addresses with the ends of OCaml's code (ocaml.cc). Where all code of a
/// program is between two ends that can be given to the runtime, that code moves together.
void enclose_ocaml_code(Lifter& lifter) {
  constexpr const char* kReason = "OCaml's runtime knows where the code of OCaml starts and ends";
  Program& program = lifter.program;
  const OcamlExtent hull = lifter.ocaml.hull;
  program.enclosure = {hull.start, hull.end};
  for (const OcamlExtent& unit : lifter.ocaml.code) {
    const bool moves = program.enclosure.holds(unit.start) && lifter.machine.evidence.knows_ocaml;
    auto range = std::ranges::upper_bound(program.ranges, unit.start, {}, &CodeRange::end);
    for (; range != program.ranges.end() && range->start < unit.end; ++range) {
      Procedure& procedure = program[range->procedure];
      procedure.nonstandard = true;
      procedure.enclosed |= moves;
      if (!moves) lifter.pin(procedure, kReason);
    }
  }
  for (const CodeRange& range : program.ranges)
    if (program[range.procedure].enclosed &&
        (range.start < program.enclosure.start || range.end > program.enclosure.end))
      lifter.pin(program[range.procedure], kReason);
}

/// .init and .fini are pieced together from several objects: the order of the pieces is their
/// meaning.
void pin_start_up_code(Lifter& lifter) {
  for (const CodeRange& range : lifter.program.ranges) {
    const CodeSection* code = lifter.code_at(range.start);
    const std::string& section = lifter.image.sections[code->section].name;
    if (section == ".init" || section == ".fini")
      lifter.pin(lifter.program[range.procedure],
                 "start-up code that the linker pieced together from several objects");
  }
}

}  // namespace

void pin_known_places(Lifter& lifter) {
  pin_delimited_sections(lifter);
  enclose_ocaml_code(lifter);
  pin_special_sections(lifter);
  leave_patchable_procedures(lifter);
  leave_mapped_procedures(lifter);
  pin_tables_of_jumps(lifter);
  pin_numbered_procedures(lifter);
  pin_measured_procedures(lifter);
  pin_start_up_code(lifter);
}

}  // namespace respike
