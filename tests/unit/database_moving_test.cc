// Tests images that get another path, or are merged with the image of that path.
// database_model_test.cc has random sequences with other operations.

#include <optional>

#include "profiledb/counts.h"
#include "profiledb/database_runs.h"
#include "profiledb/database_session.h"
#include "tests/unit/profile_testing.h"
#include "tests/unit/profiledb_testing.h"

namespace respike {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kStart = 1'700'000'000'000'000'000;

/// A program that is registered under two paths, with runs of both.
class MovingTest : public testing::Test {
 protected:
  MovingTest() : database(folder / "x.db"), program(1), expected(program) {}

  void put(const std::string& path) {
    program.instrument_anew();
    program.put_into(database, path, "content");
  }
  /// Leaves counter files of the image that was put last, and merges them.
  void run(uint64_t times) {
    for (uint64_t i = 0; i < times; ++i) leave();
    EXPECT_EQ(merge().finished, times);
  }
  fs::path leave() {
    const auto counters = program.run();
    expected.add(program.profile_of(counters));
    return leave(counters);
  }
  fs::path leave(const std::vector<uint64_t>& counters) {
    ++process;
    return program.leave_file(process, kStart + process, counters);
  }
  MergeResult merge() {
    Diagnostics diagnostics;
    const MergeResult result = merge_spool(database, {}, diagnostics);
    EXPECT_TRUE(diagnostics.warnings().empty());
    return result;
  }
  Id id_of(const std::string& path) { return database.find_image(path).value().id; }
  BuildRow only_build(const std::string& path) {
    const auto builds = database.builds(id_of(path));
    EXPECT_EQ(builds.size(), 1u);
    return builds.at(0);
  }
  void expect_expected(const std::string& path) {
    const BuildRow build = only_build(path);
    expect_same_counts(database.profile(build.id), expected.profile());
    EXPECT_EQ(database.runs(build.id).size(), size_t(expected.profile().runs));
    EXPECT_EQ(database.check(), std::vector<std::string>());
  }
  template <typename T>
  T value_of(const std::string& query) {
    Session session(database.path());
    T value{};
    session.sql() << query, soci::into(value);
    return value;
  }
  void change(const std::string& script) { Session(database.path()).run(script); }

