// Counter files merged into the database: each exactly once, whichever process merges them or is
// killed.

#include "profiledb/merging.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "optimizer/base/bytes.h"
#include "tests/unit/profiledb_testing.h"

namespace respike {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kSecond = 1'000'000'000;
/// A time some days ago.
constexpr uint64_t kStart = 1'700'000'000 * kSecond;

class Merging : public testing::Test {
 protected:
  Merging() : database(folder / "test.db"), program(1) { program.put_into(database); }

  MergeResult merge(const MergeOptions& options = {}) {
    diagnostics = {};
    return merge_spool(database, options, diagnostics);
  }
  std::vector<RunRow> runs() { return database.runs(program.build()); }

  TemporaryFolder folder;
  Database database;
  CountingProgram program;
  Diagnostics diagnostics;
};

TEST_F(Merging, AFinishedRunIsAddedOnce) {
  EXPECT_FALSE(anything_to_merge(database));
  const auto counters = program.run();
  const fs::path file = program.leave_file(17, kStart, counters);
  EXPECT_TRUE(anything_to_merge(database));
  const MergeResult result = merge();
  EXPECT_EQ(result.finished, 1u);
  EXPECT_EQ(result.left, 0u);
  EXPECT_FALSE(fs::exists(file));
  EXPECT_FALSE(anything_to_merge(database));
  expect_same_counts(database.profile(program.build()), program.profile_of(counters));
  ASSERT_EQ(runs().size(), 1u);
  EXPECT_EQ(runs()[0].process_id, 17u);
  EXPECT_EQ(runs()[0].started, kStart);
  EXPECT_EQ(runs()[0].ended, "unknown");
  EXPECT_EQ(runs()[0].state, RunState::finished);

  // The same file again, as after a crash before its removal.
  program.leave_file(17, kStart, counters);
  EXPECT_EQ(merge().repeated, 1u);
  EXPECT_FALSE(fs::exists(file));
  expect_same_counts(database.profile(program.build()), program.profile_of(counters));
  EXPECT_TRUE(diagnostics.warnings().empty());
}

TEST_F(Merging, ManyRunsOfSomeDaysAddUp) {
  ExpectedSum expected(program);
  for (uint64_t i = 0; i < 150; ++i) {
    const auto counters = program.run();
    program.leave_file(100 + i, kStart + i % 5 * 86'400 * kSecond, counters);
    expected.add(program.profile_of(counters));
  }
  EXPECT_EQ(merge().finished, 150u);
  expect_same_counts(database.profile(program.build()), expected.profile());
  const ProfileSummary summary = database.summary(program.build());
  EXPECT_EQ(summary.runs, 150);
  EXPECT_EQ(summary.confidence, 1);
  EXPECT_EQ(summary.newest_day, static_cast<int64_t>(kStart / kSecond / 86'400 + 4));
  EXPECT_TRUE(database.check().empty());
}

TEST_F(Merging, SnapshotsAreReplaced) {
  const auto first = program.run();
  const fs::path file = program.leave_file(5, kStart, first);
  auto second = first;
  {
    RunningFile process(file);
    EXPECT_EQ(merge({.snapshots = false}).left, 1u);
    EXPECT_TRUE(runs().empty());
    MergeResult result = merge();
    EXPECT_EQ(result.running, 1u);
    EXPECT_EQ(result.left, 1u);
    EXPECT_EQ(result.finished, 0u);
    EXPECT_EQ(runs().at(0).state, RunState::running);
    expect_same_counts(database.profile(program.build()), program.profile_of(first));
    EXPECT_EQ(merge().unchanged, 1u);

    const auto more = program.run();
    for (size_t i = 0; i < more.size(); ++i) second[i] += more[i];
    process.set(second);
    EXPECT_EQ(merge().running, 1u);
    Profile profile = program.profile_of(second);
    expect_same_counts(database.profile(program.build()), profile);
  }
  const MergeResult result = merge();
  EXPECT_EQ(result.finished, 1u);
  EXPECT_EQ(runs().size(), 1u);
  EXPECT_EQ(runs()[0].state, RunState::finished);
  EXPECT_FALSE(fs::exists(file));
  expect_same_counts(database.profile(program.build()), program.profile_of(second));
}

TEST_F(Merging, AForkedChildKeepsAFileOpen) {
  const fs::path file = program.leave_file(5, kStart, program.run());
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  const pid_t child = fork();
  if (child == 0) {
    RunningFile process(file);
    const pid_t grandchild = fork();
    if (grandchild != 0) _exit(0);
    char byte;
    close(pipes[1]);
    _exit(read(pipes[0], &byte, 1) == 0 ? 0 : 1);
  }
  waitpid(child, nullptr, 0);
  EXPECT_EQ(merge().running, 1u) << "the process ended, its child did not";
  close(pipes[1]);
  close(pipes[0]);
  MergeResult result;
  for (int i = 0; i < 60'000 && result.finished == 0; ++i) {
    usleep(1000);
    result = merge();
  }
  EXPECT_EQ(result.finished, 1u);
}

TEST_F(Merging, AVanishedFileLeavesItsSnapshot) {
  const auto counters = program.run();
  const fs::path file = program.leave_file(5, kStart, counters);
  RunningFile process(file);
  merge();
  fs::remove(file);
  EXPECT_EQ(merge().lost, 1u);
  EXPECT_EQ(runs().at(0).state, RunState::lost);
  EXPECT_EQ(merge().lost, 0u);
  expect_same_counts(database.profile(program.build()), program.profile_of(counters));
  // The file was only in another folder meanwhile.
  program.leave_file(5, kStart, counters);
  EXPECT_EQ(merge().finished, 1u);
  expect_same_counts(database.profile(program.build()), program.profile_of(counters));
}

TEST_F(Merging, AFileThatIsBeingMadeIsLeftAlone) {
  const fs::path file = program.spool() / "program.5.1.counts";
  for (const size_t size : {size_t{0}, size_t{100}, size_t{8192 + program.map().counters * 8}}) {
    put_contents(file, std::vector<uint8_t>(size));
    {
      const int creator = open(file.c_str(), O_RDWR | O_CLOEXEC);
      const MergeResult result = merge();
      EXPECT_EQ(result.left, 1u) << size;
      EXPECT_EQ(result.empty, 0u);
      EXPECT_TRUE(fs::exists(file));
      close(creator);
    }
    const MergeResult result = merge();
    EXPECT_EQ(result.empty, 1u) << size;
    EXPECT_FALSE(fs::exists(file)) << "its process was killed before it counted";
    EXPECT_TRUE(diagnostics.warnings().empty());
  }
}

TEST_F(Merging, DamagedFilesAreSetAside) {
  const auto good = counter_file(program.id(), program.map(), 9, kStart, program.run());
  const std::vector<std::function<void(std::vector<uint8_t>&)>> damages = {
      [](auto& bytes) { bytes.resize(bytes.size() - 8); },
      [](auto& bytes) { bytes.resize(100); },
      [](auto& bytes) { bytes[0] = 'X'; },
      [](auto& bytes) { bytes[8] = 99; },      // version
      [](auto& bytes) { bytes[12] ^= 0xff; },  // size of the header
      [](auto& bytes) {
        bytes.resize(8192 + 8);  // too few counters
        store<uint64_t>(bytes.data() + 16, 8);
      },
      [](auto& bytes) { std::fill(bytes.begin() + 72, bytes.begin() + 8192, 'x'); },  // path
  };
  size_t number = 0;
  for (const auto& damage : damages) {
    auto bytes = good;
    damage(bytes);
    const fs::path file = program.spool() / "program.9.1.counts";
    put_contents(file, bytes);
    EXPECT_EQ(merge().damaged, 1u) << number;
    ASSERT_EQ(diagnostics.warnings().size(), 1u);
    EXPECT_NE(diagnostics.warnings()[0].find("damaged/program.9.1.counts"), std::string::npos)
        << diagnostics.warnings()[0];
    EXPECT_FALSE(fs::exists(file));
    EXPECT_EQ(files_below(database.spool() / "damaged").size(), ++number);
    EXPECT_EQ(merge().damaged, 0u);
    EXPECT_TRUE(diagnostics.warnings().empty());
  }
  EXPECT_TRUE(runs().empty());
}

TEST_F(Merging, DamagedFilesOfRunningProcessesWait) {
  const fs::path file = program.leave_file(5, kStart, program.run());
  RunningFile process(file);
  auto bytes = contents_of(file);
  fs::resize_file(file, bytes.size() + 8);
  MergeResult result = merge();
  EXPECT_EQ(result.left, 1u);
  EXPECT_EQ(result.damaged, 0u);
  fs::resize_file(file, bytes.size());
  EXPECT_EQ(merge().running, 1u);
}

TEST_F(Merging, FilesOfUnknownImagesAreSetAside) {
  const CountingProgram other(2);
  put_contents(program.spool() / "other.1.1.counts",
               counter_file(other.id(), other.map(), 1, kStart,
                            std::vector<uint64_t>(other.map().counters, 1)));
  EXPECT_EQ(merge().unknown, 1u);
  ASSERT_EQ(diagnostics.warnings().size(), 1u);
  EXPECT_NE(diagnostics.warnings()[0].find("does not know"), std::string::npos);
  EXPECT_TRUE(fs::exists(database.spool() / "unknown" / "other.1.1.counts"));
  merge();
  EXPECT_TRUE(diagnostics.warnings().empty());
}

TEST_F(Merging, OtherThingsInTheSpoolAreSetAsideOrLeftAlone) {
  put_contents(program.spool() / "notes.txt", text_bytes("mine"));
  fs::create_directory(program.spool() / "folder.counts");
  fs::create_symlink("/etc/passwd", program.spool() / "link.counts");
  put_contents(database.spool() / "file", text_bytes("x"));
  const MergeResult result = merge();
  EXPECT_EQ(result.left, 0u);
  EXPECT_EQ(result.damaged, 2u);
  EXPECT_EQ(diagnostics.warnings().size(), 2u);
  EXPECT_TRUE(fs::exists(program.spool() / "notes.txt"));
  EXPECT_TRUE(fs::is_directory(database.spool() / "damaged" / "folder.counts"));
  EXPECT_TRUE(fs::is_symlink(database.spool() / "damaged" / "link.counts"));
  merge();
  EXPECT_TRUE(diagnostics.warnings().empty());  // not each time
}

TEST_F(Merging, ADamagedCounterMapLosesNothing) {
  const auto counters = program.run();
  program.leave_file(1, kStart, counters);
  program.leave_file(2, kStart, counters);
  const auto map = encode_counter_map(program.map());
  const fs::path stored = database.store().path(content_hash(map));
  fs::remove(stored);
  EXPECT_EQ(merge().left, 2u);
  EXPECT_EQ(diagnostics.warnings().size(), 1u);
  put_contents(stored, text_bytes("nonsense"));
  EXPECT_EQ(merge().left, 2u);
  database.store().put(map, fs::perms(0644));
  EXPECT_EQ(merge().finished, 2u);
}

TEST_F(Merging, WeightsMultiply) {
  const auto counters = program.run();
  program.leave_file(1, kStart, counters);
  merge({.weight = 2.5});
  const Profile profile = database.profile(program.build());
  const Profile one = program.profile_of(counters);
  EXPECT_EQ(profile.runs, 2.5);
  for (size_t p = 0; p < one.procedures.size(); ++p)
    for (size_t b = 0; b < one.procedures[p].blocks.size(); ++b)
      EXPECT_EQ(profile.procedures[p].blocks[b].count,
                static_cast<uint64_t>(
                    std::llround(static_cast<double>(one.procedures[p].blocks[b].count) * 2.5)));
  EXPECT_EQ(runs().at(0).weight, 2.5);
  for (const double weight : {0.0, -1.0, 1e9, std::nan("")})
    EXPECT_NE(error_of([&] { merge({.weight = weight}); }).find("weight"), std::string::npos);
}

TEST_F(Merging, HowAProcessEndedIsNoted) {
  program.leave_file(1, kStart, program.run());
  program.leave_file(2, kStart, program.run());
  program.leave_file(2, kStart - 500 * kSecond, program.run());  // had the number before
  merge({.ended = {ProcessEnd{2, kStart - 1, "exited 3"}}});
  std::map<uint64_t, std::string> ends;
  for (const RunRow& run : runs()) ends[run.process_id * kStart + run.started] = run.ended;
  EXPECT_EQ(ends[2 * kStart + kStart], "exited 3");
  EXPECT_EQ(ends[2 * kStart + kStart - 500 * kSecond], "unknown");
  EXPECT_EQ(ends[1 * kStart + kStart], "unknown");
  // Another process merged the file before its parent did.
  merge({.ended = {ProcessEnd{1, kStart, "killed by 9"}}});
  for (const RunRow& run : runs())
    if (run.process_id == 1) {
      EXPECT_EQ(run.ended, "killed by 9");
    }
}

TEST_F(Merging, ProcessNumbersAreGivenAgain) {
  const auto ends = [&] {
    std::map<uint64_t, std::string> result;
    for (const RunRow& run : runs()) result[(run.started - kStart) / kSecond] = run.ended;
    return result;
  };
  const std::map<uint64_t, std::string> expected = {
      {1, "exited 1"}, {5, "exited 2"}, {9, "exited 3"}};
  const std::vector<ProcessEnd> notes = {{2, kStart + 4 * kSecond, "exited 2"},
                                         {2, kStart, "exited 1"},
                                         {2, kStart + 8 * kSecond, "exited 3"}};
  for (const uint64_t start : {1, 5, 9})
    program.leave_file(2, kStart + start * kSecond, program.run());
  merge({.ended = notes});
  EXPECT_EQ(ends(), expected);
  // Here the runs are merged first, without the notes.
  CountingProgram other(2);
  other.put_into(database, "/toy/other");
  for (const uint64_t start : {1, 5, 9}) other.leave_file(3, kStart + start * kSecond, other.run());
  merge();
  std::vector<ProcessEnd> later = notes;
  for (ProcessEnd& end : later) end.process_id = 3;
  merge({.ended = later});
  for (const RunRow& run : database.runs(other.build()))
    EXPECT_EQ(run.ended, expected.at((run.started - kStart) / kSecond));
}

/// Sizes that do not fit into memory must not be allocated.
TEST_F(Merging, HugeFilesWithHoles) {
  for (const bool empty : {false, true}) {
    const fs::path file = program.leave_file(7, kStart, program.run());
    if (empty) put_contents(file, {});
    if (truncate(file.c_str(), off_t{1} << 43) != 0) GTEST_SKIP() << "no files of that size here";
    const MergeResult result = merge();
    EXPECT_EQ(result.damaged, empty ? 0u : 1u);
    EXPECT_EQ(result.empty, empty ? 1u : 0u);
    EXPECT_FALSE(fs::exists(file));
  }
  EXPECT_EQ(diagnostics.warnings().size(), 0u);
  EXPECT_TRUE(runs().empty());
}

TEST_F(Merging, WrongClocks) {
  program.leave_file(1, 0, program.run());
  program.leave_file(1, UINT64_MAX, program.run());
  EXPECT_EQ(merge().finished, 2u);
  EXPECT_EQ(runs().size(), 2u);
  const int64_t today = time(nullptr) / 86'400;
  EXPECT_NEAR(static_cast<double>(*database.summary(program.build()).newest_day),
              static_cast<double>(today), 1);
}

TEST_F(Merging, PruneKeepsWhatRunningProcessesNeed) {
  const fs::path file = program.leave_file(1, kStart, program.run());
  database.prune(1, std::chrono::seconds(0));  // no application uses the image now
  EXPECT_TRUE(database.find_image("/toy/program"));
  EXPECT_EQ(merge().finished, 1u);
  EXPECT_EQ(database.prune(1, std::chrono::seconds(0)).images, 1u);
  EXPECT_TRUE(files_below(database.files()).empty());
  EXPECT_FALSE(fs::exists(program.spool()));
}

// ---- several processes, killed processes ----

void leave_files(CountingProgram& program, ExpectedSum& expected, uint64_t files, uint64_t first) {
  for (uint64_t i = 0; i < files; ++i) {
    const auto counters = program.run();
    program.leave_file(first + i, kStart + i, counters);
    expected.add(program.profile_of(counters));
  }
}

void merge_all(const fs::path& path) {
  Database database(path);
  Diagnostics diagnostics;
  merge_spool(database, {}, diagnostics);
  for (const std::string& warning : diagnostics.warnings()) throw Error(warning);
}

TEST(MergingTogether, EightProcesses) {
  const TemporaryFolder folder;
  const fs::path path = folder / "test.db";
  CountingProgram program(3), other(4);
  {
    Database database(path);
    program.put_into(database);
    other.put_into(database, "/toy/other");
  }
  ExpectedSum expected(program), expected_other(other);
  leave_files(program, expected, 200, 1000);
  leave_files(other, expected_other, 50, 1000);
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      int status = 0;
      try {
        merge_all(path);
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
  Database database(path);
  EXPECT_FALSE(anything_to_merge(database));
  expect_same_counts(database.profile(program.build()), expected.profile());
  expect_same_counts(database.profile(other.build()), expected_other.profile());
  EXPECT_EQ(database.runs(program.build()).size(), 200u);
  EXPECT_TRUE(database.check().empty());
}

TEST(MergingTogether, KilledAtAnyInstant) {
  const TemporaryFolder folder;
  const fs::path path = folder / "test.db";
  CountingProgram program(5);
  {
    Database database(path);
    program.put_into(database);
  }
  ExpectedSum expected(program);
  Random random(6);
  uint64_t files = 0;
  int killed = 0;
  constexpr int kWanted = 20;
  auto least = std::chrono::microseconds::max();  // that a merge takes
  for (int i = 0; i < 100 || (killed <= kWanted && i < 1000); ++i) {
    const uint64_t more = 1 + below(random, 6);
    leave_files(program, expected, more, 1000 + files);
    files += more;
    const auto start = std::chrono::steady_clock::now();
    const pid_t child = fork();
    if (child == 0) {
      try {
        merge_all(path);
      } catch (const std::exception&) {
        _exit(1);
      }
      _exit(0);
    }
    if (i > 0) {  // the first round says how long a merge takes here
      usleep(below(random, 1 + static_cast<uint32_t>(least.count() * (i % 10) / 8)));
      kill(child, SIGKILL);
    }
    int status = 0;
    waitpid(child, &status, 0);
    killed += WIFSIGNALED(status);
    if (!WIFSIGNALED(status)) {
      EXPECT_EQ(status, 0);
      least = std::min(least, std::chrono::duration_cast<std::chrono::microseconds>(
                                  std::chrono::steady_clock::now() - start));
    }
  }
  EXPECT_GT(killed, kWanted);
  merge_all(path);
  Database database(path);
  EXPECT_FALSE(anything_to_merge(database));
  EXPECT_TRUE(files_below(database.spool()).empty());
  EXPECT_EQ(database.runs(program.build()).size(), files);
  expect_same_counts(database.profile(program.build()), expected.profile());
  EXPECT_TRUE(database.check().empty());
}

}  // namespace
}  // namespace respike
