// Instructions to text and back.
//
// Problem: listings must read as those of the GNU tools, which prefer pseudo-ops: `mov`, `shl`,
// `br`. And the parser must read all printed text, for tests written in assembler. Idea: printer
// and parser both walk the syntax string of a row or of an alias (encoding.h). The printer takes
// the first alias of the instruction whose conditions hold, else the row. The parser has a table of
// all spellings of all mnemonics, completers included; a spelling leads to the aliases and rows
// that have it, with the values of their completers. The parser tries these in order until the
// operands fit.
//
// Example: adds r14=0,r15 is printed as "mov r14=r15"; both texts are parsed into the same fields.
//
// Source: names of registers and aliases are those of GNU objdump for IA-64 (binutils 2.40); see
// also Intel Itanium Architecture Software Developer's Manual, volume 1, table 3-3 (application
// registers), volume 2, table 3-3 (control registers).

#include "optimizer/machine/ia64/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <unordered_map>
#include <vector>

#include "optimizer/base/bytes.h"
#include "optimizer/base/error.h"
#include "optimizer/machine/ia64/aliases.h"

namespace respike::ia64 {
namespace {

struct NamedRegister {
  unsigned number;
  std::string_view name;
};

constexpr NamedRegister kApplicationRegisters[] = {
    {0, "ar.k0"},        {1, "ar.k1"},    {2, "ar.k2"},    {3, "ar.k3"},     {4, "ar.k4"},
    {5, "ar.k5"},        {6, "ar.k6"},    {7, "ar.k7"},    {16, "ar.rsc"},   {17, "ar.bsp"},
    {18, "ar.bspstore"}, {19, "ar.rnat"}, {21, "ar.fcr"},  {24, "ar.eflag"}, {25, "ar.csd"},
    {26, "ar.ssd"},      {27, "ar.cflg"}, {28, "ar.fsr"},  {29, "ar.fir"},   {30, "ar.fdr"},
    {32, "ar.ccv"},      {36, "ar.unat"}, {40, "ar.fpsr"}, {44, "ar.itc"},   {45, "ar.ruc"},
    {64, "ar.pfs"},      {65, "ar.lc"},   {66, "ar.ec"}};

constexpr NamedRegister kControlRegisters[] = {
    {0, "cr.dcr"},   {1, "cr.itm"},   {2, "cr.iva"},   {8, "cr.pta"},   {16, "cr.ipsr"},
    {17, "cr.isr"},  {19, "cr.iip"},  {20, "cr.ifa"},  {21, "cr.itir"}, {22, "cr.iipa"},
    {23, "cr.ifs"},  {24, "cr.iim"},  {25, "cr.iha"},  {26, "cr.iib0"}, {27, "cr.iib1"},
    {64, "cr.lid"},  {65, "cr.ivr"},  {66, "cr.tpr"},  {67, "cr.eoi"},  {68, "cr.irr0"},
    {69, "cr.irr1"}, {70, "cr.irr2"}, {71, "cr.irr3"}, {72, "cr.itv"},  {73, "cr.pmv"},
    {74, "cr.cmcv"}, {80, "cr.lrr0"}, {81, "cr.lrr1"}};

constexpr NamedRegister kPermutations[] = {
    {0, "@brcst"}, {8, "@mix"}, {9, "@shuf"}, {10, "@alt"}, {11, "@rev"}};

std::string number_or_name(unsigned number, std::span<const NamedRegister> names,
                           std::string_view prefix) {
  for (const NamedRegister& named : names)
    if (named.number == number) return std::string(named.name);
  return fmt::format("{}{}", prefix, number);
}

/// The text before the number of a register of this class; empty for operands that are not
/// registers.
std::string_view register_prefix(char kind) {
  switch (kind) {
    case 'R':
      return "r";
    case 'F':
      return "f";
    case 'P':
      return "p";
    case 'B':
      return "b";
    case 'A':
      return "ar";
    case 'C':
      return "cr";
    case 'D':
      return "dahr";
    default:
      return {};
  }
}

std::span<const NamedRegister> register_names(char kind) {
  if (kind == 'A') return kApplicationRegisters;
  if (kind == 'C') return kControlRegisters;
  return {};
}

// --- Fields --------------------------------------------------------------------------------------

/// An instruction while it is printed or parsed.
struct Fields {
  Instruction instruction;
  int64_t number = 0;  // all 64 bits of the immediate

