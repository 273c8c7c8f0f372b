// Exception tables of one procedure: tables with the same meaning become one; if tables still
// differ, no unwind region begins directly after a call.

#include <gtest/gtest.h>

#include "optimizer/analysis/packing.h"
#include "optimizer/lift/lift.h"
#include "optimizer/lift/lifter.h"
#include "optimizer/unwind/lsda/pointer_encoding.h"
#include "tests/unit/command.h"
#include "tests/unit/folders.h"
#include "tests/unit/temporary_folder.h"

namespace respike {
namespace {

// ---- Tables that continue each other

using Bytes = std::vector<uint8_t>;

Lsda table(const Bytes& actions, const std::vector<uint64_t>& types,
           const Bytes& specifications = {}) {
  return {.type_encoding = types.empty() ? eh_pe::kOmit : eh_pe::kSdata4,
          .actions = actions,
          .types = types,
          .specifications = specifications};
}

/// The tables of a procedure's call sites, one for each of `lsdas`, after joining.
std::vector<Lsda> joined(std::vector<Lsda> lsdas) {
  Program program;
  program.unwind.lsdas = lsdas;
  Procedure& procedure = program.procedures.emplace_back();
  for (uint32_t i = 0; i < lsdas.size(); ++i) procedure.call_sites.push_back({.lsda = i});
  join_exception_tables(program);
  std::vector<Lsda> result;
  for (const CallSite& site : program.procedures[0].call_sites)
    result.push_back(program.unwind.lsdas[site.lsda]);
  return result;
}

TEST(ExceptionTables, OneContinuesTheOthers) {
  const Lsda none = table({}, {}), some = table({1, 0}, {10});
  const Lsda all = table({1, 0, 2, 0x7d}, {10, 20}, {1, 0});
  EXPECT_EQ(joined({some, all, none}), (std::vector{all, all, all}));
  EXPECT_EQ(joined({none, all, some}), (std::vector{all, all, all}));
}

TEST(ExceptionTables, TwoContinueEachOther) {
  const Lsda actions = table({1, 0, 0, 0x7d}, {10}), types = table({1, 0}, {10, 20});
  const Lsda both = table({1, 0, 0, 0x7d}, {10, 20});
  EXPECT_EQ(joined({actions, types}), (std::vector{both, both}));
}

TEST(ExceptionTables, OthersStayApart) {
  const Lsda one = table({1, 0}, {10}), other = table({1, 0}, {20}), more = table({1, 0}, {10, 20});
  EXPECT_EQ(joined({one, other, more}), (std::vector{more, other, more}));
  Lsda encoded = one;
  encoded.type_encoding = eh_pe::kAbsolute;
  EXPECT_EQ(joined({one, encoded}), (std::vector{one, encoded}));
}

TEST(ExceptionTables, ManyThatDifferAreLeftAlone) {
  std::vector<Lsda> lsdas;
  for (uint64_t i = 0; i < 1000; ++i) lsdas.push_back(table({1, 0}, {i + 1}));
  EXPECT_EQ(joined(lsdas), lsdas);
}

// ---- After calls

class BehindCalls : public testing::Test {
 protected:
  void SetUp() override {
    if (run_command("ia64-linux-gnu-as --version 2>/dev/null").output.empty())
      GTEST_SKIP() << "no binutils for IA-64";
    const TemporaryFolder folder;
    std::string objects;
    std::string command = "cd '" + folder.path().string() + "'";
    for (const std::string name :
         {"freestanding/start", "freestanding/runtime", "unwind/throws", "unwind/throws_stubs"}) {
      const std::string object = name.substr(name.find('/') + 1) + ".o";
      command += " && ia64-linux-gnu-as -o " + object + " '" + source_folder().string() +
                 "/tests/programs/ia64/" + name + ".s' 2>/dev/null";
      objects += " " + object;
    }
    command += " && ia64-linux-gnu-ld -q --build-id -o x" + objects + " && echo done";
    ASSERT_EQ(run_command(command).output, "done\n");
    image_ = read_image(folder / "x");
    Diagnostics diagnostics;
    program_ = lift(image_, diagnostics);
    for (ProcedureId id = 0; id < program_.procedures.size(); ++id)
      if (program_[id].name == "_ZL6caughti") procedure_ = id;
    ASSERT_NE(procedure_, kNone);
  }

  /// Adds a block that ends with a call and continues with the next block, as in the input.
  BlockId call() const {
    const Procedure& procedure = program_[procedure_];
    for (BlockId id = 0; id + 1 < procedure.blocks.size(); ++id) {
      const BasicBlock& block = procedure.blocks[id];
      const Edge* fall = block.edge(Edge::Kind::fall_through);
      if (fall != nullptr && fall->target == id + 1 &&
          is_call(program_.machine->facts(block.instructions.back()).flow))
        return id;
    }
    ADD_FAILURE() << "there is no call";
    return 0;
  }
  BlockEnd end_of(BlockId block) const {
    Packing packing(program_);
    const std::vector<BlockId> blocks = {block, block + 1};
    packing.pack(procedure_, blocks);
    return packing.end(procedure_, block);
  }
  /// Gives the block a table that cannot be joined with any other.
  void set_another_table(BlockId block) {
    Procedure& procedure = program_[procedure_];
    procedure.call_sites.push_back({.lsda = static_cast<uint32_t>(program_.unwind.lsdas.size())});
    program_.unwind.lsdas.push_back(table({1, 0}, {0x123450}));
    procedure.blocks[block].call_site = static_cast<uint32_t>(procedure.call_sites.size() - 1);
  }

  Image image_;
  Program program_;
  ProcedureId procedure_ = kNone;
};

TEST_F(BehindCalls, ABranchOfTheSameRegion) {
  const BlockId block = call();
  EXPECT_EQ(end_of(block), BlockEnd::kept);
  set_another_table(block + 1);
  EXPECT_EQ(end_of(block), BlockEnd::branch_appended);
}

TEST_F(BehindCalls, PaddingWhereTheCallDoesNotReturn) {
  const BlockId block = call();
  auto& successors = program_[procedure_].blocks[block].successors;
  for (uint32_t i = 0; i < successors.size(); ++i)
    if (successors[i].kind == Edge::Kind::fall_through) successors.erase(i--);
  EXPECT_EQ(end_of(block), BlockEnd::kept);
  set_another_table(block + 1);
  EXPECT_EQ(end_of(block), BlockEnd::padded);
}

}  // namespace
}  // namespace respike
