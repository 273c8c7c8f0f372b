// The Manager and ProgramRun with real databases and programs. Oracle: the command line on the same
// database.

#include <QPointer>
#include <QSignalSpy>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <fstream>
#include <set>
#include <thread>
#include <utility>

#include "gui/models/manager.h"
#include "gui/models/program_run.h"
#include "tests/gui/support.h"

namespace respike::gui {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kShownWithin(2000);  // for changes by other processes
constexpr milliseconds kBlockAtMost(100);
const char* const kCalls = "calls.dynamic";

/// A Manager whose messages and ended tasks are kept.
struct Watch {
  explicit Watch(const fs::path& database) : manager(database) {
    QObject::connect(&manager, &Manager::said, &manager,
                     [this](const Message& message) { messages.push_back(message); });
    QObject::connect(&manager, &Manager::task_changed, &manager,
                     [this](const Task& task) { steps << task.step; });
    QObject::connect(&manager, &Manager::task_ended, &manager,
                     [this](const Task& task) { ended.push_back(task); });
  }

  bool has(const QString& name) { return manager.application(name) != nullptr; }
  const ImageView& main_image(const QString& name) {
    return manager.application(name)->images.front();
  }

  /// Starts an action and waits until it ended.
  Task::State run(Action action) {
    const size_t before = ended.size();
    manager.start(std::move(action));
    EXPECT_TRUE(wait_for([&] { return ended.size() > before; }));
    return ended.back().state;
  }

  QStringList errors() const {
    QStringList result;
    for (const Message& message : messages)
      if (message.kind == Message::Kind::error) result << message.text;
    return result;
  }

  std::vector<Message> messages;
  QStringList steps;
  std::vector<Task> ended;
  Manager manager;
};

/// All files beside the database, except SQLite's own files.
std::set<fs::path> files_of(const World& world) {
  std::set<fs::path> files;
  const fs::path folder = world.database().string() + ".files";
  if (!fs::exists(folder)) return files;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) files.insert(entry.path());
  return files;
}

// ---- actions ----

TEST(ManagerTest, ShowsWhatTheCommandLineMadeAndWorksOnIt) {
  const World world;
  world.ok({"register", world.copy(kCalls)});
  Watch watch(world.database());
  ASSERT_TRUE(wait_for([&] { return watch.has(kCalls); }));
  EXPECT_FALSE(watch.main_image(kCalls).instrumented);
  EXPECT_EQ(watch.run(instrument_action(kCalls, {})), Task::State::done);
  EXPECT_FALSE(watch.manager.busy());
  EXPECT_TRUE(std::ranges::any_of(watch.steps, [](auto& s) { return s.startsWith(kCalls); }));
  ASSERT_TRUE(wait_for([&] { return watch.main_image(kCalls).instrumented.has_value(); }));
  EXPECT_EQ(watch.manager.application(kCalls)->mode, Mode::instrumented);
  EXPECT_TRUE(world.ok({"list"}).contains("instrumented"));
  EXPECT_TRUE(watch.messages.back().text.contains("instrumented, "));
  EXPECT_EQ(watch.run(verify_action(kCalls, {})), Task::State::failed);
}

TEST(ManagerTest, FailuresSayWhatTheCommandLineSays) {
  const World world;
  const QString image = world.copy(kCalls), other = world.copy(kCalls, "other");
  world.ok({"register", image});
  const QString text = (world.folder() / "text").c_str();
  std::ofstream(text.toStdString()) << "this is no program\n";
  Watch watch(world.database());
  const ExportPlace place{.folder = world.folder() / "out"};
  const std::vector<Action> actions = {
      register_action("/nonexistent/program", {}),
      register_action(text.toStdString(), {}),
      register_action(world.folder(), {}),
      register_action(other.toStdString(), kCalls),
      instrument_action("unknown", {}),
      instrument_action(kCalls,
                        {.images = {"unknown"}, .counters = Counters::shared, .profile = {}}),
      optimize_action("unknown", {}),
      mode_action("unknown", Mode::original),
      export_action(kCalls, {}, place),
      unregister_action("unknown")};
  for (const Action& action : actions) {
    const size_t errors = size_t(watch.errors().size());
    EXPECT_EQ(watch.run(action), Task::State::failed) << action.title.toStdString();
    ASSERT_EQ(size_t(watch.errors().size()), errors + 1);
    EXPECT_EQ(watch.errors().back(), world.refusal(action.command.mid(1)));
  }
}

