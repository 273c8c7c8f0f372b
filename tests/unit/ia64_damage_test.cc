// Damaged or odd Itanium images that fuzzers found, reduced.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "instrument/instrument.h"
#include "optimizer/base/bytes.h"
#include "optimizer/image/image.h"
#include "optimizer/lift/lift.h"
#include "optimizer/pipeline.h"
#include "optimizer/replay/rewritten.h"
#include "tests/unit/command.h"
#include "tests/unit/folders.h"
#include "tests/unit/temporary_folder.h"

namespace respike {
namespace {

using Bytes = std::vector<uint8_t>;

class Ia64Damage : public testing::Test {
 protected:
  void SetUp() override {
    if (run_command("ia64-linux-gnu-as --version 2>/dev/null").output.empty())
      GTEST_SKIP() << "no binutils for IA-64";
    const TemporaryFolder folder;
    const std::string command =
        "cd '" + folder.path().string() + "' && ia64-linux-gnu-as -o x.o '" +
        source_folder().string() +
        "/tests/fuzz/seeds/ia64.s' && ia64-linux-gnu-ld -q --build-id -o x x.o && echo done";
    ASSERT_EQ(run_command(command).output, "done\n");
    const Image image = read_image(folder / "x");
    bytes_.assign(image.file.begin(), image.file.end());
  }

  /// Offset in the file of a procedure's first bundle.
  uint64_t code_of(std::string_view name) const {
    const Image image = view_image(bytes_, "good");
    for (const Symbol& symbol : image.symbols)
      if (symbol.name == name) return image.offset_of(symbol.value).value();
    ADD_FAILURE() << "no symbol " << name;
    return 0;
  }

  Bytes bytes_;
};

std::string reason_of(const Bytes& bytes, std::string_view name) {
  const Image image = view_image(bytes, "damaged");
  Diagnostics diagnostics;
  for (const Procedure& procedure : lift(image, diagnostics).procedures)
    if (procedure.name == name) return procedure.reason;
  return "there is no such procedure";
}

/// Code that stays in place need not be instructions, and is not packed into bundles.
TEST_F(Ia64Damage, CountingBesideWhatIsNoCode) {
  const uint64_t at = code_of("loops");
  std::fill_n(bytes_.begin() + static_cast<ptrdiff_t>(at), 16, uint8_t{0xff});
  EXPECT_NE(reason_of(bytes_, "loops"), "");
  EXPECT_EQ(reason_of(bytes_, "throws"), "");
  const Image image = view_image(bytes_, "damaged");
  InstrumentOptions options;
  options.spool = "/spool";
  options.output = "/image";
  Diagnostics diagnostics;
  const InstrumentResult result = instrument(image, options, diagnostics);
  EXPECT_GT(result.instrumented, 0u);
  EXPECT_LT(result.instrumented, result.procedures);
  const OptimizeResult optimized = optimize(image, OptimizeOptions{}, diagnostics);
  EXPECT_EQ(verify_images(image, view_image(optimized.bytes, "output"), diagnostics), std::nullopt);
}

}  // namespace
}  // namespace respike
