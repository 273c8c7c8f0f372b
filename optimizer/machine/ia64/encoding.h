#pragma once
// The language of the instruction table (rows.def), and the expansion of rows into encodings at
// compile time.
//
// A row gives an opcode as the manual does: name, picture of the 41 bits of its slot, and one
// string that is both the assembler syntax and the roles of the operands.
//
// Letters of a picture, bit 40 first, blanks for the eye:
//   0 1      fixed bits
//   q        qualifying predicate, six bits
//   a b c d  the fields registers[0] to registers[3] of an Instruction: registers, completers and
//            small numbers; each field is contiguous. A B C D: seven bits of the same fields
//   i j k l  pieces of the immediate, the highest first
//   x        the highest bit of a 64-bit immediate
//   .        ignored, kept all the same (see codec.h); -: seven ignored bits
//
// Syntax: two characters make an operand, its class and the letter of its field.
//   R F P B  general, floating-point, predicate, branch register
//   A C D    application, control, dahr register
//   # % $    number: hexadecimal; decimal; decimal and signed
//   @        branch target: signed, in bundles, relative to the branch's bundle
//   + ^      decimal number: encoded minus one; encoded as the complement
//   V        encoded minus 32                  ?  0, 7, 15 or 16        I  +-1, 4, 8, 16
//   M        mask, even and signed             W  signed, times 2^16   S  multiple of 64, signed
//   Z        multiple of 8                     X  64-bit number         *  permutation of mux1
//   T        tag of brp: in its field and the low two bits of d
//   E        8 for single precision, else 16, by the completer
// All other characters are text. An operand before `=` is written unless it is in brackets, all
// other operands are read; an operand after `&` is both read and written. After a blank: implicit
// registers, read (<) and written (>).
//
// Names hold completers: `%` and a letter of kCompleters.
//
// Example: ROW(adds, A4, "adds", "1000 i 10 0 jjjjjj C kkkkkkk A q", "Ra=$i,Rc") writes the general
// register of field a, reads the register of field c, and has a signed number in three pieces.

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

namespace respike::ia64 {

inline constexpr unsigned kSlotBits = 41;
inline constexpr uint64_t kSlotMask = (uint64_t{1} << kSlotBits) - 1;

/// The part of an Instruction that a letter of a picture stands for: 0 to 3 registers[0] to [3], 4
/// the immediate, 5 the flags.
inline constexpr unsigned kImmediateField = 4;
inline constexpr unsigned kFlagsField = 5;
inline constexpr int kSpareFlagBits = 3;  // of Instruction::flags, for ignored bits

/// The place of a completer and the spelling of its values; nullptr: the value has no meaning.
struct Completer {
  char letter;
  uint8_t field;  // 0 to 3, or kImmediateField
  uint8_t shift, width;
  int8_t high_field;  // field of one more bit, the highest; -1: none
  const char* names[16];

