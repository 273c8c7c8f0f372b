// A case is one file, which may hold several: a line `# file: NAME` starts another one, which is
// assembled, too, or linked to a shared library, or a linker script, by the end of its name. All
// files lie in one folder, in which the tools run, so that their output never holds its path.
//
// Example: behind `# file: libg.so` stands the assembler text of a library that exports g; `call g`
// in front of the line leads to a stub of the procedure linkage table.

#include "tests/unit/ir_assembler.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string_view>
#include <utility>
#include <vector>

#include "optimizer/base/error.h"
#include "optimizer/image/image.h"
#include "optimizer/ir/text/text.h"
#include "optimizer/ir/text/text_words.h"
#include "optimizer/layout/orders.h"
#include "optimizer/machine/listing.h"
#include "optimizer/machine/machines.h"
#include "tests/unit/command.h"

namespace respike {
namespace {

using text::Words;

/// What stands behind `KEY: ` in the comments of a case, line by line.
std::vector<std::string> comments(const std::string& text, std::string_view key) {
  const std::string start = fmt::format("# {}: ", key);
  std::vector<std::string> found;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    if (line.starts_with(start)) found.push_back(line.substr(start.size()));
  return found;
}

// ---- files ----

struct CaseFile {
  std::string name, contents;
};

/// The files of a case; the first has the name of the case.
std::vector<CaseFile> files_of(const std::string& name, const std::string& text) {
  constexpr std::string_view kStart = "# file: ";
  std::vector<CaseFile> files = {{name + ".s", ""}};
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kStart)) files.push_back({line.substr(kStart.size()), ""});
    files.back().contents += line + '\n';
  }
  return files;
}

/// The name of the machine at the start of the name of the case, as the tools have it.
std::string tools_for(const std::string& name) {
  const bool two_words = name.starts_with("x86_64_");
  return name.substr(0, two_words ? 6 : name.find('_')) + "-linux-gnu-";
}

// ---- counts and orders ----

ProcedureId procedure_named(const Program& program, std::string_view name) {
  const auto found = std::ranges::find(program.procedures, name, &Procedure::name);
  if (found == program.procedures.end()) throw Error(fmt::format("there is no procedure {}", name));
  return static_cast<ProcedureId>(found - program.procedures.begin());
}

BasicBlock& block_of(Procedure& procedure, BlockId id) {
  if (id >= procedure.blocks.size())
    throw Error(fmt::format("{} has no block {}", procedure.name, id));
  return procedure.blocks[id];
}

/// PROCEDURE BLOCK: COUNT, COUNT to BLOCK, ...
void set_count(Program& program, std::string line) {
  std::ranges::replace(line, ':', ' ');
  std::ranges::replace(line, ',', ' ');
  Words words(line);
  Procedure& procedure = program[procedure_named(program, words.next())];
  BasicBlock& block = block_of(procedure, words.next_number<BlockId>());
  block.count = words.next_number<uint64_t>();
  std::set<const Edge*> named;
  uint64_t rest = block.count;
  while (!words.at_end()) {
    const auto count = words.next_number<uint64_t>();
    words.take("to");
    const auto target = words.next_number<BlockId>();
    const auto edge = std::ranges::find(block.successors, target, &Edge::target);
    if (edge == block.successors.end())
      throw Error(fmt::format("no edge leads to {} there", target));
    edge->count = count;
    named.insert(&*edge);
    rest -= std::min(rest, count);
  }
  for (Edge& edge : block.successors)
    if (!named.contains(&edge)) edge.count = std::exchange(rest, 0);
}

Layout::Fragment fragment_of(const Program& program, const std::string& line) {
  Words words(line);
  Layout::Fragment fragment{.procedure = procedure_named(program, words.next()), .blocks = {}};
  words.take_number("alignment", fragment.start.alignment);
  words.take_number("phase", fragment.start.phase);
  while (!words.at_end()) fragment.blocks.push_back(words.next_number<BlockId>());
  return fragment;
}

// ---- text ----

/// The text of an instruction: the bytes of the input or, for one that was changed, those that it
/// would have in its old place.
std::string instruction_text(const Program& program, const Instruction& instruction) {
  const Machine& machine = x86_64_machine();
  if (instruction.origin == kNone) return machine.text.print(instruction, 0);
  const uint64_t address = program.origin_base + instruction.origin;
  const Section& section = *program.image->section_at(address);
  const auto behind = section.contents.subspan(address - section.address);
  const auto input = behind.first(machine.codec.length(behind));
  std::vector<uint8_t> bytes(input.begin(), input.end());
  Instruction before;
  machine.codec.decode(input, instruction.origin, &before);
  if (before.opcode != instruction.opcode) {
    bytes.clear();
    const CodePlace place{
        .address = address, .input = program.image, .origin_base = program.origin_base};
    machine.codec.encode_at({&instruction, 1}, place, bytes);
  }
  std::vector<ListedLine> lines;
  find_listing(MachineId::x86_64)->list(bytes, address, lines);
  std::string text = lines.front().text;
  std::ranges::replace(text, '\t', ' ');
  return text;
}

}  // namespace

std::filesystem::path link_assembler_case(const std::filesystem::path& source,
                                          const std::filesystem::path& folder) {
  std::ifstream file(source);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::string name = source.stem().string(), tools = tools_for(name);
  std::string command, objects, libraries;
  for (const auto& [file_name, contents] : files_of(name, text)) {
    std::ofstream(folder / file_name) << contents;
    const std::string extension = std::filesystem::path(file_name).extension().string();
    if (extension != ".s" && extension != ".so") continue;
    const std::string object = file_name + ".o";
    command += fmt::format("{}as -o {} {} && ", tools, object, file_name);
    if (extension == ".so")
      command += fmt::format("{}ld -shared -o {} {} && ", tools, file_name, object);
    (extension == ".s" ? objects : libraries) += ' ' + (extension == ".s" ? object : file_name);
  }
  const std::vector<std::string> options = comments(text, "link");
  command += fmt::format("{}ld -q {} -o {}{}{}", tools, options.empty() ? "-e f" : options.front(),
                         name, objects, libraries);
  const CommandResult built =
      run_command(fmt::format("cd '{}' && {{ {}; }} 2>&1", folder.string(), command));
  if (built.status != 0) throw Error(built.output);
  return folder / name;
}

void set_given_counts(Program& program, const std::string& text) {
  for (const std::string& line : comments(text, "count")) set_count(program, line);
}

Layout given_layout(const Program& program, const std::string& text) {
  Layout layout;
  std::set<ProcedureId> named;
  for (const std::string& line : comments(text, "fragment")) {
    layout.fragments.push_back(fragment_of(program, line));
    named.insert(layout.fragments.back().procedure);
  }
  for (Layout::Fragment& fragment : original_layout(program).fragments)
    if (!named.contains(fragment.procedure)) layout.fragments.push_back(std::move(fragment));
  return layout;
}

std::string print_lifted(Program& program) {
  if (program.machine != &x86_64_machine()) return print(program);
  static const Program* printed;  // for the machine's function, which knows no program
  printed = &program;
  Machine machine = *program.machine;
  machine.text.print = [](const Instruction& instruction, uint64_t) {
    return instruction_text(*printed, instruction);
  };
  const Machine* const kept = std::exchange(program.machine, &machine);
  std::string text = print(program);
  program.machine = kept;
  return text;
}

}  // namespace respike
