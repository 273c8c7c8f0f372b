#pragma once
// Small images of Windows NT for Alpha, made in memory.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "container_testing.h"
#include "optimizer/base/bytes.h"
#include "optimizer/image/pe/base_relocations.h"

namespace respike {

struct PeOptions {
  bool high = false;  // HIGH instead of HIGHADJ
  uint16_t machine = 0x184;
  uint16_t subsystem = 3;
  bool base_relocations = true;
  bool managed = false;
  bool certificate = false;
  uint32_t handler = 0;    // of the first procedure
  uint64_t scope_end = 0;  // the end of the only record in its scope table; 0: no table
  uint64_t end_flags = 0;  // of the last entry of the function table
  bool symbols = true;
  bool wide = false;            // machine 0x284, PE32+
  bool data_half = false;       // a base relocation of half an address is in data
  bool tails = false;           // other data follows the function table and the base relocations
  bool padded = false;          // zeros follow the function table, and the directory counts them
  bool second_table = false;    // the data are also named .pdata
  bool changed_code = false;    // the system changes instructions
  uint32_t alignment = 0x2000;  // of sections
  bool adds = false;            // the half of an address is added to, rather than used
  bool loops = false;           // the first case of the jump table leads back to the jump
};

/// The image's addresses.
struct PeAddresses {
  static constexpr uint64_t kBase = 0x400000;
  static constexpr uint64_t kText = kBase + 0x2000, kData = kBase + 0x4000, kTable = kBase + 0x6000,
                            kExports = kBase + 0x8000, kRelocations = kBase + 0xa000;
  // Procedures.
  static constexpr uint64_t kMain = kText, kChoose = kText + 0x40, kLeaf = kText + 0x80;
  // Data: a pointer to a procedure, a jump table, a variable.
  static constexpr uint64_t kPointer = kData, kJumps = kData + 8, kVariable = kData + 0x20,
                            kScopes = kData + 0x40;
};

class PeFile : private PeAddresses {
 public:
  explicit PeFile(const PeOptions& options) : options_(options) {
    write_code();
    write_data();
    write_function_table();
    write_exports();
    write_base_relocations();
    if (options_.padded) table_.resize(table_.size() + 100);
    if (options_.tails)
      for (auto* table : {&table_, &relocations_}) table->resize(table->size() + 4, 0xee);
  }

  std::vector<uint8_t> bytes() {
    constexpr uint32_t kHeaders = 0x400, kAlignment = 0x200;
    struct Part {
      const char* name;
      uint64_t address;
      std::vector<uint8_t>* contents;
      uint32_t flags;
    };
    const Part parts[] = {{".text", kText, &text_, 0x60000020},
                          {options_.second_table ? ".pdata" : ".rdata", kData, &data_, 0x40000040},
                          {".pdata", kTable, &table_, 0x40000040},
                          {".edata", kExports, &exports_, 0x40000040},
                          {".reloc", kRelocations, &relocations_, 0x42000040}};
    std::vector<uint8_t> file(kHeaders);
    file[0] = 'M', file[1] = 'Z';
    constexpr size_t kSignature = 0x80, kCoff = kSignature + 4, kOptional = kCoff + 20;
    const size_t directories = kOptional + (options_.wide ? 112 : 96), sections = directories + 128;
    put(file, 0x3c, uint32_t{kSignature});
    put(file, kSignature, uint32_t{0x4550});
    put(file, kCoff, options_.wide ? uint16_t{0x284} : options_.machine);
    put(file, kCoff + 2, uint16_t{5});
    put(file, kCoff + 16, static_cast<uint16_t>(sections - kOptional));
    put(file, kCoff + 18, static_cast<uint16_t>(0x10e | (options_.base_relocations ? 0 : 1)));
    put(file, kOptional, static_cast<uint16_t>(options_.wide ? 0x20b : 0x10b));
    put(file, kOptional + 16, static_cast<uint32_t>(kMain - kBase));
    put(file, kOptional + (options_.wide ? 24 : 28), static_cast<uint32_t>(kBase));
    put(file, kOptional + 32, options_.alignment);
    put(file, kOptional + 36, kAlignment);
    put(file, kOptional + 56, uint32_t{0xc000});
    put(file, kOptional + 60, kHeaders);
    put(file, kOptional + 64, uint32_t{1});  // a checksum
    put(file, kOptional + 68, options_.subsystem);
    put(file, directories - 4, uint32_t{16});
    const auto directory = [&](size_t number, uint64_t address, size_t size) {
      put(file, directories + 8 * number, static_cast<uint32_t>(address - kBase));
      put(file, directories + 8 * number + 4, static_cast<uint32_t>(size));
    };
    directory(0, kExports, exports_.size());
    const size_t tail = options_.tails ? 4 : 0;
    directory(3, kTable, table_.size() - tail);
    if (options_.base_relocations) directory(5, kRelocations, relocations_.size() - tail);
    if (options_.changed_code) directory(7, kData, 16);
    if (options_.managed) directory(14, kData, 72);
    if (options_.certificate) directory(4, kBase + 0x100000, 16);
    size_t header = sections;
    for (const Part& part : parts) {
      const std::string_view name = part.name;
      std::copy(name.begin(), name.end(), file.begin() + static_cast<ptrdiff_t>(header));
      put(file, header + 8, static_cast<uint32_t>(part.contents->size()));
      put(file, header + 12, static_cast<uint32_t>(part.address - kBase));
      put(file, header + 16, static_cast<uint32_t>(align_up(part.contents->size(), kAlignment)));
      put(file, header + 20, static_cast<uint32_t>(file.size()));
      put(file, header + 36, part.flags);
      file.insert(file.end(), part.contents->begin(), part.contents->end());
      file.resize(align_up(file.size(), kAlignment));
      header += 40;
    }
    if (options_.symbols) add_symbols(file, kCoff);
    return file;
  }