  int64_t get(unsigned field) const {
    return field == kImmediateField ? number : instruction.registers[field];
  }
  void set(unsigned field, int64_t value) {
    if (field == kImmediateField) {
      number = value;
    } else {
      instruction.registers[field] = static_cast<uint8_t>(value);
    }
  }
};

unsigned get_completer(const Fields& fields, const Completer& completer) {
  const auto value = static_cast<unsigned>(fields.get(completer.field)) >> completer.shift;
  const unsigned low = value & ((1u << completer.width) - 1);
  if (completer.high_field < 0) return low;
  const auto high = static_cast<unsigned>(fields.get(static_cast<unsigned>(completer.high_field)));
  return low | (high & 1) << completer.width;
}

void set_completer(Fields& fields, const Completer& completer, unsigned value) {
  const unsigned low = value & ((1u << completer.width) - 1);
  fields.set(completer.field, fields.get(completer.field) | low << completer.shift);
  if (completer.high_field >= 0)
    fields.set(static_cast<unsigned>(completer.high_field), value >> completer.width);
}

// --- Aliases -------------------------------------------------------------------------------------

/// Calls `visit` with each condition of an alias.
void for_conditions(std::string_view conditions, auto&& visit) {
  while (!conditions.empty()) {
    const size_t end = std::min(conditions.find(' '), conditions.size());
    visit(conditions.substr(0, end));
    conditions.remove_prefix(std::min(end + 1, conditions.size()));
  }
}

/// The right side of a condition: the value that the field must have.
int64_t condition_value(const Fields& fields, std::string_view right) {
  if (right.starts_with("64-")) return 64 - fields.get(parsing::field_number(right[3]));
  if (right[0] >= 'a' && right[0] <= 'd') return fields.get(parsing::field_number(right[0]));
  int64_t value = 0;
  std::from_chars(right.data(), right.data() + right.size(), value);
  return value;
}

bool condition_holds(const Fields& fields, std::string_view condition) {
  const int64_t value = condition_value(fields, condition.substr(2));
  if (condition[0] == 'q') return fields.instruction.predicate == value;
  if (condition[0] == 'w') return (fields.instruction.registers[3] & 3) == value;
  return fields.get(parsing::field_number(condition[0])) == value;
}

bool alias_holds(const Fields& fields, const Alias& alias) {
  bool holds = true;
  for_conditions(alias.conditions, [&](std::string_view condition) {
    holds = holds && condition_holds(fields, condition);
  });
  return holds;
}

/// Fills in the fields that conditions fix, once all operands are known. The conditions on
/// predicate and hint hold for the zeros that the fields start with.
void fill_from_alias(Fields& fields, const Alias& alias) {
  for_conditions(alias.conditions, [&](std::string_view condition) {
    if (condition[0] == 'q' || condition[0] == 'w') return;
    fields.set(parsing::field_number(condition[0]), condition_value(fields, condition.substr(2)));
  });
}

const Alias* preferred_alias(const Fields& fields) {
  for (const Alias& alias : kAliases)
    if (alias.base == op_of(fields.instruction) && alias_holds(fields, alias)) return &alias;
  return nullptr;
}

// --- Printing ------------------------------------------------------------------------------------

int64_t tag_distance(const Instruction& instruction) {
  return 16 * sign_extend((instruction.registers[3] & 3u) << 7 | instruction.registers[0], 9);
}

std::string operand_text(char kind, unsigned field, const Fields& fields, uint64_t address) {
  const int64_t value = fields.get(field);
  const std::string_view prefix = register_prefix(kind);
  if (!prefix.empty())
    return number_or_name(static_cast<unsigned>(value), register_names(kind), prefix);
  switch (kind) {
    case '#':
    case 'X':
    case 'M':
      return fmt::format("{:#x}", static_cast<uint64_t>(value));
    case 'W':
      return fmt::format("{:#x}", static_cast<uint64_t>(value) << 16);
    case '@':
      return fmt::format("{:x}", address + static_cast<uint64_t>(value));
    case 'T':
      return fmt::format("{:x}", address + static_cast<uint64_t>(tag_distance(fields.instruction)));
    case 'S':
      return fmt::format("{}", 64 * sign_extend(static_cast<uint64_t>(value), 5));
    case 'Z':
      return fmt::format("{}", 8 * value);
    case 'E':
      return (value >> 2 & 3) == 2 ? "8" : "16";
    case '*':
      for (const NamedRegister& named : kPermutations)
        if (named.number == value) return std::string(named.name);
      return fmt::format("{:#x}", value);
    default:
      return fmt::format("{}", value);
  }
}

std::string name_text(std::string_view name, const Fields& fields) {
  std::string text;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] != '%') {
      text += name[i];
      continue;
    }
    const Completer& found = completer(name[++i]);
    const char* spelling = found.names[get_completer(fields, found)];
    text += spelling == nullptr ? ".?" : spelling;
  }
  return text;
}

