// Encoder, and uses and defs, of the IA-64 target against the GNU assembler.
//
// The assembler is a second oracle for encodings beside the disassembler: it starts from text. With
// explicit stops, it also warns of dependences inside an instruction group; so pairs of
// instructions show which registers the assembler thinks an instruction reads and writes.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "optimizer/base/bytes.h"
#include "optimizer/machine/ia64/codec.h"
#include "optimizer/machine/ia64/meaning.h"
#include "optimizer/machine/ia64/text.h"
#include "tests/unit/temporary_folder.h"

namespace respike::ia64 {
namespace {

namespace fs = std::filesystem;

bool have_assembler() {
  return std::system("ia64-linux-gnu-as --version > /dev/null 2>&1") == 0;
}

struct Assembled {
  std::vector<uint8_t> code;                // empty when there are errors
  std::multimap<size_t, std::string> said;  // messages by line, from 1
};

Assembled assemble(const std::vector<std::string>& lines, const std::string& options) {
  const TemporaryFolder directory;
  const std::string folder = directory.path();
  std::ofstream source(folder + "/x.s");
  for (const std::string& line : lines) source << line << "\n";
  source.close();
  const std::string command =
      "cd " + folder + " && ia64-linux-gnu-as " + options +
      " -o x.o x.s 2> said && ia64-linux-gnu-objcopy -O binary -j .text x.o x";
  Assembled result;
  const bool good = std::system(command.c_str()) == 0;
  if (std::ifstream code(folder + "/x", std::ios::binary); good && code)
    result.code.assign(std::istreambuf_iterator<char>(code), {});
  std::ifstream said(folder + "/said");
  for (std::string line; std::getline(said, line);)
    if (line.starts_with("x.s:") && isdigit(line[4]))
      result.said.emplace(strtoul(line.c_str() + 4, nullptr, 10), line);
  return result;
}

/// Replaces numbers that the assembler refuses or changes: impossible frames, and classes of
/// numbers that are neither positive nor negative, which the assembler takes for both.
void make_sensible(Instruction& instruction) {
  if (op_of(instruction) == Op::alloc) {
    instruction.registers[1] = 90;
    instruction.registers[2] %= 90;
    instruction.registers[3] %= instruction.registers[2] / 8 + 1;
  }
  if (encoding_of(instruction).format == "F5") instruction.immediate |= 2;
}

/// A random instruction of the row that has a text form: no ignored bits, no addresses, numbers of
/// registers that go together.
Instruction random_instruction(Op op, std::mt19937_64& random, unsigned predicate) {
  const Encoding& encoding = kEncodings[opcode(op)];
  const std::string_view types = "MIFBX";
  const char type = encoding.type() == 'A' ? 'I' : encoding.type();
  const unsigned codes[] = {0x00, 0x00, 0x0c, 0x10, 0x04};  // MII, MII, MFI, MIB, MLX
  const size_t places[] = {0, 1, 1, 2, 2};
  const size_t kind = types.find(type);
  for (;;) {
    uint64_t slot = random() & kSlotMask & ~encoding.codec.spare & ~encoding.codec.mask;
    slot |= encoding.codec.match;
    if (encoding.predicated()) slot = (slot & ~uint64_t{63}) | predicate;
    uint64_t slots[3] = {};
    slots[places[kind]] = slot;
    uint8_t bytes[kBundleSize];
    store(bytes, codes[kind] | slots[0] << 5 | slots[1] << 46);
    store(bytes + 8, slots[1] >> 18 | slots[2] << 23);
    Instruction decoded[3];
    decode_bundle(bytes, 0, decoded);
    Instruction& found = decoded[places[kind]];
    if (op_of(found) != op) continue;  // a completer without meaning, or an earlier row
    found.origin = kNone;
    make_sensible(found);
    return found;
  }
}

bool has_address(const Encoding& encoding) {
  return encoding.syntax.find('@') != std::string_view::npos ||
         encoding.syntax.find('T') != std::string_view::npos;
}

std::string bundle_text(const Instruction& instruction, const std::string& text) {
  switch (encoding_of(instruction).type()) {
    case 'A':
    case 'M':
      return "{ .mmi ; " + text + " ;; nop.m 0 ; nop.i 0 }";
    case 'I':
      return "{ .mii ; nop.m 0 ; " + text + " ; nop.i 0 }";
    case 'F':
      return "{ .mfi ; nop.m 0 ; " + text + " ; nop.i 0 }";
    case 'B':
      return "{ .mib ; nop.m 0 ; nop.i 0 ; " + text + " }";
    default:
      return "{ .mlx ; nop.m 0 ; " + text + " }";
  }
}

size_t place_of(const Instruction& instruction) {
  const char type = encoding_of(instruction).type();
  return type == 'A' || type == 'M' ? 0 : type == 'B' || type == 'X' ? 2 : 1;
}

/// The assembler takes the numbers of inputs, locals and outputs; the disassembler prints sums.
std::string assembler_text(const Instruction& instruction, const Instruction& high) {
  if (op_of(instruction) != Op::alloc) return print(instruction, high, 0);
  const unsigned frame = instruction.registers[1], locals = instruction.registers[2];
  return "alloc r" + std::to_string(instruction.registers[0]) + "=ar.pfs,0," +
         std::to_string(locals) + "," + std::to_string(frame - locals) + "," +
         std::to_string(8 * instruction.registers[3]);
}

TEST(Ia64Assembler, EncodesWhatIsPrinted) {
  if (!have_assembler()) GTEST_SKIP() << "no ia64-linux-gnu-as";
  std::mt19937_64 random(1);
  std::vector<Instruction> instructions;
  std::vector<std::string> lines;
  for (size_t op = kFirstRow; op < kOpCount; ++op) {
    if (has_address(kEncodings[op])) continue;
    for (unsigned i = 0; i < 12; ++i) {
      Instruction instruction = random_instruction(static_cast<Op>(op), random, i % 2 * 17);
      if (kEncodings[op].type() == 'X') instruction.immediate = static_cast<int32_t>(random());
      const Instruction high{.immediate = kEncodings[op].format == "X2" ? -77 : 0x1234567};
      instructions.push_back(instruction);
      lines.push_back(bundle_text(instruction, assembler_text(instruction, high)));
    }
  }
  Assembled assembled = assemble(lines, "-xnone -mhint.b=ok");
  std::map<std::string, std::string> refused;  // names of rows, and messages
  for (const auto& [line, said] : assembled.said) {
    if (said.find("Error") == std::string::npos) continue;
    refused[std::string(encoding_of(instructions[line - 1]).name)] = lines[line - 1] + said;
    lines[line - 1] = bundle_text(Instruction{.opcode = opcode(Op::nop_m)}, "nop.m 0");
    instructions[line - 1].opcode = kInvalid;
  }
  assembled = assemble(lines, "-xnone -mhint.b=ok");
  ASSERT_EQ(assembled.code.size(), lines.size() * kBundleSize);
  std::set<uint16_t> compared;
  for (size_t i = 0; i < lines.size(); ++i) {
    if (instructions[i].opcode == kInvalid) continue;
    Instruction slots[3];
    decode_bundle(&assembled.code[i * kBundleSize], 0, slots);
    Instruction found = slots[place_of(instructions[i])];
    found.origin = kNone;
    set_unit(found, unit(instructions[i]));
    set_stop(found, false);  // the assembler adds the stops that the architecture asks for
    EXPECT_EQ(print(found, slots[1], 0), print(instructions[i], slots[1], 0)) << lines[i];
    EXPECT_EQ(found, instructions[i]) << lines[i];
    compared.insert(instructions[i].opcode);
  }
  for (size_t op = kFirstRow; op < kOpCount; ++op) {
    if (has_address(kEncodings[op]) || compared.contains(static_cast<uint16_t>(op))) continue;
    ADD_FAILURE() << "never assembled: " << refused[std::string(kEncodings[op].name)];
  }
}

// --- Dependences

/// An instruction that reads the register and no other plain register; empty if there is none.
std::string reader(Register r) {
  const std::string name = register_name(r);
  if (r < kFloating) return "setf.sig f126=" + name;
  if (r < kPredicate) return "getf.sig r126=" + name;
  if (r < kBranch) return "(" + name + ") add r126=r0,r0";
  if (r < kFrameMarker) return "mov r126=" + name;
  return {};
}

std::string writer(Register r) {
  const std::string name = register_name(r);
  if (r < kFloating) return "getf.sig " + name + "=f125";
  if (r < kPredicate) return "setf.sig " + name + "=r125";
  if (r < kBranch) return "cmp.eq " + name + ",p0=r0,r0";
  if (r < kFrameMarker) return "mov " + name + "=r125";
  return {};
}

/// Says whether a register can be moved to and from general registers and has no other effect.
bool is_plain(Register r) {
  if (r >= kFrameMarker) return false;
  if (r < kApplication) return true;
  const unsigned number = r - kApplication;
  return number == 25 || number == 32 || number == 36 || number == 64 || number == 65 ||
         number == 66;
}

/// Says whether a warning is about a plain register. Dependences on processor status last until the
/// status is serialized, and are skipped.
bool tells_of_registers(const std::string& said) {
  if (said.find("RAW dependency") == std::string::npos) return false;
  for (const char* resource : {"'GR", "'FR", "'PR", "'BR", "'AR["})
    if (said.find(resource) != std::string::npos) return true;
  return false;
}

/// Instructions without an entry in the assembler's tables of dependences: it finds none.
constexpr const char* kUnknownToAssembler[] = {"mpy4",   "mpyshl4", "fpcmp.", "fcmp.unord",
                                               ".c.clr", ".c.nc",   "lfetch", "invala.e",
                                               "itr.",   "dahr",    "rum",    "ldfp"};

bool is_unknown_to_assembler(const std::string& text) {
  return std::ranges::any_of(
      kUnknownToAssembler, [&](const char* name) { return text.find(name) != std::string::npos; });
}

struct Probe {
  std::string text;
  bool dependent = false;
  size_t line = 0;
};

class Probes {
 public:
  void add(const std::string& first, const std::string& second, bool dependent) {
    if (first.empty() || second.empty()) return;
    lines_.push_back(first);
    lines_.push_back(second);
    probes_.push_back({first + " ; " + second, dependent, lines_.size()});
    lines_.push_back(";;");
  }

