// Import tables of Windows NT's images: more imports, and the instrumented image that needs them.

#include "optimizer/image/imports.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "instrument/instrument.h"
#include "instrument/runtime/start_code.h"
#include "optimizer/base/bytes.h"
#include "optimizer/image/provenance.h"
#include "pe_test_files.h"

namespace respike {
namespace {

Image read() {
  return read_image(pe_program({}), "small.exe");
}

std::vector<std::string> names_of(const Image& image) {
  std::vector<std::string> names;
  for (const auto& [slot, name] : import_slots(image)) names.emplace_back(name);
  return names;
}

TEST(PeImports, FirstImports) {
  const Image image = read();
  EXPECT_TRUE(import_slots(image).empty());
  constexpr std::string_view kFunctions[] = {"First", "Second"};
  constexpr uint64_t kAddress = PeAddresses::kBase + 0x20000;
  const NewImports imports = add_imports(image, "some.dll", kFunctions, kAddress);
  ASSERT_EQ(imports.slots.size(), 2u);
  EXPECT_EQ(imports.slots[1], imports.slots[0] + 4);
  // The descriptor: names, slots, and the end.
  const auto word = [&](uint64_t at) { return load<uint32_t>(&imports.contents[at]); };
  const auto text = [&](uint64_t place) {
    return std::string(
        reinterpret_cast<const char*>(&imports.contents[place - (kAddress - PeAddresses::kBase)]));
  };
  EXPECT_EQ(text(word(12)), "some.dll");
  EXPECT_EQ(word(16), imports.slots[0] - PeAddresses::kBase);
  EXPECT_EQ(word(20 + 12), 0u);
  EXPECT_EQ(text(word(imports.slots[1] - kAddress) + 2), "Second");
  EXPECT_EQ(word(imports.slots[1] + 4 - kAddress), 0u);
}

/// With addresses of 32 and of 64 bits.
TEST(PeImports, InstrumentedImage) {
  for (const bool wide : {false, true}) {
    PeOptions made;
    made.wide = wide;
    const Image image = read_image(pe_program(made), "small.exe");
    Diagnostics diagnostics;
    InstrumentOptions options;
    options.spool = "/spool";
    options.output = "/small.counting.exe";
    InstrumentResult result;
    try {
      result = instrument(image, options, diagnostics);
    } catch (const Error& error) {
      GTEST_SKIP() << error.what();  // without a cross compiler
    }
    const Image counting = read_image(result.bytes, "small.counting.exe");
    EXPECT_EQ(counting.format, image.format);
    EXPECT_TRUE(is_instrumented(counting));
    const StartCode start = start_code(MachineId::alpha, CallingStandard::windows);
    const std::vector<std::string> wanted(start.imports.begin(), start.imports.end());
    EXPECT_EQ(names_of(counting), wanted);
    EXPECT_EQ(import_slots(counting)[1].first - import_slots(counting)[0].first, wide ? 8u : 4u);
    EXPECT_THROW(require_rewritable(counting), Error);
    EXPECT_NE(counting.entry, image.entry);
    // Words that lead to counters are addresses of the image's own size.
    const RelocationRole role = wide ? RelocationRole::address64 : RelocationRole::address32;
    uint64_t words = 0;
    for (const RelocationTable& table : counting.relocations)
      for (const Relocation& relocation : table.relocations)
        if (counting.sections[table.target].name == ".cntrsp" ||
            counting.sections[table.target].name == ".data.respike") {
          EXPECT_EQ(relocation.role, role);
          ++words;
        }
    EXPECT_GT(words, 0u);
  }
}

}  // namespace
}  // namespace respike