uint64_t raw_slot(const Instruction& instruction) {
  const uint64_t high = instruction.registers[0] | (instruction.registers[1] & 1u) << 8;
  return high << 32 | static_cast<uint32_t>(instruction.immediate);
}

/// Like C's "%#011llx", which leaves out the prefix of zero.
std::string data_text(uint64_t slot) {
  return slot == 0 ? "00000000000" : fmt::format("{:#011x}", slot);
}

std::string body_text(const Fields& fields, uint64_t address) {
  const Instruction& instruction = fields.instruction;
  if (op_of(instruction) == Op::invalid) return "data8 " + data_text(raw_slot(instruction));
  if (op_of(instruction) == Op::long_half)
    return fmt::format(".high {:#x}", static_cast<uint32_t>(instruction.immediate));
  const Encoding& encoding = encoding_of(instruction);
  const Alias* alias = preferred_alias(fields);
  const std::string_view syntax = alias != nullptr ? alias->syntax : encoding.syntax;
  std::string text = name_text(alias != nullptr ? alias->name : encoding.name, fields);
  if (!syntax.empty()) text += ' ';
  for (size_t i = 0; i < syntax.size(); ++i) {
    if (syntax[i] == '&') continue;
    if (!parsing::is_class(syntax[i])) {
      text += syntax[i];
      continue;
    }
    text += operand_text(syntax[i], parsing::field_number(syntax[i + 1]), fields, address);
    ++i;
  }
  return text;
}

// --- Parsing -------------------------------------------------------------------------------------

/// Reads operands from the front of a text.
class OperandReader {
 public:
  OperandReader(std::string_view text, uint64_t address) : rest_(text), address_(address) {}

  /// Fills `fields` from text of the given syntax; false if the text has another syntax.
  bool read(std::string_view syntax, Fields& fields) {
    for (size_t i = 0; i < syntax.size(); ++i) {
      skip_blanks();
      if (syntax[i] == '&') continue;
      if (!parsing::is_class(syntax[i])) {
        if (!rest_.starts_with(syntax[i])) return false;
        rest_.remove_prefix(1);
        continue;
      }
      const char kind = syntax[i++];
      if (!read_operand(kind, parsing::field_number(syntax[i]), fields)) return false;
    }
    skip_blanks();
    return rest_.empty();
  }

