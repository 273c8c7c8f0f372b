// Bundles to instructions and back.
//
// Problem: the opcode bits of a slot are spread over its 41 bits and differ from unit to unit;
// decoding has to be fast, and encoding has to give back every bit.
// Idea: the unit of the slot and its major opcode (bits 40:37) choose a slice of one flat table; a
// run of further bits of the slot indexes the slice and gives the row that the slot may be. The few
// rows that differ only in bits outside of the run follow in a chain. The row describes fields by
// shifts and masks, so the same straight-line code decodes any slot. Two branches that are hardly
// ever taken guard the cases of only some rows (ignored bits that are set, numbers that are coded
// by a table). A number that the X and L slots of a bundle share is put together and then halved,
// so that either half fits an Instruction.
//
// Example: for add r14=r15,r16 in an M slot, the unit and the major opcode 8 choose a slice indexed
// by bits 36:27. These bits are 0, and entry 0 is the row of add.
//
// Source: Intel Itanium Architecture Software Developer's Manual, revision 2.3, volume 3, section
// 4.1 and table 4-3 (bundles), 4.8 (immediates). All tables are built by the compiler.

#include "optimizer/machine/ia64/codec.h"

#include <algorithm>

#include "optimizer/base/bytes.h"

namespace respike::ia64 {
namespace {

// --- Finding the row -----------------------------------------------------------------------------

constexpr unsigned kMajorShift = 37;
constexpr unsigned kUnitCount = 7;

struct Slice {
  uint16_t start = 0;
  uint16_t mask = 0;
  uint8_t shift = 0;
};

/// A further row that an entry of the table may mean, and the next such row; 0 ends the chain.
struct Candidate {
  uint16_t op = 0;
  uint16_t next = 0;
};

constexpr bool in_slice(const Encoding& encoding, Unit unit, unsigned major) {
  constexpr std::string_view kTypes = "-MIFB-X";
  const char type = kTypes[static_cast<size_t>(unit)];
  const bool is_alu = major >= 8 && (unit == Unit::m || unit == Unit::i);
  return encoding.type() == (is_alu ? 'A' : type) && encoding.codec.match >> kMajorShift == major;
}

/// Calls `visit` with each completer of the encoding that has values without meaning.
constexpr void for_partial_completers(const Encoding& encoding, auto&& visit) {
  for (size_t i = 0; i + 1 < encoding.name.size(); ++i) {
    if (encoding.name[i] != '%') continue;
    const Completer& candidate = completer(encoding.name[i + 1]);
    if (candidate.partial()) visit(candidate);
  }
}

/// The bits of a slot, below the major opcode, that decide whether the slot is of this row.
constexpr uint64_t deciding_bits(const Encoding& encoding) {
  uint64_t bits = encoding.codec.mask & ((uint64_t{1} << kMajorShift) - 1);
  for_partial_completers(encoding, [&](const Completer& partial) {
    bits |= ((uint64_t{1} << partial.width) - 1)
            << (encoding.codec.register_shift[partial.field] + partial.shift);
  });
  return bits;
}

constexpr bool completers_are_valid(const Encoding& encoding, uint64_t slot) {
  bool valid = true;
  for_partial_completers(encoding, [&](const Completer& partial) {
    const uint64_t field = slot >> encoding.codec.register_shift[partial.field];
    const uint64_t value = field >> partial.shift & ((uint64_t{1} << partial.width) - 1);
    valid = valid && partial.names[value] != nullptr;
  });
  return valid;
}

/// A run of at most ten bits, from the lowest deciding bit of the rows in this slice on; if bits
/// from 27 on decide, lower bits do not count.
constexpr Slice choose_slice(Unit unit, unsigned major) {
  uint64_t bits = 0;
  for (const Encoding& encoding : kEncodings)
    if (in_slice(encoding, unit, major)) bits |= deciding_bits(encoding);
  const uint64_t upper = bits & ~((uint64_t{1} << 27) - 1);
  if (upper != 0) bits = upper;
  Slice slice;
  if (bits == 0) return slice;
  slice.shift = static_cast<uint8_t>(std::countr_zero(bits));
  const auto width = std::min(static_cast<unsigned>(std::bit_width(bits)) - slice.shift, 10u);
  slice.mask = static_cast<uint16_t>((1u << width) - 1);
  return slice;
}

constexpr size_t kTableSize = 16384;
constexpr size_t kCandidateCount = 8192;

struct Table {
  Slice slices[kUnitCount][16]{};
  std::array<uint16_t, kTableSize> first{};
  std::array<uint16_t, kTableSize> more{};
  std::array<Candidate, kCandidateCount> candidates{};
  size_t size = 1;             // entry 0, for units without rows, stays empty
  size_t candidate_count = 1;  // 0 ends chains
};

constexpr void add_candidate(Table& table, size_t entry, uint16_t op) {
  if (table.first[entry] == 0) {
    table.first[entry] = op;
    return;
  }
  const auto added = static_cast<uint16_t>(table.candidate_count++);
  table.candidates[added].op = op;
  uint16_t* link = &table.more[entry];
  while (*link != 0) link = &table.candidates[*link].next;
  *link = added;
}

/// Enters the row at every index that the row's fixed bits leave possible.
constexpr void add_row(Table& table, const Slice& slice, uint16_t op) {
  const Encoding& encoding = kEncodings[op];
  const auto fixed = static_cast<unsigned>(encoding.codec.mask >> slice.shift & slice.mask);
  const auto match = static_cast<unsigned>(encoding.codec.match >> slice.shift & slice.mask);
  const unsigned open = slice.mask & ~fixed;
  unsigned chosen = 0;
  do {
    const unsigned index = match | chosen;
    const uint64_t slot = encoding.codec.match | static_cast<uint64_t>(index) << slice.shift;
    if (completers_are_valid(encoding, slot)) add_candidate(table, slice.start + index, op);
    chosen = (chosen - open) & open;
  } while (chosen != 0);
}

consteval Table make_table() {
  Table table;
  for (unsigned unit = 1; unit < kUnitCount; ++unit) {
    for (unsigned major = 0; major < 16; ++major) {
      if (unit == static_cast<unsigned>(Unit::l)) continue;
      Slice& slice = table.slices[unit][major];
      if (unit == static_cast<unsigned>(Unit::i) && major >= 8) {  // type A, as on M units
        slice = table.slices[static_cast<unsigned>(Unit::m)][major];
        continue;
      }
      slice = choose_slice(static_cast<Unit>(unit), major);
      slice.start = static_cast<uint16_t>(table.size);
      table.size += slice.mask + 1;
      for (size_t op = kFirstRow; op < kOpCount; ++op) {
        if (in_slice(kEncodings[op], static_cast<Unit>(unit), major))
          add_row(table, slice, static_cast<uint16_t>(op));
      }
    }
  }
  return table;
}

constexpr Table kTable = make_table();

/// The codecs alone, adjacent in memory for the cache.
consteval std::array<Codec, kOpCount> make_codecs() {
  std::array<Codec, kOpCount> codecs;
  for (size_t op = 0; op < kOpCount; ++op) codecs[op] = kEncodings[op].codec;
  codecs[0].match = 1;  // no slot is Op::invalid by its bits
  return codecs;
}

constexpr std::array<Codec, kOpCount> kCodecs = make_codecs();

uint16_t find_op(uint64_t slot, Unit unit) {
  const Slice& slice = kTable.slices[static_cast<size_t>(unit)][slot >> kMajorShift];
  const size_t entry = slice.start + (slot >> slice.shift & slice.mask);
  uint16_t op = kTable.first[entry];
  uint16_t next = kTable.more[entry];
  while ((slot & kCodecs[op].mask) != kCodecs[op].match) {
    if (next == 0) return 0;
    op = kTable.candidates[next].op;
    next = kTable.candidates[next].next;
  }
  return op;
}

// --- Fields --------------------------------------------------------------------------------------

constexpr int32_t kCounts[] = {0, 7, 15, 16};
constexpr int32_t kIncrements[] = {16, 8, 4, 1, -16, -8, -4, -1};

/// The bits of `value` at the places of `mask`, moved together. scatter() puts such bits back.
uint32_t gather(uint64_t value, uint64_t mask) {
  uint32_t bits = 0;
  for (unsigned position = 0; mask != 0; mask &= mask - 1, ++position)
    bits |= static_cast<uint32_t>(value >> std::countr_zero(mask) & 1) << position;
  return bits;
}

uint64_t scatter(uint32_t bits, uint64_t mask) {
  uint64_t value = 0;
  for (; bits != 0 && mask != 0; mask &= mask - 1, bits >>= 1)
    value |= static_cast<uint64_t>(bits & 1) << std::countr_zero(mask);
  return value;
}

void keep_spare(Instruction& instruction, const Codec& codec, uint32_t bits) {
  if ((codec.spare_fields & 1u << kImmediateField) != 0)
    instruction.immediate = static_cast<int32_t>(bits);
  if ((codec.spare_fields & 1u << kFlagsField) != 0)
    instruction.flags = static_cast<uint8_t>(instruction.flags | bits << kSpareShift);
  for (unsigned field = 0; field < 4; ++field) {
    if ((codec.spare_fields & 1u << field) == 0) continue;
    instruction.registers[field] = static_cast<uint8_t>(bits);
    bits >>= 8;
  }
}

uint32_t kept_spare(const Instruction& instruction, const Codec& codec) {
  if ((codec.spare_fields & 1u << kImmediateField) != 0)
    return static_cast<uint32_t>(instruction.immediate);
  if ((codec.spare_fields & 1u << kFlagsField) != 0)
    return instruction.flags >> kSpareShift & ((1u << kSpareFlagBits) - 1);
  uint32_t bits = 0;
  for (unsigned field = 4; field-- > 0;)
    if ((codec.spare_fields & 1u << field) != 0) bits = bits << 8 | instruction.registers[field];
  return bits;
}

void convert(Instruction& instruction, Conversion conversion) {
  if (conversion == Conversion::count2) instruction.immediate = kCounts[instruction.immediate];
  if (conversion == Conversion::increment3)
    instruction.immediate = kIncrements[instruction.immediate];
}

/// The code of the value; 0 for a value without a code.
uint32_t converted(int32_t value, Conversion conversion) {
  const auto code_in = [&](const auto& table) {
    const auto found = std::ranges::find(table, value);
    return found == std::end(table) ? 0 : static_cast<uint32_t>(found - std::begin(table));
  };
  return conversion == Conversion::count2 ? code_in(kCounts) : code_in(kIncrements);
}

void set_raw(Instruction& instruction, uint64_t slot) {
  instruction.immediate = static_cast<int32_t>(slot);
  instruction.registers[0] = static_cast<uint8_t>(slot >> 32);
  instruction.registers[1] = static_cast<uint8_t>(slot >> 40);
}

uint64_t raw(const Instruction& instruction) {
  const uint64_t high = instruction.registers[0] | (instruction.registers[1] & 1u) << 8;
  return high << 32 | static_cast<uint32_t>(instruction.immediate);
}

/// Does not set the origin; `flags` are stop and unit.
inline Instruction decode_slot(uint64_t slot, Unit unit, uint8_t flags) {
  const uint16_t op = find_op(slot, unit);
  Instruction instruction;
  instruction.flags = flags;
  if (op == 0) {
    set_raw(instruction, slot);
    return instruction;
  }
  const Codec& codec = kCodecs[op];
  instruction.opcode = op;
  instruction.predicate = static_cast<uint8_t>(slot & codec.predicate_mask);
  for (unsigned i = 0; i < 4; ++i) {
    const uint64_t field = slot >> codec.register_shift[i] & codec.register_mask[i];
    instruction.registers[i] =
        static_cast<uint8_t>((field ^ codec.register_xor[i]) + codec.register_add[i]);
  }
  uint32_t value = 0;
  for (unsigned i = 0; i < 4; ++i) {
    value |= (static_cast<uint32_t>(slot >> codec.piece_shift[i]) & codec.piece_mask[i])
             << codec.piece_position[i];
  }
  const auto extended =
      static_cast<int32_t>(value << codec.sign_shift) >> codec.sign_shift ^ codec.complement;
  instruction.immediate = extended + codec.add;
  if ((slot & codec.spare) != 0) keep_spare(instruction, codec, gather(slot, codec.spare));
  if (codec.conversion != Conversion::none) convert(instruction, codec.conversion);
  return instruction;
}

uint64_t encode_slot(const Instruction& instruction) {
  if (op_of(instruction) == Op::invalid) return raw(instruction);
  const Codec& codec = kCodecs[instruction.opcode];
  uint64_t slot = codec.match | (instruction.predicate & codec.predicate_mask);
  for (unsigned i = 0; i < 4; ++i) {
    const unsigned field =
        (instruction.registers[i] - codec.register_add[i]) ^ codec.register_xor[i];
    slot |= static_cast<uint64_t>(field & codec.register_mask[i]) << codec.register_shift[i];
  }
  uint32_t value = (static_cast<uint32_t>(instruction.immediate) - codec.add) ^ codec.complement;
  if (codec.conversion != Conversion::none)
    value = converted(instruction.immediate, codec.conversion);
  for (unsigned i = 0; i < 4; ++i) {
    slot |= static_cast<uint64_t>(value >> codec.piece_position[i] & codec.piece_mask[i])
            << codec.piece_shift[i];
  }
  if (codec.spare != 0) slot |= scatter(kept_spare(instruction, codec), codec.spare);
  return slot;
}

// --- L and X slots -------------------------------------------------------------------------------

constexpr uint64_t low_bits(unsigned count) {
  return (uint64_t{1} << count) - 1;
}

void join_halves(uint64_t long_slot, uint64_t slot, Instruction& high, Instruction& low) {
  if (op_of(low) == Op::invalid) {
    set_raw(high, long_slot);
    return;
  }
  const Codec& codec = kCodecs[low.opcode];
  uint64_t number = static_cast<uint32_t>(low.immediate);
  number |= long_slot >> codec.wide_drop << codec.wide_shift;
  if (codec.wide_top) number |= (slot >> 36 & 1) << 63;
  high.opcode = opcode(Op::long_half);
  high.immediate = static_cast<int32_t>(number >> 32);
  high.registers[0] = static_cast<uint8_t>(long_slot & low_bits(codec.wide_drop));
  low.immediate = static_cast<int32_t>(number);
}

/// The bits of both slots; the reverse of join_halves().
void split_halves(const Instruction& high, const Instruction& low, uint64_t& long_slot,
                  uint64_t& slot) {
  slot = encode_slot(low);
  if (op_of(low) == Op::invalid) {
    long_slot = raw(high);
    return;
  }
  const Codec& codec = kCodecs[low.opcode];
  const uint64_t number = static_cast<uint64_t>(static_cast<uint32_t>(high.immediate)) << 32 |
                          static_cast<uint32_t>(low.immediate);
  long_slot = (number >> codec.wide_shift << codec.wide_drop & kSlotMask) |
              (high.registers[0] & low_bits(codec.wide_drop));
  if (codec.wide_top) slot |= number >> 63 << 36;
}

// --- Templates -----------------------------------------------------------------------------------

constexpr uint8_t kNoTemplate = 0xff;

consteval std::array<Template, 32> make_templates() {
  constexpr std::string_view kNames[] = {"MII", "MII", "MLX", "-3-", "MMI", "MMI", "MFI", "MMF",
                                         "MIB", "MBB", "-a-", "BBB", "MMB", "-d-", "MFB", "-f-"};
  constexpr std::string_view kLetters = "-MIFBLX";
  std::array<Template, 32> templates;
  for (size_t code = 0; code < 32; ++code) {
    Template& result = templates[code];
    result.name = kNames[code / 2];
    const bool reserved = result.name[0] == '-';
    for (size_t slot = 0; slot < 3 && !reserved; ++slot)
      result.units[slot] = static_cast<Unit>(kLetters.find(result.name[slot]));
    result.stops[0] = code / 2 == 5;
    result.stops[1] = code / 2 == 1;
    result.stops[2] = code % 2 == 1;
  }
  return templates;
}

constexpr size_t template_key(const Unit (&units)[3], const bool (&stops)[3]) {
  size_t key = 0;
  for (int slot = 0; slot < 3; ++slot)
    key = key << 4 | static_cast<size_t>(units[slot]) << 1 | static_cast<size_t>(stops[slot]);
  return key;
}

consteval std::array<uint8_t, 4096> make_template_codes() {
  std::array<uint8_t, 4096> codes{};
  codes.fill(kNoTemplate);
  const std::array<Template, 32> templates = make_templates();
  for (size_t code = 0; code < 32; ++code) {
    const Template& entry = templates[code];
    if (entry.units[0] != Unit::none)
      codes[template_key(entry.units, entry.stops)] = static_cast<uint8_t>(code);
  }
  return codes;
}

constexpr std::array<uint8_t, 4096> kTemplateCodes = make_template_codes();

/// Instruction::flags of the three slots of each template.
consteval std::array<std::array<uint8_t, 3>, 32> make_template_flags() {
  std::array<std::array<uint8_t, 3>, 32> flags{};
  const std::array<Template, 32> templates = make_templates();
  for (size_t code = 0; code < 32; ++code) {
    for (size_t slot = 0; slot < 3; ++slot) {
      const Template& entry = templates[code];
      flags[code][slot] = static_cast<uint8_t>(
          static_cast<unsigned>(entry.units[slot]) << kUnitShift | (entry.stops[slot] ? kStop : 0));
    }
  }
  return flags;
}

constexpr std::array<std::array<uint8_t, 3>, 32> kTemplateFlags = make_template_flags();

/// The units whose slots can hold an Op, as bits; by Op.
consteval std::array<uint8_t, kOpCount> make_unit_sets() {
  std::array<uint8_t, kOpCount> sets{};
  for (size_t op = 0; op < kOpCount; ++op)
    for (unsigned unit = 0; unit < kUnitCount; ++unit)
      if (fits_unit(static_cast<Op>(op), static_cast<Unit>(unit)))
        sets[op] = static_cast<uint8_t>(sets[op] | 1u << unit);
  return sets;
}

constexpr std::array<uint8_t, kOpCount> kUnitSets = make_unit_sets();

/// The template that fits three instructions.
std::optional<unsigned> template_of(const Instruction* instructions) {
  size_t key = 0;
  bool fit = true;
  for (int slot = 0; slot < 3; ++slot) {
    const Instruction& instruction = instructions[slot];
    const auto number = static_cast<size_t>(unit(instruction));
    fit = fit && (kUnitSets[instruction.opcode] >> number & 1) != 0;
    key = key << 4 | number << 1 | static_cast<size_t>(has_stop(instruction));
  }
  if (fit && kTemplateCodes[key] != kNoTemplate) return kTemplateCodes[key];
  const bool reserved = std::all_of(instructions, instructions + 3, [](const Instruction& slot) {
    return op_of(slot) == Op::invalid && unit(slot) == Unit::none;
  });
  if (reserved) return instructions[0].registers[2] & 31;
  return std::nullopt;
}

}  // namespace

constinit const std::array<Template, 32> kTemplates = make_templates();

std::optional<unsigned> find_template(const Unit (&units)[3], const bool (&stops)[3]) {
  const uint8_t code = kTemplateCodes[template_key(units, stops)];
  if (code == kNoTemplate) return std::nullopt;
  return code;
}

void decode_bundle(const uint8_t* bundle, uint32_t origin, Instruction* out) {
  const auto low = load<uint64_t>(bundle);
  const auto high = load<uint64_t>(bundle + 8);
  const uint64_t slots[] = {low >> 5 & kSlotMask, (low >> 46 | high << 18) & kSlotMask, high >> 23};
  const unsigned code = low & 31;
  const auto& flags = kTemplateFlags[code];
  const auto unit_of = [&](int slot) { return static_cast<Unit>(flags[slot] >> kUnitShift & 7); };
  for (int slot = 0; slot < 3; ++slot) {
    out[slot] = decode_slot(slots[slot], unit_of(slot), flags[slot]);
    out[slot].origin = origin + static_cast<uint32_t>(slot);
  }
  if (unit_of(1) == Unit::l) {
    out[1] = Instruction{.flags = flags[1], .origin = origin + 1};
    join_halves(slots[1], slots[2], out[1], out[2]);
  }
  if (unit_of(0) == Unit::none) out[0].registers[2] = static_cast<uint8_t>(code);
}

void decode_bundles(const uint8_t* code, size_t count, uint32_t origin, Instruction* out) {
  for (size_t i = 0; i < count; ++i)
    decode_bundle(code + i * kBundleSize, origin + static_cast<uint32_t>(i * kBundleSize),
                  out + 3 * i);
}

bool encode_bundle(const Instruction* instructions, uint8_t* out) {
  const std::optional<unsigned> code = template_of(instructions);
  if (!code) return false;
  uint64_t slots[3] = {};
  slots[0] = encode_slot(instructions[0]);
  if (unit(instructions[1]) == Unit::l) {
    const bool long_half = op_of(instructions[1]) == Op::long_half;
    if (long_half == (op_of(instructions[2]) == Op::invalid)) return false;
    split_halves(instructions[1], instructions[2], slots[1], slots[2]);
  } else {
    slots[1] = encode_slot(instructions[1]);
    slots[2] = encode_slot(instructions[2]);
  }
  store(out, *code | slots[0] << 5 | slots[1] << 46);
  store(out + 8, slots[1] >> 18 | slots[2] << 23);
  return true;
}

Slot expand(const Instruction& instruction, const Instruction& high) {
  Slot slot{.op = op_of(instruction),
            .predicate = instruction.predicate,
            .unit = unit(instruction),
            .stop = has_stop(instruction),
            .a = instruction.registers[0],
            .b = instruction.registers[1],
            .c = instruction.registers[2],
            .d = instruction.registers[3],
            .immediate = instruction.immediate};
  if (slot.op == Op::mov_to_pr_rot) slot.immediate *= 1 << 16;
  if (encoding_of(instruction).type() == 'X') {
    slot.immediate = static_cast<int64_t>(static_cast<uint64_t>(high.immediate) << 32 |
                                          static_cast<uint32_t>(instruction.immediate));
  }
  return slot;
}

}  // namespace respike::ia64
