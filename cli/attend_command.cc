// respike attend: tasks that the attendant of running programs calls (applications/attendant_duties.cc).
// Hidden from --help, since it has no other use. Messages for the user wait for the next command.

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "applications/descriptions.h"
#include "cli/application_commands.h"
#include "cli/arguments.h"
#include "cli/messages.h"

namespace respike::cli {
namespace {

struct AttendArguments {
  long long application = 0;
  unsigned long long before = 0;
  std::string library, images, ran, program;
  std::vector<long long> applications;
  int signal = 0;
};

/// Prints the library's path and its version's path, each with a terminating zero; prints nothing
/// when the library has no version.
void print_version(const AttendArguments& arguments, const DatabaseOption& database) {
  Environment environment = open_environment(database);
  const auto version =
      environment.version_of_opened(arguments.application, arguments.library, arguments.before);
  if (version)
    for (const std::string& path : {version->original.string(), version->substitute.string()})
      std::fwrite(path.c_str(), 1, path.size() + 1, stdout);
  std::fflush(stdout);
  // The program waits only for the end of this output.
  const int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nothing >= 0) dup2(nothing, STDOUT_FILENO);
  environment.tell_of_opened();
}

/// Reports the counted runs on standard error, which belongs to a command that has ended.
void print_counted(const AttendArguments& arguments, const DatabaseOption& database) {
  constexpr unsigned kSeconds = 5;
  alarm(kSeconds);  // no process shall wait long for this line, even if it cannot be printed
  const std::vector<Id> applications(arguments.applications.begin(), arguments.applications.end());
  const auto counted = open_environment(database).counted_since(applications, arguments.before);
  const std::string text = counted_text(counted);
  if (!text.empty()) complain(text);
  for (const CountedRuns& each : counted)
    if (each.runs == 0) complain("warning: " + uncounted_text(each));
}

}  // namespace

void add_attend_command(CLI::App& app, const SharedDatabase& database) {
  CLI::App* attend = app.add_subcommand("attend", "What the attendant of programs calls for");
  attend->group(kHidden);
  attend->require_subcommand(1);
  auto arguments = std::make_shared<AttendArguments>();

  attend->add_subcommand("merge", "Merge counter files if many wait")->callback([database] {
    open_environment(*database).merge_if_many();
  });

  CLI::App* opened = attend->add_subcommand("opened", "Make the version of an opened library");
  opened->add_option("APPLICATION", arguments->application)->required();
  opened->add_option("LIBRARY", arguments->library)->required();
  opened->add_option("BEFORE", arguments->before)->required();
  opened->callback([arguments, database] { print_version(*arguments, *database); });

  CLI::App* counted = attend->add_subcommand("counted", "Say how many runs were counted");
  counted->add_option("SINCE", arguments->before)->required();
  counted->add_option("APPLICATION", arguments->applications)->required();
  counted->callback([arguments, database] { print_counted(*arguments, *database); });

  CLI::App* fault = attend->add_subcommand("fault", "Note that a program has died");
  fault->add_option("APPLICATION", arguments->application)->required();
  fault->add_option("IMAGES", arguments->images)->required();
  fault->add_option("SIGNAL", arguments->signal)->required();
  fault->add_option("RAN", arguments->ran)->required();
  fault->add_option("PROGRAM", arguments->program)->required();
  fault->callback([arguments, database] {
    AnnouncedEnd end;
    end.application = int(arguments->application);
    end.images = arguments->images;
    end.program = arguments->program;
    end.original = arguments->ran == "original";
    end.end.status = arguments->signal;
    open_environment(*database).note_announced_fault(end);
  });
}

}  // namespace respike::cli
