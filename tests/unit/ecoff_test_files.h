#pragma once
// Small static images in ECOFF for Alpha, made in memory.

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "container_testing.h"
#include "optimizer/base/bytes.h"
#include "optimizer/image/ecoff/records.h"

namespace respike {

struct EcoffOptions {
  uint16_t magic = ecoff::kAlpha;
  uint16_t flags = ecoff::kLinked | ecoff::kNotShared;
  uint16_t kind = ecoff::kDemandLoaded;
  bool relocations = true;
  bool types = true;     // symbols have types and classes, else the types and classes of objcopy
  bool pdata = false;    // there is a table of procedures
  bool comment = false;  // there is a section .comment, and a local symbol
  uint64_t data_start = 0x140000000;
  uint32_t operation = 0;  // the type of the relocation of the pointer, when not REFQUAD
};

/// The image's addresses.
struct EcoffAddresses {
  static constexpr uint64_t kText = 0x120000400, kRdata = 0x120000500, kData = 0x140000000,
                            kLita = 0x140000020, kBss = 0x140000040, kGp = kLita + 0x8000;
  // Procedures. main's entry is the image's.
  static constexpr uint64_t kMain = kText, kChoose = kText + 0x40, kLeaf = kText + 0x80;
  // Data: a jump table, a pointer to a procedure, a variable.
  static constexpr uint64_t kJumps = kRdata, kPointer = kData, kVariable = kData + 8;
};

class EcoffFile : private EcoffAddresses {
 public:
  explicit EcoffFile(const EcoffOptions& options) : options_(options) {
    write_code();
    write_data();
  }

  std::vector<uint8_t> bytes() {
    using namespace ecoff;
    const auto offset_of = [](uint64_t address) {
      return address >= kData ? address - kData + kPage : address - 0x120000000;
    };
    std::vector<SectionRecord> sections;
    const auto section = [&](std::string_view name, uint64_t address, uint64_t size,
                             uint32_t flags) {
      SectionRecord& record = sections.emplace_back();
      std::memcpy(record.name, name.data(), name.size());
      record.address = address;
      record.physical_address = address;
      record.size = size;
      record.offset = (flags & kZero) != 0 ? 0 : offset_of(address);
      record.flags = flags;
    };
    section(".text", kText, text_.size(), kText_);
    section(".rdata", kRdata, rdata_.size(), 0x100);
    section(".data", kData, data_.size(), 0x40);
    section(".lita", kLita, lita_.size(), 0x4000000);
    section(".bss", kBss, 0x40, kZero);
    if (options_.pdata) section(".pdata", kRdata + 0x80, 8, kProcedureTable);
    file_.assign(2 * kPage, 0);
    if (options_.comment) {
      section(".comment", 0, 16, kComment);
      sections.back().offset = file_.size();
      file_.resize(file_.size() + 16, 0x55);
    }
    const auto copy = [&](uint64_t address, const std::vector<uint8_t>& contents) {
      std::memcpy(&file_[offset_of(address)], contents.data(), contents.size());
    };
    copy(kText, text_);
    copy(kRdata, rdata_);
    copy(kData, data_);
    copy(kLita, lita_);
    if (options_.relocations) {
      place(sections[0], of_text_);
      place(sections[1], of_rdata_);
      place(sections[2], of_data_);
    }
    const uint64_t symbols = add_symbols();

    FileHeader header{};
    header.magic = options_.magic;
    header.sections = static_cast<uint16_t>(sections.size());
    header.symbolic_header = symbols;
    header.symbolic_header_size = sizeof(SymbolicHeader);
    header.optional_header_size = sizeof(OptionalHeader);
    header.flags = options_.flags;
    std::memcpy(file_.data(), &header, sizeof header);
    OptionalHeader optional{};
    optional.kind = options_.kind;
    optional.text_size = kPage;
    optional.data_size = kPage;
    optional.entry = kMain;
    optional.text_start = 0x120000000;
    optional.data_start = options_.data_start;
    optional.zero_start = kData + kPage;
    std::memcpy(&file_[sizeof header], &optional, sizeof optional);
    std::memcpy(&file_[sizeof header + sizeof optional], sections.data(),
                sections.size() * sizeof sections[0]);
    return file_;
  }

 private:
  static constexpr uint32_t kText_ = 0x20;
  // Numbers of external symbols.
  enum : uint32_t { kMainSymbol, kLeafSymbol, kVariableSymbol };

  void code(uint64_t address, std::initializer_list<uint32_t> words) {
    put_words(text_, address - kText, words);
  }

  static void relocation(std::vector<ecoff::RelocationRecord>& to, uint64_t address, uint8_t type,
                         uint32_t symbol, bool external) {
    ecoff::RelocationRecord& record = to.emplace_back();
    record.address = address;
    record.type = type;
    record.symbol = symbol;
    record.external_and_offset = external ? 1 : 0;
    record.reserved = record.size = 0;
  }
  void of_text(uint64_t address, uint8_t type, uint32_t symbol, bool external = true) {
    relocation(of_text_, address, type, symbol, external);
  }

