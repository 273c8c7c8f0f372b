// A mutator that knows ECOFF images for Alpha.
//
// As in image_mutator.cc, a mutation chooses its target by meaning: a field of the file's header, a
// section header, a relocation, the symbolic header, an external symbol, an instruction, a word of
// data. Relocations are changed most, since lifting relies on them.
//
// Example: a mutation picks a relocation of .text and makes it one of an upper half.

#include "tests/fuzz/ecoff_mutator.h"

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "optimizer/image/ecoff/records.h"
#include "tests/fuzz/mutation.h"

namespace respike {
namespace {

using namespace ecoff;

struct FoundSection {
  uint64_t header = 0;  // offset in the file
  uint64_t address = 0;
  uint64_t offset = 0;
  uint64_t size = 0;         // in the file
  uint64_t relocations = 0;  // offset in the file
  uint64_t relocation_count = 0;
  bool code = false;
};

class EcoffMutation : MutationBase {
 public:
  using MutationBase::MutationBase;

  void apply() {
    find_sections();
    if (sections_.empty()) return change_bytes(0, bytes_.size());
    switch (random_.below(16)) {
      case 0:
        return change_word(0, sizeof(FileHeader));
      case 1:
        return change_word(sizeof(FileHeader), sizeof(OptionalHeader));
      case 2:
        return change_word(any_section().header + 8, sizeof(SectionRecord) - 8);
      case 3:
        return change_word(symbolic_, sizeof(SymbolicHeader));
      case 4:
      case 5:
        return change_symbol();
      case 6:
      case 7:
      case 8:
      case 9:
      case 10:
        return change_relocation();
      case 11:
      case 12:
        return change_code();
      case 13:
      case 14:
        return change_data();
      default:
        return change_bytes(0, bytes_.size());
    }
  }

 private:
  void find_sections() {
    symbolic_ = get<uint64_t>(offsetof(FileHeader, symbolic_header));
    const uint64_t headers =
        sizeof(FileHeader) + get<uint16_t>(offsetof(FileHeader, optional_header_size));
    const uint64_t count = get<uint16_t>(offsetof(FileHeader, sections));
    for (uint64_t i = 0; i < count; ++i) {
      const uint64_t at = headers + i * sizeof(SectionRecord);
      if (!in_file(at, sizeof(SectionRecord))) return;
      const auto record = load<SectionRecord>(bytes_.data() + at);
      FoundSection section{at,
                           record.address,
                           record.offset,
                           record.size,
                           record.relocations,
                           record.relocation_count,
                           (record.flags & (kText | kInit)) != 0};
      if (!in_file(section.offset, section.size)) section.offset = section.size = 0;
      if (!in_file(section.relocations, section.relocation_count * sizeof(RelocationRecord)))
        section.relocation_count = 0;
      sections_.push_back(section);
    }
  }

  const FoundSection& any_section() { return sections_[random_.below(sections_.size())]; }

  /// Any section for which `wanted` is true, or nullptr.
  template <typename F>
  const FoundSection* pick(F wanted) {
    const FoundSection* result = nullptr;
    uint64_t seen = 0;
    for (const FoundSection& section : sections_)
      if (wanted(section) && random_.one_in(++seen)) result = &section;
    return result;
  }

  uint64_t value_for(uint64_t old) {
    const FoundSection& section = any_section();
    const uint64_t inside = 4 * random_.below(section.size / 4 + 1);
    return MutationBase::value_for(
        old, 64,
        {section.address, section.address + section.size, section.address + inside, section.offset,
         section.size, bytes_.size()});
  }

  /// Changes one number of 2, 4 or 8 bytes in [start, start + length).
  void change_word(uint64_t start, uint64_t length) {
    const unsigned size = 2u << random_.below(3);
    if (length < size || !in_file(start, length)) return;
    const uint64_t at = start + random_.below(length / size) * size;
    put(at, value_for(number(at, size)), size);
  }

  void change_relocation() {
    const FoundSection* section =
        pick([](const FoundSection& found) { return found.relocation_count != 0; });
    if (section == nullptr) return;
    const uint64_t start = section->relocations, count = section->relocation_count,
                   size = sizeof(RelocationRecord);
    if (random_.one_in(4)) return copy_record(start, count * size, size);
    const uint64_t at = start + size * random_.below(count),
                   other = start + size * random_.below(count);
    switch (random_.below(6)) {
      case 0:
        return put(at, value_for(get<uint64_t>(at)), 8);
      case 1:  // the place of another relocation
        return put(at, get<uint64_t>(other) + 4 * random_.below(3), 8);
      case 2:
        return put(at + offsetof(RelocationRecord, symbol),
                   random_.below(random_.one_in(2) ? 24 : count), 4);
      case 3:
        return put(at + offsetof(RelocationRecord, type), random_.below(24), 1);
      case 4:
        return put(at + offsetof(RelocationRecord, external_and_offset), random_.next(), 1);
      default:
        return put(at + offsetof(RelocationRecord, size), random_.next(), 1);
    }
  }

  void change_symbol() {
    if (!in_file(symbolic_, sizeof(SymbolicHeader))) return;
    const auto header = load<SymbolicHeader>(bytes_.data() + symbolic_);
    const uint64_t size = sizeof(ExternalSymbol), length = header.external_count * size;
    if (length == 0 || !in_file(header.externals, length)) return;
    if (random_.one_in(4)) return copy_record(header.externals, length, size);
    change_word(header.externals + size * random_.below(header.external_count), size);
  }

  void change_code() {
    const FoundSection* code =
        pick([](const FoundSection& found) { return found.code && found.size >= 4; });
    if (code == nullptr) return;
    const uint64_t words = code->size / 4, at = random_.below(words);
    if (random_.one_in(2)) {  // a run of words from elsewhere
      const uint64_t from = random_.below(words);
      const uint64_t count = std::min(words - std::max(at, from), 1 + random_.below(64));
      std::memmove(&bytes_[code->offset + 4 * at], &bytes_[code->offset + 4 * from], 4 * count);
      return;
    }
    const auto branch = static_cast<uint32_t>(random_.below(2 * words) - words) & 0x1fffff;
    const auto a = static_cast<uint32_t>(random_.below(32));
    const uint32_t kinds[] = {0xc3e00000 | branch,            // br
                              0xd3400000 | branch,            // bsr ra
                              0xe4000000 | a << 21 | branch,  // beq
                              0x6be00000 | a << 16,           // jmp
                              0x6b5b4000,                     // jsr ra, (t12)
                              0x6bfa8001,                     // ret
                              0x27bb0000,                     // ldah gp, (t12)
                              0x2ffe0000,                     // unop
                              static_cast<uint32_t>(random_.next())};
    put(code->offset + 4 * at, kinds[random_.below(std::size(kinds))], 4);
  }

  void change_data() {
    if (const FoundSection* data =
            pick([](const FoundSection& found) { return !found.code && found.size >= 8; }))
      change_word(data->offset, data->size);
  }

  uint64_t symbolic_ = 0;
  std::vector<FoundSection> sections_;
};

}  // namespace

bool is_ecoff(std::span<const uint8_t> bytes) {
  return bytes.size() > sizeof(FileHeader) && load<uint16_t>(bytes.data()) == kAlpha;
}

void mutate_ecoff(std::vector<uint8_t>& bytes, FuzzRandom& random) {
  EcoffMutation(bytes, random).apply();
}

}  // namespace respike
