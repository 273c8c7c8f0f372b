// Which format of unwind tables an image uses, and which sections its writer gives.

#include <gtest/gtest.h>

#include "optimizer/unwind/unwind.h"
#include "tests/unit/unwind_testing.h"

namespace respike {
namespace {

using namespace unwind_testing;

/// An image of the named sections: ".text" has 64 KB, others 64 bytes.
struct Sections {
  explicit Sections(std::initializer_list<const char*> names, bool has_region_table = false) {
    image.sections.emplace_back();
    uint64_t address = kText;
    for (const char* name : names) {
      const auto contents = std::span<const uint8_t>(zeros).first(
          std::string_view(name) == ".text" ? zeros.size() : size_t{64});
      TestImage::add(image, name, address, contents);
      address += 0x10000;
    }
    image.file = zeros;
    image.segments.push_back({.kind = Segment::Kind::loaded,
                              .rights = Segment::kExecutable,
                              .address = kText,
                              .file_size = zeros.size(),
                              .memory_size = zeros.size()});
    if (has_region_table)
      image.segments.push_back({.kind = Segment::Kind::unwind_table,
                                .address = kText + 0x1000,
                                .file_size = 0,
                                .memory_size = 0});
    image.index_sections();
  }

  Bytes zeros = Bytes(0x10000);
  Image image;
};

/// A table with one state of one CIE, whose FDEs have LSDAs.
UnwindTables one_state() {
  UnwindTables tables;
  Cie cie;
  cie.augmentation = "zRL";
  cie.code_alignment = 4;
  cie.data_alignment = -8;
  cie.return_register = 26;
  cie.address_encoding = cie.lsda_encoding = 0x1b;
  tables.cies.push_back(cie);
  CfiState state;
  state.cfa_register = 12;
  tables.states.push_back(state);
  tables.lsdas.emplace_back();
  return tables;
}

/// The sections that the writer of the image's format gives, with their addresses.
std::string written(const Image& image, const UnwindTables& tables, const UnwindRange& range) {
  std::string text;
  for (const NewUnwindTable& table :
       unwind_format_of(image)->write({image, tables, std::span(&range, 1), kText + 0x100000}))
    text += fmt::format("{}{} +{:x} {}", text.empty() ? "" : ", ",
                        table.section != nullptr ? table.section->name : table.name,
                        table.address - kText, table.contents.empty() ? "empty" : "filled");
  return text;
}

TEST(UnwindFormats, AreChosenByWhatTheImageHolds) {
  const Sections none({".text"}), frames({".text", ".eh_frame"}), regions({".text"}, true),
      both({".text", ".eh_frame"}, true);
  EXPECT_EQ(unwind_format_of(none.image), nullptr);
  ASSERT_NE(unwind_format_of(frames.image), nullptr);
  ASSERT_NE(unwind_format_of(regions.image), nullptr);
  EXPECT_NE(unwind_format_of(frames.image), unwind_format_of(regions.image));
  EXPECT_EQ(unwind_format_of(both.image), unwind_format_of(regions.image));
  EXPECT_TRUE(read_unwind(none.image).fdes.empty());
}

TEST(UnwindFormats, SayHowReturnAddressesAreLookedUp) {
  EXPECT_FALSE(looks_up_return_addresses(Sections({".text"}).image));
  EXPECT_FALSE(looks_up_return_addresses(Sections({".text", ".eh_frame"}).image));
  EXPECT_TRUE(looks_up_return_addresses(Sections({".text"}, true).image));
  EXPECT_EQ(ReturnRegions(Sections({".text"}, true).image).start_of(kText), std::nullopt);
}

TEST(UnwindFormats, OwnTheirSections) {
  for (const char* name :
       {".eh_frame", ".eh_frame_hdr", ".gcc_except_table", ".IA_64.unwind", ".IA_64.unwind_info"})
    EXPECT_TRUE(is_unwind_section(name)) << name;
  for (const char* name : {"", ".text", ".eh_frame_entry", ".unwinder"})
    EXPECT_FALSE(is_unwind_section(name)) << name;
}

/// Each section that there is gets new contents; exception tables without a section get one.
TEST(UnwindFormats, WriteTheSectionsThatThereAre) {
  const UnwindTables tables = one_state();
  const UnwindRange plain{.start = kText, .end = kText + 8, .owner = 1, .state = 0};
  UnwindRange caught = plain;
  caught.lsda = 0;
  const Sections frames({".text", ".eh_frame"});
  EXPECT_EQ(written(frames.image, tables, plain), ".eh_frame +100000 filled");
  EXPECT_EQ(written(frames.image, tables, caught),
            ".eh_frame +100000 filled, .gcc_except_table.respike +100030 filled");
  EXPECT_EQ(written(frames.image, UnwindTables{}, UnwindRange{}), "");
  const Sections all({".text", ".eh_frame", ".gcc_except_table", ".eh_frame_hdr"});
  EXPECT_EQ(written(all.image, tables, plain),
            ".eh_frame +100000 filled, .eh_frame_hdr +100030 filled");
  EXPECT_EQ(written(all.image, tables, caught),
            ".eh_frame +100000 filled, .gcc_except_table +100030 filled, "
            ".eh_frame_hdr +100040 filled");
}

}  // namespace
}  // namespace respike