  /// The two instructions that compute gp from `anchor` in the base register of `high`.
  std::pair<uint32_t, uint32_t> gp_load(uint64_t place, uint32_t high, uint64_t anchor) {
    const auto distance = static_cast<int64_t>(kGp - anchor);
    of_text(place, 6, 4, false);
    return {high | ((distance + 0x8000) >> 16 & 0xffff), 0x23bd0000 | (distance & 0xffff)};
  }
  static uint32_t at_gp(uint32_t word, uint64_t address) {
    return word | ((address - kGp) & 0xffff);
  }

  /// main calls `choose`, and `leaf` through its address; choose jumps by a table.
  void write_code() {
    for (size_t at = 0; at < 0xa0; at += 4) put(text_, at, uint32_t{0x2ffe0000});  // unop
    const auto [high, low] = gp_load(kMain, 0x27bb0000, kMain);                    // by t12
    const auto [again, again_low] = gp_load(kMain + 24, 0x27ba0000, kMain + 24);   // by ra
    of_text(kMain + 16, 4, kLeafSymbol);
    of_text(kMain + 20, 5, 3, false);
    of_text(kMain + 20, 8, kLeafSymbol);
    code(kMain, {high, low,
                 0x23defff0,                // lda sp,-16(sp)
                 0xb75e0000,                // stq ra,0(sp)
                 at_gp(0xa77d0000, kLita),  // ldq t12,leaf(gp)
                 0x6b5b4000,                // jsr ra,(t12)
                 again, again_low,
                 0xd3400000 | ((kChoose + 8 - (kMain + 36)) >> 2 & 0x1fffff),  // bsr ra,choose
                 0xa75e0000,                                                   // ldq ra,0(sp)
                 0x23de0010,                                                   // lda sp,16(sp)
                 0x6bfa8001});                                                 // ret
    of_text(kMain + 32, 7, 1, false);
    const auto [choose_high, choose_low] = gp_load(kChoose, 0x27bb0000, kChoose);
    of_text(kChoose + 8, 4, 2, false);
    code(kChoose, {choose_high, choose_low, at_gp(0xa43d0000, kLita + 8),  // ldq t0,table(gp)
                   0x42010441,                                             // s4addq a0,t0,t0
                   0xa0210000,                                             // ldl t0,0(t0)
                   0x43a10401,                                             // addq gp,t0,t0
                   0x6be10000,                                             // jmp (t0)
                   0x201f0007,                                             // lda v0,7(zero)
                   0x6bfa8001,                                             // ret
                   0x201f0009,                                             // lda v0,9(zero)
                   0x6bfa8001});                                           // ret
    code(kLeaf, {0x201f0001, 0x6bfa8001});                                 // lda v0,1(zero); ret
  }

  void write_data() {
    rdata_.resize(0x60);
    for (const uint64_t entry : {uint64_t{0}, uint64_t{1}}) {
      put(rdata_, 4 * entry, static_cast<uint32_t>(kChoose + 28 + 8 * entry - kGp));
      relocation(of_rdata_, kJumps + 4 * entry, 3, 1, false);
    }
    data_.resize(0x20);
    put(data_, 0, kLeaf);
    relocation(of_data_, kPointer, options_.operation == 0 ? 2 : uint8_t(options_.operation), 1,
               false);
    put(data_, 8, uint64_t{42});
    put(lita_, 0, kLeaf);
    put(lita_, 8, kJumps);
  }

  void place(ecoff::SectionRecord& section,
             const std::vector<ecoff::RelocationRecord>& relocations) {
    section.relocations = file_.size();
    section.relocation_count = static_cast<uint16_t>(relocations.size());
    for (const auto& record : relocations) append(record);
  }

  template <typename Record>
  void append(const Record& record) {
    const auto* bytes = reinterpret_cast<const uint8_t*>(&record);
    file_.insert(file_.end(), bytes, bytes + sizeof record);
  }

  uint64_t add_symbols() {
    using namespace ecoff;
    const char kNames[] = "main\0leaf_with_a_long_name\0variable";
    const uint64_t start = file_.size();
    SymbolicHeader header{};
    header.magic = kSymbolicMagic;
    header.external_names_size = sizeof kNames;
    header.external_names = start + sizeof header;
    header.external_count = 3;
    header.externals = header.external_names + sizeof kNames;
    if (options_.comment) header.local_count = 1;
    append(header);
    file_.insert(file_.end(), kNames, kNames + sizeof kNames);
    const auto symbol = [&](uint64_t value, uint32_t name, unsigned type, unsigned storage) {
      ExternalSymbol record{};
      if (!options_.types) type = kGlobal, storage = kClassAbsolute;
      record.value = value;
      record.name = name;
      record.bits = type | storage << kClassShift | kNoIndex << kIndexShift;
      record.file = kNoFile;
      append(record);
    };
    symbol(kMain, 0, kProcedure, kClassText);
    symbol(kLeaf, 5, kStaticProcedure, kClassText);
    symbol(kVariable, 27, kGlobal, 2);
    return start;
  }

  EcoffOptions options_;
  std::vector<uint8_t> text_, rdata_, data_, lita_, file_;
  std::vector<ecoff::RelocationRecord> of_text_, of_rdata_, of_data_;
};

inline std::vector<uint8_t> ecoff_program(const EcoffOptions& options = {}) {
  return EcoffFile(options).bytes();
}

}  // namespace respike
