// Parts of a run: the sums of a feeder add up to a single sum; shares add up to the measurement;
// and the results of trials of two versions.

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "applications/comparison.h"
#include "measure/attribution.h"
#include "measure/trials.h"
#include "models/machine_models.h"
#include "optimizer/machine/machines.h"

namespace respike::measure {
namespace {

/// Pieces of Alpha code: blocks of no-ops that end with a branch.
std::vector<std::unique_ptr<Piece>> random_pieces(const MachineModel& model, std::mt19937& random) {
  std::vector<std::unique_ptr<Piece>> pieces;
  uint64_t address = 0x120000000;
  for (int i = 0; i < 60; ++i) {
    std::vector<uint8_t> code;
    const Instruction nop = alpha_machine().text.parse("nop", address);
    for (unsigned n = random() % 12; n > 0; --n) alpha_machine().codec.encode({&nop, 1}, code);
    const char* last = i % 3 == 0   ? "ret"
                       : i % 3 == 1 ? "bsr\tra,0x120000000"
                                    : "bne\tt0,0x120000000";
    const Instruction branch = alpha_machine().text.parse(last, address + code.size());
    alpha_machine().codec.encode({&branch, 1}, code);
    pieces.push_back(model.read(address, address + code.size(), code));
    address += code.size() + (random() % 4 == 0 ? 0x2000 : 0);
  }
  return pieces;
}

TEST(Attribution, PartsOfARunAddUp) {
  std::mt19937 random(7);
  const auto model = find_model("alpha21164")->make();
  const auto pieces = random_pieces(*model, random);
  const auto together = model->make_processor(), apart = model->make_processor();
  Events whole{};
  std::array<Events, 60> parts{};
  for (int step = 0; step < 20000; ++step) {
    const size_t i = random() % pieces.size();
    const bool completed = random() % 50 != 0;
    whole.instructions += pieces[i]->instructions;
    together->begin(*pieces[i], whole, completed);
    parts[i].instructions += pieces[i]->instructions;
    apart->begin(*pieces[i], parts[i], completed);
  }
  Events sum{};
  uint64_t cycles = 0;
  for (const Events& part : parts) {
    sum += part;
    cycles += sum_of(model->components(part));
  }
  for (size_t i = 0; i < model->figures(whole).size(); ++i)
    EXPECT_EQ(model->figures(sum)[i].number, model->figures(whole)[i].number)
        << model->figures(whole)[i].label;
  EXPECT_EQ(cycles, sum_of(model->components(whole)));
  EXPECT_GT(whole.mispredicts, 0u);
}

/// A branch is the piece's that it ends, not the next one's.
TEST(Attribution, AMispredictionIsTheBranchs) {
  const auto model = find_model("alpha21164")->make();
  std::vector<uint8_t> code;
  const Instruction branch = alpha_machine().text.parse("bne\tt0,0x120000100", 0x120000000);
  alpha_machine().codec.encode({&branch, 1}, code);
  const auto first = model->read(0x120000000, 0x120000004, code);
  const auto target = model->read(0x120000100, 0x120000104, code);
  const auto processor = model->make_processor();
  Events of_branch{}, of_target{};
  processor->begin(*first, of_branch, true);
  processor->begin(*target, of_target, true);
  EXPECT_EQ(of_branch.mispredicts, 1u);
  EXPECT_EQ(of_branch.taken_branches, 1u);
  EXPECT_EQ(of_target.mispredicts, 0u);
  EXPECT_EQ(of_target.icache_misses, 1u);
}

TEST(Attribution, Shares) {
  const ModelInfo& model = *find_model("alpha21164");
  Measurement m;
  m.places = {{"", 0, {}}, {"/a", 0x100, {}}, {"/a", 0x200, {}}, {"/b", 0x100, {}}};
  for (size_t i = 0; i < m.places.size(); ++i) m.places[i].events.issue_cycles = 10 * (i + 1);
  const auto images = shares_by_image(model, m);
  ASSERT_EQ(images.size(), 3u);
  EXPECT_EQ(images[0].image, "/a");
  EXPECT_EQ(images[0].cycles, 50u);
  EXPECT_EQ(images[1].image, "/b");
  EXPECT_EQ(images[2].cycles, 10u);
  const auto procedures = shares_by_procedure(model, m, [](const auto& image, uint64_t offset) {
    return image.empty() ? "nowhere" : offset < 0x200 ? "first" : "second";
  });
  ASSERT_EQ(procedures.size(), 4u);
  EXPECT_EQ(procedures[0].procedure, "first");
  EXPECT_EQ(procedures[0].image, "/b");
  EXPECT_EQ(procedures[1].procedure, "second");
  EXPECT_EQ(procedures[3].procedure, "nowhere");
}

// ---- verdicts ----

Trials trials_of(std::vector<uint64_t> before, std::vector<uint64_t> after) {
  Trials trials;
  trials.modelled = true;
  trials.runs = before.size();
  trials.costs = {std::move(before), std::move(after)};
  trials.measurable = differ_on_model(trials.costs);
  return trials;
}

TEST(Verdict, ByCost) {
  EXPECT_EQ(verdict_of(trials_of({1000, 1000}, {900, 910})),
            std::pair(true, std::string("ship: 9.0% fewer cycles; it behaves the same in 2 runs")));
  EXPECT_EQ(verdict_of(trials_of({1000, 1000}, {1020, 1030})),
            std::pair(false, std::string("do not ship: it is slower, by 3.0% more cycles; it "
                                         "behaves the same in 2 runs")));
  for (const std::vector<uint64_t>& after : {std::vector<uint64_t>{1001, 1001}, {999, 1400}})
    EXPECT_EQ(verdict_of(trials_of({1000, 1000}, after)),
              std::pair(true, std::string("ship: no measurable difference in cycles; it behaves "
                                          "the same in 2 runs")));
}

TEST(Verdict, FewRunsByTheirFastest) {
  const auto verdict = [](std::vector<uint64_t> after) {
    Trials trials = trials_of({40290, 40740}, std::move(after));
    trials.modelled = trials.measurable = false;
    return verdict_of(trials).second;
  };
  EXPECT_EQ(verdict({49020, 42640}),
            "ship: 2 runs are too few to compare the processor time (8 at least); it behaves the "
            "same in 2 runs");
  EXPECT_EQ(verdict({80580, 90000}),
            "do not ship: it seems slower, by 100.0%, but 2 runs are too few to compare the "
            "processor time (8 at least); it behaves the same in 2 runs");
}

/// Starting the program takes more or less than the program.
TEST(Verdict, FewShortRunsSayNothing) {
  Trials trials = trials_of({4029, 4074}, {8058, 9000});
  trials.modelled = trials.measurable = false;
  EXPECT_TRUE(verdict_of(trials).first);
}

/// A shell's status for a command that it does not find says nothing about the program.
TEST(Verdict, NothingWasStarted) {
  Trials trials = trials_of({1000, 1000}, {900, 900});
  for (const int status : {126, 127}) {
    trials.exit_status = status;
    EXPECT_FALSE(verdict_of(trials).first);
    EXPECT_NE(verdict_of(trials).second.find("cannot be started"), std::string::npos);
  }
  trials.exit_status = 3;
  EXPECT_TRUE(verdict_of(trials).first);
}

TEST(Verdict, InOneWord) {
  const auto result = [](const Trials& trials) {
    return result_of(trials, verdict_of(trials).first);
  };
  EXPECT_EQ(result(trials_of({1000, 1000}, {900, 900})), CheckResult::faster);
  EXPECT_EQ(result(trials_of({1000, 1000}, {1001, 1001})), CheckResult::same);
  EXPECT_EQ(result(trials_of({1000, 1000}, {1020, 1030})), CheckResult::slower);
  Trials trials = trials_of({1000, 1000}, {1020, 1030});
  trials.difference = "in run 2 the exit status is 1 instead of 0";
  EXPECT_EQ(result(trials), CheckResult::differs);
  trials.difference.clear();
  trials.signal = 11;
  EXPECT_EQ(result(trials), CheckResult::unclear);
  EXPECT_EQ(verdict_of(trials).second,
            "do not ship: signal 11 kills the program in both versions, so that little was "
            "compared: check with work that ends by itself");
  trials.driven = true;
  EXPECT_NE(verdict_of(trials).second.find("kills the driver"), std::string::npos);
}

TEST(Verdict, ByBehaviour) {
  Trials trials = trials_of({1000, 1000}, {900, 900});
  trials.compared = Trials::Compared::end;
  EXPECT_TRUE(verdict_of(trials).first);
  EXPECT_NE(verdict_of(trials).second.find("output was not compared"), std::string::npos);
  trials.compared = Trials::Compared::nothing;
  EXPECT_FALSE(verdict_of(trials).first);
  trials.compared = Trials::Compared::output;
  trials.difference = "in run 2 the exit status is 1 instead of 0";
  EXPECT_EQ(verdict_of(trials).second,
            "do not ship: the optimized version behaves otherwise: in run 2 the exit status is 1 "
            "instead of 0");
}

}  // namespace
}  // namespace respike::measure