 private:
  void code(uint64_t address, std::initializer_list<uint32_t> words) {
    put_words(text_, address - kText, words);
  }

  uint32_t high(uint64_t place, uint32_t word, uint64_t address) {
    base_relocations_.push_back({static_cast<uint32_t>(place - kBase),
                                 options_.high ? pe::kHigh : pe::kHighAdjusted,
                                 static_cast<uint16_t>(options_.high ? 0 : address)});
    return word | ((address + 0x8000) >> 16 & 0xffff);
  }
  static uint32_t low(uint32_t word, uint64_t address) { return word | (address & 0xffff); }
  static uint32_t call(uint64_t place, uint64_t target) {
    return 0xd3400000 | ((target - place - 4) >> 2 & 0x1fffff);
  }

  /// main calls `choose`, and `leaf` through its address; choose jumps by a table.
  void write_code() {
    for (size_t at = 0; at < 0x80; at += 4) put(text_, at, uint32_t{0x2ffe0000});  // unop
    code(kMain, {0x23defff0,                                                       // lda sp,-16(sp)
                 0xb75e0000,                                                       // stq ra,0(sp)
                 high(kMain + 8, 0x243f0000, kLeaf),                               // ldah t0,(zero)
                 options_.adds ? 0x40220401                                        // addq t0,t1,t0
                               : low(0x20210000, kLeaf),                           // lda t0,(t0)
                 0x6b410000,                                                       // jsr ra,(t0)
                 0x47ff0410,                                                       // clr a0
                 call(kMain + 24, kChoose),                                        // bsr ra,choose
                 0xa75e0000,                                                       // ldq ra,0(sp)
                 0x23de0010,                                                       // lda sp,16(sp)
                 0x6bfa8001});                                                     // ret
    code(kChoose, {high(kChoose, 0x243f0000, kJumps),                              // ldah t0,(zero)
                   low(0x20210000, kJumps),                                        // lda t0,(t0)
                   0x42010441,    // s4addq a0,t0,t0
                   0xa0210000,    // ldl t0,0(t0)
                   0x6be10000,    // jmp (t0)
                   0x201f0007,    // lda v0,7(zero)
                   0x6bfa8001,    // ret
                   0x201f0009,    // lda v0,9(zero)
                   0x6bfa8001});  // ret
    if (options_.loops)
      code(kChoose + 8, {0x42010442,                  // s4addq a0,t0,t1
                         0xa0420000,                  // ldl t1,0(t1)
                         0x6be20000,                  // jmp (t1)
                         0x221f0001,                  // lda a0,1(zero)
                         0xc3fffffb});                // br choose + 8
    code(kLeaf, {high(kLeaf, 0x243f0000, kVariable),  // ldah t0,(zero)
                 low(0xa0010000, kVariable),          // ldl v0,(t0)
                 0x6bfa8001});                        // ret
  }

