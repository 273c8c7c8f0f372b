// A procedure has the same name in an input and in its outputs, even if several symbols name its
// start.

#include <gtest/gtest.h>

#include <set>

#include "elf_test_files.h"
#include "optimizer/ir/program.h"
#include "optimizer/lift/lift.h"
#include "optimizer/pipeline.h"

namespace respike {
namespace {

/// Functions without code (nothing but __builtin_unreachable()), aliases, and a second, shorter
/// name of a start; local symbols are in the symbol table in the order of the source.
constexpr const char* kSource = R"(
.text
.globl _start
.ent _start
_start:
 ldgp $29,0($27)
 bsr $26,first
 bsr $26,second
 bsr $26,third
 bsr $26,fourth
 lda $0,1($31)
 callsys
.end _start

.type nothing,@function
nothing:
.size nothing,0
.type first,@function
first:
 bne $16,1f
 lda $0,1($31)
1:
 ret
.size first,.-first

.globl empty
.type empty,@function
empty:
.size empty,0
.type second,@function
second:
 bne $16,1f
 lda $0,2($31)
1:
 ret
.size second,.-second

.type brief,@function
brief:
.type third,@function
third:
 bne $16,1f
 lda $0,3($31)
.size brief,.-brief
1:
 ret
.size third,.-third

.type alias,@function
alias:
.globl fourth
.type fourth,@function
fourth:
 bne $16,1f
 lda $0,4($31)
1:
 ret
.size alias,.-alias
.size fourth,.-fourth
)";

std::set<std::string> names_of(const Image& image) {
  Diagnostics diagnostics;
  std::set<std::string> names;
  for (const Procedure& procedure : lift(image, diagnostics).procedures)
    names.insert(procedure.name);
  return names;
}

TEST(ProcedureNames, SurviveRewriting) {
  Image image = read_image(compile("names.s", kSource, "-nostdlib -static", "names"));
  const std::set<std::string> expected = names_of(image);
  for (const char* name : {"_start", "first", "second", "fourth"})
    EXPECT_TRUE(expected.contains(name)) << name;
  EXPECT_FALSE(expected.contains("nothing"));
  for (uint64_t round = 1; round <= 3; ++round) {
    OptimizeOptions options;
    options.order = round == 2 ? OptimizeOptions::Order::scatter : OptimizeOptions::Order::random;
    options.seed = round;
    Diagnostics diagnostics;
    image = read_image(optimize(image, options, diagnostics).bytes, "output");
    EXPECT_EQ(names_of(image), expected) << "round " << round;
  }
}

}  // namespace
}  // namespace respike