 private:
  bool read_operand(char kind, unsigned field, Fields& fields) {
    if (!register_prefix(kind).empty()) return read_register(kind, field, fields);
    switch (kind) {
      case '@':
        return read_distance([&](int64_t distance) {
          fields.set(field, distance);
          return distance % 16 == 0;
        });
      case 'T':
        return read_distance([&](int64_t distance) {
          const int64_t tag = distance / 16;
          fields.instruction.registers[0] = tag & 127;
          fields.instruction.registers[3] |= tag >> 7 & 3;
          return distance % 16 == 0 && fits_signed(tag, 9);
        });
      case 'W':
        return read_scaled(field, fields, 1 << 16);
      case 'S':
        return read_stride(field, fields);
      case 'Z':
        return read_scaled(field, fields, 8);
      case 'E':
        return read_literal((fields.get(field) >> 2 & 3) == 2 ? "8" : "16");
      case '*':
        for (const NamedRegister& named : kPermutations) {
          if (!read_literal(named.name)) continue;
          fields.set(field, named.number);
          return true;
        }
        [[fallthrough]];
      default:
        return read_scaled(field, fields, 1);
    }
  }

  bool read_literal(std::string_view literal) {
    if (!rest_.starts_with(literal)) return false;
    rest_.remove_prefix(literal.size());
    return true;
  }

  bool read_register(char kind, unsigned field, Fields& fields) {
    const std::string_view name = rest_.substr(0, rest_.find_first_of(" \t,[]="));
    for (const NamedRegister& named : register_names(kind)) {
      if (named.name != name) continue;
      fields.set(field, named.number);
      rest_.remove_prefix(name.size());
      return true;
    }
    const std::string_view prefix = register_prefix(kind);
    if (!name.starts_with(prefix)) return false;
    unsigned number = 0;
    const char* first = name.data() + prefix.size();
    const auto [end, error] = std::from_chars(first, name.data() + name.size(), number);
    if (error != std::errc() || end != name.data() + name.size() || number > 127) return false;
    fields.set(field, number);
    rest_.remove_prefix(name.size());
    return true;
  }

  /// A number, decimal or hexadecimal, of 64 bits.
  bool read_number(int64_t& value) {
    std::string_view text = rest_;
    const bool negative = text.starts_with('-');
    if (negative) text.remove_prefix(1);
    const int base = text.starts_with("0x") ? 16 : 10;
    if (base == 16) text.remove_prefix(2);
    uint64_t magnitude = 0;
    const auto [end, error] =
        std::from_chars(text.data(), text.data() + text.size(), magnitude, base);
    if (error != std::errc()) return false;
    value = static_cast<int64_t>(negative ? -magnitude : magnitude);
    rest_ = rest_.substr(static_cast<size_t>(end - rest_.data()));
    return true;
  }

  bool read_scaled(unsigned field, Fields& fields, int64_t scale) {
    int64_t value = 0;
    if (!read_number(value) || value % scale != 0) return false;
    value /= scale;
    if (field != kImmediateField && (value < 0 || value > 255)) return false;
    fields.set(field, value);
    return true;
  }

  bool read_stride(unsigned field, Fields& fields) {
    int64_t value = 0;
    if (!read_number(value) || value % 64 != 0 || !fits_signed(value / 64, 5)) return false;
    fields.set(field, value / 64 & 31);
    return true;
  }

  /// A hexadecimal address, with or without 0x, as the distance from the bundle. False for "b0" to
  /// "b7", which are registers.
  bool read_distance(auto&& accept) {
    std::string_view text = rest_;
    const std::string_view word = text.substr(0, text.find_first_of(" \t,"));
    if (word.size() == 2 && word[0] == 'b' && word[1] <= '7') return false;
    if (text.starts_with("0x")) text.remove_prefix(2);
    uint64_t target = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), target, 16);
    if (error != std::errc()) return false;
    rest_ = rest_.substr(static_cast<size_t>(end - rest_.data()));
    return accept(static_cast<int64_t>(target - address_));
  }

  void skip_blanks() {
    while (rest_.starts_with(' ') || rest_.starts_with('\t')) rest_.remove_prefix(1);
  }

  std::string_view rest_;
  uint64_t address_;
};