  constexpr unsigned values() const { return 1u << (width + (high_field < 0 ? 0 : 1)); }
  /// Whether some values have no meaning.
  constexpr bool partial() const {
    for (unsigned value = 0; value < values(); ++value)
      if (names[value] == nullptr) return true;
    return false;
  }
};

inline constexpr Completer kCompleters[] = {
    // Loads, stores, prefetches and semaphores. Field d is x6a and hint, or their lower bits.
    {'z', 3, 2, 2, -1, {"1", "2", "4", "8"}},
    {'f', 3, 2, 2, -1, {"e", "8", "s", "d"}},
    {'p', 3, 2, 2, -1, {nullptr, "8", "s", "d"}},
    {'t',
     3,
     4,
     4,
     -1,
     {"", ".s", ".a", ".sa", ".bias", ".acq", nullptr, nullptr, ".c.clr", ".c.nc", ".c.clr.acq",
      nullptr, nullptr, nullptr, nullptr, nullptr}},
    {'u',
     3,
     4,
     4,
     -1,
     {"", ".s", ".a", ".sa", nullptr, nullptr, nullptr, nullptr, ".c.clr", ".c.nc", nullptr,
      nullptr, nullptr, nullptr, nullptr, nullptr}},
    {'R', 3, 4, 1, -1, {"", ".rel"}},
    {'a', 3, 4, 1, -1, {".acq", ".rel"}},
    {'e', 3, 2, 2, -1, {"", ".excl", ".fault", ".fault.excl"}},
    {'h', 3, 0, 2, 1, {"", ".nt1", ".d2", ".nta", ".d4", ".d5", ".d6", ".d7"}},
    {'k', 3, 0, 2, -1, {"", ".nt1", nullptr, ".nta"}},
    {'s', 3, 0, 2, 0, {"", ".d1", ".d2", ".nta", ".d4", ".d5", ".d6", ".d7"}},
    {'n', 3, 0, 2, -1, {"", nullptr, nullptr, ".nta"}},
    {'l', 3, 0, 2, 0, {"", ".nt1", ".nt2", ".nta", ".d4", ".d5", ".d6", ".d7"}},
    // Branches: whether hint, prefetch hint, deallocation.
    {'w', 3, 0, 2, -1, {".sptk", ".spnt", ".dptk", ".dpnt"}},
    {'v', 3, 0, 3, -1, {nullptr, ".sptk", nullptr, ".spnt", nullptr, ".dptk", nullptr, ".dpnt"}},
    {'m', 2, 0, 1, -1, {".few", ".many"}},
    {'c', 3, 2, 1, -1, {"", ".clr"}},
    {'b', 3, 3, 1, -1, {"", ".clr"}},
    // Branch predictions.
    {'j', 1, 0, 2, -1, {".sptk", ".loop", ".dptk", ".exit"}},
    {'q', 2, 0, 1, -1, {".sptk", ".dptk"}},
    {'o', 3, 2, 1, -1, {"", ".imp"}},
    {'r', 3, 0, 1, -1, {"", ".ret"}},
    {'i', 3, 1, 1, -1, {"", ".imp"}},
    // Floating-point status field.
    {'S', kImmediateField, 0, 2, -1, {".s0", ".s1", ".s2", ".s3"}},
    {'F', 3, 0, 2, -1, {".s0", ".s1", ".s2", ".s3"}},
};

constexpr const Completer& completer(char letter) {
  for (const Completer& candidate : kCompleters)
    if (candidate.letter == letter) return candidate;
  throw "no such completer";
}

/// A row of the instruction table as written in rows.def.
struct Row {
  std::string_view format;
  std::string_view name;
  std::string_view picture;
  std::string_view syntax;
};

inline constexpr Row kRows[] = {
#define ROW(enumerator, format, name, picture, syntax) {#format, name, picture, syntax},
#include "optimizer/machine/ia64/rows.def"
#undef ROW
};
inline constexpr size_t kRowCount = std::size(kRows);

/// How an immediate whose bits are not the number is encoded: by a table in codec.cc.
enum class Conversion : uint8_t { none, count2, increment3 };

/// The part of an encoding that decoder and encoder work with. See codec.cc.
struct Codec {
  uint64_t mask = 0, match = 0;  // fixed bits
  uint64_t spare = 0;            // ignored bits
  // registers[n] = ((slot >> shift) & mask, complemented by xor) + add
  uint8_t register_shift[4] = {}, register_mask[4] = {}, register_xor[4] = {}, register_add[4] = {};
  // immediate = pieces, each (slot >> shift & mask) << position; sign-extended by shifting left and
  // right; ^ complement, + add
  uint32_t piece_mask[4] = {};
  uint8_t piece_shift[4] = {}, piece_position[4] = {};
  uint8_t sign_shift = 0;
  uint8_t complement = 0;
  uint8_t add = 0;
  uint8_t predicate_mask = 0;
  uint8_t scale = 0;       // bits below the lowest piece
  uint8_t wide_shift = 0;  // X: where in the 64-bit number the bits of the L slot begin
  uint8_t wide_drop = 0;   // X: lower bits of the L slot that do not belong to the number
  bool wide_top = false;   // X: bit 36 is the highest bit of the number
  Conversion conversion = Conversion::none;
  uint8_t spare_fields = 0;  // a set of fields, where ignored bits are kept
};

/// An operand: class and field as in the syntax.
struct OperandRole {
  char kind = 0;
  uint8_t field = 0;
  bool reads = false, writes = false;
};

/// Implicit registers; see rows.def and meaning.cc.
enum class Implicit : uint8_t {
  unat,
  csd,
  ccv,
  pfs,
  lc,
  ec,
  fpsr,
  rsc,
  bsp,
  bspstore,
  cfm,
  psr,
  pr,
  p63,
  count
};
inline constexpr std::string_view kImplicitNames[] = {"unat", "csd",  "ccv", "pfs", "lc",
                                                      "ec",   "fpsr", "rsc", "bsp", "bspstore",
                                                      "cfm",  "psr",  "pr",  "p63"};

struct Encoding {
  std::string_view format;  // the manual's name: "A1"
  std::string_view name;    // with completers
  std::string_view syntax;  // with marks, without implicit registers
  Codec codec;
  OperandRole operands[6];
  uint8_t operand_count = 0;
  uint16_t implicit_reads = 0, implicit_writes = 0;  // bits by Implicit

