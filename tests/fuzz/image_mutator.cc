// A mutator that knows ELF.
//
// Random bytes seldom pass the reader's checks, and the changes that do pass are mostly in dead
// padding. So each mutation chooses its target by meaning: it finds the section headers (without
// trusting them), picks a record, and gives a field of the record a value that is likely to matter:
// another record's value, a border of a section, a power of two, a value near the old value. Tables
// are also copied to the end of the file with more records than before: inputs then have many
// symbols and relocations for the same few bytes of code. Codes and types of relocations are those
// of the image's machine.
//
// Example: a mutation picks a relocation of .rela.text and sets its offset to the end of .text.

#include "tests/fuzz/image_mutator.h"

#include <llvm/BinaryFormat/ELF.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <optional>
#include <string_view>

#include "tests/fuzz/ecoff_mutator.h"
#include "tests/fuzz/mutation.h"
#include "tests/fuzz/pe_mutator.h"

namespace respike {
namespace {

namespace ELF = llvm::ELF;

constexpr uint64_t kFileHeader = 64, kProgramHeader = 56, kSectionHeader = 64;
constexpr uint64_t kSymbol = 24, kRela = 24, kDynamic = 16;

// IA-64.
constexpr uint64_t kBundle = 16, kSlotMask = (uint64_t{1} << 41) - 1;
// Types of relocations: none; of immediates, relative to gp or to entries that gp reaches; of
// branches; of words with addresses, differences and descriptors; of loads that linkers relax.
constexpr uint8_t kIa64Relocations[] = {0x00, 0x23, 0x27, 0x2a, 0x2b, 0x2f, 0x32, 0x33,
                                        0x3f, 0x43, 0x47, 0x48, 0x49, 0x4a, 0x4d, 0x4f,
                                        0x52, 0x57, 0x5f, 0x6f, 0x79, 0x81, 0x86, 0x87};

struct Field {
  uint64_t offset;
  unsigned size;
};
constexpr Field kFileFields[] = {{16, 2}, {18, 2}, {24, 8}, {32, 8}, {40, 8},
                                 {54, 2}, {56, 2}, {58, 2}, {60, 2}, {62, 2}};
constexpr Field kProgramFields[] = {{0, 4}, {4, 4}, {8, 8}, {16, 8}, {32, 8}, {40, 8}, {48, 8}};
constexpr Field kSectionFields[] = {{0, 4},  {4, 4},  {8, 8},  {16, 8}, {24, 8},
                                    {32, 8}, {40, 4}, {44, 4}, {48, 8}, {56, 8}};
constexpr Field kSymbolFields[] = {{0, 4}, {4, 1}, {5, 1},  {6, 2},
                                   {8, 8}, {8, 8}, {16, 8}, {16, 8}};
constexpr Field kRelaFields[] = {{0, 8}, {0, 8}, {8, 4}, {12, 4}, {16, 8}};

struct FoundSection {
  uint64_t header = 0;  // offset in the file
  uint32_t type = 0;
  uint64_t flags = 0;
  uint64_t address = 0;
  uint64_t offset = 0;
  uint64_t size = 0;  // in the file
  uint32_t info = 0;
  std::string_view name;
};

class Mutation : MutationBase {
 public:
  Mutation(std::vector<uint8_t>& bytes, size_t max_size, FuzzRandom& random)
      : MutationBase(bytes, random), max_size_(max_size) {}

  void apply() {
    find_sections();
    if (sections_.empty()) return change_bytes(0, bytes_.size());
    switch (random_.below(24)) {
      case 0:
        return change_field(0, kFileFields);
      case 1:
        return change_segment();
      case 2:
        return change_field(any_section().header, kSectionFields);
      case 3:
        return change_section_size();
      case 4:
      case 5:
      case 6:
        return change_symbol();
      case 7:
      case 8:
      case 9:
        return change_relocation();
      case 10:
        return copy_records(ELF::SHT_SYMTAB, kSymbol);
      case 11:
        return copy_records(ELF::SHT_RELA, kRela);
      case 12:
        return grow_table(ELF::SHT_SYMTAB, kSymbol);
      case 13:
        return grow_table(ELF::SHT_RELA, kRela);
      case 14:
      case 15:
      case 16:
        return change_unwind();
      case 17:
        return change_named(".note.respike");
      case 18:
      case 19:
      case 20:
        return change_code();
      case 21:
        return change_data();
      case 22:
        return change_dynamic();
      default:
        return change_bytes(0, bytes_.size());
    }
  }