/// Cancels an action after several times, and at last lets the action end.
void cancel_often(const Action& action) {
  const World world;
  world.ok({"register", world.copy("lua.dynamic"), "--name", "app"});
  const auto before = files_of(world);
  Watch watch(world.database());
  int cancelled = 0;
  for (const int after : {0, 30, 120, 400}) {
    const size_t ended = watch.ended.size();
    const int task = watch.manager.start(action);
    wait(milliseconds(after));
    watch.manager.cancel(task);
    ASSERT_TRUE(wait_for([&] { return watch.ended.size() > ended; }));
    if (watch.ended.back().state != Task::State::cancelled) break;
    ++cancelled;
    EXPECT_EQ(files_of(world), before) << after;
    EXPECT_TRUE(watch.messages.back().text.contains("cancelled"));
    EXPECT_TRUE(world.ok({"list"}).contains("original")) << after;
  }
  EXPECT_GE(cancelled, 2);
  EXPECT_EQ(watch.run(action), Task::State::done);
  EXPECT_FALSE(world.ok({"list"}).contains("original"));
}

TEST(ManagerTest, CancelledInstrumentingLeavesNothing) {
  cancel_often(instrument_action("app", {}));
}
TEST(ManagerTest, CancelledOptimizingLeavesNothing) {
  cancel_often(optimize_action("app", {}));
}

TEST(ManagerTest, CancelEndsAVerification) {
  const World world;
  world.ok({"register", world.copy("sqlite3.dynamic"), "--name", "app"});
  world.ok({"optimize", "app"});
  Watch watch(world.database());
  const int task = watch.manager.start(verify_action("app", {}));
  const auto runs = [&] { return watch.manager.tasks().back().state == Task::State::running; };
  ASSERT_TRUE(wait_for(runs));
  watch.manager.cancel(task);
  ASSERT_TRUE(wait_for([&] { return !watch.ended.empty(); }));
  EXPECT_EQ(watch.ended.back().state, Task::State::cancelled);
  EXPECT_EQ(watch.errors(), QStringList());
}

TEST(ManagerTest, ACancelledActionThatWaitsNeverBegins) {
  const World world;
  const std::string image = world.copy(kCalls).toStdString();
  Watch watch(world.database());
  const int first = watch.manager.start(register_action(image, "first"));
  const int second = watch.manager.start(register_action(image, "second"));
  watch.manager.start(register_action(image, "third"));
  EXPECT_TRUE(watch.manager.busy());
  watch.manager.cancel(second);
  watch.manager.cancel(99);
  ASSERT_TRUE(wait_for([&] { return watch.ended.size() == 3; }));
  EXPECT_EQ(watch.ended[0].number, first);
  EXPECT_EQ(watch.ended[1].state, Task::State::cancelled);
  ASSERT_TRUE(wait_for([&] { return watch.has("third"); }));
  EXPECT_FALSE(watch.has("second"));
}

TEST(ManagerTest, CommandLinesNameTheDatabase) {
  const World world;
  Manager manager(world.database());
  QSignalSpy noted(&manager, &Manager::command_noted);
  manager.start(collect_action());
  ASSERT_EQ(noted.size(), 1);
  const QString database = world.database().c_str();
  EXPECT_EQ(noted[0][0].toString(), "respike --db " + database + " collect");
  manager.note_command({"respike", "run", "a"}, "/a folder", "in");
  EXPECT_EQ(noted[1][0].toString(), "cd '/a folder' && respike --db " + database + " run a < in");
}

// ---- changes by others ----

