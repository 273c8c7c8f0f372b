// A mutator that knows PE images for Alpha.
//
// As in image_mutator.cc, a mutation chooses its target by meaning: a field of a header, a data
// directory, a section header, an entry of the function table, a base relocation, a record of the
// exports, a symbol, an instruction, a word of data. The new value is likely to matter: another
// record's value, a border of a section, a power of two, a value near the old value.
//
// Example: a mutation picks an entry of .pdata and lets its prolog end where another procedure
// begins.

#include "tests/fuzz/pe_mutator.h"

#include <algorithm>
#include <cstring>

#include "tests/fuzz/mutation.h"

namespace respike {
namespace {

constexpr uint64_t kCoffSize = 24, kSectionSize = 40, kEntrySize = 20, kSymbolSize = 18;
constexpr uint32_t kExecutable = 0x20000000;

struct FoundSection {
  uint64_t header = 0;  // offset in the file
  uint64_t place = 0;   // relative to the base
  uint64_t offset = 0;
  uint64_t size = 0;  // in the file
  uint32_t flags = 0;
};

class PeMutation : MutationBase {
 public:
  using MutationBase::MutationBase;

  void apply() {
    coff_ = get<uint32_t>(0x3c);
    optional_ = coff_ + kCoffSize;
    base_ = get<uint32_t>(optional_ + 28);
    directories_ = optional_ + (get<uint16_t>(optional_) == 0x20b ? 112 : 96);
    find_sections();
    if (sections_.empty()) return change_bytes(0, bytes_.size());
    switch (random_.below(16)) {
      case 0:
        return change_word(coff_ + 4, 20, 2);
      case 1:
        return change_word(optional_, directories_ - optional_, random_.one_in(2) ? 4 : 2);
      case 2:
        return change_word(directories_, 128, 4);
      case 3:
        return change_word(any_section().header + 8, 32, 4);
      case 4:
      case 5:
      case 6:
        return change_function_table();
      case 7:
      case 8:
      case 9:
        return change_base_relocations();
      case 10:
        return change_directory(0, 4);
      case 11:
        return change_symbols();
      case 12:
      case 13:
        return change_code();
      case 14:
        return change_data();
      default:
        return change_bytes(0, bytes_.size());
    }
  }

 private:
  void find_sections() {
    const uint64_t headers = optional_ + get<uint16_t>(coff_ + 20),
                   count = get<uint16_t>(coff_ + 6);
    for (uint64_t i = 0; i < count && in_file(headers, (i + 1) * kSectionSize); ++i) {
      const uint64_t at = headers + i * kSectionSize;
      FoundSection section{at, get<uint32_t>(at + 12), get<uint32_t>(at + 20),
                           get<uint32_t>(at + 16), get<uint32_t>(at + 36)};
      if (!in_file(section.offset, section.size)) section.offset = section.size = 0;
      sections_.push_back(section);
    }
  }

  const FoundSection& any_section() { return sections_[random_.below(sections_.size())]; }

  const FoundSection* pick(bool code) {
    const FoundSection* result = nullptr;
    uint64_t seen = 0;
    for (const FoundSection& section : sections_)
      if (section.size >= 8 && ((section.flags & kExecutable) != 0) == code &&
          random_.one_in(++seen))
        result = &section;
    return result;
  }

  /// The part of the file that a data directory names; empty where there is none.
  std::pair<uint64_t, uint64_t> directory(uint64_t number) const {
    const uint64_t place = get<uint32_t>(directories_ + 8 * number),
                   size = get<uint32_t>(directories_ + 8 * number + 4);
    for (const FoundSection& section : sections_)
      if (place >= section.place && place - section.place < section.size)
        return {section.offset + place - section.place,
                std::min(size, section.size - (place - section.place))};
    return {0, 0};
  }

  uint64_t value_for(uint64_t old) {
    const FoundSection& section = any_section();
    const uint64_t inside = 4 * random_.below(section.size / 4 + 1), start = base_ + section.place;
    return MutationBase::value_for(old, 32,
                                   {section.place, section.place + section.size, start + inside,
                                    start + section.size, section.size, bytes_.size()});
  }

  /// Changes one number of `size` bytes in [start, start + length).
  void change_word(uint64_t start, uint64_t length, unsigned size) {
    if (length < size || !in_file(start, length)) return;
    const uint64_t at = start + random_.below(length / size) * size;
    put(at, value_for(number(at, size)), size);
  }

  void change_directory(uint64_t number, unsigned size) {
    const auto [start, length] = directory(number);
    change_word(start, length, size);
  }

  void change_function_table() {
    const auto [start, length] = directory(3);
    if (length < kEntrySize) return;
    if (random_.one_in(4)) return copy_record(start, length, kEntrySize);
    const uint64_t entry = start + kEntrySize * random_.below(length / kEntrySize);
    const uint64_t other = start + kEntrySize * random_.below(length / kEntrySize);
    const uint64_t field = entry + 4 * random_.below(5);
    if (random_.one_in(3)) return put(field, get<uint32_t>(other + 4 * random_.below(5)), 4);
    put(field, value_for(get<uint32_t>(field)), 4);
  }

