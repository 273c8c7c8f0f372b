// Tests the operations of the profile database, one by one.

#include "profiledb/database.h"

#include <fcntl.h>

#include <sys/stat.h>
#include <unistd.h>

#include "profiledb/counts.h"
#include "tests/unit/profile_testing.h"
#include "tests/unit/profiledb_testing.h"

namespace respike {
namespace {

namespace fs = std::filesystem;

BuildFacts facts_of(const std::string& content, FileIdentity file = {}) {
  BuildFacts facts;
  facts.content = content_hash(text_bytes(content));
  facts.file_hash = content.size();
  facts.build_id = "b1d";
  facts.file = file;
  return facts;
}

class DatabaseTest : public testing::Test {
 protected:
  DatabaseTest() : database(folder / "some" / "folder" / "test.db") {}

  Id put_image(const std::string& path) {
    return database.put_image({path, "", "alpha", true, ""});
  }
  /// A build of an image with random procedures.
  Id put_build(Id image, const std::string& content, const Profile& procedures) {
    return database.put_build(image, facts_of(content), procedures);
  }
  Profile some_procedures(uint64_t seed = 1) {
    Random random(seed);
    Profile profile = random_profile(random);
    for (ProcedureProfile& procedure : profile.procedures) {
      std::sort(procedure.indirect.begin(), procedure.indirect.end(), [](auto& a, auto& b) {
        return std::pair(a.block, a.target) < std::pair(b.block, b.target);
      });
      // A block with a count: the database keeps all procedures.
      procedure.blocks[0].count = 1 + procedure.blocks[0].count / 2;
    }
    return profile;
  }
  ContentHash stored(const std::string& text) {
    return database.store().put(text_bytes(text), fs::perms(0755));
  }
  std::vector<std::string> names(const std::vector<ApplicationRow>& rows) {
    std::vector<std::string> result;
    for (const ApplicationRow& row : rows) result.push_back(row.name);
    return result;
  }