 private:
  bool is_ia64() const { return get<uint16_t>(18) == ELF::EM_IA_64; }
  bool is_x86_64() const { return get<uint16_t>(18) == ELF::EM_X86_64; }

  void find_sections() {
    if (bytes_.size() < kFileHeader || std::memcmp(bytes_.data(), ELF::ElfMagic, 4) != 0) return;
    const uint64_t headers = get<uint64_t>(40), count = get<uint16_t>(60);
    if (!in_file(headers, count * kSectionHeader)) return;
    for (uint64_t i = 1; i < count; ++i) {
      const uint64_t at = headers + i * kSectionHeader;
      FoundSection section{at,
                           get<uint32_t>(at + 4),
                           get<uint64_t>(at + 8),
                           get<uint64_t>(at + 16),
                           get<uint64_t>(at + 24),
                           get<uint64_t>(at + 32),
                           get<uint32_t>(at + 44),
                           {}};
      if (section.type == ELF::SHT_NOBITS || !in_file(section.offset, section.size))
        section.offset = section.size = 0;
      sections_.push_back(section);
    }
    const uint64_t names = get<uint64_t>(headers + get<uint16_t>(62) * kSectionHeader + 24);
    for (FoundSection& section : sections_) {
      const uint64_t at = names + get<uint32_t>(section.header);
      if (at >= bytes_.size()) continue;
      const char* text = reinterpret_cast<const char*>(bytes_.data() + at);
      section.name = {text, strnlen(text, std::min<uint64_t>(64, bytes_.size() - at))};
    }
  }

  const FoundSection& any_section() { return sections_[random_.below(sections_.size())]; }

  /// Any section with contents for which `wanted` is true.
  template <typename F>
  const FoundSection* pick(F wanted) {
    const FoundSection* result = nullptr;
    uint64_t seen = 0;
    for (const FoundSection& section : sections_)
      if (section.size != 0 && wanted(section) && random_.one_in(++seen)) result = &section;
    return result;
  }

  const FoundSection* pick_type(uint32_t type) {
    return pick([&](const FoundSection& section) { return section.type == type; });
  }

  const FoundSection* pick_code() {
    return pick([](const FoundSection& s) { return (s.flags & ELF::SHF_EXECINSTR) != 0; });
  }

  uint64_t value_for(uint64_t old) {
    const FoundSection& section = any_section();
    const uint64_t inside = 4 * random_.below(section.size / 4 + 1);
    return MutationBase::value_for(
        old, 64,
        {section.address, section.address + section.size, section.address + inside, section.offset,
         section.size, bytes_.size()});
  }

  template <size_t N>
  void change_field(uint64_t record, const Field (&fields)[N]) {
    const Field& field = fields[random_.below(N)];
    const uint64_t at = record + field.offset;
    if (!in_file(at, field.size)) return;
    put(at, value_for(number(at, field.size)), field.size);
  }

  void change_segment() {
    const uint64_t headers = get<uint64_t>(32), count = get<uint16_t>(56);
    change_field(headers + random_.below(count) * kProgramHeader, kProgramFields);
  }

  /// Makes sections end a little earlier or later.
  void change_section_size() {
    const FoundSection& section = any_section();
    const uint64_t unit = section.type == ELF::SHT_RELA || section.type == ELF::SHT_SYMTAB ? 24 : 4;
    const uint64_t change = unit * (1 + random_.below(8));
    put(section.header + 32, random_.one_in(2) ? section.size + change : section.size - change, 8);
  }

  uint64_t record_of(const FoundSection& table, uint64_t size) {
    return table.offset + size * random_.below(table.size / size);
  }

