// Instructions to text and back.
//
// Problem: listings must read as those of the GNU tools, which prefer stylized forms: `mov`, `clr`,
// `unop`, `ret`. And the parser must read all printed text, for tests written in assembler.
// Idea: printer and parser both walk the syntax string of a row or of an alias (encoding.h). The
// printer takes the first alias of the instruction whose conditions hold for the word, else the
// row. The parser tries every alias and then every row with the given mnemonic, in table order,
// until the operands fit; fields that the syntax does not show come from the fixed bits of the row
// and the alias.
//
// Example: bis zero,t0,t1 is printed as `mov t0,t1`; both texts are parsed into the same word.
//
// Source: names of registers and aliases are those of GNU objdump for Alpha (binutils 2.40); for
// the stylized forms see also Alpha Architecture Handbook, version 4, appendix A.

#include "optimizer/machine/alpha/text.h"

#include <fmt/format.h>

#include <charconv>
#include <iterator>
#include <unordered_map>
#include <vector>

#include "optimizer/base/error.h"
#include "optimizer/machine/alpha/codec.h"

namespace respike::alpha {
namespace {

constexpr std::string_view kFieldNames[64] = {
    "v0",   "t0",   "t1",   "t2",   "t3",   "t4",   "t5",   "t6",   "t7",   "s0",   "s1",
    "s2",   "s3",   "s4",   "s5",   "fp",   "a0",   "a1",   "a2",   "a3",   "a4",   "a5",
    "t8",   "t9",   "t10",  "t11",  "ra",   "t12",  "at",   "gp",   "sp",   "zero", "$f0",
    "$f1",  "$f2",  "$f3",  "$f4",  "$f5",  "$f6",  "$f7",  "$f8",  "$f9",  "$f10", "$f11",
    "$f12", "$f13", "$f14", "$f15", "$f16", "$f17", "$f18", "$f19", "$f20", "$f21", "$f22",
    "$f23", "$f24", "$f25", "$f26", "$f27", "$f28", "$f29", "$f30", "$f31"};

struct Aliases {
  std::array<Alias, std::size(kAliasRows)> aliases;
  std::array<int16_t, kEncodingCount> first;  // by row; -1: none
};

/// An alias belongs to the literal form of its base if its syntax shows a literal.
consteval Aliases make_aliases() {
  Aliases result;
  result.first.fill(-1);
  for (size_t i = std::size(kAliasRows); i-- > 0;) {  // backwards: lists in table order
    const AliasRow& source = kAliasRows[i];
    const bool literal = source.syntax.find('#') != std::string_view::npos;
    const size_t row = row_of([&] {
      for (size_t j = 1; j < kEncodingCount; ++j) {
        const Encoding& encoding = kEncodings[j];
        if (encoding.name == source.base && (encoding.format == Format::literal) == literal) {
          return opcode_of_row(j);
        }
      }
      throw "alias of nothing";
    }());
    result.aliases[i] = make_alias(source, kEncodings[row], row);
    result.aliases[i].next = result.first[row];
    result.first[row] = static_cast<int16_t>(i);
  }
  return result;
}

constexpr Aliases kAliases = make_aliases();

const Alias* preferred_alias(const Instruction& instruction) {
  const uint32_t word = encode_word(instruction);
  for (int i = kAliases.first[row_of(instruction.opcode)]; i >= 0; i = kAliases.aliases[i].next) {
    const Alias& alias = kAliases.aliases[i];
    const bool same = instruction.registers[0] == instruction.registers[1];
    if ((word & alias.mask) == alias.match && (!alias.same_ab || same)) return &alias;
  }
  return nullptr;
}

/// Like C's "%#x".
std::string hexadecimal_text(uint32_t value) {
  return value == 0 ? "0" : fmt::format("{:#x}", value);
}

uint64_t hint_target(const Instruction& instruction, uint64_t address) {
  return address + 4 + 4 * sign_extend(instruction.immediate, 14);
}

std::string operand_text(char letter, const Instruction& instruction, uint64_t address) {
  switch (letter) {
    case 'a':
    case 'b':
    case 'c':
      return std::string(field_name(instruction.registers[letter - 'a']));
    case 'A':
    case 'B':
    case 'C':
      return std::string(field_name(32 + instruction.registers[letter - 'A']));
    case 'd':
      return fmt::format("{}", instruction.immediate);
    case '#':
    case 'p':
    case 'u':
      return hexadecimal_text(static_cast<uint32_t>(instruction.immediate));
    case '@':
      return fmt::format("{:x}", address + static_cast<int64_t>(instruction.immediate));
    case 'h':
      return fmt::format("{:x}", hint_target(instruction, address));
    default:
      return std::string(1, letter);
  }
}

/// Reads operands from the front of a text.
class OperandReader {
 public:
  OperandReader(std::string_view text, uint64_t address) : rest_(text), address_(address) {}

  /// Fills `instruction` from text of the given syntax; false if the text has another syntax.
  bool read(std::string_view syntax, Instruction& instruction) {
    for (char letter : syntax) {
      skip_blanks();
      if (!read_operand(letter, instruction)) return false;
    }
    skip_blanks();
    return rest_.empty();
  }

 private:
  bool read_operand(char letter, Instruction& instruction) {
    switch (letter) {
      case 'a':
      case 'b':
      case 'c':
        return read_register(0, instruction.registers[letter - 'a']);
      case 'A':
      case 'B':
      case 'C':
        return read_register(32, instruction.registers[letter - 'A']);
      case 'd':
        return read_number(-0x8000, 0x7fff, instruction.immediate);
      case '#':
        return read_number(0, 0xff, instruction.immediate);
      case 'u':
        return read_number(0, 0x3fff, instruction.immediate);
      case 'p':
        return read_number(0, 0x3ffffff, instruction.immediate);
      case '@':
        return read_branch_target(instruction.immediate);
      case 'h':
        return read_hint(instruction.immediate);
      default:
        if (!rest_.starts_with(letter)) return false;
        rest_.remove_prefix(1);
        return true;
    }
  }

