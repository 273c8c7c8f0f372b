// How far an application is, and what comes next. Oracle: views that are written down here, one for
// each turn of a life.

#include <gtest/gtest.h>

#include "environment/life.h"

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

void optimize(ApplicationView& view, int64_t made = 100) {
  view.images[0].optimized.emplace();
  view.images[0].optimized->content = hash_of(uint8_t(made));
  view.images[0].optimized->made = made;
  view.images[0].profile_grew = false;
  view.mode = Mode::optimized;
}

void check(ApplicationView& view, bool ship, double gain) {
  view.last_check = {.images = view.images[0].optimized->content.hex(),
                     .ship = ship,
                     .verdict = ship ? "ship: faster" : "do not ship: slower",
                     .gain = gain,
                     .noted = view.images[0].optimized->made};
}

TEST(Life, GoesStepByStep) {
  ApplicationView view = registered();
  EXPECT_EQ(life_of(view).next, Step::instrumenting);
  EXPECT_EQ(life_of(view)[Step::registering].text, "1 of 2 images can be optimized");
  instrument(view);
  EXPECT_EQ(life_of(view).next, Step::running);
  EXPECT_EQ(life_of(view, true).next, Step::optimizing);  // it has run, and nobody has collected
  run(view);
  EXPECT_EQ(life_of(view).next, Step::optimizing);
  optimize(view);
  EXPECT_EQ(life_of(view).next, Step::checking);
  EXPECT_FALSE(life_of(view).gain.has_value());
  check(view, true, 0.25);
  EXPECT_EQ(life_of(view).next, Step::exporting);
  EXPECT_EQ(life_of(view).gain, 0.25);
  EXPECT_EQ(life_of(view).age_days, 0);
  view.last_export = {.images = view.last_check->images, .folder = "/srv", .noted = 101};
  EXPECT_EQ(life_of(view).next, std::nullopt);
  EXPECT_EQ(life_of(view).advice, "all is done: the faster files are in /srv");
}

TEST(Life, BeginsAgainWithNewCounts) {
  ApplicationView view = registered();
  instrument(view);
  run(view);
  optimize(view);
  check(view, true, 0.25);
  instrument(view);
  EXPECT_EQ(life_of(view).next, Step::running);
  run(view);
  EXPECT_EQ(life_of(view).next, Step::optimizing);
  optimize(view, 200);
  EXPECT_EQ(life_of(view).next, Step::checking);  // the last check is of another version
  EXPECT_FALSE(life_of(view).gain.has_value());
}

/// The same bytes that are made again, by other counts, need no second check.
TEST(Life, AVersionIsKnownByItsContents) {
  ApplicationView view = registered();
  instrument(view);
  run(view);
  optimize(view);
  check(view, true, 0.25);
  view.last_check->images = hash_of(7).hex();
  EXPECT_EQ(life_of(view).next, Step::checking);
}

TEST(Life, WhatIsSlowerCountsMore) {
  ApplicationView view = registered();
  instrument(view);
  run(view);
  optimize(view);
  check(view, false, -0.02);
  EXPECT_EQ(life_of(view).next, Step::instrumenting);
  check(view, false, 0);  // it behaves otherwise: no run helps
  EXPECT_EQ(life_of(view).next, std::nullopt);
  EXPECT_NE(life_of(view).advice.find("do not ship"), std::string::npos);
}

TEST(Life, NothingComesNextWhereNothingCanBeDone) {
  ApplicationView view = registered();
  view.images[0].image.optimizable = false;
  view.images[0].image.reason = "the image has no relocations";
  EXPECT_EQ(life_of(view).next, std::nullopt);
  EXPECT_NE(life_of(view).advice.find("no relocations"), std::string::npos);
  view.images[0].problem = "the file does not exist";
  EXPECT_EQ(life_of(view).advice, "the file does not exist");
}

TEST(Life, GainsInWords) {
  EXPECT_EQ(gain_text(0.253), "25.3%");
  EXPECT_EQ(gain_text(-0.012), "-1.2%");
  EXPECT_EQ(gain_text(0), "none measured");
}

}  // namespace
}  // namespace respike
