// The view of optimized code. The oracle is counting: the optimized image is also instrumented and
// run, and each of its blocks must run as often as predicted from the counts of the original.

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "applications/environment.h"
#include "gui/models/code_cache.h"
#include "optimizer/ir/lookup.h"
#include "optimizer/lift/lift.h"
#include "optimizer/profile/annotate.h"
#include "tests/gui/support.h"

namespace respike::gui {
namespace {

namespace fs = std::filesystem;

/// A program that was trained and optimized, and whose optimized version was counted.
struct Counted {
  Image input, output;
  RewrittenProgram rewritten;  // with counts of the original
  Program again;               // the output, with its own counts
};

void count_twice(const World& world, const QString& program, const QStringList& arguments,
                 Counted& counted) {
  const auto run = [&](const QString& name, const QString& image) {
    world.ok({"register", image, "--name", name});
    world.ok({"instrument", name});
    EXPECT_LT(world.respike(QStringList{"run", name} + arguments).status, 120);
    world.ok({"collect"});
  };
  run("first", program);
  world.ok({"optimize", "first"});
  Environment environment(world.database());
  Diagnostics ignored;
  const ImageView first = environment.show("first").images.front();
  const Profile profile = environment.database().profile(first.build->id);
  counted.input = read_image(fs::path(program.toStdString()));
  counted.output = read_image(environment.database().store().path(first.optimized->content));
  counted.rewritten = follow_rewriting(counted.input, counted.output, &profile, ignored);

  const QString exported = program + ".exported";
  world.ok({"export", "first", exported});
  run("second", exported + '/' + program.section('/', -1));
  const ImageView second = environment.show("second").images.front();
  counted.again = lift(counted.output, ignored);
  apply_profile(counted.again, environment.database().profile(second.build->id), ignored);
}

/// Blocks of hot-cold optimized procedures share the counts of an original block in a proportion
/// that is estimated; their sum is not.
void expect_same_counts(const Counted& counted) {
  const BlockNumbers numbers(counted.again);
  std::map<std::pair<ProcedureId, BlockId>, std::pair<uint64_t, uint64_t>> sums;
  std::vector<bool> split(counted.again.procedures.size());
  std::set<uint64_t> known;  // addresses of pieces
  uint64_t pieces = 0;
  for (const CodePiece& piece : counted.rewritten.pieces) {
    if (piece.part) split[piece.after_procedure] = true;
    if (piece.procedure == kNone || piece.block == kNone) continue;
    known.insert(piece.address);
    const auto& blocks = counted.again[piece.after_procedure].blocks;
    for (const BasicBlock& block : blocks) {
      const uint64_t start = counted.again.address_of(block);
      if (piece.address < start || piece.address >= start + block.origin_size) continue;
      auto& [said, found] = sums[{piece.procedure, piece.block}];
      said += piece.count;
      found += block.count;
      pieces += piece.count != 0;
    }
  }
  EXPECT_GT(pieces, 30u);
  for (const auto& [place, both] : sums)
    EXPECT_EQ(both.first, both.second)
        << counted.rewritten.before[place.first].name << ", block " << place.second;
  for (ProcedureId id = 0; id < counted.again.procedures.size(); ++id) {
    if (split[id]) continue;
    const auto& said = counted.rewritten.after[id].blocks;
    const auto& found = counted.again[id].blocks;
    for (BlockId b = 0; b < found.size(); ++b) {
      if (!known.contains(counted.again.address_of(found[b]))) continue;  // only leads on
      EXPECT_EQ(said[b].count, found[b].count)
          << counted.again[id].name << ", block " << b << " of the output";
      if (found[b].successors.size() > 2) continue;  // entries of a table may lead to one place
      for (size_t e = 0; e < found[b].successors.size(); ++e)
        EXPECT_EQ(said[b].successors[e].count, found[b].successors[e].count)
            << counted.again[id].name << ", edge " << b << " to " << found[b].successors[e].target;
    }
  }
}

void check(const std::string& program, const QStringList& arguments = {}) {
  const World world;
  Counted counted;
  count_twice(world, world.copy(program), arguments, counted);
  expect_same_counts(counted);
}

TEST(RewrittenTest, SqliteRunsAsOftenAsSaid) {
  check("sqlite3.dynamic",
        {"-batch", ":memory:",
         "CREATE TABLE t(a, b); WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x+1 FROM c "
         "WHERE x<2000) INSERT INTO t SELECT x, x*7%13 FROM c; SELECT b, count(*), avg(a) FROM t "
         "GROUP BY b ORDER BY 2;"});
}

/// Instructions struck out in the original's hot part are not in the optimized procedure's hot
/// part.
TEST(CodeCacheTest, SaysWhatTheHotPartLacks) {
  const World world;
  Counted counted;
  count_twice(world, world.copy("lua.dynamic"), {"-e", "for i=1,99 do string.format('%d', i) end"},
              counted);
  ASSERT_FALSE(counted.rewritten.splits.empty());
  Environment environment(world.database());
  CodeCache cache;
  size_t struck_out = 0, hot = 0, stubs = 0;
  for (const SplitProcedure& split : counted.rewritten.splits) {
    const Procedure& procedure = counted.rewritten.before[split.procedure];
    ProcedureQuestion question{.application = "first",
                               .image = environment.show("first").main,
                               .name = procedure.name,
                               .address = procedure.address};
    const CodeView before = cache.ask_changes(environment, question).view;
    EXPECT_FALSE(before.taken_out.empty());
    question.version = Version::optimized;
    const CodeView after = cache.ask(environment, question).view;
    EXPECT_EQ(after.taken_out, before.taken_out);
    for (const CodeBlock& block : after.blocks) stubs += block.part == SplitProcedure::Part::stub;
    for (BlockId b = 0; b < before.blocks.size(); ++b) {
      if (before.blocks[b].part != SplitProcedure::Part::hot) continue;
      ++hot;
      size_t kept = 0, now = 0;
      for (const CodeLine& line : before.blocks[b].lines) kept += line.taken_out.empty();
      struck_out += before.blocks[b].lines.size() - kept;
      for (const CodeBlock& block : after.blocks)
        if (block.part == SplitProcedure::Part::hot && block.originals == std::vector<BlockId>{b})
          now += block.lines.size();
      EXPECT_LE(kept, before.blocks[b].lines.size());
      if (now != 0) {  // else the layout joined the block with others
        EXPECT_LE(now, kept + 2) << procedure.name << ", block " << b;  // and branches
      }
    }
  }
  EXPECT_GT(hot, 10u);
  EXPECT_GT(struck_out, 10u);
  EXPECT_GT(stubs, 0u);
}

TEST(RewrittenTest, ExceptionsRunAsOftenAsSaid) {
  check("exceptions.dynamic");
}

TEST(RewrittenTest, JumpTablesRunAsOftenAsSaid) {
  check("switches.dynamic");
}

}  // namespace
}  // namespace respike::gui