  void change_symbol() {
    const auto* table = random_.one_in(4) ? pick_type(ELF::SHT_DYNSYM) : pick_type(ELF::SHT_SYMTAB);
    if (table == nullptr) return;
    const uint64_t symbol = record_of(*table, kSymbol);
    const FoundSection* code = pick_code();
    switch (random_.below(5)) {
      case 0:  // a procedure somewhere in code
        if (code == nullptr) return;
        put(symbol + 4, ELF::STT_FUNC | (get<uint8_t>(symbol + 4) & 0xf0), 1);
        put(symbol + 6, (code->header - get<uint64_t>(40)) / kSectionHeader, 2);
        put(symbol + 8, code->address + random_.below(code->size), 8);
        return put(symbol + 16, random_.below(code->size), 8);
      case 1:  // the place of another symbol
        return put(symbol + 8, get<uint64_t>(record_of(*table, kSymbol) + 8), 8);
      case 2:
        return put(symbol + 4, get<uint8_t>(record_of(*table, kSymbol) + 4), 1);
      default:
        return change_field(symbol, kSymbolFields);
    }
  }

  void change_relocation() {
    const FoundSection* table = pick_type(ELF::SHT_RELA);
    if (table == nullptr) return;
    const uint64_t record = record_of(*table, kRela), other = record_of(*table, kRela);
    switch (random_.below(8)) {
      case 0:
        return put(record, get<uint64_t>(other), 8);
      case 1:
        return put(record + 8, get<uint32_t>(other + 8), 4);
      case 2:
        return put(record + 8,
                   is_ia64() ? kIa64Relocations[random_.below(std::size(kIa64Relocations))]
                             : random_.below(44),  // Alpha has types up to 41, x86-64 up to 43
                   4);
      case 3:
        return put(record + 12, get<uint32_t>(other + 12), 4);
      case 4:
        return put(record + 16, get<uint64_t>(other + 16), 8);
      case 5:
        return put(record, get<uint64_t>(record) + 4 * random_.below(16) - 32, 8);
      case 6:
        return put(record + 16, get<uint64_t>(record + 16) + 4 * random_.below(64) - 128, 8);
      default:
        return change_field(record, kRelaFields);
    }
  }

  /// Copies a record over another record.
  void copy_records(uint32_t type, uint64_t size) {
    const FoundSection* table = pick_type(type);
    if (table == nullptr || table->size < 2 * size) return;
    const uint64_t from = record_of(*table, size), to = record_of(*table, size);
    const uint64_t end = table->offset + table->size / size * size;
    const uint64_t most = (end - std::max(from, to)) / size;
    const uint64_t count =
        random_.one_in(4) ? most : std::min<uint64_t>(most, 1 + random_.below(4));
    std::memmove(bytes_.data() + to, bytes_.data() + from, count * size);
  }

  /// Copies a table to the end of the file, with more records.
  void grow_table(uint32_t type, uint64_t size) {
    const FoundSection* table = pick([&](const FoundSection& s) {
      return s.type == type && (s.flags & ELF::SHF_ALLOC) == 0 && s.size >= size;
    });
    if (table == nullptr) return;
    const FoundSection old = *table;
    const uint64_t count = old.size / size, start = align_up(bytes_.size(), 8);
    const uint64_t more = random_.one_in(8) ? 3 * count : 1 + random_.below(16);
    const uint64_t new_size = (count + more) * size;
    if (start + new_size > max_size_) return;
    bytes_.resize(start + new_size);
    std::memcpy(bytes_.data() + start, bytes_.data() + old.offset, count * size);
    for (uint64_t i = 0; i < more; ++i)
      std::memcpy(bytes_.data() + start + (count + i) * size,
                  bytes_.data() + start + random_.below(count) * size, size);
    put(old.header + 24, start, 8);
    put(old.header + 32, new_size, 8);
  }

  void change_unwind() {
    static constexpr std::string_view kNames[] = {".eh_frame", ".eh_frame", ".gcc_except_table",
                                                  ".eh_frame_hdr"};
    static constexpr std::string_view kIa64Names[] = {".IA_64.unwind", ".IA_64.unwind_info",
                                                      ".IA_64.unwind_info"};
    if (is_ia64()) return change_named(kIa64Names[random_.below(std::size(kIa64Names))]);
    change_named(kNames[random_.below(std::size(kNames))]);
  }