/// Waits until `shown`, and expects that this takes no longer than it may on processors of its own.
void expect_shown_soon(const char* what, const std::function<bool()>& shown) {
  const PatientTimer timer(PatientTimer::Waits::of_all_threads);
  ASSERT_TRUE(wait_for(shown)) << what;
  const milliseconds time = timer.elapsed();
  EXPECT_TRUE(time <= kShownWithin || !times_apply()) << what << ": " << time.count() << " ms";
}

TEST(ManagerTest, ShowsWhatOtherProcessesDo) {
  const World world;
  const QString image = world.copy(kCalls);
  Watch watch(world.database());
  world.ok({"register", image, "--name", "app"});
  expect_shown_soon("register", [&] { return watch.has("app"); });
  world.ok({"instrument", "app"});
  expect_shown_soon("instrument", [&] { return watch.main_image("app").instrumented.has_value(); });
  world.respike({"run", "app"});
  expect_shown_soon("run", [&] { return watch.main_image("app").profile.runs == 1; });
  world.respike({"run", "app"});
  expect_shown_soon("second run", [&] { return watch.main_image("app").profile.runs == 2; });
  world.ok({"mode", "app", "original"});
  expect_shown_soon("mode",
                    [&] { return watch.manager.application("app")->mode == Mode::original; });
  const auto program = fs::path(image.toStdString());
  fs::rename(program, world.folder() / "away");
  expect_shown_soon("removed file", [&] { return !watch.main_image("app").problem.empty(); });
  world.copy("interpreter.dynamic", "new");
  fs::rename(world.folder() / "new", program);
  expect_shown_soon("new build", [&] {
    return watch.main_image("app").builds == 2 && watch.main_image("app").problem.empty();
  });
  EXPECT_EQ(std::ranges::count_if(watch.messages,
                                  [](const Message& message) {
                                    return message.text.contains("has changed: this is build 2");
                                  }),
            1);
  world.ok({"unregister", "app"});
  expect_shown_soon("unregister", [&] { return !watch.has("app"); });
  EXPECT_EQ(watch.errors(), QStringList());
}

/// A pipe that programs read until the pipe is closed.
class Input {
 public:
  explicit Input(const fs::path& path) : path_(path) {
    EXPECT_EQ(mkfifo(path.c_str(), 0600), 0);
    end_ = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  }
  ~Input() { close(); }
  void close() {
    if (end_ >= 0) ::close(std::exchange(end_, -1));
  }
  QString path() const { return path_.c_str(); }

 private:
  fs::path path_;
  int end_ = -1;
};

/// Registers and instruments `echo`, and starts a run of it that continues until its input ends.
void start_reading(const World& world, Watch& watch, ProgramRun& run, const Input& input) {
  world.ok({"register", world.build_echo()});
  world.ok({"instrument", "echo"});
  ASSERT_TRUE(wait_for([&] { return watch.has("echo"); }));
  run.start({.application = "echo",
             .arguments = {},
             .environment = {},
             .folder = {},
             .input = input.path(),
             .in_terminal = false},
            world.database());
}

TEST(ManagerTest, ShowsARunThatStillGoesOn) {
  const World world;
  Watch watch(world.database());
  ProgramRun run(respike_command());
  const Input input(world.folder() / "input");
  start_reading(world, watch, run, input);
  expect_shown_soon("run", [&] { return watch.main_image("echo").profile.runs > 0; });
  EXPECT_TRUE(run.running());
}

TEST(ManagerTest, TheEndOfARunShowsInItsCounts) {
  const World world;
  Watch watch(world.database());
  ProgramRun run(respike_command());
  Input input(world.folder() / "input");
  start_reading(world, watch, run, input);
  ASSERT_TRUE(wait_for([&] { return watch.main_image("echo").profile.runs > 0; }));
  const uint64_t first = watch.main_image("echo").profile.version;
  ASSERT_TRUE(run.running());
  input.close();
  ASSERT_TRUE(wait_for([&] { return !run.running(); }));
  expect_shown_soon("end", [&] { return watch.main_image("echo").profile.version != first; });
  EXPECT_EQ(watch.main_image("echo").profile.runs, 1);
}

