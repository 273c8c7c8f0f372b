#pragma once
// Code that the tests of the window share: a folder of their own, the command line, and waiting.

#include <QCoreApplication>
#include <QString>
#include <QStringList>
#include <QTemporaryDir>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

namespace respike::gui {

/// A folder with a database and programs, removed at the end.
class World {
 public:
  World();

  std::filesystem::path folder() const { return folder_.path().toStdString(); }
  std::filesystem::path database() const { return folder() / "test.db"; }
  /// Copies a test program ("calls.dynamic") under another name; empty: its own name. Returns the
  /// path of the copy.
  QString copy(const std::string& program, const std::string& name = {}) const;

  /// Builds the program `echo`, which prints each argument in brackets and copies its input.
  /// Arguments that start it off otherwise: "exit N", "die SIGNAL", "sleep SECONDS". Returns the
  /// path.
  QString build_echo(const QString& compiler = "alpha-linux-gnu-gcc") const;

  struct Outcome {
    int status = -1;
    QString output, errors;
  };
  /// Runs `respike --db DATABASE WORDS`.
  Outcome respike(const QStringList& words) const;
  /// The same, and expects status 0. Returns the command's output.
  QString ok(const QStringList& words) const;
  /// The one line that the command says when it fails, without "respike: "; expects a failure.
  QString refusal(const QStringList& words) const;

 private:
  QTemporaryDir folder_;
};

/// The command `respike`.
QString respike_command();

/// Runs any command. Throws nothing; a status of -1 says that a signal or a limit ended the
/// command.
World::Outcome run_command(const QString& program, const QStringList& words);

/// Handles events until `condition` holds, or until `most` went by. Returns the condition.
bool wait_for(const std::function<bool()>& condition,
              std::chrono::milliseconds most = std::chrono::seconds(60));

/// Handles events for a time.
void wait(std::chrono::milliseconds time);

/// Measures time without the time in which threads were ready to run and had no processor, since
/// other programs may keep the processors busy. Not every kernel counts this time; without it, all
/// time is measured.
class PatientTimer {
 public:
  enum class Waits : uint8_t { of_this_thread, of_all_threads };
  explicit PatientTimer(Waits waits) : waits_(waits) { restart(); }
  std::chrono::milliseconds elapsed() const;
  /// Begins anew; returns the elapsed time.
  std::chrono::milliseconds restart();

 private:
  std::chrono::nanoseconds waited() const;

  Waits waits_;
  std::chrono::steady_clock::time_point start_;
  std::chrono::nanoseconds waited_before_{};
};

/// The longest time in which the event loop handled no timer, while `condition` did not hold,
/// without the time in which this thread waited for a processor.
std::chrono::milliseconds longest_block(const std::function<bool()>& condition);

/// Makes a folder a read-only file system, for this process alone, until destruction: even root may
/// not write there. is_mounted() is false if the system does not allow this.
class ReadOnlyMount {
 public:
  explicit ReadOnlyMount(const std::filesystem::path& folder);
  ~ReadOnlyMount();
  ReadOnlyMount(const ReadOnlyMount&) = delete;
  ReadOnlyMount& operator=(const ReadOnlyMount&) = delete;
  bool is_mounted() const { return mounted_; }

 private:
  std::filesystem::path folder_;
  bool mounted_ = false;
};

/// Whether this program and the command were built with sanitizers.
bool is_sanitized();

/// Whether limits of time apply: not under sanitizers.
bool times_apply();

/// Prepares a home of its own, to neither read nor write the user's settings, and runs all tests.
int run_tests(int argc, char** argv, const std::function<int()>& all);

}  // namespace respike::gui
