#pragma once
// The language of the instruction table (rows.h), and the expansion of rows into encodings at
// compile time.
//
// A row describes an instruction as the Alpha Architecture Handbook does: name, "opcode.function"
// in hexadecimal, instruction format, and one string that is both the assembler syntax and the
// roles of the operands. A format is a picture of the 32 bits. Row and format determine masks for
// the decoder, shifts for the encoder, the text of the printer, the grammar of the parser, and uses
// and defs.
//
// Letters of a syntax:
//   a b c   integer register in field Ra, Rb, Rc        A B C   floating-point register
//   d       signed displacement, decimal                #       8-bit literal, hexadecimal
//   @       branch target                               h       predicted target of a jump
//   u       jump hint as a number                       p       PALcode function
//   ( ) ,   themselves                                  b|#     register or literal: two encodings
// Marks before a register: none, the instruction reads the register; `=` writes the register; `+`
// does both; `~`: the field is neither printed nor used, but may hold anything. At the end: `&` Ra,
// Rb and Rc hold the same register; `!1` the immediate must be 1. Marks after a blank: <f, >f:
// reads, writes the floating-point control register; <l, >l: the lock flag. A register field that
// the syntax leaves out must hold 31, else the word is invalid.
//
// Example: the row {"addq", "10.20", Format::operate, "a,b|#,=c", kOverflow} expands to four
// encodings: addq and addq/v, each with a register or a literal after Ra. All read Ra and write Rc.

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string_view>

#include "optimizer/ir/program.h"

namespace respike::alpha {

/// Instruction formats (Handbook, section 3.3).
enum class Format : uint8_t {
  invalid,
  memory,    // loads, stores, lda
  function,  // memory format with a function code: barriers, rpcc
  branch,
  jump,     // memory format with a branch hint
  operate,  // second operand in a register
  literal,  // second operand a literal
  floating,
  palcode,
};

/// Letters: o opcode, f function, a b c registers, i immediate, s should be zero but is kept. 0 and
/// 1 are fixed bits.
inline constexpr std::string_view kPatterns[] = {
    "iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii",      "oooooo aaaaa bbbbb iiiiiiiiiiiiiiii",
    "oooooo aaaaa bbbbb ffffffffffffffff",   "oooooo aaaaa iiiiiiiiiiiiiiiiiiiii",
    "oooooo aaaaa bbbbb ff iiiiiiiiiiiiii",  "oooooo aaaaa bbbbb sss 0 fffffff ccccc",
    "oooooo aaaaa iiiiiiii 1 fffffff ccccc", "oooooo aaaaa bbbbb fffffffffff ccccc",
    "oooooo iiiiiiiiiiiiiiiiiiiiiiiiii",
};

/// A qualifier of an instruction, such as /su, and what the qualifier adds to the function code.
struct Qualifier {
  std::string_view suffix;
  uint16_t bits;
};

/// A row of the instruction table as written in rows.h.
struct Row {
  std::string_view name;
  std::string_view code;  // "opcode.function", hexadecimal
  Format format;
  std::string_view syntax;
  std::span<const Qualifier> qualifiers = {};
};

/// Another way to write an instruction: GNU's name where the Handbook has another name, or a
/// stylized code form of Handbook appendix A. Conditions, separated by commas: "a=31" field Ra
/// holds 31, "i=1" the immediate is 1, "a=b" Ra and Rb are the same; "b~30" is no condition: the
/// parser fills 30 into Rb.
struct AliasRow {
  std::string_view name;
  std::string_view base;
  std::string_view conditions;
  std::string_view syntax;
};

/// A short string that constant expressions can build.
struct Text {
  std::array<char, 15> characters{};
  uint8_t length = 0;

