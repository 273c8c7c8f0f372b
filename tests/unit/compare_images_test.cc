// Mistakes that both lifts of an image could share, made on purpose: the comparison must find them.

#include <gtest/gtest.h>

#include "elf_test_files.h"
#include "optimizer/check/same_program.h"
#include "optimizer/image/image.h"
#include "optimizer/lift/lift.h"
#include "optimizer/machine/machine.h"
#include "optimizer/pipeline.h"

namespace respike {
namespace {

constexpr const char* kSource = R"(
.text
.globl _start
.ent _start
_start:
 ldgp $29,0($27)
 bsr $26,answer
 mov $0,$16
 lda $0,1($31)
 callsys
.end _start
.globl answer
.ent answer
answer:
 lda $0,42($31)
 ret
.end answer
.globl odd
.ent odd
odd:
 br $31,1f
 .gprel32 answer
1:
 lda $1,7($31)
 addq $1,8,$1
 jmp $31,($1)
.end odd
.section foreign,"ax"
away:
.cfi_startproc
 lda $30,-16($30)
 .cfi_def_cfa_offset 16
 lda $30,16($30)
 .cfi_def_cfa_offset 0
 ret
.cfi_endproc
)";

/// An image and its rewritten form, both lifted.
struct Pair {
  Pair()
      : input(read_image(compile("pair.s", kSource, "-nostdlib -static", "pair"))),
        bytes(rewritten(input)),
        output(view_image(bytes, "output")),
        before(lift(input, diagnostics)),
        after(lift(output, diagnostics)) {}

  static std::vector<uint8_t> rewritten(const Image& image) {
    OptimizeOptions options;
    options.order = OptimizeOptions::Order::scatter;
    Diagnostics diagnostics;
    return optimize(image, options, diagnostics).bytes;
  }
  std::string difference() const { return find_difference(before, after).value_or(""); }

  Diagnostics diagnostics;
  Image input;
  std::vector<uint8_t> bytes;
  Image output;
  Program before, after;
};

Symbol& symbol_named(Image& image, std::string_view name) {
  for (Symbol& symbol : image.symbols)
    if (symbol.name == name) return symbol;
  ADD_FAILURE() << "there is no symbol " << name;
  return image.symbols.front();
}

TEST(CompareImages, Equal) {
  EXPECT_EQ(Pair().difference(), "");
}

TEST(CompareImages, AddressInTheMiddleOfWhatMoved) {
  Pair pair;
  Symbol &from = symbol_named(pair.input, "answer"), &to = symbol_named(pair.output, "answer");
  ASSERT_NE(from.value, to.value);
  from.value += 2;  // no instruction is there
  to.value = from.value;
  EXPECT_NE(pair.difference().find("the symbol answer is"), std::string::npos);
}

/// A word of 4 bytes between the code of a procedure that stays: differences after the word are
/// found.
TEST(CompareImages, CodeBehindAnInlinePointer) {
  Pair pair;
  const auto in_odd = [&](Instruction& changed) {
    const Instruction good = changed;
    changed.immediate += 1;
    EXPECT_NE(pair.difference().find("differ"), std::string::npos);
    changed = good;
    EXPECT_EQ(pair.difference(), "");
  };
  int places = 0;
  for (Procedure& procedure : pair.after.procedures) {
    if (procedure.name != "odd") continue;
    EXPECT_EQ(procedure.state, Procedure::State::opaque);
    for (BasicBlock& block : procedure.blocks)
      for (uint32_t i = 0; i < block.instructions.size(); ++i)
        if (const int64_t number = block.instructions[i].immediate; number == 7 || number == 8) {
          in_odd(block.instructions[i]);
          ++places;
        }
  }
  EXPECT_EQ(places, 2);
}

TEST(CompareImages, CodeBehindACallIsLost) {
  Pair pair;
  int calls = 0;
  for (Program* program : {&pair.before, &pair.after})
    for (Procedure& procedure : program->procedures)
      for (BasicBlock& block : procedure.blocks)
        for (uint32_t i = 0; i < block.successors.size(); ++i)
          if (program->machine->facts(block.instructions.back()).flow == ControlFlow::call &&
              block.successors[i].kind == Edge::Kind::fall_through) {
            block.successors.erase(i--);
            ++calls;
          }
  EXPECT_EQ(calls, 2);
  EXPECT_NE(pair.difference().find("the code behind the call is lost"), std::string::npos);
}

TEST(CompareImages, UnwindInformationOfForeignCode) {
  Pair pair;
  ASSERT_EQ(pair.after.foreign_fdes.size(), 1u);
  ASSERT_EQ(pair.after.foreign_fdes[0].rows.size(), 3u);
  const std::vector<Fde> good = pair.after.foreign_fdes;
  pair.after.foreign_fdes[0].rows.pop_back();
  EXPECT_NE(pair.difference().find("the unwind information of the code at"), std::string::npos);
  pair.after.foreign_fdes = good;
  pair.after.foreign_fdes[0].end -= 8;
  EXPECT_NE(pair.difference().find("the unwind information of the code at"), std::string::npos);
  pair.after.foreign_fdes.clear();
  EXPECT_NE(pair.difference().find("the unwind information of the code at"), std::string::npos);
  pair.after.foreign_fdes = good;
  EXPECT_EQ(pair.difference(), "");
}

}  // namespace
}  // namespace respike