  void change_named(std::string_view name) {
    const FoundSection* found = pick([&](const FoundSection& s) { return s.name == name; });
    if (found == nullptr) return;
    change_bytes(found->offset, found->size);
  }

  /// An Alpha instruction of a kind that lifting handles.
  uint32_t code_word(uint64_t words) {
    const auto displacement = static_cast<uint32_t>(random_.below(2 * words) - words) & 0x1fffff;
    const auto a = static_cast<uint32_t>(random_.below(32)),
               b = static_cast<uint32_t>(random_.below(32));
    const auto low = static_cast<uint32_t>(random_.below(0x10000));
    switch (random_.below(14)) {
      case 0:
        return 0xc3e00000 | displacement;  // br
      case 1:
        return 0xd3400000 | displacement;  // bsr ra
      case 2:
        return 0xe4000000 | a << 21 | displacement;  // beq
      case 3:
        return 0x6be00000 | b << 16;  // jmp
      case 4:
        return 0x6b5b4000;  // jsr ra, (pv)
      case 5:
        return 0x6bfa8001;  // ret
      case 6:
        return 0x27bb0000 | low;  // ldah gp, (pv)
      case 7:
        return 0x23bd0000 | low;  // lda gp, (gp)
      case 8:
        return 0x47ff041f;  // nop
      case 9:
        return 0x2ffe0000;  // unop
      case 10:
        return 0xa8000000 | a << 21 | b << 16;  // ldl_l
      case 11:
        return 0xb8000000 | a << 21 | b << 16;  // stl_c
      case 12:
        return 0;
      default:
        return static_cast<uint32_t>(random_.next());
    }
  }

  /// An IA-64 instruction of a kind that lifting handles.
  uint64_t slot(uint64_t bundles) {
    const uint64_t branch = random_.below(8), predicate = random_.below(64);
    const uint64_t displacement = random_.below(2 * bundles) - bundles;  // in bundles
    const uint64_t relative = (displacement & 0xfffff) << 13 | (displacement >> 20 & 1) << 36;
    switch (random_.below(10)) {
      case 0:
        return uint64_t{4} << 37 | relative | (random_.one_in(2) ? predicate : 0);  // br.cond
      case 1:
        return uint64_t{4} << 37 | relative | 5 << 6;  // br.cloop
      case 2:
        return uint64_t{5} << 37 | relative | branch << 6;  // br.call
      case 3:
        return uint64_t{0x20} << 27 | branch << 13 | predicate;  // br
      case 4:
        return uint64_t{0x21} << 27 | 4 << 6 | branch << 13;  // br.ret
      case 5:
        return uint64_t{1} << 27;  // nop.m, nop.i
      case 6:
        return uint64_t{9} << 37 | random_.below(128) << 13 | 1 << 20 |
               random_.below(128) << 6;  // addl
      case 7:
        return uint64_t{1} << 37 | uint64_t{1} << 33 | relative >> 13 << 20;  // chk.s
      case 8:
        return 0;  // break
      default:
        return random_.next();
    }
  }

  /// Changes a bundle's template or an instruction.
  void change_bundle(uint64_t at, uint64_t bundles) {
    uint64_t low = get<uint64_t>(at), high = get<uint64_t>(at + 8);
    const uint64_t text = slot(bundles) & kSlotMask;
    switch (random_.below(4)) {
      case 0:
        low = (low & ~uint64_t{0x1f}) | random_.below(32);
        break;
      case 1:
        low = (low & ~(kSlotMask << 5)) | text << 5;
        break;
      case 2:
        low = (low & (~uint64_t{0} >> 18)) | text << 46;
        high = (high & ~(kSlotMask >> 18)) | text >> 18;
        break;
      default:
        high = (high & ~(kSlotMask << 23)) | text << 23;
    }
    put(at, low, 8);
    put(at + 8, high, 8);
  }

