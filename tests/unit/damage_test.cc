// Inputs that fuzzers and adversaries found, reduced: damaged images end in an Error or in an
// output that verifies, and inputs made to be slow take no more than linear time.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <ctime>

#include "elf_test_files.h"
#include "optimizer/base/bytes.h"
#include "optimizer/check/invariants.h"
#include "optimizer/image/image.h"
#include "optimizer/lift/lift.h"
#include "optimizer/pipeline.h"
#include "optimizer/replay/rewritten.h"

namespace respike {
namespace {

using Bytes = std::vector<uint8_t>;

constexpr uint32_t kRefQuad = 2, kGpdisp = 6, kGpRelLow = 18;  // Alpha relocation types

/// Lifts and rewrites. Returns the lifted program's violation, or the fault of the output, or
/// nothing. An Error is fine, except for an internal error.
std::optional<std::string> problem_of(
    const Bytes& bytes, OptimizeOptions::Order order = OptimizeOptions::Order::random) {
  try {
    const Image image = view_image(bytes, "damaged");
    require_rewritable(image);
    Diagnostics diagnostics;
    if (auto violation = find_violation(lift(image, diagnostics))) return violation;
    OptimizeOptions options;
    options.order = order;
    const OptimizeResult result = optimize(image, options, diagnostics);
    return verify_images(image, view_image(result.bytes, "output"), diagnostics);
  } catch (const Error& error) {
    const std::string text = error.what();
    if (text.find("internal error") != std::string::npos) return text;
    return std::nullopt;
  }
}

std::string reason_of(const Bytes& bytes, const std::string& name) {
  const Image image = view_image(bytes, "damaged");
  Diagnostics diagnostics;
  const Program program = lift(image, diagnostics);
  for (const Procedure& procedure : program.procedures)
    if (procedure.name == name) return procedure.reason;
  return "there is no such procedure";
}

/// Offset in the file of the first kept relocation of `type`.
uint64_t relocation_at(const Bytes& bytes, uint32_t type) {
  const Image image = view_image(bytes, "good");
  for (const RelocationTable& table : image.relocations) {
    const Section& section = image.sections[table.section];
    for (uint64_t at = section.offset; at < section.offset + section.size; at += 24)
      if (load<uint32_t>(bytes.data() + at + 8) == type) return at;
  }
  ADD_FAILURE() << "no relocation of type " << type;
  return 0;
}

const Symbol& symbol_named(const Image& image, std::string_view name) {
  for (const Symbol& symbol : image.symbols)
    if (symbol.name == name) return symbol;
  ADD_FAILURE() << "no symbol " << name;
  return image.symbols[0];
}

Bytes assembled(const std::string& name, const std::string& source) {
  return bytes_of(compile(name + ".s", source, "-nostdlib -static", name));
}

/// Fails if rewriting takes long: with these sizes, quadratic time would be minutes.
void expect_fast(const Bytes& bytes,
                 OptimizeOptions::Order order = OptimizeOptions::Order::random) {
  ASSERT_NO_THROW(require_rewritable(view_image(bytes, "slow")));
  const std::clock_t start = std::clock();  // processor time: tests run in parallel
  const auto problem = problem_of(bytes, order);
  EXPECT_FALSE(problem) << *problem;
  EXPECT_LT((std::clock() - start) / CLOCKS_PER_SEC, 10);
}

TEST(Damage, LowerHalfOnAnUpperHalf) {
  Bytes bytes = bytes_of(tiny_program());
  store(bytes.data() + relocation_at(bytes, kGpdisp) + 8, kGpRelLow);
  EXPECT_EQ(problem_of(bytes), std::nullopt);
  EXPECT_NE(reason_of(bytes, "_start").find("does not fit its instruction"), std::string::npos);
}

TEST(Damage, CodePointerInTheHeadersOfTheFile) {
  const auto source = "_start: ret\n answer: ret\n .data\n .quad answer\n";
  Bytes bytes = assembled(
      "header", fmt::format(".text\n .globl _start\n .type answer,@function\n{}", source));
  const uint64_t record = relocation_at(bytes, kRefQuad);
  store(bytes.data() + record, view_image(bytes, "good").segments.front().address + 32);
  EXPECT_EQ(problem_of(bytes, OptimizeOptions::Order::scatter), std::nullopt);
}

TEST(Damage, GpLoadWithItsLowerHalfInAnotherProcedure) {
  Bytes bytes = bytes_of(tiny_program());
  const uint64_t record = relocation_at(bytes, kGpdisp);
  const Image image = view_image(bytes, "good");
  const uint64_t answer = symbol_named(image, "answer").value;
  store(bytes.data() + record + 16, answer - load<uint64_t>(bytes.data() + record));
  EXPECT_EQ(problem_of(bytes), std::nullopt);
  EXPECT_NE(reason_of(bytes, "_start").find("unknown address"), std::string::npos);
}

TEST(Damage, UnwindTableThatNobodyUnderstands) {
  Bytes bytes = bytes_of(throwing_program());
  const Image image = view_image(bytes, "good");
  const Section* frame = image.section_named(".eh_frame");
  ASSERT_NE(frame, nullptr);
  // Every byte after the first CIE's identification that may say how addresses are encoded.
  for (uint64_t at = frame->offset; at + 4 < frame->offset + frame->size; ++at)
    if (bytes[at] == 'z' && bytes[at + 1] == 'R' && bytes[at + 2] == 0)
      for (uint64_t i = at + 3; i < at + 8; ++i)
        if (bytes[i] == 0x1b) bytes[i] = 0x5b;
  EXPECT_EQ(problem_of(bytes), std::nullopt);
  EXPECT_NE(reason_of(bytes, "main").find("unwind information"), std::string::npos);
}

TEST(Damage, ManySectionsOverTheSameBytes) {
  Bytes bytes = bytes_of(tiny_program());
  const uint64_t headers = load<uint64_t>(bytes.data() + 40);
  const uint16_t count = load<uint16_t>(bytes.data() + 60);
  ASSERT_EQ(bytes.size(), headers + 64 * count);
  Bytes header(64);
  store<uint32_t>(header.data() + 4, 1);              // SHT_PROGBITS
  store<uint64_t>(header.data() + 32, bytes.size());  // size
  store<uint64_t>(header.data() + 48, 1);             // alignment
  for (int i = 0; i < 60000; ++i) bytes.insert(bytes.end(), header.begin(), header.end());
  store<uint16_t>(bytes.data() + 60, static_cast<uint16_t>(count + 60000));
  EXPECT_THROW(view_image(bytes, "damaged"), Error);
  for (int i = 0; i < 60000; ++i) {  // empty sections, but far apart
    store<uint64_t>(bytes.data() + headers + 64 * (count + i) + 32, 0);
    store<uint64_t>(bytes.data() + headers + 64 * (count + i) + 48, 0x10000);
  }
  EXPECT_THROW(view_image(bytes, "damaged"), Error);
}

TEST(Damage, CodeThatStaysRunsIntoTheNextProcedure) {
  const Bytes bytes = assembled("falls",
                                ".text\n.globl _start\n.ent _start\n_start:\n.cfi_startproc\n"
                                " ldgp $29, 0($27)\n .long 0x04000000\n addq $1, $2, $3\n"
                                ".cfi_endproc\n.end _start\n.globl next\n.ent next\nnext:\n"
                                ".cfi_startproc\n ret\n.cfi_endproc\n.end next\n");
  const Image image = view_image(bytes, "good");
  Diagnostics diagnostics;
  EXPECT_NO_THROW(optimize(image, {}, diagnostics));
}

TEST(Damage, ExceptionTablesAlignedToMoreThanTheyNeed) {
  const Bytes bytes =
      assembled("aligned",
                ".text\n.globl _start\n_start:\n.cfi_startproc\n.cfi_lsda 0x1b, table\n"
                " ldgp $29, 0($27)\n bsr $26, _start\n ret\n.cfi_endproc\n"
                ".section .gcc_except_table,\"a\"\n.balign 16\ntable:\n"
                ".byte 0xff, 0xff, 1\n.uleb128 2f - 1f\n1:.uleb128 8, 4, 0, 0\n2:\n");
  const Image image = view_image(bytes, "good");
  Diagnostics diagnostics;
  EXPECT_NO_THROW(optimize(image, {}, diagnostics));
}

// ---- time ----

// A gp load has a relocation; an image without relocations would be refused.
constexpr const char* kHead = ".text\n.globl _start\n.ent _start\n_start:\n ldgp $29, 0($27)\n";

TEST(Damage, ManyBranchesIntoPadding) {
  expect_fast(assembled("padding", std::string(kHead) +
                                       ".rept 60000\n beq $1, pad\n.endr\n ret\n.end _start\n"
                                       "pad:\n.rept 100000\n unop\n.endr\n"
                                       ".globl last\n.ent last\nlast:\n ret\n.end last\n"));
}

TEST(Damage, ManySymbolsInPadding) {
  std::string source = std::string(kHead) + " call_pal 0x83\n.end _start\n addq $1,$2,$3\n";
  for (int i = 0; i < 40000; ++i) source += "pad" + std::to_string(i) + ":\n unop\n unop\n";
  expect_fast(assembled("labels", source + " ret\n"));
}

TEST(Damage, ManyHalvesOfOneAddress) {
  expect_fast(
      assembled("many_halves", std::string(kHead) +
                                   ".rept 30000\n"
                                   " ldah $1, _start($29) !gprelhigh\n"
                                   " lda $1, _start($1) !gprellow\n.endr\n ret\n.end _start\n"));
}

TEST(Damage, ManyComputedGotos) {
  std::string source = kHead;
  for (int i = 0; i < 12000; ++i)
    source += "L" + std::to_string(i) + ":\n ldq $1, 0($2)\n jmp ($1)\n";
  source += ".end _start\n.data\n";
  for (int i = 0; i < 12000; ++i) source += " .quad L" + std::to_string(i) + "\n";
  const Bytes bytes = assembled("gotos", source);
  expect_fast(bytes);
  EXPECT_NE(reason_of(bytes, "_start").find("too many targets"), std::string::npos)
      << reason_of(bytes, "_start");
}

TEST(Damage, ManySymbolsInOneFrameDescription) {
  std::string source = ".text\n.globl _start\n_start:\n.cfi_startproc\n ldgp $29, 0($27)\n";
  for (int i = 0; i < 30000; ++i) {
    const std::string name = "f" + std::to_string(i);
    source += ".type " + name + ",@function\n" + name + ":\n ret\n .cfi_def_cfa_offset " +
              std::to_string(16 + i % 2 * 16) + "\n unop\n.size " + name + ", 8\n";
  }
  expect_fast(assembled("rows", source + ".cfi_endproc\n"), OptimizeOptions::Order::original);
}

TEST(Damage, ManyBranchesInAChain) {
  std::string source =
      std::string(kHead) + " .long 0x04000000\n";  // no instruction: the procedure stays in place
  for (int i = 0; i < 60000; ++i) source += " br $31, 1f\n1:\n";
  expect_fast(assembled("chain", source + " ret\n.end _start\n"));
}

TEST(Damage, ManyActionsThatShareOneChain) {
  constexpr int kCalls = 20000;
  std::string source =
      ".text\ng:\n ret\n.globl _start\n_start:\n.cfi_startproc\n"
      ".cfi_lsda 0x1b, table\n ldgp $29, 0($27)\n";
  for (int i = 0; i < kCalls; ++i) source += " bsr $26, g\n";
  source +=
      " ret\n.cfi_endproc\n.section .gcc_except_table,\"a\"\ntable:\n"
      ".byte 0xff, 0\n.uleb128 types - 1f\n1: .byte 1\n.uleb128 3f - 2f\n2:\n";
  for (int i = 0; i < kCalls; ++i)
    source +=
        ".uleb128 " + std::to_string(8 + 4 * i) + ", 4, 0, " + std::to_string(1 + 2 * i) + "\n";
  source += "3:\n";
  for (int i = 0; i < kCalls; ++i) source += i + 1 == kCalls ? ".byte 1, 0\n" : ".byte 1, 1\n";
  expect_fast(assembled("actions", source + ".balign 4\n.quad 0\ntypes:\n"));
}

}  // namespace
}  // namespace respike
