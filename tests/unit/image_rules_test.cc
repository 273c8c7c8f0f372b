// Each rule of loaders and unwinders finds an image that breaks the rule, and good images break
// none.

#include "optimizer/check/broken_rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "elf_test_files.h"
#include "optimizer/base/bytes.h"
#include "optimizer/image/image_rules.h"
#include "optimizer/pipeline.h"
#include "optimizer/replay/rewritten.h"
#include "optimizer/unwind/unwind.h"

namespace respike {
namespace {

namespace ELF {  // numbers of the gABI
constexpr uint32_t PT_LOAD = 1, PT_DYNAMIC = 2, PT_INTERP = 3, PT_NOTE = 4, PT_PHDR = 6,
                   PT_GNU_RELRO = 0x6474e552;
constexpr uint32_t SHT_HASH = 5, SHT_GNU_HASH = 0x6ffffff6, SHT_GNU_versym = 0x6fffffff;
constexpr int64_t DT_STRTAB = 5, DT_SYMTAB = 6, DT_RELASZ = 8, DT_SYMENT = 11,
                  DT_GNU_HASH = 0x6ffffef5;
}  // namespace ELF
using Bytes = std::vector<uint8_t>;

// ---- Damaging an image

/// An image in memory and its bytes; tests damage both.
struct Patient {
  explicit Patient(const std::filesystem::path& path) : Patient(bytes_of(path)) {}
  explicit Patient(Bytes b) : bytes(std::move(b)), image(view_image(bytes, "image")) {}

  Segment& segment(uint32_t type) {
    return *std::ranges::find(image.segments, type, [](const auto& s) { return s.raw.type; });
  }
  Section& section(uint32_t type) {
    return *std::ranges::find(image.sections, type, [](const auto& s) { return s.raw.type; });
  }
  Section& section(std::string_view name) {
    return *std::ranges::find(image.sections, name, &Section::name);
  }
  uint64_t& dynamic(int64_t tag) {
    return std::ranges::find(image.loader_entries, tag, &LoaderEntry::raw)->value;
  }
  uint8_t* contents(const Section& section) { return &bytes[section.offset]; }