  bool read_register(unsigned file, uint8_t& field) {
    const std::string_view name = rest_.substr(0, rest_.find_first_of(" \t,()"));
    for (unsigned i = 0; i < 32; ++i) {
      if (field_name(file + i) != name) continue;
      field = static_cast<uint8_t>(i);
      rest_.remove_prefix(name.size());
      return true;
    }
    return false;
  }

  bool read_number(int32_t low, int32_t high, int32_t& value) {
    std::string_view text = rest_;
    const bool negative = text.starts_with('-');
    if (negative) text.remove_prefix(1);
    const int base = text.starts_with("0x") ? 16 : 10;
    if (base == 16) text.remove_prefix(2);
    uint32_t magnitude = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), magnitude, base);
    const int64_t number = negative ? -int64_t{magnitude} : int64_t{magnitude};
    if (error != std::errc() || number < low || number > high) return false;
    value = static_cast<int32_t>(number);
    rest_ = rest_.substr(end - rest_.data());
    return true;
  }

  /// A hexadecimal address, with or without 0x, as the distance from `address_`.
  bool read_distance(int64_t& distance) {
    std::string_view text = rest_;
    if (text.starts_with("0x")) text.remove_prefix(2);
    uint64_t target = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), target, 16);
    if (error != std::errc()) return false;
    distance = static_cast<int64_t>(target - address_);
    rest_ = rest_.substr(end - rest_.data());
    return true;
  }

  bool read_branch_target(int32_t& displacement) {
    int64_t distance = 0;
    if (!read_distance(distance) || distance % 4 != 0 || !fits_signed(distance - 4, 23)) {
      return false;
    }
    displacement = static_cast<int32_t>(distance);
    return true;
  }

  bool read_hint(int32_t& hint) {
    int64_t distance = 0;
    if (!read_distance(distance) || distance % 4 != 0 || !fits_signed(distance - 4, 16)) {
      return false;
    }
    hint = static_cast<int32_t>((distance - 4) >> 2 & 0x3fff);
    return true;
  }

  void skip_blanks() {
    while (rest_.starts_with(' ') || rest_.starts_with('\t')) rest_.remove_prefix(1);
  }

  std::string_view rest_;
  uint64_t address_;
};

/// One way to read a mnemonic.
struct Form {
  std::string_view syntax;
  uint32_t fixed_bits;
  bool same_registers;  // Rb and Rc are the same as Ra
  bool same_ab;         // Rb is the same as Ra
};

const std::vector<Form>& forms_of(std::string_view mnemonic) {
  static const auto forms = [] {
    std::unordered_map<std::string_view, std::vector<Form>> map;
    for (const Alias& alias : kAliases.aliases) {
      const Codec& codec = kEncodings[alias.row].codec;
      map[alias.name].push_back({alias.syntax, codec.match | alias.fill, false, alias.same_ab});
    }
    for (const Encoding& encoding : std::span(kEncodings).subspan(1)) {
      const Codec& codec = encoding.codec;
      map[encoding.name].push_back({encoding.syntax, codec.match, codec.same_registers, false});
    }
    return map;
  }();
  static const std::vector<Form> none;
  const auto found = forms.find(mnemonic);
  return found == forms.end() ? none : found->second;
}

std::optional<Instruction> parse_form(const Form& form, std::string_view operands,
                                      uint64_t address) {
  Instruction instruction = decode_word(form.fixed_bits);
  if (!OperandReader(operands, address).read(form.syntax, instruction)) return std::nullopt;
  if (form.same_ab || form.same_registers) instruction.registers[1] = instruction.registers[0];
  if (form.same_registers) instruction.registers[2] = instruction.registers[0];
  return instruction;
}

std::optional<Instruction> parse_word(std::string_view text) {
  if (text.starts_with("0x")) text.remove_prefix(2);
  uint32_t word = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), word, 16);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  Instruction instruction;
  instruction.immediate = static_cast<int32_t>(word);
  return instruction;
}

}  // namespace

std::string_view field_name(unsigned field) {
  return kFieldNames[field];
}

std::string print(const Instruction& instruction, uint64_t address) {
  if (instruction.opcode == kInvalid) {
    return fmt::format(".long {:#08x}", static_cast<uint32_t>(instruction.immediate));
  }
  const Encoding& encoding = encoding_of(instruction);
  const Alias* alias = preferred_alias(instruction);
  const std::string_view syntax = alias != nullptr ? alias->syntax : encoding.syntax;
  std::string text(alias != nullptr ? alias->name : encoding.name);
  if (!syntax.empty()) text += '\t';
  for (char letter : syntax) text += operand_text(letter, instruction, address);
  return text;
}

Instruction parse(std::string_view text, uint64_t address) {
  const size_t start = std::min(text.find_first_not_of(" \t"), text.size());
  const std::string_view line = text.substr(start);
  const size_t end = std::min(line.find_first_of(" \t"), line.size());
  const std::string_view mnemonic = line.substr(0, end);
  const std::string_view operands = line.substr(end);
  if (mnemonic == ".long") {
    const size_t digits = std::min(operands.find_first_not_of(" \t"), operands.size());
    if (const auto word = parse_word(operands.substr(digits))) return *word;
  }
  for (const Form& form : forms_of(mnemonic)) {
    if (const auto instruction = parse_form(form, operands, address)) return *instruction;
  }
  throw Error(fmt::format("\"{}\" is not an Alpha instruction", text));
}

}  // namespace respike::alpha