TEST(ManagerTest, TwoWindowsShowTheSame) {
  const World world;
  Watch one(world.database()), other(world.database());
  EXPECT_EQ(one.run(register_action(world.copy(kCalls).toStdString(), {})), Task::State::done);
  expect_shown_soon("register", [&] { return other.has(kCalls); });
  EXPECT_EQ(other.run(unregister_action(kCalls)), Task::State::done);
  expect_shown_soon("unregister", [&] { return !one.has(kCalls); });
}

// ---- databases ----

TEST(ManagerTest, ADatabaseThatVanishesIsNoticedOnce) {
  const World world;
  world.ok({"register", world.copy(kCalls)});
  Watch watch(world.database());
  ASSERT_TRUE(wait_for([&] { return watch.has(kCalls); }));
  for (const char* end : {"", "-wal", "-shm"}) fs::remove(world.database().string() + end);
  expect_shown_soon("the end", [&] { return !watch.has(kCalls); });
  wait(seconds(2));
  ASSERT_EQ(watch.messages.size(), 1u);
  EXPECT_EQ(watch.messages[0].text.toStdString(),
            world.database().string() + ": the database is gone");
  EXPECT_FALSE(fs::exists(world.database())) << "looking made a database";
  world.ok({"register", (world.folder() / kCalls).c_str()});
  expect_shown_soon("a new database", [&] { return watch.has(kCalls); });
}

TEST(ManagerTest, AFileThatIsNoDatabaseIsSaidOnce) {
  const World world;
  std::ofstream(world.database()) << std::string(5000, 'x');
  Watch watch(world.database());
  ASSERT_TRUE(wait_for([&] { return !watch.errors().isEmpty(); }));
  EXPECT_EQ(watch.manager.snapshot().problem, watch.errors()[0]);
  EXPECT_EQ(watch.run(collect_action()), Task::State::failed);
  wait(seconds(2));
  EXPECT_EQ(watch.errors(), QStringList(2, world.refusal({"list"})));
  fs::remove(world.database());
  world.ok({"register", world.copy(kCalls)});
  expect_shown_soon("a database in its place", [&] { return watch.has(kCalls); });
  EXPECT_EQ(watch.manager.snapshot().problem, "");
}

/// For a while, takes from this process the right to write root's files.
class AsNobody {
 public:
  AsNobody() { EXPECT_TRUE(was_ != 0 || seteuid(65534) == 0); }
  ~AsNobody() { EXPECT_TRUE(was_ != 0 || seteuid(0) == 0); }

 private:
  uid_t was_ = geteuid();
};

TEST(ManagerTest, AReadOnlyDatabaseGivesASentenceAndRecovers) {
  const World world;
  world.ok({"register", world.copy(kCalls)});
  fs::permissions(world.folder(), fs::perms(0755));
  Watch watch(world.database());
  ASSERT_TRUE(wait_for([&] { return watch.has(kCalls); }));
  const auto set_writable = [&](bool writable) {
    for (const auto& entry : fs::recursive_directory_iterator(world.folder()))
      fs::permissions(entry.path(), entry.is_directory() || !entry.is_regular_file()
                                        ? fs::perms(writable ? 0755 : 0555)
                                        : fs::perms(writable ? 0644 : 0444));
    fs::permissions(world.folder(), fs::perms(writable ? 0755 : 0555));
  };
  set_writable(false);
  {
    const AsNobody nobody;
    EXPECT_EQ(watch.run(mode_action(kCalls, Mode::optimized)), Task::State::failed);
    EXPECT_EQ(watch.errors()[0].toStdString(),
              world.refusal({"mode", kCalls, "optimized"}).toStdString());
    watch.manager.refresh();
    wait(seconds(2));
    EXPECT_TRUE(watch.has(kCalls)) << "what was read last stays";
  }
  set_writable(true);
  expect_shown_soon("recovery", [&] { return watch.manager.snapshot().problem.isEmpty(); });
  EXPECT_EQ(watch.run(mode_action(kCalls, Mode::optimized)), Task::State::done);
}

