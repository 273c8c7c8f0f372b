// The lifter's results for x86-64 code: references by distance, jump tables, branches without a
// long form.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "optimizer/check/same_program.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/lift/lift.h"
#include "optimizer/machine/machines.h"
#include "tests/unit/lift_testing.h"

namespace respike {
namespace {

constexpr uint64_t kCode = 0x1000, kData = 0x2000;
constexpr uint32_t kDistance = 2;  // R_X86_64_PC32

/// The kinds of words of data.
struct Words {
  RelocationRole role;
  uint32_t raw;
  unsigned size;
};
constexpr Words kDistances = {RelocationRole::pc_relative32, kDistance, 4};
constexpr Words kAddresses = {RelocationRole::address64, 1, 8};

/// Consecutive procedures at kCode, data at kData; symbol 1 is the first procedure.
struct Lifted {
  Lifted(std::vector<uint8_t> c, const std::vector<NamedSize>& procedures,
         std::vector<uint8_t> d = {}, size_t words = 0, Words kind = kDistances,
         const std::function<void(Image&)>& change = {})
      : code(std::move(c)), data(std::move(d)) {
    image.kind = Image::Kind::pie;
    image.sections.resize(3);
    const auto fill = [&](uint32_t index, uint64_t address, std::span<const uint8_t> contents) {
      Section& section = image.sections[index];
      section.properties = Section::kAllocated;
      section.address = address;
      section.size = contents.size();
      section.contents = contents;
    };
    fill(1, kCode, code);
    fill(2, kData, data);
    image.sections[1].properties |= Section::kExecutable;
    image.index_sections();
    image.segments.push_back({.kind = Segment::Kind::loaded,
                              .address = kData,
                              .file_size = data.size(),
                              .memory_size = data.size()});
    image.file = data;
    image.relocations.resize(2);
    image.relocations[0].target = 1;
    image.relocations[1].target = 2;
    add_procedures(image, 1, procedures);
    for (size_t word = 0; word < words; ++word)
      image.relocations[1].relocations.push_back({.address = kData + kind.size * word,
                                                  .symbol = 1,
                                                  .raw = static_cast<uint16_t>(kind.raw),
                                                  .role = kind.role});
    if (change) change(image);
    program = lift(image, x86_64_machine(), diagnostics);
  }

  const Procedure& operator[](std::string_view name) const {
    return *std::ranges::find(program.procedures, name, &Procedure::name);
  }