  Bytes bytes;
  Image image;
};

struct Damage {
  const char* rule;
  std::function<void(Patient&)> make;
};

const Damage kDamages[] = {
    {"first_headers",
     [](Patient& p) { std::ranges::rotate(p.image.segments, p.image.segments.begin() + 1); }},
    {"loaded_program_headers", [](Patient& p) { p.segment(ELF::PT_PHDR).address += 8; }},
    {"interpreter_name", [](Patient& p) { p.segment(ELF::PT_INTERP).file_size -= 1; }},
    {"segments_on_pages_of_their_own",
     [](Patient& p) {
       const Segment* before = nullptr;
       for (Segment& segment : p.image.segments) {
         if (!segment.loaded()) continue;
         if (before != nullptr) segment.address = before->address + before->memory_size;
         before = &segment;
       }
     }},
    {"described_bytes_are_loaded", [](Patient& p) { p.segment(ELF::PT_DYNAMIC).offset += 8; }},
    {"relocated_memory_is_writable",
     [](Patient& p) { p.segment(ELF::PT_GNU_RELRO).address = p.segment(ELF::PT_LOAD).address; }},
    {"whole_notes", [](Patient& p) { p.segment(ELF::PT_NOTE).file_size -= 4; }},
    {"names_behind_symbols",
     [](Patient& p) { p.dynamic(ELF::DT_STRTAB) = p.dynamic(ELF::DT_SYMTAB) - 8; }},
    {"names_behind_symbols",
     [](Patient& p) { p.dynamic(ELF::DT_STRTAB) = p.dynamic(ELF::DT_SYMTAB) + 24; }},
    {"hash_counts_symbols",
     [](Patient& p) {
       const Section& hash = p.section(ELF::SHT_HASH);
       p.contents(hash)[hash.raw.entry_size] += 1;
     }},
    {"symbols_are_found",  // the Bloom filter knows no name
     [](Patient& p) {
       constexpr size_t kWords = 8, kFilter = 16;
       uint8_t* table = p.contents(p.section(ELF::SHT_GNU_HASH));
       std::fill_n(table + kFilter, 8 * load<uint32_t>(table + kWords), uint8_t{0});
     }},
    {"symbols_are_found",  // no chain leads to a symbol
     [](Patient& p) {
       const Section& hash = p.section(ELF::SHT_HASH);
       const uint64_t entry = hash.raw.entry_size;
       std::fill(p.contents(hash) + 2 * entry, p.contents(hash) + hash.size, uint8_t{0});
     }},
    {"every_symbol_has_a_version", [](Patient& p) { p.section(ELF::SHT_GNU_versym).size += 2; }},
    {"dynamic_entries_lead_to_sections", [](Patient& p) { p.dynamic(ELF::DT_GNU_HASH) += 8; }},
    {"dynamic_tables_are_loaded", [](Patient& p) { p.dynamic(ELF::DT_RELASZ) = 1 << 30; }},
    {"sizes_of_entries", [](Patient& p) { p.dynamic(ELF::DT_SYMENT) = 16; }},
    {"relative_relocations_first",
     [](Patient& p) { p.image.dynamic_relocations.front().relocations.front().symbol = 1; }},
    {"frames_are_terminated",
     [](Patient& p) {
       Section& frames = p.section(".eh_frame");
       frames.contents = frames.contents.first(frames.contents.size() - 4);
     }},
    {"cie_rules_are_not_restored",
     [](Patient& p) {
       // A CIE says that the CFA is r30 and that r26 is at CFA - 8; an FDE restores r26.
       static std::vector<uint8_t> frames = {
           20, 0,    0,  0, 0,  0,    0,    0, 1,    'z', 'R', 0,
           4,  0x78, 26, 1, 27, 0x0c, 30,   0, 0x9a, 1,   0,   0,  // the end of the CIE
           16, 0,    0,  0, 28, 0,    0,    0, 0,    0,   0,   0,
           8,  0,    0,  0, 0,  0x41, 0xda, 0, 0,    0,   0,   0};
       Section& section = p.section(".eh_frame");
       constexpr unsigned kStart = 32;  // where the FDE says which code it describes
       store(&frames[kStart],
             static_cast<uint32_t>(p.section(".text").address - section.address - kStart));
       section.contents = frames;
     }},
    {"frame_table_is_sorted",
     [](Patient& p) {
       uint8_t* table = p.contents(p.section(".eh_frame_hdr")) + 12;
       std::swap_ranges(table, table + 8, table + 8);
     }},
};

std::filesystem::path program() {
  return compile("rules.c", kHello, "-fPIE -pie -rdynamic -Wl,--hash-style=both", "rules.pie");
}

std::vector<ImageRule> all_rules(const Image& image) {
  const auto loaders = loader_rules(image);
  std::vector<ImageRule> rules(loaders.begin(), loaders.end());
  for (const UnwindFormat* format : unwind_formats())
    rules.insert(rules.end(), format->rules().begin(), format->rules().end());
  return rules;
}

std::optional<std::string> violation_of(std::string_view name, const Image& image) {
  for (const ImageRule& rule : all_rules(image))
    if (rule.name == name) return rule.violation(image);
  ADD_FAILURE() << "there is no rule " << name;
  return std::nullopt;
}

TEST(ImageRules, SeeEachDamage) {
  const Patient good(program());
  for (const Damage& damage : kDamages) {
    SCOPED_TRACE(damage.rule);
    EXPECT_EQ(violation_of(damage.rule, good.image), std::nullopt);
    Patient patient(program());
    damage.make(patient);
    EXPECT_TRUE(violation_of(damage.rule, patient.image));
    const auto told = find_broken_rule(good.image, patient.image);
    ASSERT_TRUE(told);
    EXPECT_FALSE(told->ends_with('.')) << *told;
    EXPECT_EQ(find_broken_rule(patient.image, patient.image), std::nullopt) << "so was the input";
  }
}

TEST(ImageRules, AreAllTested) {
  for (const ImageRule& rule : all_rules(read_image(program())))
    EXPECT_TRUE(std::string_view(rule.name) == "regions_are_sorted" ||
                std::ranges::any_of(kDamages,
                                    [&](const Damage& damage) {
                                      return std::string_view(damage.rule) == rule.name;
                                    }))
        << rule.name;
}

TEST(ImageRules, HoldInInputsAndOutputs) {
  for (const auto& path : {program(), static_program(), dynamic_program(), throwing_program()}) {
    SCOPED_TRACE(path);
    const Image input = read_image(path);
    OptimizeOptions options;
    options.order = OptimizeOptions::Order::random;
    Diagnostics diagnostics;
    const Bytes bytes = optimize(input, options, diagnostics).bytes;
    const Image output = view_image(bytes, "output");
    for (const Image* image : {&input, &output})
      for (const ImageRule& rule : all_rules(*image))
        EXPECT_EQ(rule.violation(*image), std::nullopt);
  }
}

// ---- Outputs of a rewriter that moved symbols without their names

/// `verify` also checks the rules.
TEST(ImageRules, AreLookedAtWhenImagesAreCompared) {
  const auto path = compile("few.c", "int base = 40; int answer(int n) { return base + n; }",
                            "-fPIC -shared -Wl,--build-id=none -Wl,--hash-style=gnu", "libfew.so");
  const Image input = read_image(path);
  Diagnostics diagnostics;
  Bytes bytes = optimize(input, OptimizeOptions{}, diagnostics).bytes;
  const Image good = view_image(bytes, "output");
  EXPECT_EQ(verify_images(input, good, diagnostics), std::nullopt);
  // Puts the section, and the entry that leads to it, back to their places in the input.
  const Section *names = good.section_named(".dynstr"), *symbols = good.section_named(".dynsym");
  const uint64_t old = input.section_named(".dynstr")->address;
  ASSERT_NE(names->address, old) << "nothing moved";
  EXPECT_EQ(names->address - symbols->address, symbols->size);
  const Section* dynamic = good.section_named(".dynamic");
  for (uint64_t at = dynamic->offset; at < dynamic->offset + dynamic->size; at += 16)
    if (load<uint64_t>(&bytes[at]) == ELF::DT_STRTAB) std::memcpy(&bytes[at + 8], &old, 8);
  std::memcpy(&bytes[old], names->contents.data(), names->size);
  const auto headers = load<uint64_t>(&bytes[40]);
  const auto number = static_cast<uint64_t>(names - good.sections.data());
  for (const uint64_t field : {16, 24})  // address, offset
    std::memcpy(&bytes[headers + 64 * number + field], &old, 8);
  const auto told = verify_images(input, view_image(bytes, "bad"), diagnostics);
  ASSERT_TRUE(told);
  EXPECT_NE(told->find("do not come behind the symbols"), std::string::npos) << *told;
}

// ---- Unwind regions

class RegionRules : public testing::Test {
 protected:
  void SetUp() override {
    if (run_command("ia64-linux-gnu-as --version 2>/dev/null").output.empty())
      GTEST_SKIP() << "no binutils for IA-64";
    const TemporaryFolder folder;
    write_text(folder / "x.s", kTwo);
    const std::string command = "cd '" + folder.path().string() +
                                "' && ia64-linux-gnu-as -o x.o x.s 2>/dev/null"
                                " && ia64-linux-gnu-ld -q --build-id -o x x.o && echo done";
    ASSERT_EQ(run_command(command).output, "done\n");
    bytes_ = bytes_of(folder / "x");
    const Image image = view_image(bytes_, "good");
    for (const Segment& segment : image.segments)
      if (segment.unwind_table()) table_ = segment.offset;
    ASSERT_NE(table_, 0u);
  }