  constexpr void push_back(char character) { characters[length++] = character; }
  constexpr void append(std::string_view text) {
    for (char character : text) push_back(character);
  }
  constexpr operator std::string_view() const { return {characters.data(), length}; }
};

/// The part of an encoding that decoder and encoder work with. See codec.cc.
struct alignas(32) Codec {
  uint32_t mask = 0;  // fixed bits
  uint32_t match = 0;
  uint8_t a = 0, b = 0, c = 0, s = 0;  // masks of the fields, at bit 0
  bool same_registers = false;         // Ra, Rb and Rc must be equal
  uint8_t left = 0, right = 0;         // shifts that extract the immediate, then & keep, + add
  int8_t add = 0;
  uint32_t keep = 0;
  uint32_t field = 0;               // the immediate's bits in the word
  uint8_t scale = 0, position = 0;  // encoding shifts the immediate right, then left
};

/// What an instruction does to registers. Sets of register fields are bits: 1 Ra, 2 Rb, 4 Rc.
struct Roles {
  uint8_t reads = 0, writes = 0, floating = 0;
  bool reads_fpcr = false, writes_fpcr = false;
  bool reads_lock = false, writes_lock = false;
};

/// The meaning of an opcode of Respike.
struct Encoding {
  Text name;
  Text syntax;  // without marks
  Format format = Format::invalid;
  bool software_completion = false;  // a qualifier with /s
  bool qualified = false;            // has a qualifier, as addt/su and addq/v have
  Roles roles;
  Codec codec;
};

struct Alias {
  Text name;
  Text syntax;
  uint16_t row = 0;
  int16_t next = -1;  // the next alias of the same encoding
  uint32_t mask = 0, match = 0;
  uint32_t fill = 0;  // bits that the parser sets
  bool same_ab = false;
};

constexpr int hexadecimal(std::string_view digits) {
  int value = 0;
  for (char digit : digits) {
    value = value * 16 + (digit <= '9' ? digit - '0' : (digit | 0x20) - 'a' + 10);
  }
  return value;
}

/// The bits of a word for which the format's pattern has `letter`.
constexpr uint32_t pattern_bits(Format format, char letter) {
  uint32_t bits = 0;
  for (char character : kPatterns[static_cast<size_t>(format)]) {
    if (character != ' ') bits = bits << 1 | (character == letter);
  }
  return bits;
}

/// `value` put into the bits of the field `letter`.
constexpr uint32_t place(Format format, char letter, uint32_t value) {
  const uint32_t bits = pattern_bits(format, letter);
  return bits == 0 ? 0 : (value << std::countr_zero(bits)) & bits;
}

constexpr void set_immediate(Codec& codec, Format format) {
  codec.field = pattern_bits(format, 'i');
  codec.keep = 0xffffffff;
  switch (format) {
    case Format::invalid:
      break;
    case Format::memory:  // sign-extended
      codec.left = codec.right = 16;
      break;
    case Format::branch:  // sign-extended, in words, from the next instruction
      codec.left = 11;
      codec.right = 9;
      codec.add = 4;
      codec.scale = 2;
      break;
    default:
      codec.position = codec.field == 0 ? 0 : static_cast<uint8_t>(std::countr_zero(codec.field));
      codec.right = codec.position;
      codec.keep = codec.field >> codec.position;
  }
}

constexpr Codec make_codec(Format format, uint32_t opcode, uint32_t function) {
  Codec codec;
  codec.mask = pattern_bits(format, 'o') | pattern_bits(format, 'f') | pattern_bits(format, '0') |
               pattern_bits(format, '1');
  codec.match =
      place(format, 'o', opcode) | place(format, 'f', function) | pattern_bits(format, '1');
  codec.a = pattern_bits(format, 'a') != 0 ? 31 : 0;
  codec.b = pattern_bits(format, 'b') != 0 ? 31 : 0;
  codec.c = pattern_bits(format, 'c') != 0 ? 31 : 0;
  codec.s = pattern_bits(format, 's') != 0 ? 7 : 0;
  set_immediate(codec, format);
  return codec;
}

constexpr void fix_immediate(Encoding& encoding, uint32_t value) {
  Codec& codec = encoding.codec;
  codec.mask |= codec.field;
  codec.match |= place(encoding.format, 'i', value);
  codec.keep = codec.field = 0;
}

/// Splits a syntax into plain text and roles; fixes register fields that the syntax leaves out to
/// 31.
constexpr void read_syntax(Encoding& encoding, std::string_view syntax) {
  Roles& roles = encoding.roles;
  unsigned named = 0;
  char mark = 0;
  for (size_t i = 0; i < syntax.size(); ++i) {
    const char letter = syntax[i];
    if (letter == '=' || letter == '+' || letter == '~') {
      mark = letter;
    } else if (letter == '&') {
      encoding.codec.same_registers = true;
      named = 7;
    } else if (letter == '!') {
      fix_immediate(encoding, static_cast<uint32_t>(syntax[++i] - '0'));
    } else if (letter == ' ') {
      const bool writes = syntax[i + 1] == '>';
      const bool lock = syntax[i + 2] == 'l';
      (lock ? (writes ? roles.writes_lock : roles.reads_lock)
            : (writes ? roles.writes_fpcr : roles.reads_fpcr)) = true;
      i += 2;
    } else if (syntax.substr(i).starts_with("b|#") && encoding.format == Format::literal) {
      encoding.syntax.push_back('#');
      i += 2;
    } else if ((letter >= 'a' && letter <= 'c') || (letter >= 'A' && letter <= 'C')) {
      const unsigned field = 1u << ((letter | 0x20) - 'a');
      named |= field;
      if (letter < 'a') roles.floating |= field;
      if (mark == 0 || mark == '+') roles.reads |= field;
      if (mark == '=' || mark == '+') roles.writes |= field;
      if (mark != '~') encoding.syntax.push_back(letter);
      mark = 0;
      if (syntax.substr(i).starts_with("b|#")) i += 2;
    } else {
      encoding.syntax.push_back(letter);
    }
  }
  for (int field = 0; field < 3; ++field) {
    if ((named >> field & 1) != 0) continue;
    const uint32_t bits = pattern_bits(encoding.format, static_cast<char>('a' + field));
    encoding.codec.mask |= bits;
    encoding.codec.match |= bits;
  }
}

constexpr Encoding make_encoding(const Row& row, const Qualifier& qualifier, Format format) {
  const size_t dot = row.code.find('.');
  const bool has_function = dot != std::string_view::npos;
  const uint32_t opcode = hexadecimal(row.code.substr(0, dot));
  const uint32_t function = has_function ? hexadecimal(row.code.substr(dot + 1)) : 0;
  Encoding encoding;
  encoding.name.append(row.name);
  encoding.name.append(qualifier.suffix);
  encoding.format = format;
  encoding.software_completion = qualifier.suffix.starts_with("/s");
  encoding.qualified = std::string_view(encoding.name).find('/') != std::string_view::npos;
  encoding.codec = make_codec(format, opcode, function + qualifier.bits);
  read_syntax(encoding, row.syntax);
  return encoding;
}

inline constexpr Qualifier kUnqualified{"", 0};

/// Calls `add` with every encoding of the rows.
constexpr void expand(std::span<const Row> rows, auto&& add) {
  for (const Row& row : rows) {
    const std::span<const Qualifier> qualifiers =
        row.qualifiers.empty() ? std::span(&kUnqualified, 1) : row.qualifiers;
    for (const Qualifier& qualifier : qualifiers) {
      add(make_encoding(row, qualifier, row.format));
      if (row.syntax.find('|') != std::string_view::npos) {
        add(make_encoding(row, qualifier, Format::literal));
      }
    }
  }
}

/// Reads one condition of an alias.
constexpr void read_condition(Alias& alias, const Encoding& base, std::string_view condition) {
  if (condition == "a=b") {
    alias.same_ab = true;
    return;
  }
  uint32_t value = 0;
  for (char digit : condition.substr(2)) value = value * 10 + (digit - '0');
  const uint32_t bits = place(base.format, condition[0], value);
  alias.fill |= bits;
  if (condition[1] == '~') return;
  alias.mask |= pattern_bits(base.format, condition[0]);
  alias.match |= bits;
}

constexpr Alias make_alias(const AliasRow& row, const Encoding& base, size_t base_index) {
  Alias alias;
  alias.name.append(row.name);
  alias.syntax.append(row.syntax);
  alias.row = static_cast<uint16_t>(base_index);
  std::string_view rest = row.conditions;
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    read_condition(alias, base, rest.substr(0, comma));
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return alias;
}

}  // namespace respike::alpha