  void check() {
    const Assembled assembled = assemble(lines_, "-xexplicit");
    size_t wrong = 0, refused = 0;
    for (const Probe& probe : probes_) {
      bool dependent = false, error = false;
      for (size_t line = probe.line - 1; line <= probe.line; ++line) {
        const auto [first, last] = assembled.said.equal_range(line);
        for (auto said = first; said != last; ++said) {
          dependent = dependent || tells_of_registers(said->second);
          error = error || said->second.find("Error") != std::string::npos;
        }
      }
      refused += error;
      if (error || dependent == probe.dependent) continue;
      if (!dependent && is_unknown_to_assembler(probe.text)) continue;
      if (++wrong <= 30)
        ADD_FAILURE() << probe.text << (dependent ? ": depends" : ": does not depend");
    }
    EXPECT_EQ(wrong, 0u);
    std::cout << probes_.size() << " pairs, " << refused << " that the assembler refuses\n";
  }

 private:
  std::vector<std::string> lines_ = {".explicit"};
  std::vector<Probe> probes_;
};

/// Gives all register fields different numbers.
void spread_registers(Instruction& instruction, std::mt19937_64& random) {
  std::set<unsigned> used;
  const Encoding& encoding = encoding_of(instruction);
  for (const OperandRole& role : std::span(encoding.operands, encoding.operand_count)) {
    if (std::string_view("RFP").find(role.kind) == std::string_view::npos) continue;
    const unsigned mask =
        std::min<unsigned>(encoding.codec.register_mask[role.field], role.kind == 'P' ? 15 : 31);
    unsigned number = 0;
    do number = static_cast<unsigned>(random()) & mask;
    while (number < 2 || (mask > 3 && number < 6) || used.contains(number));
    used.insert(number);
    instruction.registers[role.field] = static_cast<uint8_t>(number);
  }
}

TEST(Ia64Assembler, AgreesOnUsesAndDefs) {
  if (!have_assembler()) GTEST_SKIP() << "no ia64-linux-gnu-as";
  std::mt19937_64 random(2);
  Probes probes;
  for (size_t op = kFirstRow; op < kOpCount; ++op) {
    const Encoding& encoding = kEncodings[op];
    if (has_address(encoding) || encoding.type() == 'B' || encoding.type() == 'X') continue;
    for (unsigned predicate : {0u, 17u}) {
      Instruction instruction = random_instruction(static_cast<Op>(op), random, predicate);
      spread_registers(instruction, random);
      const std::string text = print(instruction, {}, 0);
      const Operands found = operands(instruction);
      const std::set<Register> uses(found.registers, found.registers + found.uses);
      const std::set<Register> defs(found.registers + found.uses, found.registers + found.size);
      for (Register r : defs)
        if (is_plain(r)) probes.add(text, reader(r), true);
      for (Register r : uses)
        if (is_plain(r) && !defs.contains(r)) probes.add(writer(r), text, true);
      if (uses.contains(kPredicateFile) || defs.contains(kPredicateFile)) continue;
      for (Register r : {Register{40}, Register{kFloating + 40}, Register{kPredicate + 40}}) {
        probes.add(text, reader(r), false);
        probes.add(writer(r), text, false);
      }
    }
  }
  probes.check();
}

}  // namespace
}  // namespace respike::ia64