/// One way to read a mnemonic.
struct Form {
  Op op;
  const Alias* alias;  // nullptr: the row's own name
  Fields fields;       // the completers
};

using FormMap = std::unordered_map<std::string, std::vector<Form>>;

/// Adds `form` under `spelled` plus each spelling of `name` from its character `at` on.
void add_spellings(FormMap& map, std::string_view name, size_t at, std::string spelled,
                   const Form& form) {
  for (; at < name.size() && name[at] != '%'; ++at) spelled += name[at];
  if (at == name.size()) {
    map[spelled].push_back(form);
    return;
  }
  const Completer& found = completer(name[at + 1]);
  for (unsigned value = 0; value < found.values(); ++value) {
    if (found.names[value] == nullptr) continue;
    Form with_value = form;
    set_completer(with_value.fields, found, value);
    add_spellings(map, name, at + 2, spelled + found.names[value], with_value);
  }
}

const std::vector<Form>& forms_of(const std::string& mnemonic) {
  static const FormMap forms = [] {
    FormMap map;
    const auto form = [](Op op, const Alias* alias) {
      Form result{op, alias, {}};
      result.fields.instruction.opcode = opcode(op);
      return result;
    };
    for (const Alias& alias : kAliases)
      add_spellings(map, alias.name, 0, {}, form(alias.base, &alias));
    for (size_t op = kFirstRow; op < kOpCount; ++op)
      add_spellings(map, kEncodings[op].name, 0, {}, form(static_cast<Op>(op), nullptr));
    return map;
  }();
  static const std::vector<Form> none;
  const auto found = forms.find(mnemonic);
  return found == forms.end() ? none : found->second;
}

Unit default_unit(char type) {
  constexpr std::string_view kTypes = "-MIFBLX";
  const size_t found = kTypes.find(type);
  return found == std::string_view::npos ? Unit::none : static_cast<Unit>(found);
}

/// Splits the number into the halves for an instruction and, for type X, for its L slot.
Parsed finish(const Fields& fields) {
  Parsed parsed{fields.instruction, {}};
  const char type = encoding_of(fields.instruction).type();
  parsed.instruction.immediate = static_cast<int32_t>(fields.number);
  set_unit(parsed.instruction, default_unit(type));
  if (type == 'X') {
    parsed.high.opcode = opcode(Op::long_half);
    parsed.high.immediate = static_cast<int32_t>(fields.number >> 32);
    set_unit(parsed.high, Unit::l);
  }
  return parsed;
}

/// Whether all operands fit their fields: encoding and decoding gives the same instruction.
bool is_encodable(const Parsed& parsed) {
  Instruction bundle[3];
  const Instruction& instruction = parsed.instruction;
  const char type = encoding_of(instruction).type();
  const size_t slot = type == 'B' || type == 'X' ? 2 : type == 'A' || type == 'M' ? 0 : 1;
  const Op nop = type == 'X' ? Op::nop_x : Op::nop_b;
  bundle[0].opcode = opcode(Op::nop_m);
  set_unit(bundle[0], Unit::m);
  bundle[1].opcode = opcode(type == 'F' ? Op::nop_f : Op::nop_i);
  set_unit(bundle[1], type == 'F' ? Unit::f : Unit::i);
  bundle[2].opcode = opcode(nop);
  set_unit(bundle[2], Unit::b);
  bundle[slot] = instruction;
  if (type == 'A') set_unit(bundle[0], Unit::m);
  if (type == 'X') bundle[1] = parsed.high;
  uint8_t bytes[kBundleSize];
  Instruction decoded[3];
  if (!encode_bundle(bundle, bytes)) return false;
  decode_bundle(bytes, 0, decoded);
  for (Instruction& again : decoded) again.origin = kNone;
  return decoded[slot] == bundle[slot] && (type != 'X' || decoded[1] == bundle[1]);
}