  void word(std::vector<uint8_t>& bytes, uint64_t start, uint64_t address, uint64_t value,
            bool wide = false) {
    put(bytes, address - start, static_cast<uint32_t>(value));
    if (wide) put(bytes, address - start + 4, uint32_t{0});
    if (value != 0)
      base_relocations_.push_back(
          {static_cast<uint32_t>(address - kBase), wide ? pe::kAddress64 : pe::kHighLow, 0});
  }

  void write_data() {
    data_.resize(options_.scope_end == 0 ? 0x40 : 0x80);
    word(data_, kData, kPointer, kLeaf, options_.wide);
    word(data_, kData, kJumps, kChoose + 20);
    word(data_, kData, kJumps + 4, kChoose + 28);
    store(&data_[kVariable - kData], uint32_t{42});
    if (options_.scope_end == 0) return;
    store(&data_[kScopes - kData], uint32_t{1});
    const uint64_t record[] = {kMain + 8, options_.scope_end, kLeaf, kMain + 32};
    uint64_t address = kScopes;
    for (const uint64_t value : record)
      word(data_, kData, address += options_.wide ? 8 : 4, value, options_.wide);
  }

  void write_function_table() {
    const uint64_t entries[] = {kMain,
                                kMain + 40,
                                options_.handler,
                                options_.scope_end == 0 ? 0 : kScopes,
                                kMain + 8,
                                kChoose,
                                kChoose + 36 + options_.end_flags,
                                0,
                                0,
                                kChoose};
    uint64_t address = kTable;
    for (const uint64_t value : entries) {
      word(table_, kTable, address, value, options_.wide);
      address += options_.wide ? 8 : 4;
    }
  }

  void write_exports() {
    const char kNames[] = "small.exe\0choose\0variable";
    exports_.resize(40 + 2 * 4 + 2 * 4 + 2 * 2);
    const auto at = [](size_t offset) { return static_cast<uint32_t>(kExports - kBase + offset); };
    put(exports_, 12, at(60));
    put(exports_, 16, uint32_t{1});
    put(exports_, 20, uint32_t{2});
    put(exports_, 24, uint32_t{2});
    put(exports_, 28, at(40));
    put(exports_, 32, at(48));
    put(exports_, 36, at(56));
    put(exports_, 40, static_cast<uint32_t>(kChoose - kBase));
    put(exports_, 44, static_cast<uint32_t>(kVariable - kBase));
    put(exports_, 48, at(70));
    put(exports_, 52, at(77));
    put(exports_, 56, uint16_t{0});
    put(exports_, 58, uint16_t{1});
    exports_.insert(exports_.end(), kNames, kNames + sizeof kNames);
  }

  void write_base_relocations() {
    if (options_.data_half)
      base_relocations_.push_back({static_cast<uint32_t>(kVariable - kBase), pe::kHigh, 0});
    std::stable_sort(base_relocations_.begin(), base_relocations_.end(),
                     [](const auto& a, const auto& b) { return a.place < b.place; });
    relocations_ = pe::write_base_relocations(base_relocations_);
  }

  /// main and a procedure with a long name.
  static void add_symbols(std::vector<uint8_t>& file, size_t coff) {
    const size_t start = file.size();
    put(file, coff + 8, static_cast<uint32_t>(start));
    put(file, coff + 12, uint32_t{2});
    const auto symbol = [&](size_t at, uint64_t address, uint8_t storage) {
      put(file, at + 8, static_cast<uint32_t>(address - kText));
      put(file, at + 12, uint16_t{1});
      put(file, at + 14, uint16_t{0x20});
      put(file, at + 16, storage);
      put(file, at + 17, uint8_t{0});
    };
    file.resize(start + 36);
    std::copy_n("main", 4, file.begin() + static_cast<ptrdiff_t>(start));
    put(file, start + 18 + 4, uint32_t{4});
    symbol(start, kMain, 2);
    symbol(start + 18, kLeaf, 3);
    const std::string_view name = "leaf_with_a_long_name";
    put(file, start + 36, static_cast<uint32_t>(4 + name.size() + 1));
    file.insert(file.end(), name.begin(), name.end());
    file.push_back(0);
  }

  PeOptions options_;
  std::vector<uint8_t> text_, data_, table_, exports_, relocations_;
  std::vector<pe::BaseRelocation> base_relocations_;
};

inline std::vector<uint8_t> pe_program(const PeOptions& options = {}) {
  return PeFile(options).bytes();
}

}  // namespace respike
