// Files that are not databases, damaged databases, other versions, databases without write
// permission; full disks. In all cases the message is one sentence, and nothing is lost.

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiledb/database_schema.h"
#include "profiledb/database_session.h"
#include "tests/unit/folders.h"
#include "tests/unit/profiledb_testing.h"

namespace respike {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kStart = 1'700'000'000'000'000'000;

std::string opening(const fs::path& path) {
  return error_of([&] { Database database(path); });
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// Changes a database in a way in which no Respike changes it.
void run_sql(const fs::path& path, const std::string& script) {
  Session session(path);
  session.run(script);
}

/// Reads everything from a database and merges into it; throws Error if that fails.
void use_all(const fs::path& path) {
  Database database(path);
  for (const ApplicationRow& row : database.applications()) {
    for (const ApplicationImage& image : database.images_of(row.id))
      for (const BuildRow& build : database.builds(image.image.id)) {
        static_cast<void>(database.procedures(build.id));
        static_cast<void>(database.profile(build.id));
        static_cast<void>(database.summary(build.id));
        static_cast<void>(database.runs(build.id));
        static_cast<void>(database.derived(build.id));
        static_cast<void>(database.profiled_build_before(build.id));
      }
    database.set_mode(row.id, Mode::optimized);
  }
  Diagnostics diagnostics;
  merge_spool(database, {}, diagnostics);
  static_cast<void>(database.check());
}

/// A database with an application and some runs, closed.
class Filled {
 public:
  explicit Filled(const fs::path& path) : program(1), expected(program) {
    Database database(path);
    program.put_into(database);
    database.add_application("app", database.find_image("/toy/program")->id);
    add_runs(database, 1, 20);
  }
  void add_runs(Database& database, uint64_t first, uint64_t count) {
    for (uint64_t i = first; i < first + count; ++i) {
      const auto counters = program.run();
      program.leave_file(i, kStart + i, counters);
      expected.add(program.profile_of(counters));
    }
    Diagnostics diagnostics;
    EXPECT_EQ(merge_spool(database, {}, diagnostics).finished, count);
  }
  CountingProgram program;
  ExpectedSum expected;
};

// ---- no databases ----

TEST(DatabaseDamage, WhatIsNoDatabase) {
  const TemporaryFolder folder;
  put_contents(folder / "text", text_bytes(std::string(5000, 'x')));
  EXPECT_TRUE(has(opening(folder / "text"), "this is not a database"));
  EXPECT_EQ(contents_of(folder / "text"), text_bytes(std::string(5000, 'x')));
  for (const size_t size : {1, 511, 512, 4095, 4096, 4097}) {
    put_contents(folder / "short", std::vector<uint8_t>(size, 'x'));
    EXPECT_TRUE(has(opening(folder / "short"), "not a database")) << size;
    EXPECT_EQ(contents_of(folder / "short"), std::vector<uint8_t>(size, 'x'));
  }
  EXPECT_TRUE(has(opening(folder.path()), "directory"));
  EXPECT_TRUE(has(opening(folder / "text" / "below.db"), "cannot be made"));
  EXPECT_TRUE(has(opening("/dev/null"), "not a regular file"));
  EXPECT_TRUE(has(opening("/proc/some.db"), "cannot be")) << opening("/proc/some.db");
  EXPECT_TRUE(has(opening("some/"), "not the name of a file"));
}

TEST(DatabaseDamage, AnEmptyFileBecomesADatabase) {
  const TemporaryFolder folder;
  put_contents(folder / "empty.db", {});
  EXPECT_EQ(opening(folder / "empty.db"), "no error");
  EXPECT_EQ(opening(folder / "empty.db"), "no error");
}

TEST(DatabaseDamage, OfAnotherProgram) {
  const TemporaryFolder folder;
  run_sql(folder / "x.db", "create table bookmarks (name text)");
  EXPECT_TRUE(has(opening(folder / "x.db"), "of another program"));
}

// ---- versions ----

TEST(DatabaseVersions, NewerOnesAreRefused) {
  const TemporaryFolder folder;
  Filled filled(folder / "x.db");
  run_sql(folder / "x.db", "update schema_version set version = 99");
  const std::string error = opening(folder / "x.db");
  EXPECT_TRUE(has(error, "version 99")) << error;
  EXPECT_TRUE(has(error, "newer Respike")) << error;
  run_sql(folder / "x.db",
          "update schema_version set version = " + std::to_string(current_schema().newest));
  expect_same_counts(Database(folder / "x.db").profile(filled.program.build()),
                     filled.expected.profile());
  run_sql(folder / "x.db", "delete from schema_version");
  EXPECT_TRUE(has(opening(folder / "x.db"), "damaged"));
}

/// A file of the first version, written down when that version was current.
TEST(DatabaseVersions, TheFirstOneCanBeRead) {
  const TemporaryFolder folder;
  const auto script = contents_of(source_folder() / "tests/unit/database_1.sql");
  ASSERT_FALSE(script.empty());
  run_sql(folder / "x.db", std::string(script.begin(), script.end()));
  Database database(folder / "x.db");
  const auto application = database.find_application("sort");
  ASSERT_TRUE(application);
  EXPECT_EQ(application->mode, Mode::instrumented);
  const auto images = database.images_of(application->id);
  ASSERT_EQ(images.size(), 2u);
  EXPECT_EQ(images[1].image.soname, "libsort.so.1");
  const auto builds = database.builds(images[0].image.id);
  ASSERT_EQ(builds.size(), 2u);
  EXPECT_EQ(builds[0].file, (FileIdentity{70'000, 1'700'000'000'123'456'789, 42}));
  EXPECT_EQ(builds[1].file_hash, UINT64_MAX - 4);
  EXPECT_EQ(builds[0].machine, "alpha");
  ASSERT_EQ(database.derived(builds[0].id).size(), 1u);
  EXPECT_EQ(database.derived(builds[0].id)[0].file, FileIdentity()) << "not known yet";
  EXPECT_EQ(database.runs(builds[0].id).at(0).ended, "exited 0");
  EXPECT_EQ(database.summary(builds[0].id).runs, 3.5);
  EXPECT_EQ(database.profiled_build_before(builds[0].id)->id, builds[1].id);
  EXPECT_EQ(database.matched(builds[0].id), "");
  EXPECT_TRUE(database.comparisons(images[0].image.id).empty());
  database.set_matched(builds[0].id, "something");
  EXPECT_EQ(database.matched(builds[0].id), "something");
}

/// A file of version 5, which knew images by the paths under which they were loaded, and one
/// program for each application.
TEST(DatabaseVersions, TheFifthOneCanBeRead) {
  const TemporaryFolder folder;
  const auto script = contents_of(source_folder() / "tests/unit/database_5.sql");
  ASSERT_FALSE(script.empty());
  run_sql(folder / "x.db", std::string(script.begin(), script.end()));
  Database database(folder / "x.db");
  const auto uses = [&](const std::string& name) {
    std::vector<std::tuple<std::string, Role, std::string, bool>> result;
    for (const auto& [image, role, loaded_as] :
         database.images_of(database.find_application(name)->id))
      result.emplace_back(image.path, role, loaded_as, image.program);
    return result;
  };
  using Uses = decltype(uses("sort"));
  const Uses::value_type main = {"/usr/bin/sort", Role::main, "/usr/bin/sort", true};
  const std::string spelt = "/lib/libsort.so.1", path = "/usr/lib/libsort.so.1";
  EXPECT_EQ(uses("sort"), (Uses{main, {path, Role::linked, path, false}}));
  EXPECT_EQ(uses("uniq"), (Uses{main, {spelt, Role::opened, spelt, false}}));
  EXPECT_EQ(database.find_image(path)->follows, 0);
  database.move_image(spelt, path);
  EXPECT_EQ(uses("uniq"), (Uses{main, {path, Role::opened, spelt, false}}));
  const auto builds = database.builds(database.find_image(path)->id);
  ASSERT_EQ(builds.size(), 2u);
  EXPECT_EQ(builds[0].first_seen, 1'700'000'300);
  EXPECT_EQ(database.summary(builds[0].id).runs, 5);
  EXPECT_EQ(database.summary(builds[0].id).carried_runs, 2);
  EXPECT_EQ(database.runs(builds[0].id).size(), 2u);
  EXPECT_EQ(database.derived(builds[0].id).size(), 2u);
  EXPECT_EQ(database.profiled_build_before(builds[0].id)->id, builds[1].id);
}

const int kNow = current_schema().newest;
const Migration kSteps[] = {{kNow,
                             "alter table application add column note text; "
                             "update application set note = 'migrated';"},
                            {kNow + 1, "create table extra (id integer primary key);"}};

TEST(DatabaseVersions, OlderOnesAreMigrated) {
  const TemporaryFolder folder;
  const fs::path path = folder / "x.db";
  { Filled filled(path); }
  const SchemaVersions later = {kNow + 2, "create table never (x integer)", kSteps};
  {
    Session session(path);
    prepare_schema(session, later);
    std::string note;
    int version = 0, extra = 0;
    session.sql() << "select note from application", soci::into(note);
    session.sql() << "select version from schema_version", soci::into(version);
    session.sql() << "select count(*) from extra", soci::into(extra);
    EXPECT_EQ(note, "migrated");
    EXPECT_EQ(version, kNow + 2);
    prepare_schema(session, later);
  }
  EXPECT_TRUE(has(opening(path), "version " + std::to_string(kNow + 2)));
}

TEST(DatabaseVersions, AMigrationThatFailsChangesNothing) {
  const TemporaryFolder folder;
  const fs::path path = folder / "x.db";
  Filled filled(path);
  const Migration steps[] = {kSteps[0], {kNow + 1, "create table fine (x integer); nonsense;"}};
  EXPECT_NE(error_of([&] {
              Session session(path);
              prepare_schema(session, {kNow + 2, "", steps});
            }),
            "no error");
  EXPECT_NE(error_of([&] {
              Session session(path);
              prepare_schema(session, {kNow + 3, "", kSteps});
            }).find("no way from it to " + std::to_string(kNow + 3)),
            std::string::npos);
  expect_same_counts(Database(path).profile(filled.program.build()), filled.expected.profile());
}

TEST(DatabaseVersions, ManyMigrateTheSame) {
  const TemporaryFolder folder;
  const fs::path path = folder / "x.db";
  { Filled filled(path); }
  std::vector<pid_t> children;
  for (int i = 0; i < 6; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      const std::string error = error_of([&] {
        Session session(path);
        prepare_schema(session, {kNow + 2, "", kSteps});
      });
      _exit(error == "no error" ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

// ---- damage ----

void restore(const fs::path& path, const std::vector<uint8_t>& bytes) {
  for (const char* end : {"-wal", "-shm"}) fs::remove(path.string() + end);
  put_contents(path, bytes);
}

TEST(DatabaseDamage, TruncatedFiles) {
  const TemporaryFolder folder;
  const fs::path path = folder / "x.db";
  { Filled filled(path); }
  const auto good = contents_of(path);
  int refused = 0;
  for (size_t size = 1; size < good.size(); size += size < 4096 ? 511 : 2048) {
    restore(path, {good.begin(), good.begin() + static_cast<long>(size)});
    const std::string error = error_of([&] { use_all(path); });
    EXPECT_FALSE(has(error, "\n")) << error;
    refused += error != "no error";
  }
  EXPECT_GT(refused, 10);
}

TEST(DatabaseDamage, FlippedBytes) {
  const TemporaryFolder folder;
  const fs::path path = folder / "x.db";
  { Filled filled(path); }
  const auto good = contents_of(path);
  Random random(1);
  int refused = 0;
  for (int i = 0; i < 600; ++i) {
    auto bytes = good;
    for (uint32_t n = 1 + below(random, 4); n-- > 0;)
      bytes[below(random, static_cast<uint32_t>(bytes.size()))] = static_cast<uint8_t>(random());
    restore(path, bytes);
    const std::string error = error_of([&] { use_all(path); });
    EXPECT_TRUE(std::all_of(error.begin(), error.end(), [](char c) {
      return c >= ' ' && c <= '~';
    })) << error;
    refused += error != "no error";
  }
  EXPECT_GT(refused, 20);
}

/// Damage that SQLite's own checks do not see: rows that no Respike wrote.
TEST(DatabaseDamage, StrangeRows) {
  const TemporaryFolder folder;
  const fs::path path = folder / "x.db";
  { Filled filled(path); }
  const auto good = contents_of(path);
  for (const std::string change :
       {"update procedure_shape set flow = x'00'", "update procedure_shape set flow = x''",
        "update procedure_shape set ordinal = ordinal + 1000000",
        "update procedure_count set ordinal = ordinal + 1000000",
        "update procedure_count set ordinal = -1 where ordinal = (select max(ordinal) from "
        "procedure_count)",
        "update procedure_count set counts = x'01'", "update build set content_hash = 'x'",
        "update derived_image set content_hash = '../../../etc/passwd'",
        "update count_set set weight = -1", "update count_set set weight = 1e300",
        "update count_set set runs = -1", "update count_set set day = -1",
        "update count_set set day = 9223372036854775807", "delete from shape",
        "drop table count_set"}) {
    restore(path, good);
    run_sql(path, "pragma foreign_keys = off; " + change);
    const std::string error = error_of([&] { use_all(path); });
    EXPECT_TRUE(has(error, "x.db: the database is damaged (")) << change << ": " << error;
  }
  restore(path, good);
  EXPECT_EQ(error_of([&] { use_all(path); }), "no error");
}

/// Writes and leaves the log, as a killed process does.
void write_and_die(const fs::path& path, const std::string& image) {
  EXPECT_EQ(in_child([&] {
              Database database(path);
              database.put_image({image, "", "alpha", true, ""});
              _exit(0);
            }),
            0);
}

TEST(DatabaseDamage, TheLog) {
  const TemporaryFolder folder;
  const fs::path path = folder / "x.db", log = path.string() + "-wal";
  Filled filled(path);
  write_and_die(path, "/late");
  ASSERT_GT(fs::file_size(log), 0u);
  const auto good = contents_of(path), good_log = contents_of(log);
  EXPECT_TRUE(Database(path).find_image("/late")) << "committed is committed";
  const auto put_back = [&](const std::vector<uint8_t>& bytes) {
    restore(path, good);
    put_contents(log, bytes);
  };
  // Without the log, the database has its state of before.
  restore(path, good);
  EXPECT_EQ(Database(path).find_image("/late"), std::nullopt);
  expect_same_counts(Database(path).profile(filled.program.build()), filled.expected.profile());
  Random random(2);
  for (int i = 0; i < 60; ++i) {
    auto bytes = good_log;
    if (one_in(random, 3))
      bytes.resize(below(random, static_cast<uint32_t>(bytes.size())));
    else
      bytes[below(random, static_cast<uint32_t>(bytes.size()))] ^= 0x10;
    put_back(bytes);
    EXPECT_EQ(error_of([&] { use_all(path); }), "no error") << "its checksums tell";
    EXPECT_TRUE(Database(path).check().empty());
  }
  // SQLite rebuilds the index of the log.
  put_back(good_log);
  put_contents(path.string() + "-shm", std::vector<uint8_t>(32768, 0x5a));
  EXPECT_TRUE(Database(path).find_image("/late"));
}

/// A database without a log, such as a restored dump.
TEST(DatabaseDamage, WithoutALogItGetsOne) {
  const TemporaryFolder folder;
  const fs::path path = folder / "x.db";
  { Filled filled(path); }
  run_sql(path, "pragma journal_mode = delete");
  { Database database(path); }
  Session session(path);
  std::string mode;
  session.sql() << "pragma journal_mode", soci::into(mode);
  EXPECT_EQ(mode, "wal");
}

// ---- no right to write, no room ----

/// Runs an action as a user who is not root; -1 if that is not possible.
int as_nobody(const std::function<void()>& action) {
  return in_child([&] {
    if (geteuid() == 0 &&
        (setresgid(65534, 65534, 65534) != 0 || setresuid(65534, 65534, 65534) != 0))
      _exit(77);
    action();
  });
}

TEST(DatabaseDamage, ReadOnly) {
  const TemporaryFolder folder;
  const fs::path path = folder / "x.db";
  Filled filled(path);
  chmod(folder.path().c_str(), 0755);
  chmod(path.c_str(), 0444);
  const auto expect_words = [&](const std::string& words) {
    EXPECT_EQ(as_nobody([&] {
                const std::string error = opening(path);
                if (!has(error, words)) throw Error(error);
              }),
              0);
  };
  expect_words("the database cannot be written: Permission denied");
  chmod(path.c_str(), 0400);
  if (geteuid() == 0) expect_words("the database cannot be read: Permission denied");
  chmod(path.c_str(), 0666);  // but SQLite also writes into the folder
  chmod(folder.path().c_str(), 0555);
  expect_words("x.db: the database cannot be");
  fs::rename(path, folder / "y.db");
  expect_words("the database cannot be made: Permission denied");
  chmod(folder.path().c_str(), 0755);
}

/// Calls an action in a process that has a small disk of its own at `folder`; false if the system
/// does not allow such a disk.
bool on_small_disk(const fs::path& folder, const std::function<void()>& action) {
  const int status = in_child([&] {
    const uid_t user = geteuid();
    const gid_t group = getegid();
    if (unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0) _exit(77);
    std::ofstream("/proc/self/setgroups") << "deny";
    std::ofstream("/proc/self/uid_map") << "0 " << user << " 1\n";
    std::ofstream("/proc/self/gid_map") << "0 " << group << " 1\n";
    if (mount("none", folder.c_str(), "tmpfs", 0, "size=2m") != 0) _exit(77);
    action();
  });
  EXPECT_TRUE(status == 0 || status == 77);
  return status != 77;
}

/// Takes up all room that is left on the disk.
void fill(const fs::path& path) {
  std::ofstream file(path, std::ios::binary);
  const std::vector<char> block(4096, 'x');
  while (file.write(block.data(), static_cast<long>(block.size())).flush()) continue;
}

void check(bool right, const std::string& what) {
  if (!right) throw Error(what);
}

TEST(DatabaseDamage, FullDisk) {
  const TemporaryFolder folder;
  const bool possible = on_small_disk(folder.path(), [&] {
    const fs::path path = folder / "x.db", ballast = folder / "ballast";
    Filled filled(path);
    std::vector<fs::path> files;
    for (uint64_t i = 0; i < 10; ++i) {
      const auto counters = filled.program.run();
      files.push_back(filled.program.leave_file(1000 + i, kStart + i, counters));
      filled.expected.add(filled.program.profile_of(counters));
    }
    const uint64_t room = fs::space(folder.path()).available;
    for (const uint64_t left : {uint64_t{0}, room / 50, room / 40, room / 30, room / 20}) {
      fill(ballast);
      fs::resize_file(ballast, fs::file_size(ballast) - left);
      std::vector<fs::path> there = files;
      const std::string error = error_of([&] {
        Database database(path);
        Diagnostics diagnostics;
        merge_spool(database, {}, diagnostics);
        database.store().put(std::vector<uint8_t>(1 << 20), fs::perms(0644));
      });
      check(has(error, "no space left") || has(error, "No space left"), error);
      check(!has(error, "\n"), error);
      fs::remove(ballast);
    }
    for (const std::string& name : files_below(folder / "x.db.files"))
      check(!name.ends_with(".new"), name);
    Database database(path);
    Diagnostics diagnostics;
    merge_spool(database, {}, diagnostics);
    check(!anything_to_merge(database), "files are left");
    check(database.check().empty(), "the check found problems");
    expect_same_counts(database.profile(filled.program.build()), filled.expected.profile());
    check(!testing::Test::HasFailure(), "the sums are wrong");
  });
  if (!possible) GTEST_SKIP() << "no user namespaces";
}

TEST(DatabaseDamage, AReadOnlyFileSystem) {
  const TemporaryFolder folder;
  const bool possible = on_small_disk(folder.path(), [&] {
    { Filled filled(folder / "x.db"); }
    if (mount("none", folder.path().c_str(), nullptr, MS_REMOUNT | MS_RDONLY, nullptr) != 0)
      _exit(77);
    const std::string error = opening(folder / "x.db");
    check(has(error, "the database cannot be written: Read-only file system"), error);
    const std::string making = opening(folder / "y.db");
    check(has(making, "the database cannot be made: Read-only file system"), making);
  });
  if (!possible) GTEST_SKIP() << "no user namespaces";
}

}  // namespace
}  // namespace respike
