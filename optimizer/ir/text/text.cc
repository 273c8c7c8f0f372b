// Printing the IR.
//
// The text form has one line per thing: it can be read, grepped and diffed, and written by hand for
// a test. It is complete: parse_program(print(p)) equals p. Procedures may share names (static
// functions of two files), so numbers stand for procedures, and names are comments. README.md has
// the grammar; a sample:
//
//   procedure 3 "main" address=0x120000460 size=0x20 gp=0x120028000
//     block 0 at=0x120000460 size=0xc cfi=2 entry
//       120000460: ldah gp,0(t12) !gp_load_high!0(3#0)
//       120000464: lda gp,0(gp) !gp_load_high!0(3#0)
//       120000468: beq a0,120000474
//       -> 1 fall_through count=8
//       -> 2 taken count=1
//
// An instruction with a reference prints its operand as zero, followed by the reference as
// `!kind!index(place)`; a place is PROCEDURE#BLOCK, PROCEDURE#BLOCK@return or an address. The index
// is the reference's index in Procedure::references: both halves of a pair that shares a reference
// repeat the index.
//
// A disassembler may print different instructions as the same text (Alpha's `or a,a,c` and `or
// zero,a,c` are both `mov a,c`). So each instruction is read back, and where that gives other
// registers, `registers=` with all four fields follows.
//
// Limits: other bits that a disassembler does not show are lost.

#include "optimizer/ir/text/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "optimizer/base/error.h"
#include "optimizer/ir/text/text_names.h"

namespace respike {
namespace {

class Printer {
 public:
  explicit Printer(const Program& program) : program_(program) {}

  std::string take() { return fmt::to_string(out_); }
  void program();
  void procedure(const Procedure& procedure, std::string_view id);

 private:
  template <typename... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }
  void put_string(std::string_view text);
  void put_bytes(std::string_view key, const std::vector<uint8_t>& bytes);
  void put_number(std::string_view key, uint64_t value, uint64_t absent);

  void unwind_tables();
  void cie(const Cie& cie);
  void state(const CfiState& state);
  void lsda(const Lsda& lsda);
  void code_pointer(const CodePointer& pointer);
  void place(const CodeLocation& location);
  void name_comment(const CodeLocation& location);
  void side_tables(const Procedure& procedure);
  void block(const Procedure& procedure, BlockId id);
  void instruction(const Procedure& procedure, const Instruction& instruction);
  void machine_instruction(const Instruction& instruction, uint64_t address);

