#include "tests/gui/support.h"

#include <QElapsedTimer>
#include <QEventLoop>
#include <QProcess>
#include <QTimer>

#include <sched.h>
#include <sys/mount.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

namespace respike::gui {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

namespace {

fs::path from_environment(const char* variable, const fs::path& otherwise) {
  const char* value = std::getenv(variable);
  return value != nullptr ? fs::path(value) : otherwise;
}

/// The folder of the command, which is above this program or the program's own.
fs::path build_folder() {
  fs::path folder = fs::read_symlink("/proc/self/exe").parent_path();
  while (folder.has_relative_path() && !fs::exists(folder / "respike"))
    folder = folder.parent_path();
  return folder;
}

}  // namespace

World::World() {
  EXPECT_TRUE(folder_.isValid());
}

QString World::copy(const std::string& program, const std::string& name) const {
  const fs::path image =
      from_environment("RESPIKE_PROGRAMS", build_folder() / "programs") / "images" / program;
  const fs::path path = folder() / (name.empty() ? program : name);
  fs::copy_file(image, path);
  return QString::fromStdString(path.string());
}

QString World::build_echo(const QString& compiler) const {
  static const char* const kSource = R"(
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
int main(int count, char** arguments) {
  int c;
  const int two = count == 3;
  for (int i = 1; i < count; i++) printf("[%s]", arguments[i]);
  putchar('\n');
  while ((c = getchar()) != EOF) putchar(c);
  fflush(stdout);
  if (getenv("WARN")) fputs(getenv("WARN"), stderr);
  if (two && !strcmp(arguments[1], "exit")) return atoi(arguments[2]);
  if (two && !strcmp(arguments[1], "die")) raise(atoi(arguments[2]));
  if (two && !strcmp(arguments[1], "sleep")) sleep(atoi(arguments[2]));
  return 0;
}
)";
  const fs::path image = folder() / "echo", source = folder() / "echo.c";
  std::ofstream(source) << kSource;
  const Outcome outcome =
      run_command(compiler, {"-O1", "-Wl,-q", source.c_str(), "-o", image.c_str()});
  EXPECT_EQ(outcome.status, 0) << outcome.errors.toStdString();
  return image.c_str();
}

World::Outcome World::respike(const QStringList& words) const {
  return run_command(respike_command(),
                     QStringList{"--db", QString::fromStdString(database().string())} + words);
}

QString World::ok(const QStringList& words) const {
  const Outcome outcome = respike(words);
  EXPECT_EQ(outcome.status, 0) << words.join(' ').toStdString() << ": "
                               << outcome.errors.toStdString();
  return outcome.output;
}

QString World::refusal(const QStringList& words) const {
  const Outcome outcome = respike(words);
  EXPECT_NE(outcome.status, 0) << words.join(' ').toStdString();
  const QString said = outcome.errors.trimmed().section("respike: ", -1);
  // LeakSanitizer adds lines if a process may not inspect itself (AsNobody).
  return is_sanitized() ? said.section('\n', 0, 0) : said;
}

QString respike_command() {
  return QString::fromStdString(from_environment("RESPIKE", build_folder() / "respike").string());
}

World::Outcome run_command(const QString& program, const QStringList& words) {
  QProcess process;
  process.setStandardInputFile(QProcess::nullDevice());
  process.start(program, words);
  World::Outcome outcome;
  if (process.waitForFinished(120000) && process.exitStatus() == QProcess::NormalExit)
    outcome.status = process.exitCode();
  outcome.output = QString::fromUtf8(process.readAllStandardOutput());
  outcome.errors = QString::fromUtf8(process.readAllStandardError());
  return outcome;
}

bool wait_for(const std::function<bool()>& condition, milliseconds most) {
  QElapsedTimer timer;
  timer.start();
  while (!condition()) {
    if (milliseconds(timer.elapsed()) > most) return false;
    wait(milliseconds(5));
  }
  return true;
}

void wait(milliseconds time) {
  QEventLoop loop;
  QTimer::singleShot(time, Qt::PreciseTimer, &loop, &QEventLoop::quit);
  loop.exec();
}

std::chrono::nanoseconds PatientTimer::waited() const {
  // Nanoseconds on a processor, nanoseconds of waiting for one, and how often.
  const auto waited_in = [](const fs::path& task) {
    std::ifstream file(task / "schedstat");
    int64_t ran = 0, waited = 0;
    file >> ran >> waited;
    return std::chrono::nanoseconds(waited);
  };
  if (waits_ == Waits::of_this_thread) return waited_in("/proc/thread-self");
  std::chrono::nanoseconds sum{};
  for (const auto& task : fs::directory_iterator("/proc/self/task")) sum += waited_in(task.path());
  return sum;
}

milliseconds PatientTimer::elapsed() const {
  using std::chrono::nanoseconds;
  const nanoseconds time = std::chrono::steady_clock::now() - start_;
  // Of a thread that ended meanwhile nothing is known any more.
  const nanoseconds waits = std::clamp(waited() - waited_before_, nanoseconds(0), time);
  return std::chrono::ceil<milliseconds>(time - waits);
}

milliseconds PatientTimer::restart() {
  const milliseconds time = elapsed();
  start_ = std::chrono::steady_clock::now();
  waited_before_ = waited();
  return time;
}

milliseconds longest_block(const std::function<bool()>& condition) {
  constexpr milliseconds kTick(5);
  QTimer ticks;
  milliseconds longest(0);
  PatientTimer timer(PatientTimer::Waits::of_this_thread);
  QObject::connect(&ticks, &QTimer::timeout, &ticks,
                   [&] { longest = std::max(longest, timer.restart()); });
  ticks.setTimerType(Qt::PreciseTimer);
  ticks.start(kTick);
  EXPECT_TRUE(wait_for(condition));
  return longest - kTick;
}

ReadOnlyMount::ReadOnlyMount(const std::filesystem::path& folder) : folder_(folder) {
  const char* path = folder_.c_str();
  if (unshare(CLONE_NEWNS) != 0 ||
      mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount(path, path, nullptr, MS_BIND, nullptr) != 0)
    return;
  mounted_ = mount(nullptr, path, nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) == 0;
  if (!mounted_) umount2(path, MNT_DETACH);
}

ReadOnlyMount::~ReadOnlyMount() {
  if (mounted_) umount2(folder_.c_str(), MNT_DETACH);
}

bool is_sanitized() {
  return std::getenv("RESPIKE_SANITIZED") != nullptr;
}

bool times_apply() {
  return !is_sanitized();
}

int run_tests(int argc, char** argv, const std::function<int()>& all) {
  const QTemporaryDir home;
  for (const char* variable : {"HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"})
    qputenv(variable, home.path().toLocal8Bit());
  qunsetenv("RESPIKE_DB");
  testing::InitGoogleTest(&argc, argv);
  return all();
}

}  // namespace respike::gui