std::optional<Parsed> parse_form(const Form& form, std::string_view operands, unsigned predicate,
                                 uint64_t address) {
  const Encoding& encoding = kEncodings[opcode(form.op)];
  Fields fields = form.fields;
  const std::string_view syntax = form.alias != nullptr ? form.alias->syntax : encoding.syntax;
  if (!OperandReader(operands, address).read(syntax, fields)) return std::nullopt;
  if (form.alias != nullptr) {
    fill_from_alias(fields, *form.alias);
    if (!alias_holds(fields, *form.alias) && predicate == 0) return std::nullopt;
  }
  if (predicate != 0 && !encoding.predicated()) return std::nullopt;
  if (encoding.type() != 'X' && !fits_signed(fields.number, 32)) return std::nullopt;
  fields.instruction.predicate = static_cast<uint8_t>(predicate);
  const Parsed parsed = finish(fields);
  if (!is_encodable(parsed)) return std::nullopt;
  return parsed;
}

std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Takes "(p06)" off the front of a line and returns the number.
unsigned take_predicate(std::string_view& line) {
  if (!line.starts_with("(p")) return 0;
  const size_t close = line.find(')');
  unsigned predicate = 0;
  if (close == std::string_view::npos) return 0;
  const auto [end, error] = std::from_chars(line.data() + 2, line.data() + close, predicate);
  if (error != std::errc() || end != line.data() + close || predicate > 63) return 0;
  line = trim(line.substr(close + 1));
  return predicate;
}

/// Reads "data8 BITS" and ".high BITS".
std::optional<Parsed> parse_bits(std::string_view mnemonic, std::string_view operands) {
  const bool invalid = mnemonic == "data8";
  if (!invalid && mnemonic != ".high") return std::nullopt;
  uint64_t bits = 0;
  const std::string_view digits = operands.substr(operands.starts_with("0x") ? 2 : 0);
  const char* last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(digits.data(), last, bits, 16);
  if (error != std::errc() || end != last || bits >> (invalid ? kSlotBits : 32) != 0)
    return std::nullopt;
  Parsed parsed;
  parsed.instruction.immediate = static_cast<int32_t>(bits);
  if (invalid) {
    parsed.instruction.registers[0] = static_cast<uint8_t>(bits >> 32);
    parsed.instruction.registers[1] = static_cast<uint8_t>(bits >> 40);
  } else {
    parsed.instruction.opcode = opcode(Op::long_half);
    set_unit(parsed.instruction, Unit::l);
  }
  return parsed;
}

}  // namespace

std::string application_register_name(unsigned number) {
  return number_or_name(number, kApplicationRegisters, "ar");
}

std::string print(const Instruction& instruction, const Instruction& high, uint64_t address) {
  const Fields fields{instruction, expand(instruction, high).immediate >>
                                       (op_of(instruction) == Op::mov_to_pr_rot ? 16 : 0)};
  std::string text;
  if (instruction.predicate != 0) text = fmt::format("(p{:02}) ", instruction.predicate);
  text += body_text(fields, address & ~uint64_t{15});
  if (has_stop(instruction) && op_of(instruction) != Op::invalid) text += ";;";
  return text;
}

Parsed parse(std::string_view text, uint64_t address) {
  std::string_view line = trim(text);
  const bool stop = line.ends_with(";;");
  if (stop) line = trim(line.substr(0, line.size() - 2));
  const unsigned predicate = take_predicate(line);
  const size_t end = std::min(line.find_first_of(" \t"), line.size());
  const std::string mnemonic(line.substr(0, end));
  const std::string_view operands = trim(line.substr(end));
  std::optional<Parsed> parsed = parse_bits(mnemonic, operands);
  const std::vector<Form>& forms = forms_of(mnemonic);
  for (size_t i = 0; i < forms.size() && !parsed; ++i)
    parsed = parse_form(forms[i], operands, predicate, address & ~uint64_t{15});
  if (!parsed) throw Error(fmt::format("\"{}\" is not an Itanium instruction", text));
  set_stop(parsed->instruction, stop);
  return *parsed;
}

}  // namespace respike::ia64