  const Program& program_;
  fmt::memory_buffer out_;
};

void Printer::put_string(std::string_view text) {
  out_.push_back('"');
  for (const char c : text) {
    if (c == '"' || c == '\\')
      put("\\{}", c);
    else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
      put("\\x{:02x}", static_cast<unsigned>(static_cast<unsigned char>(c)));
    else
      out_.push_back(c);
  }
  out_.push_back('"');
}

/// Leaves out empty lists: absent and empty are the same to the parser.
void Printer::put_bytes(std::string_view key, const std::vector<uint8_t>& bytes) {
  if (bytes.empty()) return;
  put(" {}=", key);
  for (const uint8_t byte : bytes) put("{:02x}", byte);
}

void Printer::put_number(std::string_view key, uint64_t value, uint64_t absent) {
  if (value != absent) put(" {}={}", key, value);
}

void Printer::program() {
  put("program {}\norigin_base {:#x}\n", program_.machine->name, program_.origin_base);
  for (const uint64_t gp : program_.gp_values) put("gp {:#x}\n", gp);
  unwind_tables();
  for (const CodeRange& range : program_.ranges)
    put("range {:#x}..{:#x} procedure={} blocks={}..{}\n", range.start, range.end, range.procedure,
        range.first_block, range.end_block);
  for (const CodePointer& pointer : program_.code_pointers) code_pointer(pointer);
  for (size_t id = 0; id < program_.procedures.size(); ++id) {
    put("\n");
    procedure(program_.procedures[id], fmt::to_string(id));
  }
}

void Printer::unwind_tables() {
  const UnwindTables& tables = program_.unwind;
  for (size_t i = 0; i < tables.cies.size(); ++i) {
    put("cie {}", i);
    cie(tables.cies[i]);
  }
  for (size_t i = 0; i < tables.states.size(); ++i) {
    put("state {}", i);
    state(tables.states[i]);
  }
  for (size_t i = 0; i < tables.lsdas.size(); ++i) {
    put("lsda {}", i);
    lsda(tables.lsdas[i]);
  }
}

void Printer::cie(const Cie& cie) {
  put(" augmentation=");
  put_string(cie.augmentation);
  put(" version={} code_alignment={} data_alignment={} return_register={}", cie.version,
      cie.code_alignment, cie.data_alignment, cie.return_register);
  put(" address_encoding={:#x} lsda_encoding={:#x} personality_encoding={:#x}",
      cie.address_encoding, cie.lsda_encoding, cie.personality_encoding);
  put(" personality={:#x}", cie.personality);
  if (cie.signal_frame) put(" signal_frame");
  put_bytes("initial_instructions", cie.initial_instructions);
  put(" initial_state={}\n", cie.initial_state);
}

void Printer::state(const CfiState& state) {
  put(" cie={} cfa={}{:+}", state.cie, state.cfa_register, state.cfa_offset);
  if (state.cfa_is_expression) put(" cfa_is_expression");
  if (state.opaque) put(" opaque");
  put_bytes("cfa_expression", state.cfa_expression);
  put_number("args_size", state.args_size, 0);
  for (const auto& [reg, rule] : state.rules) {
    put(" {}={}:{}", reg, kCfiRuleNames[static_cast<size_t>(rule.kind)], rule.value);
    if (rule.expression.empty()) continue;
    put(":");
    for (const uint8_t byte : rule.expression) put("{:02x}", byte);
  }
  put("\n");
}

void Printer::lsda(const Lsda& lsda) {
  put(" type_encoding={:#x}", lsda.type_encoding);
  put_bytes("actions", lsda.actions);
  for (const uint64_t type : lsda.types) put(" type={:#x}", type);
  put_bytes("specifications", lsda.specifications);
  put("\n");
}

void Printer::code_pointer(const CodePointer& pointer) {
  put("code_pointer {:#x} {} ", pointer.address,
      kReferenceKindNames[static_cast<size_t>(pointer.kind)]);
  place(pointer.target);
  if (pointer.base != 0) put(" base={:#x}", pointer.base);
  name_comment(pointer.target);
  put("\n");
}

void Printer::place(const CodeLocation& location) {
  switch (location.where) {
    case CodeLocation::Where::address:
      put("{:#x}", location.address);
      return;
    case CodeLocation::Where::enclosure_start:
      put("enclosure.start");
      return;
    case CodeLocation::Where::enclosure_end:
      put("enclosure.end");
      return;
    case CodeLocation::Where::block_start:
    case CodeLocation::Where::return_point:
      if (location.procedure == kNone && location.block == kNone)
        put("unresolved");
      else
        put("{}#{}", location.procedure, location.block);
      if (location.where == CodeLocation::Where::return_point) put("@return");
  }
}

void Printer::name_comment(const CodeLocation& location) {
  if (!names_block(location)) return;
  if (location.procedure >= program_.procedures.size()) return;
  put("  // ");
  for (const char c : program_[location.procedure].name)
    out_.push_back(static_cast<unsigned char>(c) < 0x20 ? '?' : c);
}

void Printer::procedure(const Procedure& procedure, std::string_view id) {
  put("procedure {} ", id);
  put_string(procedure.name);
  put(" address={:#x} size={:#x}", procedure.address, procedure.size);
  if (procedure.gp) put(" gp={:#x}", *procedure.gp);
  if (procedure.state == Procedure::State::pinned) put(" pinned");
  if (procedure.state == Procedure::State::opaque) put(" opaque");
  if (!procedure.returns) put(" noreturn");
  if (procedure.nonstandard) put(" nonstandard");
  if (procedure.enclosed) put(" enclosed");
  if (!procedure.reason.empty()) {
    put(" reason=");
    put_string(procedure.reason);
  }
  put("\n");
  side_tables(procedure);
  for (BlockId b = 0; b < procedure.blocks.size(); ++b) block(procedure, b);
}

/// References are printed with their instructions; references of no instruction are listed here.
void Printer::side_tables(const Procedure& procedure) {
  if (!procedure.symbols.empty()) put("  symbols {}\n", fmt::join(procedure.symbols, " "));
  for (const JumpTable& table : procedure.jump_tables) {
    put("  jump_table {:#x} entries={}", table.address, table.entries);
    put_number("jump", table.jump, kNone);
    put("\n");
  }
  for (size_t i = 0; i < procedure.call_sites.size(); ++i) {
    const CallSite& site = procedure.call_sites[i];
    put("  call_site {} lsda={}", i, site.lsda);
    put_number("landing_pad", site.landing_pad, kNone);
    put_number("action", site.action, 0);
    put("{}\n", site.terminate ? " terminate" : "");
  }
  std::vector<bool> used(procedure.references.size());
  for (const BasicBlock& block : procedure.blocks)
    for (const Instruction& instruction : block.instructions)
      if (instruction.has_reference() && static_cast<uint32_t>(instruction.immediate) < used.size())
        used[static_cast<uint32_t>(instruction.immediate)] = true;
  for (size_t i = 0; i < used.size(); ++i) {
    if (used[i]) continue;
    put("  reference {} {} ", i,
        kReferenceKindNames[static_cast<size_t>(procedure.references[i].kind)]);
    place(procedure.references[i].target);
    put("\n");
  }
}

void Printer::block(const Procedure& procedure, BlockId id) {
  const BasicBlock& block = procedure.blocks[id];
  put("  block {}", id);
  if (block.origin != kNone) put(" at={:#x}", program_.origin_base + block.origin);
  if (block.origin_size != 0) put(" size={:#x}", block.origin_size);
  put_number("cfi", block.cfi_state, kNone);
  put_number("call_site", block.call_site, kNone);
  put_number("count", block.count, 0);
  uint32_t flags = block.flags & ~uint32_t{BasicBlock::kHotCopy};  // for debug information only
  for (const BlockFlagName& flag : kBlockFlagNames) {
    if ((flags & flag.flag) != 0) put(" {}", flag.name);
    flags &= ~flag.flag;
  }
  if (flags != 0) put(" flags={:#x}", flags);
  put("\n");
  for (const Instruction& each : block.instructions) instruction(procedure, each);
  for (const Edge& edge : block.successors) {
    put("    -> {} {}", edge.target, kEdgeKindNames[static_cast<size_t>(edge.kind)]);
    put_number("count", edge.count, 0);
    put("\n");
  }
}

void Printer::instruction(const Procedure& procedure, const Instruction& instruction) {
  uint64_t address = 0;
  if (instruction.origin == kNone) {
    put("    -: ");
  } else {
    address = program_.origin_base + instruction.origin;
    put("    {:x}: ", address);
  }
  if (instruction.opcode == kCfiState) {
    put(".cfi_state {}\n", instruction.immediate);
    return;
  }
  if (instruction.opcode == kInvalid) {
    put(".invalid {:#010x}\n", static_cast<uint32_t>(instruction.immediate));
    return;
  }
  Instruction shown = instruction;
  if (instruction.has_reference()) shown.immediate = 0;
  machine_instruction(shown, address);
  if (!instruction.has_reference()) {
    put("\n");
    return;
  }
  put(" !");
  const auto index = static_cast<uint32_t>(instruction.immediate);
  if (index < procedure.references.size()) {
    const Reference& reference = procedure.references[index];
    put("{}!{}(", kReferenceKindNames[static_cast<size_t>(reference.kind)], index);
    place(reference.target);
    put(")");
    name_comment(reference.target);
  } else {
    put("missing!{}", index);  // a broken program is also printed; it does not parse
  }
  put("\n");
}

void Printer::machine_instruction(const Instruction& instruction, uint64_t address) {
  const std::string text = program_.machine->text.print(instruction, address);
  put("{}", text);
  Instruction read;
  try {
    read = program_.machine->text.parse(text, address);
  } catch (const Error&) {
    return;  // parse_program() reports it
  }
  if (std::equal(std::begin(read.registers), std::end(read.registers), instruction.registers))
    return;
  put(" registers={}", fmt::join(instruction.registers, ","));
}

}  // namespace

std::string print(const Program& program) {
  Printer printer(program);
  printer.program();
  return printer.take();
}

std::string print(const Program& program, const Procedure& procedure) {
  Printer printer(program);
  const Procedure* first = program.procedures.data();
  const bool member = !program.procedures.empty() && !std::less<>{}(&procedure, first) &&
                      std::less<>{}(&procedure, first + program.procedures.size());
  printer.procedure(procedure, member ? fmt::to_string(&procedure - first) : "-");
  return printer.take();
}

}  // namespace respike