TEST(ManagerTest, AnotherDatabaseReplacesWhatIsShown) {
  const World one, other;
  one.ok({"register", one.copy(kCalls), "--name", "one"});
  other.ok({"register", other.copy(kCalls), "--name", "other"});
  Watch watch(one.database());
  watch.manager.open(other.database());  // while the first is being read
  ASSERT_TRUE(wait_for([&] { return watch.has("other"); }));
  EXPECT_FALSE(watch.has("one"));
  watch.manager.open(one.folder() / "none.db");
  EXPECT_FALSE(watch.has("other"));
  wait(seconds(2));
  EXPECT_TRUE(watch.messages.empty());
  EXPECT_FALSE(fs::exists(one.folder() / "none.db"));
  watch.manager.open(one.database());
  ASSERT_TRUE(wait_for([&] { return watch.has("one"); }));
}

// ---- never in the way ----

TEST(ManagerTest, HundredApplicationsDoNotBlockTheWindow) {
  const World world;
  {
    Environment environment(world.database());
    for (int i = 0; i < 100; ++i)
      environment.register_application(
          {world.copy(kCalls, "app" + std::to_string(i)).toStdString()}, {});
  }
  const auto longest = [&] {
    Watch watch(world.database());
    milliseconds block =
        longest_block([&] { return watch.manager.snapshot().applications.size() == 100; });
    size_t snapshots = 0;
    QObject::connect(&watch.manager, &Manager::snapshot_changed, [&] { ++snapshots; });
    watch.manager.refresh();
    return std::max(block, longest_block([&] { return snapshots > 0; }));
  };
  milliseconds least = longest();  // other processes may take the processor: the best of three
  for (int i = 0; i < 2 && least > kBlockAtMost; ++i) least = std::min(least, longest());
  EXPECT_TRUE(least <= kBlockAtMost || !times_apply()) << least.count() << " ms";
}

TEST(ManagerTest, EndsInTheMiddleOfWork) {
  const World world;
  world.ok({"register", world.copy("sqlite3.dynamic"), "--name", "app"});
  const auto before = files_of(world);
  for (const int after : {0, 30, 200}) {
    {
      Watch watch(world.database());
      watch.manager.start(optimize_action("app", {}));
      for (int i = 0; i < 3; ++i) watch.manager.start(instrument_action("app", {}));
      wait(milliseconds(after));
    }
    EXPECT_EQ(files_of(world), before);
    EXPECT_TRUE(world.ok({"list"}).contains("original"));
  }
}

TEST(ManagerTest, AnswersReachOnlyWhoIsStillThere) {
  const World world;
  world.ok({"register", world.copy(kCalls)});
  Manager manager(world.database());
  int answers = 0, failures = 0;
  auto* asker = new QObject;
  for (QObject* who : {asker, static_cast<QObject*>(&manager)})
    manager.ask<int>(
        who, [](Environment& environment) { return int(environment.list().size()); },
        [&](const int& number) { answers += number; }, [&](const QString&) { ++failures; });
  delete asker;
  manager.ask<int>(
      &manager, [](Environment&) -> int { throw std::runtime_error("no answer"); },
      [&](const int&) { ++answers; }, [&](const QString& why) { failures += why == "no answer"; });
  ASSERT_TRUE(wait_for([&] { return failures == 1; }));
  EXPECT_EQ(answers, 1);
}

TEST(LaneTest, JobsRunInOrderAndThoseThatWaitAreDroppedAtTheEnd) {
  std::vector<int> done;
  std::atomic<bool> begun = false;
  {
    Lane lane;
    for (int i = 0; i < 3; ++i) lane.post([&, i] { done.push_back(i); });
    lane.post([&] {
      begun = true;
      std::this_thread::sleep_for(milliseconds(100));
    });
    for (int i = 3; i < 6; ++i) lane.post([&, i] { done.push_back(i); });
    while (!begun) std::this_thread::yield();
  }
  EXPECT_EQ(done, std::vector<int>({0, 1, 2}));
}

// ---- ProgramRun ----