  TemporaryFolder folder;
  Database database;
  CountingProgram program;
  ExpectedSum expected;
  uint64_t process = 0;
};

TEST_F(MovingTest, AnImageGetsAnotherPath) {
  put("/lib/a");
  run(3);
  const Id image = id_of("/lib/a"), application = database.add_application("app", image);
  database.move_image("/lib/a", "/usr/lib/a");
  EXPECT_EQ(database.find_image("/lib/a"), std::nullopt);
  EXPECT_EQ(id_of("/usr/lib/a"), image);
  EXPECT_EQ(database.images_of(application).at(0).loaded_as, "/lib/a");
  expect_expected("/usr/lib/a");
  database.move_image("/usr/lib/a", "/usr/lib/a");
  database.move_image("/nowhere", "/usr/lib/a");
  database.move_image("/nowhere", "/elsewhere");
  EXPECT_EQ(database.images().size(), 1u);
  expect_expected("/usr/lib/a");
}

TEST_F(MovingTest, TwoImagesBecomeOne) {
  put("/a");
  run(3);
  leave();
  put("/b");
  EXPECT_EQ(merge().finished, 1u);
  run(2);
  const fs::path waits = leave();
  const auto bytes = contents_of(waits);
  database.move_image("/b", "/a");
  EXPECT_EQ(database.images().size(), 1u);
  EXPECT_EQ(merge().finished, 1u) << "the instrumented image of /b counts for /a";
  expect_expected("/a");
  put_contents(waits, bytes);
  EXPECT_EQ(merge().repeated, 1u) << "it was counted";
  expect_expected("/a");
  EXPECT_EQ(value_of<int>("select count(*) from count_set"), 1) << "one day";
  EXPECT_EQ(value_of<int>("select count(*) from run where count_set is null"), 0);
  EXPECT_EQ(value_of<int>("select count(*) from derived_image"), 2);
}

TEST_F(MovingTest, TheOtherWayRound) {
  put("/a");
  run(3);
  put("/b");
  run(2);
  leave();
  database.move_image("/a", "/b");
  merge();
  expect_expected("/b");
}

TEST_F(MovingTest, OtherContentsStayBuilds) {
  const Id a = database.put_image({"/a", "", "toy", true, ""});
  const Id b = database.put_image({"/b", "", "toy", true, ""});
  const auto put_build = [&](Id image, const std::string& content, int64_t first_seen) {
    BuildFacts facts;
    facts.content = content_hash(text_bytes(content));
    const Id build = database.put_build(image, facts, program.procedures());
    change("update build set first_seen = " + std::to_string(first_seen) +
           " where id = " + std::to_string(build));
    return build;
  };
  put_build(a, "one", 10), put_build(a, "three", 30), put_build(a, "four", 40);
  put_build(b, "two", 20), put_build(b, "three", 5), put_build(b, "five", 50);
  database.move_image("/a", "/b");
  std::vector<std::pair<uint32_t, ContentHash>> builds, wanted;
  for (const BuildRow& row : database.builds(id_of("/b")))
    builds.emplace_back(row.number, row.content);
  uint32_t number = 5;
  for (const std::string content : {"five", "four", "two", "one", "three"})
    wanted.emplace_back(number--, content_hash(text_bytes(content)));
  EXPECT_EQ(builds, wanted) << "in the order in which they were first seen";
}

TEST_F(MovingTest, ApplicationsUseTheOneImage) {
  const Id main = database.put_image({"/main", "", "toy", true, ""});
  const Id old = database.put_image({"/lib/x", "", "toy", true, ""});
  const Id there = database.put_image({"/usr/lib/x", "", "toy", true, ""});
  const Id both = database.add_application("both", main);
  database.add_application_image(both, there, Role::opened);
  database.add_application_image(both, old, Role::linked);
  const Id library = database.add_application("library", old);
  database.add_application_image(library, there, Role::linked, "/spelt");
  const Id other = database.add_application("other", there);
  database.add_application_image(other, old, Role::opened);
  database.move_image("/lib/x", "/usr/lib/x");
  const Id now = id_of("/usr/lib/x");
  const auto uses = [&](Id application) {
    std::vector<std::tuple<Id, Role, std::string>> result;
    for (const auto& used : database.images_of(application))
      result.emplace_back(used.image.id, used.role, used.loaded_as);
    return result;
  };
  using Uses = decltype(uses(both));
  EXPECT_EQ(uses(both), (Uses{{main, Role::main, "/main"}, {now, Role::linked, "/lib/x"}}));
  EXPECT_EQ(uses(library), (Uses{{now, Role::main, "/lib/x"}}));
  EXPECT_EQ(uses(other), (Uses{{now, Role::main, "/usr/lib/x"}}));
  EXPECT_EQ(database.find_application("library")->main_image, now);
  EXPECT_EQ(database.check(), std::vector<std::string>());
}

TEST_F(MovingTest, ARunGoesOn) {
  put("/a");
  auto counters = program.run();
  const fs::path file = leave(counters);
  auto running = std::make_unique<RunningFile>(file);
  EXPECT_EQ(merge().running, 1u);
  put("/b");
  run(2);
  database.move_image("/a", "/b");
  EXPECT_EQ(merge().unchanged, 1u) << "its snapshot is known";
  const auto more = program.run();
  for (size_t i = 0; i < more.size(); ++i) counters[i] += more[i];
  running->set(counters);
  running.reset();
  EXPECT_EQ(merge().finished, 1u);
  expected.add(program.profile_of(counters));
  expect_expected("/b");
}

/// Both builds have the row of one counter file; `running`: /a only as of a run that goes on.
void expect_one_row(bool running) {
  const TemporaryFolder folder;
  Database database(folder / "x.db");
  CountingProgram program(1);
  ExpectedSum expected(program);
  const auto counters = program.run();
  for (const std::string path : {"/a", "/b"}) {
    program.instrument_anew();
    program.put_into(database, path, "content");
    const fs::path file = program.leave_file(7, kStart, counters);
    std::optional<RunningFile> process;
    if (running && path == "/a") process.emplace(file);
    if (!running || path == "/b") expected.add(program.profile_of(counters));
    Diagnostics diagnostics;
    merge_spool(database, {}, diagnostics);
  }
  database.move_image("/a", "/b");
  const auto builds = database.builds(database.find_image("/b")->id);
  ASSERT_EQ(builds.size(), 1u);
  expect_same_counts(database.profile(builds[0].id), expected.profile());
  ASSERT_EQ(database.runs(builds[0].id).size(), 1u);
  EXPECT_EQ(database.runs(builds[0].id)[0].state, RunState::finished);
  EXPECT_EQ(database.check(), std::vector<std::string>());
}

TEST(Moving, ARepeatedRunIsKnownOnce) {
  expect_one_row(false);
  expect_one_row(true);
}

/// A command that merges counter files has asked for the build before the build was merged.
TEST_F(MovingTest, RunsFindTheBuildThatStays) {
  put("/a");
  const Id stale = only_build("/a").id;
  const ImageId image = program.id();
  put("/b");
  database.move_image("/a", "/b");
  ASSERT_NE(stale, only_build("/b").id) << "the larger key stays";
  const Profile profile = program.profile_of(program.run());
  expected.add(profile);
  RunCounts run;
  run.key = {stale, 7, kStart};
  run.ended = "exited 0";
  run.finished = true;
  for (uint32_t p = 0; p < profile.procedures.size(); ++p)
    if (is_counted(profile.procedures[p])) run.entered.emplace_back(p, profile.procedures[p]);
  const Shape shape = shape_of(profile.procedures);
  EXPECT_EQ(add_runs(database, image, std::vector{run}, shape, encode_shape(shape)),
            std::vector<bool>{true});
  expect_expected("/b");
}

TEST_F(MovingTest, GivenAndCarriedProfilesStay) {
  put("/a");
  const Profile profile = program.profile_of(program.run());
  const auto newer = [&](const std::string& path) {
    BuildFacts facts;
    facts.content = content_hash(text_bytes("newer"));
    facts.file_hash = program.map().original_hash;
    return database.put_build(id_of(path), facts, program.procedures());
  };
  database.add_profile(program.build(), profile);
  database.set_carried(newer("/a"), program.build(), profile, 0.5);
  put("/b");
  database.add_profile(program.build(), profile);
  database.add_profile(program.build(), profile, 2);
  database.set_carried(newer("/b"), program.build(), profile, 1);
  database.add_comparison(program.build(), {});
  database.move_image("/b", "/a");
  const auto builds = database.builds(id_of("/a"));
  ASSERT_EQ(builds.size(), 2u);
  EXPECT_EQ(database.summary(builds[1].id).runs, 4);
  EXPECT_EQ(database.summary(builds[0].id).carried_runs, 2);
  EXPECT_EQ(database.summary(builds[0].id).carried_confidence, 1);
  EXPECT_EQ(value_of<int>("select count(*) from count_set where purpose = 'given'"), 2);
  EXPECT_EQ(database.comparisons(id_of("/a")).size(), 1u);
  EXPECT_EQ(database.profiled_build_before(builds[0].id)->id, builds[1].id);
  database.set_carried(builds[0].id, builds[1].id, profile, 1);
  EXPECT_EQ(database.summary(builds[0].id).carried_runs, 1) << "both were of one source";
}

TEST_F(MovingTest, AllOrNothing) {
  put("/a");
  run(3);
  put("/b");
  {
    Database::Transaction transaction(database);
    database.move_image("/b", "/a");
  }
  EXPECT_EQ(database.images().size(), 2u);
  expect_expected("/a");
  const pid_t child = fork();
  if (child == 0) {
    Database mine(database.path());
    Database::Transaction transaction(mine);
    mine.move_image("/b", "/a");
    raise(SIGKILL);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(database.images().size(), 2u);
  expect_expected("/a");
}

TEST_F(MovingTest, ManyMoveTheSame) {
  put("/a");
  run(3);
  put("/b");
  run(4);
  std::vector<pid_t> children;
  for (int i = 0; i < 6; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      const std::string error = error_of([&] {
        Database mine(database.path());
        Diagnostics diagnostics;
        mine.move_image("/b", "/a");
        merge_spool(mine, {}, diagnostics);
      });
      _exit(error == "no error" ? 0 : 1);
    }
    children.push_back(child);
    if (i == 2) leave();
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  merge();
  expect_expected("/a");
}

// ---- images that follow others ----

TEST_F(MovingTest, AnImageHasTheProfileOfTheOneBefore) {
  put("/lib/x.1");
  const Id first = id_of("/lib/x.1"), counted = program.build();
  run(2);
  const Id second = database.put_image({"/lib/x.2", "", "toy", true, "", false, first});
  const Id third = database.put_image({"/lib/x.3", "", "toy", true, "", false, second});
  EXPECT_EQ(database.image(third).follows, second);
  database.put_image({"/lib/x.3", "", "toy", true, "", false, 0});
  EXPECT_EQ(database.image(third).follows, second) << "set when it was added";
  BuildFacts facts;
  facts.content = content_hash(text_bytes("third"));
  facts.machine = database.build(counted).machine;
  const Id build = database.put_build(third, facts, program.procedures());
  EXPECT_EQ(database.profiled_build_before(build)->id, counted);
  change("update image set follows = " + std::to_string(third) + " where path = '/lib/x.1'");
  EXPECT_EQ(database.profiled_build_before(build)->id, counted) << "a circle";
  change("delete from count_set");
  EXPECT_EQ(database.profiled_build_before(build), std::nullopt);
  database.move_image("/lib/x.3", "/lib/x.2");
  EXPECT_EQ(database.image(id_of("/lib/x.2")).follows, first);
  database.move_image("/lib/x.2", "/lib/x.1");
  EXPECT_EQ(database.image(id_of("/lib/x.1")).follows, 0) << "not itself";
}

TEST_F(MovingTest, AnApplicationFollowsALink) {
  const Id main = database.put_image({"/main", "", "toy", true, "", true});
  const Id old = database.put_image({"/x.1", "", "toy", true, ""});
  const Id now = database.put_image({"/x.2", "", "toy", true, ""});
  const Id application = database.add_application("app", main);
  const Id other = database.add_application("other", old);
  database.add_application_image(application, old, Role::linked, "/x");
  EXPECT_TRUE(database.replace_application_image(application, old, now));
  EXPECT_FALSE(database.replace_application_image(application, old, now)) << "done";
  const auto images = database.images_of(application);
  ASSERT_EQ(images.size(), 2u);
  EXPECT_EQ(images[1].image.path, "/x.2");
  EXPECT_EQ(images[1].loaded_as, "/x");
  EXPECT_EQ(database.find_application("other")->main_image, old) << "the others do not";
  EXPECT_TRUE(database.replace_application_image(other, old, now));
  EXPECT_EQ(database.find_application("other")->main_image, now);
}

TEST_F(MovingTest, ApplicationsOfSeveralPrograms) {
  const Id b = database.put_image({"/b", "", "toy", true, "", true});
  const Id a = database.put_image({"/a", "", "toy", true, "", true});
  const Id library = database.put_image({"/0lib", "", "toy", true, ""});
  const Id application = database.add_application("app", b);
  database.put_application_image(application, library, Role::linked, "/0lib");
  database.put_application_image(application, a, Role::linked, "/a");
  EXPECT_NE(error_of([&] { database.set_main_image(application, a); }).find("/a is no main image"),
            std::string::npos);
  database.put_application_image(application, a, Role::main, "/link");
  const auto paths = [&] {
    std::vector<std::string> result;
    for (const auto& used : database.images_of(application)) result.push_back(used.loaded_as);
    return result;
  };
  EXPECT_EQ(paths(), (std::vector<std::string>{"/b", "/link", "/0lib"})) << "the first one first";
  database.set_main_image(application, a);
  EXPECT_EQ(paths(), (std::vector<std::string>{"/link", "/b", "/0lib"}));
  database.remove_application_image(application, b);
  EXPECT_NE(error_of([&] { database.remove_application_image(application, a); }), "no error");
  EXPECT_TRUE(database.image(a).program);
  EXPECT_FALSE(database.image(library).program);
}

}  // namespace
}  // namespace respike