  void change_bundles() {
    const FoundSection* code = pick_code();
    if (code == nullptr || code->size < kBundle) return;
    const uint64_t bundles = code->size / kBundle;
    const uint64_t at = random_.below(bundles), from = random_.below(bundles);
    if (!random_.one_in(4)) return change_bundle(code->offset + kBundle * at, bundles);
    const uint64_t count = std::min(bundles - std::max(at, from), 1 + random_.below(16));
    std::memmove(bytes_.data() + code->offset + kBundle * at,
                 bytes_.data() + code->offset + kBundle * from, kBundle * count);
  }

  /// The start of an instruction of x86-64 of a kind that lifting handles, or a prefix.
  void change_bytes_of_code() {
    static constexpr std::string_view kStarts[] = {
        "\xeb",         "\xe9",         "\xe8",         "\x0f\x84",     "\x75",
        "\xc3",         "\xff\xe0",     "\xff\x24\xc5", "\xff\x25",     "\xff\x15",
        "\x48\x8d\x05", "\x48\x63\x04", "\x48\x01",     "\x3e\xff\xe0", "\xf3\x0f\x1e",
        "\x48\x8b\x05", "\xe3",         "\xe2",         "\x66",         "\xf0",
        "\xcc",         "\x90",         "\xc5\xf8",     "\x62\xf1",     "\xd5"};
    const FoundSection* code = pick_code();
    if (code == nullptr) return;
    if (random_.one_in(3)) return change_bytes(code->offset, code->size);
    const std::string_view start = kStarts[random_.below(std::size(kStarts))];
    const uint64_t at = random_.below(code->size);
    for (uint64_t i = 0; i < std::min<uint64_t>(start.size(), code->size - at); ++i)
      put(code->offset + at + i, static_cast<uint8_t>(start[i]), 1);
  }

  void change_code() {
    if (is_ia64()) return change_bundles();
    if (is_x86_64()) return change_bytes_of_code();
    const FoundSection* code = pick_code();
    if (code == nullptr || code->size < 4) return;
    const uint64_t words = code->size / 4;
    const uint64_t at = random_.below(words);
    if (random_.one_in(3)) {  // a run of words from elsewhere, or of one word
      const uint64_t from = random_.below(words);
      const uint64_t count = std::min(words - std::max(at, from), 1 + random_.below(64));
      std::memmove(bytes_.data() + code->offset + 4 * at, bytes_.data() + code->offset + 4 * from,
                   4 * count);
      return;
    }
    const uint64_t count = random_.one_in(8) ? std::min(words - at, random_.below(1024)) : 1;
    const uint32_t word = code_word(words);
    for (uint64_t i = 0; i < count; ++i) put(code->offset + 4 * (at + i), word, 4);
  }

  /// Changes words of data, most likely addresses.
  void change_data() {
    const FoundSection* data = pick([](const FoundSection& s) {
      return (s.flags & ELF::SHF_ALLOC) != 0 && (s.flags & ELF::SHF_EXECINSTR) == 0;
    });
    if (data == nullptr) return;
    const unsigned size = random_.one_in(2) ? 8 : 4;
    const uint64_t at = data->offset + random_.below(data->size / size) * size;
    put(at, value_for(number(at, size)), size);
  }

  void change_dynamic() {
    const FoundSection* table = pick_type(ELF::SHT_DYNAMIC);
    if (table == nullptr) return;
    const uint64_t entry = record_of(*table, kDynamic);
    if (random_.one_in(2)) return put(entry, random_.below(40), 8);
    put(entry + 8, value_for(get<uint64_t>(entry + 8)), 8);
  }

  size_t max_size_;
  std::vector<FoundSection> sections_;  // without the null section
};

}  // namespace

void mutate_image(std::vector<uint8_t>& bytes, size_t max_size, FuzzRandom& random) {
  for (uint64_t left = 1 + random.below(4); left != 0; --left) {
    if (is_pe(bytes))
      mutate_pe(bytes, random);
    else if (is_ecoff(bytes))
      mutate_ecoff(bytes, random);
    else
      Mutation(bytes, max_size, random).apply();
  }
  if (random.one_in(256)) bytes.resize(random.below(bytes.size() + 1));
  if (bytes.size() > max_size) bytes.resize(max_size);
}

}  // namespace respike