struct Runs {
  explicit Runs(const World& world, const QString& command = respike_command())
      : database(world.database()), run(command) {
    QObject::connect(&run, &ProgramRun::output, &run,
                     [this](const QByteArray& bytes, bool is_error) {
                       (is_error ? errors : output) += QString::fromUtf8(bytes);
                     });
    QObject::connect(&run, &ProgramRun::ended, &run,
                     [this](bool, const QString& how) { ends << how; });
  }
  void start(const QStringList& arguments, const QString& input = {}, const QString& folder = {}) {
    run.start({.application = "echo",
               .arguments = arguments,
               .environment = {"WARN=careful"},
               .folder = folder,
               .input = input,
               .in_terminal = false},
              database);
  }
  bool wait_for_ends(int count) {
    return wait_for([&] { return ends.size() == count; });
  }

  fs::path database;
  QString output, errors;
  QStringList ends;
  ProgramRun run;
};

class ProgramRunTest : public testing::Test {
 protected:
  ProgramRunTest() { world_.ok({"register", world_.build_echo()}); }
  World world_;
};

TEST_F(ProgramRunTest, RunsOneAfterAnotherAndSaysHowEachEnded) {
  Runs runs(world_);
  const QString input = (world_.folder() / "input").c_str();
  std::ofstream(input.toStdString()) << "from a file\n";
  runs.start({"a b"}, input);
  runs.start({"exit", "3"});
  runs.start({"die", QString::number(SIGSEGV)});
  EXPECT_EQ(runs.run.waiting(), 2);
  ASSERT_TRUE(runs.wait_for_ends(3));
  EXPECT_EQ(runs.output, "[a b]\nfrom a file\n[exit][3]\n[die][11]\n");
  EXPECT_TRUE(runs.errors.startsWith("carefulcareful")) << runs.errors.toStdString();
  EXPECT_EQ(runs.ends[0], "exit status 0");
  EXPECT_EQ(runs.ends[1], "exit status 3");
  EXPECT_TRUE(runs.ends[2].startsWith("killed by signal 11")) << runs.ends[2].toStdString();
}

TEST_F(ProgramRunTest, OutputArrivesWhileTheProgramRunsAndStopEndsAll) {
  for (const bool counts : {false, true}) {
    if (counts) world_.ok({"instrument", "echo"});
    Runs runs(world_);
    runs.start({"sleep", "60"});
    runs.start({"never"});
    ASSERT_TRUE(wait_for([&] { return runs.output == "[sleep][60]\n"; }));
    EXPECT_TRUE(runs.run.running());
    runs.run.stop();
    ASSERT_TRUE(runs.wait_for_ends(1));
    EXPECT_TRUE(runs.ends[0].startsWith("killed by signal 15")) << runs.ends[0].toStdString();
    wait(milliseconds(200));
    EXPECT_EQ(runs.output, "[sleep][60]\n");
    EXPECT_FALSE(runs.run.running());
  }
}

TEST_F(ProgramRunTest, WhatCannotBeStartedSaysSoAndTheNextRunFollows) {
  Runs runs(world_);
  runs.start({"one"}, "/nonexistent/input");
  runs.start({"two"}, {}, "/nonexistent/folder");
  runs.start({"three"});
  ASSERT_TRUE(runs.wait_for_ends(3));
  EXPECT_TRUE(runs.ends[0].contains("could not be started")) << runs.ends[0].toStdString();
  EXPECT_TRUE(runs.ends[1].contains("could not be started")) << runs.ends[1].toStdString();
  EXPECT_EQ(runs.ends[2], "exit status 0");
  EXPECT_EQ(runs.output, "[three]\n");
  Runs none(world_, "/nonexistent/respike");
  none.start({});
  ASSERT_TRUE(none.wait_for_ends(1));
  EXPECT_TRUE(none.ends[0].contains("could not be started"));
}

TEST_F(ProgramRunTest, EndsItsProgramWhenItGoes) {
  {
    Runs runs(world_);
    runs.start({"sleep", "77"});
    ASSERT_TRUE(wait_for([&] { return !runs.output.isEmpty(); }));
  }
  // The kernel ends the program when its parent is gone.
  EXPECT_TRUE(wait_for([&] {
    return run_command("pgrep", {"-f", (world_.folder() / "echo").c_str()}).status != 0;
  }));
}

}  // namespace
}  // namespace respike::gui
