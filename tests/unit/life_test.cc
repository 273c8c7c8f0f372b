// The progress of an application, and its next step. Oracle: views written by hand, one for each
// step of a life.

#include <gtest/gtest.h>

#include "applications/life.h"

namespace respike {
namespace {

ContentHash hash_of(uint8_t byte) {
  return content_hash(std::vector<uint8_t>{byte});
}

/// A registered program with a library of the system.
ApplicationView registered() {
  ApplicationView view;
  view.name = "sort";
  view.mode = Mode::original;
  view.images.resize(2);
  view.images[0].image.path = "/opt/sort";
  view.images[0].image.optimizable = true;
  view.images[0].image.program = true;
  view.images[1].role = Role::linked;
  view.images[1].image.path = "/lib/libc.so.6";
  view.images[1].image.reason = "the image has no relocations";
  return view;
}

void instrument(ApplicationView& view) {
  view.images[0].instrumented.emplace();
  view.mode = Mode::instrumented;
}

void run(ApplicationView& view) {
  view.images[0].profile.runs += 1;
  view.images[0].profile.confidence = 1;
  view.images[0].profile.age_days = 0;
  view.images[0].profile_grew = view.images[0].optimized.has_value();
}

void optimize(ApplicationView& view, uint8_t contents = 100) {
  view.images[0].optimized.emplace();
  view.images[0].optimized->content = hash_of(contents);
  view.images[0].profile_grew = false;
  view.mode = Mode::optimized;
}

void check(ApplicationView& view, CheckResult result, double gain = 0) {
  view.last_check = {.images = view.images[0].optimized->content.hex(),
                     .result = result,
                     .verdict = "a verdict",
                     .gain = gain};
}

TEST(Life, GoesStepByStep) {
  ApplicationView view = registered();
  EXPECT_EQ(life_of(view).next.step, Step::instrumenting);
  EXPECT_EQ(life_of(view)[Step::registering].text, "1 of 2 images can be optimized");
  instrument(view);
  EXPECT_EQ(life_of(view).next.step, Step::running);
  EXPECT_EQ(life_of(view, true).next.step,
            Step::optimizing);  // it has run, and its counts are not collected
  run(view);
  EXPECT_EQ(life_of(view).next.step, Step::optimizing);
  optimize(view);
  EXPECT_EQ(life_of(view).next.step, Step::checking);
  EXPECT_FALSE(life_of(view).gain.has_value());
  check(view, CheckResult::faster, 0.25);
  EXPECT_EQ(life_of(view).next.step, Step::exporting);
  EXPECT_EQ(life_of(view).gain, 0.25);
  EXPECT_EQ(life_of(view).age_days, 0);
  view.last_export = {.images = view.last_check->images, .folder = "/tmp"};
  EXPECT_EQ(life_of(view).next.step, std::nullopt);
  EXPECT_EQ(life_of(view).next.why, "is done: the optimized files are in /tmp");
}

TEST(Life, BeginsAgainWithNewCounts) {
  ApplicationView view = registered();
  instrument(view);
  run(view);
  optimize(view);
  check(view, CheckResult::faster, 0.25);
  instrument(view);
  EXPECT_EQ(life_of(view).next.step, Step::running);
  run(view);
  EXPECT_EQ(life_of(view).next.step, Step::optimizing);
  optimize(view, 200);
  EXPECT_EQ(life_of(view).next.step, Step::checking);  // the last check is of another version
  EXPECT_FALSE(life_of(view).gain.has_value());
}

/// The same bytes that are made again, by other counts, need no second check.
TEST(Life, AVersionIsKnownByItsContents) {
  ApplicationView view = registered();
  instrument(view);
  run(view);
  optimize(view);
  check(view, CheckResult::faster, 0.25);
  view.images[0].optimized->made += 1000;
  EXPECT_EQ(life_of(view).next.step, Step::exporting);
  view.last_check->images = hash_of(7).hex();
  EXPECT_EQ(life_of(view).next.step, Step::checking);
}

TEST(Life, ResultsOfChecks) {
  ApplicationView view = registered();
  instrument(view);
  run(view);
  optimize(view);
  check(view, CheckResult::slower, -0.02);
  EXPECT_EQ(life_of(view).next.step, Step::instrumenting);
  EXPECT_EQ(life_of(view).gain, -0.02);
  check(view, CheckResult::same);
  EXPECT_EQ(life_of(view).next.step, Step::exporting);
  check(view, CheckResult::unclear);
  EXPECT_EQ(life_of(view).next.step, Step::checking);
  EXPECT_FALSE(life_of(view).gain.has_value());
  check(view, CheckResult::differs, 0.25);  // no run helps
  EXPECT_EQ(life_of(view).next.step, std::nullopt);
  EXPECT_NE(life_of(view).next.why.find("a verdict"), std::string::npos);
  EXPECT_FALSE(life_of(view).gain.has_value());
}

/// A profile that was given, or none: nothing was counted here.
TEST(Life, OptimizedWithoutCounts) {
  ApplicationView view = registered();
  optimize(view);
  EXPECT_EQ(life_of(view).next.step, Step::checking);
}

TEST(Life, AnExportOfSomeImagesIsNotAll) {
  ApplicationView view = registered();
  view.images.push_back(view.images[0]);
  view.images[2].role = Role::linked;
  optimize(view);
  view.images[2].optimized.emplace().content = hash_of(9);
  const std::string both = hash_of(100).hex() + " " + hash_of(9).hex();
  check(view, CheckResult::faster, 0.25);
  EXPECT_EQ(life_of(view).next.step, Step::checking);
  view.last_check->images = both;
  view.last_export = {.images = hash_of(9).hex(), .folder = "/tmp"};
  EXPECT_EQ(life_of(view).next.step, Step::exporting);
  view.last_export->images = both;
  EXPECT_EQ(life_of(view).next.step, std::nullopt);
  view.images[2].role = Role::opened;  // a plugin that is gone need not be exported
  view.last_export->images = hash_of(100).hex();
  EXPECT_EQ(life_of(view).next.step, std::nullopt);
}

TEST(Life, AnImageThatWasBuiltAnewIsOptimizedAgain) {
  ApplicationView view = registered();
  instrument(view);
  run(view);
  view.images.push_back(view.images[0]);
  view.images[2].role = Role::linked;
  optimize(view);
  view.images[2].build.emplace();
  view.images[2].builds = 2;
  EXPECT_EQ(life_of(view).next.step, Step::optimizing);
  view.images[2].profile = {};  // counts of its older build are carried over when it is optimized
  EXPECT_EQ(life_of(view).next.step, Step::optimizing);
  view.images[2].builds = 1;  // it was left alone
  EXPECT_EQ(life_of(view).next.step, Step::checking);
}

/// Nothing can be run alone, so nothing is checked.
TEST(Life, LibrariesAndSeveralPrograms) {
  for (const bool library : {true, false}) {
    ApplicationView view = registered();
    view.images[0].image.program = !library;
    if (!library) view.images.push_back(view.images[0]);
    instrument(view);
    EXPECT_EQ(life_of(view).next.step, Step::running);
    run(view);
    optimize(view);
    EXPECT_EQ(life_of(view).next.step, Step::exporting);
    EXPECT_FALSE(life_of(view).can_be_checked);
    view.last_export = {.images = view.images[0].optimized->content.hex(), .folder = "/tmp"};
    EXPECT_EQ(life_of(view).next.step, std::nullopt);
  }
}

TEST(Life, NothingComesNextWhereNothingCanBeDone) {
  ApplicationView view = registered();
  view.images[0].image.optimizable = false;
  view.images[0].image.reason = "the image has no relocations";
  EXPECT_EQ(life_of(view).next.step, std::nullopt);
  EXPECT_NE(life_of(view).next.why.find("no relocations"), std::string::npos);
  view.images[0].problem = "the file does not exist";
  EXPECT_EQ(life_of(view).next.why, "cannot be used: the file does not exist");
}

TEST(Life, GainsInWords) {
  EXPECT_EQ(gain_text(0.253), "25.3%");
  EXPECT_EQ(gain_text(-0.012), "1.2% slower");
  EXPECT_EQ(gain_text(0), "no difference");
}

}  // namespace
}  // namespace respike