  constexpr char type() const { return format.empty() ? 'L' : format[0]; }
  constexpr bool predicated() const { return codec.predicate_mask != 0; }
};

namespace parsing {

/// The lowest bit and the number of bits of a letter whose bits are contiguous.
struct Run {
  uint8_t low = 0, width = 0;
};

/// The letter for which a character of a picture stands, and the number of its bits.
struct Places {
  char letter;
  unsigned count;
};

constexpr Places places_of(char character) {
  if (character >= 'A' && character <= 'D') return {static_cast<char>(character | 0x20), 7};
  if (character == 'q') return {'q', 6};
  if (character == '-') return {'.', 7};
  return {character, character == ' ' ? 0u : 1u};
}

constexpr uint64_t bits_of(std::string_view picture, char letter) {
  uint64_t bits = 0;
  unsigned count = 0;
  for (char character : picture) {
    const Places places = places_of(character);
    count += places.count;
    for (unsigned i = 0; i < places.count; ++i) bits = bits << 1 | (places.letter == letter);
  }
  if (count != kSlotBits) throw "a picture has 41 bits";
  return bits;
}

constexpr Run run_of(std::string_view picture, char letter) {
  const uint64_t bits = bits_of(picture, letter);
  if (bits == 0) return {};
  const auto low = static_cast<uint8_t>(std::countr_zero(bits));
  const auto width = static_cast<uint8_t>(std::popcount(bits));
  if (bits >> low != (uint64_t{1} << width) - 1) throw "a field is one run of bits";
  return {low, width};
}

constexpr unsigned field_number(char letter) {
  return letter >= 'a' && letter <= 'd' ? static_cast<unsigned>(letter - 'a') : kImmediateField;
}

constexpr bool is_class(char character) {
  return std::string_view("RFPBACD#%$@+^V?IMWSZX*TE").find(character) != std::string_view::npos;
}

/// What the class of an operand says about the immediate: sign, scale and so on.
constexpr void set_class(Codec& codec, char kind, bool wide, unsigned width) {
  bool is_signed = false;
  switch (kind) {
    case '$':
    case 'W':
      is_signed = true;
      break;
    case '@':
      is_signed = !wide;
      codec.scale = 4;
      break;
    case 'M':
      is_signed = true;
      codec.scale = 1;
      break;
    case '+':
      codec.add = 1;
      break;
    case 'V':
      codec.add = 32;
      break;
    case '^':
      codec.complement = static_cast<uint8_t>((1u << width) - 1);
      break;
    case '?':
      codec.conversion = Conversion::count2;
      break;
    case 'I':
      codec.conversion = Conversion::increment3;
      break;
    default:
      break;
  }
  if (is_signed) codec.sign_shift = static_cast<uint8_t>(32 - width - codec.scale);
}

constexpr void set_registers(Codec& codec, std::string_view picture) {
  for (unsigned field = 0; field < 4; ++field) {
    const Run run = run_of(picture, static_cast<char>('a' + field));
    codec.register_shift[field] = run.low;
    codec.register_mask[field] = static_cast<uint8_t>((1u << run.width) - 1);
  }
}

/// The number of bits of the immediate in the slot.
constexpr unsigned immediate_width(std::string_view picture) {
  unsigned width = 0;
  for (char letter : std::string_view("ijkl"))
    width += static_cast<unsigned>(std::popcount(bits_of(picture, letter)));
  return width;
}

constexpr void set_pieces(Codec& codec, std::string_view picture) {
  unsigned position = codec.scale;
  for (int piece = 3; piece >= 0; --piece) {
    const Run run = run_of(picture, "ijkl"[piece]);
    codec.piece_shift[piece] = run.low;
    codec.piece_mask[piece] = (uint32_t{1} << run.width) - 1;
    codec.piece_position[piece] = static_cast<uint8_t>(run.width == 0 ? 0 : position);
    position += run.width;
  }
}

/// Ignored bits are kept in the immediate, else in register fields that the row does not use, else
/// in the flags.
constexpr void set_spare(Codec& codec, std::string_view picture, unsigned width) {
  codec.spare = bits_of(picture, '.');
  if (width == 0) {
    codec.spare_fields = 1u << kImmediateField;
    return;
  }
  int room = 0;
  for (unsigned field = 0; field < 4; ++field) {
    if (codec.register_mask[field] != 0) continue;
    codec.spare_fields |= static_cast<uint8_t>(1u << field);
    room += 8;
  }
  if (room == 0) {
    codec.spare_fields = 1u << kFlagsField;
    room = kSpareFlagBits;
  }
  if (std::popcount(codec.spare) > room) throw "no place for ignored bits";
}

constexpr uint16_t implicit_bit(std::string_view name) {
  for (size_t i = 0; i < std::size(kImplicitNames); ++i)
    if (kImplicitNames[i] == name) return static_cast<uint16_t>(1u << i);
  throw "no such implicit register";
}

constexpr void read_implicit(Encoding& encoding, std::string_view text) {
  while (!text.empty()) {
    const size_t end = text.find(' ');
    const std::string_view word = text.substr(0, end);
    (word[0] == '<' ? encoding.implicit_reads : encoding.implicit_writes) |=
        implicit_bit(word.substr(1));
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
}

constexpr void read_syntax(Encoding& encoding, unsigned immediate_bits) {
  Codec& codec = encoding.codec;
  const std::string_view syntax = encoding.syntax;
  const size_t assignment = syntax.find('=');
  bool both = false, in_brackets = false;
  for (size_t i = 0; i < syntax.size(); ++i) {
    const char kind = syntax[i];
    if (kind == '[' || kind == ']') in_brackets = kind == '[';
    if (kind == '&') both = true;
    if (!is_class(kind)) continue;
    const unsigned field = field_number(syntax[++i]);
    const bool left = assignment != std::string_view::npos && i < assignment && !in_brackets;
    encoding.operands[encoding.operand_count++] = {kind, static_cast<uint8_t>(field), both || !left,
                                                   both || left};
    both = false;
    if (field == kImmediateField) {
      set_class(codec, kind, encoding.type() == 'X', immediate_bits);
    } else if (kind == '+') {
      codec.register_add[field] = 1;
    } else if (kind == '^') {
      codec.register_xor[field] = codec.register_mask[field];
    }
  }
}

/// Type X spreads a number over two slots: 41 bits of the L slot belong to the number, 39 in a brl.
constexpr void set_wide(Codec& codec, std::string_view picture, unsigned width) {
  codec.wide_shift = static_cast<uint8_t>(width + codec.scale);
  codec.wide_drop = codec.scale == 4 ? 2 : 0;
  codec.wide_top = bits_of(picture, 'x') != 0;
}

}  // namespace parsing

constexpr Encoding make_encoding(const Row& row) {
  Encoding encoding;
  encoding.format = row.format;
  encoding.name = row.name;
  const size_t blank = row.syntax.find(' ');
  encoding.syntax = row.syntax.substr(0, blank);
  if (blank != std::string_view::npos)
    parsing::read_implicit(encoding, row.syntax.substr(blank + 1));
  Codec& codec = encoding.codec;
  codec.match = parsing::bits_of(row.picture, '1');
  codec.mask = codec.match | parsing::bits_of(row.picture, '0');
  codec.predicate_mask = parsing::bits_of(row.picture, 'q') != 0 ? 63 : 0;
  parsing::set_registers(codec, row.picture);
  const unsigned width = parsing::immediate_width(row.picture);
  parsing::read_syntax(encoding, width);
  parsing::set_pieces(codec, row.picture);
  parsing::set_spare(codec, row.picture, width);
  if (encoding.type() == 'X') parsing::set_wide(codec, row.picture, width);
  return encoding;
}

}  // namespace respike::ia64