  TemporaryFolder folder;
  Database database;
};

TEST_F(DatabaseTest, OpensWhatItMade) {
  put_image("/bin/a");
  const Database again(database.path());
  EXPECT_TRUE(again.find_image("/bin/a"));
  EXPECT_EQ(again.path(), folder / "some" / "folder" / "test.db");
  EXPECT_EQ(again.files(), folder / "some" / "folder" / "test.db.files");
}

TEST_F(DatabaseTest, AnyNameWillDo) {
  for (const std::string name :
       {"with space.db", "what?.db", "100%25.db", "a=b;c#d.db", "\"quoted'.db", "\xc3\xa4.db"}) {
    Database other(folder / name);
    other.put_image({"/x", "", "alpha", true, ""});
    EXPECT_TRUE(fs::exists(folder / name)) << name;
    EXPECT_TRUE(Database(folder / name).find_image("/x")) << name;
  }
}

TEST_F(DatabaseTest, Applications) {
  const Id b = database.add_application("b", put_image("/bin/b"));
  const Id a = database.add_application("a", put_image("/bin/a"));
  EXPECT_EQ(names(database.applications()), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(database.find_application("b")->id, b);
  EXPECT_EQ(database.find_application("c"), std::nullopt);
  EXPECT_EQ(database.find_application("a")->mode, Mode::original);
  database.set_mode(a, Mode::instrumented);
  EXPECT_EQ(database.find_application("a")->mode, Mode::instrumented);
  EXPECT_EQ(database.find_application("b")->mode, Mode::original);
  EXPECT_NE(error_of([&] { database.add_application("a", 1); }).find("an application a already"),
            std::string::npos);
  EXPECT_NE(error_of([&] { database.add_application("c", 77); }).find("no image"),
            std::string::npos);
  EXPECT_NE(error_of([&] { database.set_mode(77, Mode::optimized); }).find("no application"),
            std::string::npos);
  database.remove_application(a);
  EXPECT_EQ(names(database.applications()), (std::vector<std::string>{"b"}));
  EXPECT_TRUE(database.find_image("/bin/a")) << "prune removes it";
}

TEST_F(DatabaseTest, NamesMayHoldAnything) {
  const std::string name = "'; drop table application; --\n\xff";
  const Id image = put_image("/bin/'\"%s");
  database.add_application(name, image);
  EXPECT_EQ(database.applications().at(0).name, name);
  EXPECT_EQ(database.image(image).path, "/bin/'\"%s");
}

TEST_F(DatabaseTest, ImagesOfApplications) {
  const Id main = put_image("/bin/main"), z = put_image("/lib/z"), a = put_image("/lib/a"),
           plugin = put_image("/lib/0plugin");
  const Id application = database.add_application("app", main);
  database.add_application_image(application, plugin, Role::opened);
  database.add_application_image(application, z, Role::linked);
  database.add_application_image(application, a, Role::linked);
  database.add_application_image(application, a, Role::opened);  // it is known
  const auto images = database.images_of(application);
  ASSERT_EQ(images.size(), 4u);
  EXPECT_EQ(images[0].image.path, "/bin/main");
  EXPECT_EQ(images[0].role, Role::main);
  EXPECT_EQ(images[1].image.path, "/lib/a");
  EXPECT_EQ(images[1].role, Role::linked);
  EXPECT_EQ(images[2].image.path, "/lib/z");
  EXPECT_EQ(images[3].role, Role::opened);
  const Id other = database.add_application("other", put_image("/bin/other"));
  database.add_application_image(other, z, Role::linked);
  database.remove_application_image(application, z);
  EXPECT_EQ(database.images_of(application).size(), 3u);
  EXPECT_NE(error_of([&] {
              database.remove_application_image(application, main);
            }).find("/bin/main is the main image of app"),
            std::string::npos);
}

TEST_F(DatabaseTest, ImagesAreUpdated) {
  const Id image = put_image("/lib/x");
  EXPECT_EQ(database.put_image({"/lib/x", "libx.so.1", "ia64", false, "no relocations"}), image);
  const ImageRow row = database.image(image);
  EXPECT_EQ(row.soname, "libx.so.1");
  EXPECT_EQ(row.machine, "ia64");
  EXPECT_FALSE(row.optimizable);
  EXPECT_EQ(row.reason, "no relocations");
  EXPECT_EQ(database.find_image("/lib/y"), std::nullopt);
  EXPECT_NE(error_of([&] { database.image(77); }).find("no image with the key 77"),
            std::string::npos);
}

TEST_F(DatabaseTest, BuildsAreNumbered) {
  const Id image = put_image("/bin/a"), other = put_image("/bin/b");
  const Profile procedures = some_procedures();
  const Id first = put_build(image, "1", procedures), second = put_build(image, "22", procedures);
  EXPECT_EQ(put_build(image, "1", procedures), first) << "the file changed back";
  EXPECT_NE(put_build(other, "1", procedures), first);
  EXPECT_EQ(database.build(first).number, 1u);
  EXPECT_EQ(database.build(second).number, 2u);
  EXPECT_EQ(database.build(second).content, content_hash(text_bytes("22")));
  EXPECT_EQ(database.build(second).file_hash, 2u);
  EXPECT_EQ(database.build(second).build_id, "b1d");
  EXPECT_NEAR(static_cast<double>(database.build(second).first_seen),
              static_cast<double>(time(nullptr)), 100);
  const auto builds = database.builds(image);
  ASSERT_EQ(builds.size(), 2u);
  EXPECT_EQ(builds[0].id, second);
  EXPECT_EQ(database.find_build(image, content_hash(text_bytes("1")))->id, first);
  EXPECT_EQ(database.find_build(other, content_hash(text_bytes("22"))), std::nullopt);
}

TEST_F(DatabaseTest, UnchangedFilesAreKnownByIdentity) {
  const Id image = put_image("/bin/a");
  const FileIdentity old = {10, -5, UINT64_MAX}, now = {11, 1'700'000'000'123'456'789, 3};
  const Id first = database.put_build(image, facts_of("1", old), some_procedures());
  const Id second = database.put_build(image, facts_of("22", now), some_procedures());
  EXPECT_EQ(database.find_build(image, old)->id, first);
  EXPECT_EQ(database.find_build(image, now)->id, second);
  EXPECT_EQ(database.build(first).file, old);
  EXPECT_EQ(database.find_build(image, FileIdentity{11, 5, 3}), std::nullopt);
  FileIdentity changed = now;
  changed.changed = 1'700'000'000'000'000'001;
  EXPECT_EQ(database.find_build(image, changed), std::nullopt);
  database.set_file_identity(second, changed);
  EXPECT_EQ(database.build(second).file, changed);
  EXPECT_EQ(database.find_build(image, changed)->id, second);
  database.set_file_identity(second, now);
  // The file at the path is the first build again, and no other build may be taken for it.
  database.set_file_identity(first, now);
  EXPECT_EQ(database.find_build(image, now)->id, first);
  EXPECT_EQ(database.find_build(image, old), std::nullopt);
}

TEST_F(DatabaseTest, IdentityOfFiles) {
  const fs::path file = folder / "file";
  put_contents(file, text_bytes("abc"));
  const FileIdentity identity = file_identity(file);
  EXPECT_EQ(identity.size, 3u);
  EXPECT_NEAR(static_cast<double>(identity.modified) / 1e9, static_cast<double>(time(nullptr)),
              100);
  const timespec times[2] = {{5, 6}, {7, 8}};
  ASSERT_EQ(utimensat(AT_FDCWD, file.c_str(), times, 0), 0);
  EXPECT_EQ(file_identity(file).modified, 7'000'000'008);
  EXPECT_EQ(file_identity(file).inode, identity.inode);
  EXPECT_GE(file_identity(file).changed, identity.changed);
  EXPECT_NEAR(static_cast<double>(file_identity(file).changed) / 1e9,
              static_cast<double>(time(nullptr)), 100);
  EXPECT_NE(error_of([&] { file_identity(folder / "none"); }).find("does not exist"),
            std::string::npos);
  EXPECT_NE(error_of([&] { file_identity(folder.path()); }).find("not a regular file"),
            std::string::npos);
}

TEST_F(DatabaseTest, ProceduresComeBackWithoutCounts) {
  const Id image = put_image("/bin/a");
  const Profile procedures = some_procedures();
  const Id build = put_build(image, "1", procedures);
  Profile expected = procedures;
  expected.image_path = "/bin/a";
  expected.image_build_id = "b1d";
  expected.image_hash = 1;
  expected.runs = 0;
  expected.procedures = shape_of(procedures.procedures);
  EXPECT_EQ(database.procedures(build), expected);
  EXPECT_EQ(database.profile(build), expected);
  const ProfileSummary summary = database.summary(build);
  EXPECT_EQ(summary.runs, 0);
  EXPECT_EQ(summary.confidence, 0);
  EXPECT_EQ(summary.procedures, procedures.procedures.size());
  EXPECT_EQ(summary.newest_day, std::nullopt);
}

TEST_F(DatabaseTest, DerivedImages) {
  const Id build = put_build(put_image("/bin/a"), "1", some_procedures());
  const auto optimized = [&](const std::string& options, const std::string& text) {
    return database.add_optimized(
        build, {DerivedKind::optimized, options, "hash", "a gain", stored(text)});
  };
  EXPECT_EQ(database.newest_derived(build, DerivedKind::optimized), std::nullopt);
  optimized("x", "one");
  const Id two = optimized("y", "two");
  auto newest = database.newest_derived(build, DerivedKind::optimized);
  ASSERT_TRUE(newest);
  EXPECT_EQ(newest->id, two);
  EXPECT_EQ(newest->options, "y");
  EXPECT_EQ(newest->profile_hash, "hash");
  EXPECT_EQ(newest->content, content_hash(text_bytes("two")));
  EXPECT_EQ(newest->image_id, std::nullopt);
  EXPECT_EQ(database.newest_derived(build, DerivedKind::instrumented), std::nullopt);
  // A derived image that is the same as an earlier one becomes the newest, and is kept once.
  optimized("x", "one");
  EXPECT_EQ(database.newest_derived(build, DerivedKind::optimized)->options, "x");
  EXPECT_EQ(database.derived(build).size(), 2u);
  EXPECT_NE(error_of([&] {
              database.add_optimized(build, {DerivedKind::optimized, "", "", "",
                                             content_hash(text_bytes("not there"))});
            }).find("not in the store"),
            std::string::npos);
}

TEST_F(DatabaseTest, ComparisonsStayWithTheirBuild) {
  const Id image = put_image("/bin/a"), other = put_image("/bin/b");
  const Id one = put_build(image, "1", some_procedures());
  const Id two = put_build(image, "2", some_procedures());
  const ComparisonFacts facts = {.optimized = content_hash(text_bytes("gone")),
                                 .options = "--layout ext-tsp",
                                 .workload = "-c 'a file'",
                                 .model = "Alpha 21164",
                                 .difference = "",
                                 .figures = {{"instructions", UINT64_MAX, 90}},
                                 .cycles = {{"issue", 70, 60}, {"branches", 9, 4}}};
  const Id first = database.add_comparison(one, facts);
  ComparisonFacts differs = facts;
  differs.difference = "exit status 1 for 0";
  const Id second = database.add_comparison(two, differs);
  const auto kept = database.comparisons(image);
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].id, second);
  EXPECT_EQ(kept[0].build_number, 2u);
  EXPECT_EQ(kept[0].difference, "exit status 1 for 0");
  EXPECT_EQ(kept[1].id, first);
  EXPECT_EQ(kept[1].optimized, facts.optimized);
  EXPECT_EQ(kept[1].options, facts.options);
  EXPECT_EQ(kept[1].workload, facts.workload);
  EXPECT_EQ(kept[1].model, facts.model);
  EXPECT_EQ(kept[1].figures, facts.figures);
  EXPECT_EQ(kept[1].cycles, facts.cycles);
  EXPECT_GT(kept[1].made, 0);
  EXPECT_TRUE(database.comparisons(other).empty());
  database.remove_comparison(second);
  EXPECT_EQ(database.comparisons(image).size(), 1u);
  EXPECT_NE(error_of([&] { database.add_comparison(4711, facts); }), "");
  EXPECT_TRUE(database.check().empty());
}

TEST_F(DatabaseTest, WhatWasDoneLastIsKept) {
  const Id application = database.add_application("sort", put_image("/bin/sort"));
  EXPECT_FALSE(database.last_run(application) || database.last_check(application) ||
               database.last_export(application));
  database.put_last(application, LastRun{"-n 'a b'", "/tmp", "/tmp/in", 0});
  database.put_last(application, LastRun{"-r", "/", "", 0});
  database.put_last(application, LastCheck{"aa bb", CheckResult::faster, "ship: faster", 0.25, 0});
  database.put_last(application, LastExport{"aa", "/srv", 0});
  EXPECT_EQ(database.last_run(application)->arguments, "-r");
  EXPECT_GT(database.last_run(application)->noted, 0);
  EXPECT_EQ(database.last_check(application)->gain, 0.25);
  EXPECT_EQ(database.last_check(application)->result, CheckResult::faster);
  EXPECT_EQ(database.last_export(application)->folder, "/srv");
  database.remove_application(application);
  EXPECT_FALSE(database.last_run(application) || database.last_check(application) ||
               database.last_export(application));
  EXPECT_THROW(database.put_last(application, LastRun{}), Error);
}

TEST_F(DatabaseTest, InstrumentedImagesKeepTheirMaps) {
  CountingProgram program(1);
  program.put_into(database);
  const auto row = database.newest_derived(program.build(), DerivedKind::instrumented);
  ASSERT_TRUE(row);
  EXPECT_EQ(row->image_id, program.id());
  EXPECT_EQ(database.store().read(content_hash(encode_counter_map(program.map()))),
            encode_counter_map(program.map()));
  EXPECT_TRUE(fs::is_directory(database.make_spool(program.build())));
  EXPECT_EQ(database.make_spool(program.build()).parent_path(), database.spool());
}

// ---- profiles ----

TEST_F(DatabaseTest, GivenProfiles) {
  const Profile profile = some_procedures();
  const Id build = database.put_build(
      put_image("/bin/a"),
      [&] {
        BuildFacts facts = facts_of("1");
        facts.file_hash = profile.image_hash;
        return facts;
      }(),
      profile);
  Profile one = profile;
  one.runs = 3;
  database.add_profile(build, one);
  EXPECT_EQ(database.profile(build).procedures, profile.procedures);
  EXPECT_EQ(database.profile(build).runs, 3);
  database.add_profile(build, one);
  const std::vector<Profile> both = {one, one};
  EXPECT_EQ(database.profile(build).procedures,
            merge_profiles(both, std::vector<double>{1, 1}, std::vector<std::string>{"a", "b"})
                .procedures);
  EXPECT_EQ(database.summary(build).runs, 6);
  EXPECT_EQ(database.summary(build).entered, profile.procedures.size());
  one.image_hash ^= 1;
  EXPECT_NE(error_of([&] { database.add_profile(build, one); }).find("of another build"),
            std::string::npos);
  EXPECT_NE(error_of([&] { database.add_profile(build, profile, 0); }).find("weight"),
            std::string::npos);
}

/// One procedure of one block.
Profile small_profile(uint64_t count, double runs = 1) {
  Profile profile;
  profile.image_hash = 1;
  profile.runs = runs;
  ProcedureProfile& procedure = profile.procedures.emplace_back();
  procedure.name = "p";
  procedure.address = 16;
  procedure.blocks.resize(1);
  procedure.blocks[0].count = count;
  procedure.blocks[0].size = 4;
  return profile;
}

TEST_F(DatabaseTest, ProfilesStayWithTheirMachine) {
  const Id image = put_image("/bin/a");
  std::vector<Id> builds;
  for (const std::string machine : {"alpha", "ia64", "alpha", "ia64"}) {
    BuildFacts facts = facts_of(std::string(1 + builds.size(), 'x'));
    facts.machine = machine;
    builds.push_back(database.put_build(image, facts, small_profile(0)));
    EXPECT_EQ(database.build(builds.back()).machine, machine);
  }
  database.add_profile(builds[0], small_profile(100));
  EXPECT_EQ(database.profiled_build_before(builds[1]), std::nullopt);
  EXPECT_EQ(database.profiled_build_before(builds[2])->id, builds[0]);
  EXPECT_EQ(database.profiled_build_before(builds[3]), std::nullopt);
}

TEST_F(DatabaseTest, CarriedProfiles) {
  const Id image = put_image("/bin/a");
  const Id old = put_build(image, "1", small_profile(0)),
           now = put_build(image, "22", small_profile(0));
  EXPECT_EQ(database.profiled_build_before(now), std::nullopt);
  database.add_profile(old, small_profile(100));
  EXPECT_EQ(database.profiled_build_before(now)->id, old);
  EXPECT_EQ(database.profiled_build_before(old), std::nullopt);
  database.set_carried(now, old, small_profile(80, 4), 0.5);
  const auto count = [&](const ProfileOptions& options = {}) {
    return database.profile(now, options).procedures.at(0).blocks.at(0).count;
  };
  EXPECT_EQ(count(), 40u);
  EXPECT_EQ(database.profile(now).runs, 2);
  EXPECT_EQ(database.summary(now).confidence, 0.5);
  EXPECT_EQ(database.summary(now).runs, 0);
  database.set_carried(now, old, small_profile(60), 0.25);
  EXPECT_EQ(count(), 15u) << "replaced";
  EXPECT_EQ(count({.carried_weight = 2}), 30u);
  EXPECT_EQ(count({.carried_weight = 0}), 0u);

  Profile own = small_profile(7);
  own.image_hash = 2;
  database.add_profile(now, own);
  EXPECT_EQ(count(), 22u);
  EXPECT_EQ(count({.own = false}), 15u);
  EXPECT_EQ(database.summary(now).confidence, 1);
  EXPECT_EQ(database.summary(now).runs, 1);
  EXPECT_EQ(database.profiled_build_before(put_build(image, "333", small_profile(0)))->id, now);
  EXPECT_NE(error_of([&] { database.set_carried(now, old, own, 1.5); }).find("confidence"),
            std::string::npos);
  EXPECT_NE(error_of([&] { database.set_carried(now, 77, own, 1); }).find("no build"),
            std::string::npos);
  EXPECT_EQ(count(), 22u) << "nothing was changed";
}

TEST_F(DatabaseTest, CarriedProfilesMayLackProcedures) {
  const Id image = put_image("/bin/a");
  Profile procedures = some_procedures(5);
  const Id old = put_build(image, "1", procedures), now = put_build(image, "22", procedures);
  Profile carried = procedures;
  carried.procedures.erase(carried.procedures.begin());
  database.set_carried(now, old, carried, 1);
  const Profile got = database.profile(now);
  ASSERT_EQ(got.procedures.size(), procedures.procedures.size());
  EXPECT_FALSE(got.procedures[0].entered());
  for (size_t p = 1; p < got.procedures.size(); ++p)
    EXPECT_EQ(got.procedures[p], procedures.procedures[p]);
  EXPECT_EQ(database.summary(now).entered, 0u);
}

TEST_F(DatabaseTest, CountsOfOtherShapesAreUnited) {
  const Id build = put_build(put_image("/bin/a"), "1", small_profile(0));
  Profile richer = small_profile(5);
  richer.procedures[0].edges.push_back({0, 0, ProcedureProfile::Edge::Kind::indirect, 3});
  richer.procedures.push_back(richer.procedures[0]);
  richer.procedures[1].name = "q";
  richer.procedures[1].address = 32;
  database.add_profile(build, small_profile(2));
  database.add_profile(build, richer);
  const Profile profile = database.profile(build);
  ASSERT_EQ(profile.procedures.size(), 2u);
  EXPECT_EQ(profile.procedures[0].blocks[0].count, 7u);
  EXPECT_EQ(profile.procedures[0].edges.at(0).count, 3u);
  EXPECT_EQ(profile.procedures[1].blocks[0].count, 5u);
  EXPECT_EQ(profile.runs, 2);
}

TEST_F(DatabaseTest, CountsAge) {
  constexpr uint64_t kDay = 86'400'000'000'000, kStart = 1'700'000'000'000'000'000;
  CountingProgram program(1);
  program.put_into(database);
  const auto counters = program.run();
  for (const uint64_t days : {0, 10, 20}) program.leave_file(1, kStart + days * kDay, counters);
  Diagnostics diagnostics;
  ASSERT_EQ(merge_spool(database, {}, diagnostics).finished, 3u);
  const Profile one = program.profile_of(counters);
  const auto expect_times = [&](double half_life, double times) {
    const Profile aged = database.profile(program.build(), {.half_life_days = half_life});
    EXPECT_NEAR(aged.runs, times, 1e-6);
    for (size_t p = 0; p < one.procedures.size(); ++p)
      for (size_t b = 0; b < one.procedures[p].blocks.size(); ++b) {
        const double expected = static_cast<double>(one.procedures[p].blocks[b].count) * times;
        EXPECT_NEAR(static_cast<double>(aged.procedures[p].blocks[b].count), expected, 0.6);
      }
  };
  expect_times(0, 3);
  expect_times(10, 1.75);
  expect_times(5, 1.3125);
  expect_times(0.1, 1);
  expect_times(1e-300, 1);
  expect_times(std::nan(""), 3);
}

// ---- transactions ----

TEST_F(DatabaseTest, TransactionsAreAllOrNothing) {
  {
    Database::Transaction transaction(database);
    put_image("/a");
  }
  EXPECT_EQ(database.find_image("/a"), std::nullopt);
  {
    Database::Transaction transaction(database);
    put_image("/a");
    {
      Database::Transaction inner(database);
      put_image("/b");
      inner.commit();
    }
    transaction.commit();
  }
  EXPECT_TRUE(database.find_image("/a"));
  EXPECT_TRUE(database.find_image("/b"));
}

TEST_F(DatabaseTest, AFailureInsideSpoilsTheWhole) {
  {
    Database::Transaction transaction(database);
    put_image("/a");
    EXPECT_NE(error_of([&] { database.set_mode(77, Mode::original); }), "no error");
    EXPECT_NE(error_of([&] { transaction.commit(); }).find("nothing was changed"),
              std::string::npos);
  }
  EXPECT_EQ(database.find_image("/a"), std::nullopt);
  put_image("/b");
  EXPECT_TRUE(database.find_image("/b"));
}

TEST_F(DatabaseTest, WhatIsNotCommittedNobodySees) {
  Database other(database.path());
  Database::Transaction transaction(database);
  put_image("/a");
  EXPECT_EQ(other.find_image("/a"), std::nullopt);
  transaction.commit();
  EXPECT_TRUE(other.find_image("/a"));
}

TEST_F(DatabaseTest, WritersWaitForEachOther) {
  const pid_t child = fork();
  if (child == 0) {
    Database other(database.path());
    for (int i = 0; i < 100; ++i)
      other.put_image({"/child/" + std::to_string(i), "", "alpha", true, ""});
    _exit(0);
  }
  Database mine(database.path());
  for (int i = 0; i < 100; ++i)
    mine.put_image({"/parent/" + std::to_string(i), "", "alpha", true, ""});
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(mine.find_image("/child/99"));
  EXPECT_TRUE(mine.find_image("/parent/99"));
}

TEST_F(DatabaseTest, ManyMakeTheSameDatabase) {
  const fs::path path = folder / "new.db";
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      int status = 0;
      try {
        Database(path).put_image({"/" + std::to_string(i), "", "alpha", true, ""});
      } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        status = 1;
      }
      _exit(status);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const Database made(path);
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(made.find_image("/" + std::to_string(i)));
}

// ---- housekeeping ----

TEST_F(DatabaseTest, PruneKeepsTheNewest) {
  const Id used = put_image("/bin/used"), unused = put_image("/bin/unused");
  database.add_application("app", used);
  put_build(unused, "unused", some_procedures());
  std::vector<Id> builds;
  for (const std::string content : {"1", "22", "333"})
    builds.push_back(put_build(used, content, some_procedures()));
  for (const std::string text : {"first", "second"})
    database.add_optimized(builds[2], {DerivedKind::optimized, text, "", "", stored(text)});
  database.add_optimized(builds[0],
                         {DerivedKind::optimized, "", "", "", stored("of an old build")});
  stored("of nobody");
  database.make_spool(builds[0]);
  const PruneResult young = database.prune(3);
  EXPECT_EQ(young.bytes, 0u) << "all files are young";
  EXPECT_EQ(young.derived, 0u) << "a run may have chosen it";
  const PruneResult result = database.prune(2, std::chrono::seconds(0));
  EXPECT_EQ(result.builds, 1u);
  EXPECT_EQ(result.images, 0u) << "went before";
  EXPECT_EQ(database.find_image("/bin/unused"), std::nullopt);
  EXPECT_EQ(database.builds(used).size(), 2u);
  EXPECT_EQ(database.derived(builds[2]).size(), 1u);
  EXPECT_EQ(database.derived(builds[2])[0].options, "second");
  EXPECT_EQ(files_below(database.files()).size(), 1u);
  EXPECT_TRUE(fs::is_empty(database.spool()));
  EXPECT_TRUE(database.check().empty());
}

TEST_F(DatabaseTest, CheckFindsWhatIsWrong) {
  CountingProgram program(1);
  program.put_into(database);
  EXPECT_TRUE(database.check().empty());
  const auto file = database.newest_derived(program.build(), DerivedKind::instrumented)->content;
  put_contents(database.store().path(file), text_bytes("other"));
  const auto problems = database.check();
  ASSERT_EQ(problems.size(), 1u);
  EXPECT_NE(problems[0].find(file.hex()), std::string::npos);
}

TEST(DatabasePath, ComesFromTheEnvironment) {
  const auto with = [](const char* db, const char* data, const char* home) {
    const auto set = [](const char* name, const char* value) {
      if (value == nullptr)
        unsetenv(name);
      else
        setenv(name, value, 1);
    };
    set("RESPIKE_DB", db);
    set("XDG_DATA_HOME", data);
    set("HOME", home);
    return error_of([] { throw Error(default_database_path().string()); });
  };
  const std::string home = getenv("HOME") == nullptr ? "" : getenv("HOME");
  EXPECT_EQ(with("some.db", "/data", "/home"), "some.db");
  EXPECT_EQ(with("", "/data", "/home"), "/data/respike/respike.db");
  EXPECT_EQ(with(nullptr, "relative", "/home"), "/home/.local/share/respike/respike.db");
  EXPECT_EQ(with(nullptr, nullptr, "/home"), "/home/.local/share/respike/respike.db");
  EXPECT_NE(with(nullptr, nullptr, nullptr).find("nothing says"), std::string::npos);
  setenv("HOME", home.c_str(), 1);
}

}  // namespace
}  // namespace respike