  void change_base_relocations() {
    const auto [start, length] = directory(5);
    if (length < 10) return;
    if (random_.one_in(4)) return copy_record(start, length, 2);
    if (random_.one_in(4)) return change_word(start, length, 4);
    const uint64_t at = start + 2 * random_.below(length / 2);
    const uint16_t old = get<uint16_t>(at);
    switch (random_.below(4)) {
      case 0:  // another kind
        return put(at, (old & 0xfff) | random_.below(16) << 12, 2);
      case 1:  // another place in the page
        return put(at, (old & 0xf000) | random_.below(0x1000), 2);
      case 2:
        return put(at, old + 4 * random_.below(8) - 16, 2);
      default:
        return put(at, value_for(old), 2);
    }
  }

  void change_symbols() {
    const uint64_t start = get<uint32_t>(coff_ + 12), count = get<uint32_t>(coff_ + 16);
    if (!in_file(start, count * kSymbolSize) || count == 0) return change_word(coff_ + 12, 8, 4);
    if (random_.one_in(4)) return copy_record(start, count * kSymbolSize, kSymbolSize);
    const uint64_t symbol = start + kSymbolSize * random_.below(count);
    switch (random_.below(4)) {
      case 0:
        return put(symbol + 8, value_for(get<uint32_t>(symbol + 8)), 4);
      case 1:
        return put(symbol + 12, random_.one_in(2) ? random_.below(8) : random_.next(), 2);
      case 2:
        return put(symbol + 4, value_for(get<uint32_t>(symbol + 4)), 4);
      default:
        return change_bytes(symbol, kSymbolSize);
    }
  }

  /// An instruction of a kind that lifting or unwinding handles.
  uint32_t code_word(uint64_t words) {
    const auto branch = static_cast<uint32_t>(random_.below(2 * words) - words) & 0x1fffff;
    const auto a = static_cast<uint32_t>(random_.below(32)),
               b = static_cast<uint32_t>(random_.below(32));
    const auto low = static_cast<uint32_t>(random_.below(0x10000));
    switch (random_.below(16)) {
      case 0:
        return 0xc3e00000 | branch;  // br
      case 1:
        return 0xd3400000 | branch;  // bsr ra
      case 2:
        return 0xe4000000 | a << 21 | branch;  // beq
      case 3:
        return 0x6be00000 | b << 16;  // jmp
      case 4:
        return 0x6b5b4000;  // jsr ra, (t12)
      case 5:
        return 0x6bfa8001;  // ret
      case 6:
        return 0x23de0000 | (low & 0x80f0);  // lda sp, (sp)
      case 7:
        return 0x241f0000 | a << 21 | low;  // ldah, an upper half
      case 8:
        return 0x20000000 | a << 21 | b << 16 | low;  // lda
      case 9:
        return 0xb41e0000 | a << 21 | (low & 0xf8);  // stq to the frame
      case 10:
        return 0x47de040f;  // mov sp, fp
      case 11:
        return 0x2ffe0000;  // unop
      case 12:
        return 0xa8000000 | a << 21 | b << 16;  // ldl_l
      case 13:
        return 0xb8000000 | a << 21 | b << 16;  // stl_c
      case 14:
        return 0;
      default:
        return static_cast<uint32_t>(random_.next());
    }
  }

  void change_code() {
    const FoundSection* code = pick(true);
    if (code == nullptr) return;
    const uint64_t words = code->size / 4, at = random_.below(words);
    if (random_.one_in(3)) {  // a run of words from elsewhere
      const uint64_t from = random_.below(words);
      const uint64_t count = std::min(words - std::max(at, from), 1 + random_.below(64));
      std::memmove(&bytes_[code->offset + 4 * at], &bytes_[code->offset + 4 * from], 4 * count);
      return;
    }
    const uint64_t count = random_.one_in(8) ? std::min(words - at, random_.below(1024)) : 1;
    const uint32_t word = code_word(words);
    for (uint64_t i = 0; i < count; ++i) put(code->offset + 4 * (at + i), word, 4);
  }

  void change_data() {
    if (const FoundSection* data = pick(false)) change_word(data->offset, data->size, 4);
  }

  uint64_t coff_ = 0, optional_ = 0, directories_ = 0, base_ = 0;
  std::vector<FoundSection> sections_;
};

}  // namespace

bool is_pe(std::span<const uint8_t> bytes) {
  return bytes.size() > 0x40 && bytes[0] == 'M' && bytes[1] == 'Z';
}

void mutate_pe(std::vector<uint8_t>& bytes, FuzzRandom& random) {
  PeMutation(bytes, random).apply();
}

}  // namespace respike