  uint64_t word(size_t entry, size_t field) const {
    return load<uint64_t>(&bytes_[table_ + 24 * entry + 8 * field]);
  }
  void set_word(size_t entry, size_t field, uint64_t value) {
    std::memcpy(&bytes_[table_ + 24 * entry + 8 * field], &value, 8);
  }

  /// `caller` ends with a bundle after its call; both procedures have only one state.
  static constexpr const char* kTwo = R"(
	.text
	.global _start#
	.proc _start#
_start:
	.body
{	.mib
	nop.m 0
	nop.i 0
	br.call.sptk.many b0 = other#
	;;
}
{	.mib
	nop.m 0
	mov r8 = r0
	br.ret.sptk.many b0
	;;
}
	.endp _start#
	.global other#
	.proc other#
other:
	.body
	mov r8 = r0
	br.ret.sptk.many b0
	;;
	.endp other#
)";
  Bytes bytes_;
  uint64_t table_ = 0;  // offset in the file
};

TEST_F(RegionRules, OutOfOrder) {
  const Bytes good = bytes_;
  EXPECT_EQ(violation_of("regions_are_sorted", view_image(bytes_, "good")), std::nullopt);
  for (size_t field = 0; field < 3; ++field) {
    const uint64_t first = word(0, field);
    set_word(0, field, word(1, field));
    set_word(1, field, first);
  }
  const auto told = find_broken_rule(view_image(good, "good"), view_image(bytes_, "bad"));
  ASSERT_TRUE(told);
  EXPECT_NE(told->find("out of order"), std::string::npos) << *told;
}

/// The bundle after the call has the same state, but is in the next region.
TEST_F(RegionRules, ReturnAddressInAnotherRegion) {
  const Bytes good = bytes_;
  Diagnostics diagnostics;
  const Image before = view_image(good, "good");
  EXPECT_EQ(verify_images(before, before, diagnostics), std::nullopt);
  ASSERT_EQ(word(0, 1), word(1, 0)) << "the second region follows the first one";
  const uint64_t behind_call = word(0, 0) + 16;
  ASSERT_LT(behind_call, word(0, 1));
  set_word(0, 1, behind_call);
  set_word(1, 0, behind_call);
  const Image after = view_image(bytes_, "bad");
  const auto told = verify_images(before, after, diagnostics);
  ASSERT_TRUE(told);
  EXPECT_NE(told->find("the return address of the call lies outside of the unwind region"),
            std::string::npos)
      << *told;
  EXPECT_EQ(verify_images(after, after, diagnostics), std::nullopt) << "so was the input";
}

}  // namespace
}  // namespace respike