  std::vector<uint8_t> code, data;
  Image image;
  Diagnostics diagnostics;
  Program program;
};

TEST(X8664Lift, DistanceOfAProcedure) {
  const Lifted lifted({0x48, 0x8d, 0x05, 1, 0, 0, 0, 0xc3,  // f: lea g(%rip),%rax; ret
                       0xc3},                               // g: ret
                      {{"f", 8}, {"g", 1}});
  EXPECT_TRUE(lifted["f"].movable() && lifted["g"].movable());
  const Procedure& f = lifted["f"];
  const Reference* reference = reference_of(f, f.blocks[0].instructions[0]);
  ASSERT_NE(reference, nullptr);
  EXPECT_EQ(reference->kind, ReferenceKind::pc_relative32);
  EXPECT_EQ(lifted.program[reference->target.procedure].name, "g");
}

TEST(X8664Lift, PlacesInsideOfProceduresAreComputedWith) {
  const Lifted lifted({0x48, 0x8d, 0x05, 2, 0, 0, 0, 0xc3,  // f: lea g+1(%rip),%rax; ret
                       0x90, 0xc3},
                      {{"f", 8}, {"g", 2}});
  EXPECT_TRUE(lifted["f"].movable());
  EXPECT_EQ(lifted["g"].state, Procedure::State::opaque);
}

TEST(X8664Lift, CodeThatIsReadStays) {
  const Lifted lifted({0x8b, 0x05, 1, 0, 0, 0, 0xc3,  // f: mov g(%rip),%eax; ret
                       0xc3},
                      {{"f", 7}, {"g", 1}});
  EXPECT_EQ(lifted["g"].state, Procedure::State::opaque);
}

TEST(X8664Lift, BranchesWithoutALongForm) {
  const Lifted lifted({0xe3, 0xfe, 0xc3}, {{"f", 3}});  // jrcxz
  EXPECT_EQ(lifted["f"].state, Procedure::State::opaque);
}

/// f stays, so the target of its short jump also stays.
TEST(X8664Lift, ShortJumpsOutOfCodeThatStays) {
  const Lifted lifted({0xe3, 0xfe, 0xeb, 0x00, 0xc3}, {{"f", 4}, {"g", 1}});
  EXPECT_EQ(lifted["f"].state, Procedure::State::opaque);
  EXPECT_EQ(lifted["g"].state, Procedure::State::pinned);
}

TEST(X8664Lift, CallOfTheNextInstruction) {
  const Lifted lifted({0xe8, 0, 0, 0, 0, 0x58, 0xc3}, {{"f", 7}});
  EXPECT_EQ(lifted["f"].state, Procedure::State::opaque);
}

/// A no-op that nothing leads to is in no block, also if its operand is at a distance.
TEST(X8664Lift, PaddingThatSeemsToRefer) {
  const Lifted lifted({0xeb, 7,                             // f: jmp 1f
                       0x0f, 0x1f, 0x05, 8, 0, 0, 0,        // nopl g(%rip)
                       0x48, 0x8d, 0x05, 1, 0, 0, 0, 0xc3,  // 1: lea g(%rip),%rax; ret
                       0xc3},                               // g: ret
                      {{"f", 17}, {"g", 1}});
  const Procedure& f = lifted["f"];
  EXPECT_TRUE(f.movable()) << f.reason;
  ASSERT_EQ(f.blocks.size(), 2u);
  EXPECT_NE(reference_of(f, f.blocks[1].instructions[0]), nullptr);
  EXPECT_EQ(lifted["g"].state, Procedure::State::opaque);  // it seems to be read
}

/// Places in f are known by their distances from f, which have no relocations.
TEST(X8664Lift, StackMaps) {
  const auto lifted = [](const char* section) {
    return Lifted({0xc3, 0xc3}, {{"f", 1}, {"g", 1}}, std::vector<uint8_t>(16), 1, kAddresses,
                  [&](Image& image) { image.sections[2].name = section; });
  };
  const Lifted mapped = lifted(".llvm_stackmaps"), other = lifted(".data");
  EXPECT_EQ(mapped["f"].state, Procedure::State::opaque);
  EXPECT_TRUE(other["f"].movable());
}

/// A handler may skip ud2 and continue after padding, but in the same procedure.
TEST(X8664Lift, WaysPastStops) {
  const Lifted lifted({0x85, 0xff,              // f: test %edi,%edi
                       0x74, 0x03,              // je 1f
                       0x0f, 0x0b,              // ud2
                       0x90,                    // nop
                       0x83, 0xc0, 0x01, 0xc3,  // 1: add $1,%eax; ret
                       0x0f, 0x0b,              // g: ud2
                       0xc3},                   // h: ret
                      {{"f", 11}, {"g", 2}, {"h", 1}});
  const Procedure& f = lifted["f"];
  ASSERT_EQ(f.blocks.size(), 3u);
  const Edge* past = f.blocks[1].edge(Edge::Kind::fall_through);
  ASSERT_NE(past, nullptr);
  EXPECT_EQ(past->target, 2u);
  EXPECT_TRUE(lifted["g"].blocks[0].successors.empty());
}

/// Traps after jumps and returns are padding, traps after a stop are not.
TEST(X8664Lift, TrapsAgainstSpeculation) {
  const Lifted lifted({0x85, 0xff,              // f: test %edi,%edi
                       0x74, 0x03,              // je 1f
                       0xff, 0xe0, 0xcc,        // jmp *%rax; int3
                       0x0f, 0x0b, 0xcc,        // 1: ud2; int3
                       0x83, 0xc0, 0x01, 0xc3,  // add $1,%eax; ret
                       0xcc},                   // int3
                      {{"f", 15}});
  const Procedure& f = lifted["f"];
  ASSERT_EQ(f.blocks.size(), 4u);
  EXPECT_EQ(lifted.program.address_of(f.blocks[2]), kCode + 7);
  EXPECT_NE(f.blocks[2].edge(Edge::Kind::fall_through), nullptr);
  EXPECT_EQ(f.blocks[3].origin_size, 5u);  // int3; add; ret
}

/// Values are not followed past stops, after which compilers put unrelated code.
TEST(X8664Lift, SumsBehindStops) {
  const Lifted lifted({0x4c, 0x8d, 0x25, 8, 0, 0, 0,  // f: lea g(%rip),%r12
                       0xff, 0xd0, 0x0f, 0x0b,        // call *%rax; ud2
                       0x4c, 0x01, 0xe0, 0xc3,        // add %r12,%rax; ret
                       0xc3},                         // g: ret
                      {{"f", 15}, {"g", 1}});
  EXPECT_TRUE(lifted["g"].movable()) << lifted["g"].reason;
}

/// A label after a stop is not known either: a jump to a sum may lead there.
TEST(X8664Lift, HiddenLabelsBehindStops) {
  const Lifted lifted({0x85, 0xff, 0x78, 0x05,               // f: test %edi,%edi; js 1f
                       0x48, 0x01, 0xce, 0xff, 0xe6,         // add %rcx,%rsi; jmp *%rsi
                       0x0f, 0x0b,                           // 1: ud2
                       0xb8, 0x0b, 0x00, 0x00, 0x00, 0xc3},  // mov $11,%eax; ret
                      {{"f", 17}});
  EXPECT_EQ(lifted["f"].state, Procedure::State::opaque);
}

TEST(X8664Lift, BarriersAtTheReturnAddress) {
  const auto state_with = [](uint8_t operation, uint8_t number) {
    const Lifted lifted({0xe8, 1, 0, 0, 0, 0xc3,                                  // f: call g; ret
                         0xf0, 0x48, 0x83, operation, 0x24, number, 0xc3, 0xcc},  // lock or (%rsp)
                        {{"f", 6}, {"g", 7}});
    return lifted["f"].state;
  };
  constexpr uint8_t kOr = 0x0c, kAnd = 0x24;
  EXPECT_EQ(state_with(kOr, 0), Procedure::State::movable);
  EXPECT_EQ(state_with(kOr, 1), Procedure::State::opaque);
  EXPECT_EQ(state_with(kAnd, 0), Procedure::State::opaque);
}

/// A last call may call the next procedure, which never returns. The unwind information of that
/// procedure distinguishes it from code that takes the return address for its own.
TEST(X8664Lift, CallOfTheNextProcedure) {
  const std::vector<uint8_t> frame = {
      16,   0,    0, 0, 0,  0, 0, 0, 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1, 0, 0,  // CIE
      24,   0,    0, 0, 24, 0, 0, 0,                                                // FDE
      0x05, 0x10, 0, 0, 0,  0, 0, 0, 2, 0, 0, 0,    0,  0,    0, 0, 0,    0, 0, 0,  // of g
      0,    0,    0, 0};
  for (const bool unwinds : {false, true}) {
    const Lifted lifted({0xe8, 0, 0, 0, 0, 0xeb, 0xfe}, {{"f", 5}, {"g", 2}}, frame, 0, kDistances,
                        [=](Image& image) {
                          if (unwinds) image.sections[2].name = ".eh_frame";
                        });
    EXPECT_EQ(lifted["f"].movable(), unwinds) << lifted["f"].reason;
    EXPECT_EQ(lifted["g"].movable(), unwinds) << lifted["g"].reason;
  }
}

/// The code that clang's -fsanitize=function makes for f: jmp .+8, six bytes of data, push %rax;
/// call g; pop %rax; ret. Read in a row the data take the call's first byte with them.
TEST(X8664Lift, CallBehindDataInCode) {
  const std::vector<uint8_t> code = {0xeb, 0x06, 0x76, 0x00, 0x88, 0x48, 0x01, 0x00, 0x50,
                                     0xe8, 0x02, 0,    0,    0,    0x58, 0xc3, 0xc3};  // f, g
  for (const bool relocated : {false, true}) {
    const Lifted lifted(code, {{"f", 16}, {"g", 1}}, {}, 0, kDistances, [=](Image& image) {
      if (!relocated) return;
      const auto g = static_cast<uint32_t>(image.symbols.size() - 1);
      image.relocations[0].relocations.push_back({.address = kCode + 10,
                                                  .addend = -4,
                                                  .symbol = g,
                                                  .raw = 4,
                                                  .role = RelocationRole::branch});
    });
    EXPECT_EQ(lifted["f"].state, Procedure::State::opaque);
    EXPECT_FALSE(lifted["g"].movable()) << relocated << lifted["f"].reason;
  }
}

/// The same data may read as a branch into a no-op between f and g, after which control runs on.
TEST(X8664Lift, DataThatReadsLikeABranchIntoPadding) {
  const Lifted lifted({0xeb, 0x06, 0x76, 0x08, 0x88, 0x48, 0x01, 0x00, 0x50, 0xc3,  // f
                       0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00, 0xc3},                   // g
                      {{"f", 10}, {"g", 1}}, {}, 0, kDistances,
                      [](Image& image) { image.symbols.back().value = kCode + 16; });
  EXPECT_EQ(lifted["f"].state, Procedure::State::opaque);
  EXPECT_EQ(lifted["g"].state, Procedure::State::pinned);
  EXPECT_TRUE(std::ranges::count(lifted.program.kept, std::pair(kCode + 10, kCode + 16)) > 0);
}

/// The same holds for a call after the data, which is not decoded.
TEST(X8664Lift, CallOfPaddingBehindDataInCode) {
  const Lifted lifted(
      {0xeb, 0x06, 0x76, 0x00, 0x88, 0x48, 0x01, 0x00, 0x50, 0xe8, 0x06, 0, 0, 0, 0x58, 0xc3,  // f
       0x0f, 0x1f, 0x40, 0x00, 0x0f, 0x1f, 0x40, 0x00, 0xc3},                                  // g
      {{"f", 16}, {"g", 1}}, {}, 0, kDistances,
      [](Image& image) { image.symbols.back().value = kCode + 24; });
  EXPECT_EQ(lifted["f"].state, Procedure::State::opaque);
  EXPECT_EQ(lifted["g"].state, Procedure::State::pinned);
  EXPECT_TRUE(std::ranges::count(lifted.program.kept, std::pair(kCode + 16, kCode + 24)) > 0);
}

/// Code that nothing names, xor %eax,%eax, runs into g.
TEST(X8664Lift, ControlRunsOnBehindWhatMayBeData) {
  const Lifted lifted({0xc3, 0x31, 0xc0, 0xc3}, {{"f", 1}, {"g", 1}}, {}, 0, kDistances,
                      [](Image& image) { image.symbols.back().value = kCode + 3; });
  EXPECT_EQ(lifted["f"].state, Procedure::State::movable);
  EXPECT_EQ(lifted["g"].state, Procedure::State::pinned);
}

/// A byte that does not decode may begin an instruction that ends with the no-op after it.
TEST(X8664Lift, BytesBehindWhatDoesNotDecodeStay) {
  const Lifted lifted({0xc3, 0x1f, 0x90, 0xc3}, {{"f", 2}, {"g", 1}}, {}, 0, kDistances,
                      [](Image& image) { image.symbols.back().value = kCode + 3; });
  EXPECT_EQ(lifted["g"].state, Procedure::State::pinned);
  EXPECT_EQ(lifted.program.kept.size(), 1u);
}

/// The comparison reads the targets of relocations of f: in the output g and h have changed places,
/// and the call, which is not decoded, is unchanged.
TEST(X8664Lift, CallThatNothingDecodedIsCompared) {
  const std::vector<uint8_t> f = {0xeb, 0x06, 0x76, 0x00, 0x88, 0x48, 0x01, 0x00,
                                  0x50, 0xe8, 0x02, 0,    0,    0,    0x58, 0xc3};
  constexpr uint8_t kReturn = 0xc3, kHalt = 0xf4;
  const auto lifted = [&](bool changed) {
    auto code = f;
    code.resize(64, 0x90);
    code[16] = code[48] = kReturn;
    code[32] = kReturn;
    code[changed ? 16 : 32] = kHalt;
    std::vector<NamedSize> procedures = {{"f", 16}, {"g", 16}, {"h", 32}};
    return std::make_unique<Lifted>(
        code, procedures, std::vector<uint8_t>{}, 0, kDistances, [=](Image& image) {
          image.sections[1].name = ".text";
          const auto g = static_cast<uint32_t>(image.symbols.size() - 2);
          if (changed) std::swap(image.symbols[g].value, image.symbols[g + 1].value);
          image.relocations[0].relocations.push_back({.address = kCode + 10,
                                                      .addend = -4,
                                                      .symbol = g,
                                                      .raw = 4,
                                                      .role = RelocationRole::branch});
        });
  };
  const auto before = lifted(false), same = lifted(false), after = lifted(true);
  for (Procedure& procedure : before->program.procedures)  // as if lift() had not pinned them
    if (procedure.name != "f") procedure.state = Procedure::State::movable;
  EXPECT_EQ(find_difference(before->program, same->program).value_or(""), "");
  const std::string difference = find_difference(before->program, after->program).value_or("");
  EXPECT_TRUE(difference.starts_with("the instructions differ: input 0x1010 in g")) << difference;
}

/// f: lea table(%rip),%rdx; movslq (%rdx,%rax,4),%rax; add %rdx,%rax; jmp *%rax; 2 targets
std::vector<uint8_t> code_with_table() {
  return {0x48, 0x8d, 0x15, 0xf9, 0x0f, 0, 0,  //
          0x48, 0x63, 0x04, 0x82,              //
          0x48, 0x01, 0xd0,                    //
          0xff, 0xe0,                          //
          0x90, 0xc3, 0xc3};
}

TEST(X8664Lift, JumpTableOfDistances) {
  const Lifted lifted(code_with_table(), {{"f", 19}},
                      {0x11, 0xf0, 0xff, 0xff, 0x12, 0xf0, 0xff, 0xff}, 2);
  const Procedure& f = lifted["f"];
  EXPECT_TRUE(f.movable()) << f.reason;
  ASSERT_EQ(lifted.program.code_pointers.size(), 2u);
  for (const CodePointer& pointer : lifted.program.code_pointers) {
    EXPECT_EQ(pointer.kind, ReferenceKind::table_relative32);
    EXPECT_EQ(pointer.base, kData);
  }
  const auto& edges = f.blocks[0].successors;
  ASSERT_EQ(edges.size(), 2u);
  EXPECT_EQ(lifted.program.address_of(f.blocks[edges[0].target]), kCode + 17);
  EXPECT_EQ(lifted.program.address_of(f.blocks[edges[1].target]), kCode + 18);
}

/// An unused entry may lead past the procedure. Nothing says that the entry is unused, so it still
/// leads to the next procedure.
TEST(X8664Lift, JumpTableThatLeadsBehindItsProcedure) {
  auto code = code_with_table();
  code.push_back(0xc3);  // g
  const Lifted lifted(code, {{"f", 19}, {"g", 1}}, {0x11, 0xf0, 0xff, 0xff, 0x13, 0xf0, 0xff, 0xff},
                      2);
  EXPECT_TRUE(lifted["f"].movable() && lifted["g"].movable());
  ASSERT_EQ(lifted.program.code_pointers.size(), 2u);
  EXPECT_EQ(lifted.program.code_pointers[1].target.procedure, 1u);
  EXPECT_EQ(lifted.program.code_pointers[1].target.block, 0u);
}

/// Or to where the procedure has an empty cold part, and another procedure stands.
TEST(X8664Lift, JumpTableThatLeadsToAnEmptyPart) {
  auto code = code_with_table();
  code.insert(code.end(), {0xc3, 0xc3});  // x, g
  const Lifted lifted(code, {{"f", 19}, {"x", 1}, {"f.cold", 0}, {"g", 1}},
                      {0x11, 0xf0, 0xff, 0xff, 0x14, 0xf0, 0xff, 0xff}, 2);
  EXPECT_TRUE(lifted["f"].movable() && lifted["g"].movable());
  ASSERT_EQ(lifted.program.code_pointers.size(), 2u);
  EXPECT_EQ(lifted.program.code_pointers[1].target.procedure, 2u);
  EXPECT_EQ(lifted.program.code_pointers[1].target.block, 0u);
}

/// Also where entries are addresses. f: jmp *table(,%rax,8); ret, and a byte of padding.
TEST(X8664Lift, JumpTableOfAddressesThatLeadsBehindItsProcedure) {
  const Lifted lifted({0xff, 0x24, 0xc5, 0, 0x20, 0, 0, 0xc3, 0x90, 0xc3},  // f, padding, g
                      {{"f", 8}, {"", 1}, {"g", 1}},
                      {0x07, 0x10, 0, 0, 0, 0, 0, 0, 0x08, 0x10, 0, 0, 0, 0, 0, 0}, 2, kAddresses,
                      [](Image& image) {
                        image.kind = Image::Kind::executable;
                        image.symbols.erase(image.symbols.begin() + 2);
                        image.relocations[0].relocations.push_back(
                            {.address = kCode + 3, .raw = 11, .role = RelocationRole::address32});
                      });
  EXPECT_TRUE(lifted["f"].movable()) << lifted["f"].reason;
  ASSERT_EQ(lifted.program.code_pointers.size(), 2u);
  EXPECT_EQ(
      lifted.program.address_of(lifted["f"].blocks[lifted.program.code_pointers[0].target.block]),
      kCode + 7);
  EXPECT_EQ(lifted.program.code_pointers[1].target.procedure, 0u);
  EXPECT_EQ(lifted.program.code_pointers[1].target.block, 0u);
}

/// If the image can be loaded anywhere, a dynamic relocation also has the target, which stays.
TEST(X8664Lift, JumpTableOfAddressesWithDynamicRelocations) {
  const Lifted lifted({0xff, 0x24, 0xc5, 0, 0x20, 0, 0, 0xc3, 0x90, 0xc3},
                      {{"f", 8}, {"", 1}, {"g", 1}},
                      {0x07, 0x10, 0, 0, 0, 0, 0, 0, 0x08, 0x10, 0, 0, 0, 0, 0, 0}, 2, kAddresses,
                      [](Image& image) {
                        image.symbols.erase(image.symbols.begin() + 2);
                        image.relocations[0].relocations.push_back(
                            {.address = kCode + 3, .raw = 11, .role = RelocationRole::address32});
                      });
  EXPECT_TRUE(std::ranges::none_of(lifted.program.code_pointers, [](const CodePointer& pointer) {
    return pointer.address == kData + 8 && pointer.target.where == CodeLocation::Where::block_start;
  }));
}

/// An object that ends where a table starts is not the table: g forms the end of the object in
/// front.
TEST(X8664Lift, JumpTableBehindAnObjectWhoseEndIsFormed) {
  auto code = code_with_table();
  code.insert(code.end(),
              {0x48, 0x8d, 0x05, 0xe6, 0x0f, 0, 0, 0xc3});  // g: lea table(%rip),%rax; ret
  const auto lift_with = [&](Symbol::Type type, uint64_t start) {
    return Lifted(
        code, {{"f", 19}, {"g", 8}}, {0x11, 0xf0, 0xff, 0xff, 0x12, 0xf0, 0xff, 0xff}, 2,
        kDistances, [=](Image& image) {
          image.symbols.push_back({.name = "object", .value = start, .section = 2, .type = type});
          const auto symbol = static_cast<uint32_t>(image.symbols.size() - 1);
          image.relocations[0].relocations.push_back({.address = kCode + 22,
                                                      .symbol = symbol,
                                                      .raw = kDistance,
                                                      .role = RelocationRole::pc_relative32});
        });
  };
  const Lifted end = lift_with(Symbol::Type::none, kData - 6);
  EXPECT_TRUE(end["f"].movable() && end["g"].movable()) << end["f"].reason << end["g"].reason;
  const Lifted table = lift_with(Symbol::Type::object, kData);
  EXPECT_FALSE(table["f"].movable() || table["g"].movable());
  const Lifted section = lift_with(Symbol::Type::section, kData - 6);
  EXPECT_FALSE(section["f"].movable() || section["g"].movable());
}

TEST(X8664Lift, JumpTableThatLeadsIntoAnotherProcedure) {
  auto code = code_with_table();
  code.insert(code.end(), {0x90, 0xc3});  // g
  const Lifted lifted(code, {{"f", 19}, {"g", 2}}, {0x11, 0xf0, 0xff, 0xff, 0x14, 0xf0, 0xff, 0xff},
                      2);
  EXPECT_EQ(lifted["f"].state, Procedure::State::opaque);
  EXPECT_EQ(lifted["g"].state, Procedure::State::opaque);
}

}  // namespace
}  // namespace respike
