// respike-ia64: runs programs of IA-64 Linux on this machine.
//
//   respike-ia64 [--sysroot DIR] [--counts FILE] [--model FILE] [--opened DIR [--attendant S]]
//                [--brief] [--quiet] PROGRAM ARGUMENTS...
//
// The exit status is the program's; if a signal ends the program, the same signal ends the
// emulator. If a program cannot be run at all, the emulator says why in one sentence and ends with
// the status that a shell would use: 127 if there is no such program, 126 if the file is not an
// IA-64 program. 125 means that a model's results cannot be written.

#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <optional>

#include "emulators/ia64/counts.h"
#include "emulators/ia64/elf_loader.h"
#include "emulators/ia64/process.h"
#include "emulators/ia64/signals.h"
#include "emulators/ia64/threads.h"
#include "optimizer/base/error.h"

namespace {

namespace ia64 = respike::emulator::ia64;

constexpr const char* kUsage =
    "usage: respike-ia64 [OPTIONS] PROGRAM [ARGUMENTS...]\n"
    "  --sysroot DIR   absolute paths of the program are looked for below DIR first\n"
    "  --counts FILE   write how often each instruction was executed\n"
    "  --model FILE    drive a model of the Itanium 2; results in FILE.PID.N\n"
    "  --places        with --model: also where in which file the events happen\n"
    "  --opened DIR    note libraries that the program opens while it runs, as links in DIR\n"
    "  --attendant S   with --opened: ask at the socket S for versions of these libraries\n"
    "  --brief         one line when a fault ends the program, without the registers\n"
    "  --quiet         nothing then, as on a real machine\n"
    "  --argv0 NAME    what the program sees as argv[0]\n"
    "  --general-only  interpret all instructions by the general handlers (slow; for tests)\n";

struct CommandLine {
  ia64::Options options;
  std::vector<std::string> words;  ///< program and arguments
};

/// The parsed command line; nullopt if the usage was wrong, after a message.
std::optional<CommandLine> parse(int argc, char** argv) {
  CommandLine line;
  int i = 1;
  for (; i < argc && argv[i][0] == '-'; ++i) {
    const std::string option = argv[i];
    const auto value = [&](std::string& to) {
      if (i + 1 >= argc) return false;
      to = argv[++i];
      return true;
    };
    bool good = true;
    if (option == "--") {
      ++i;
      break;
    }
    if (option == "--help") {
      fmt::print("{}", kUsage);
      std::exit(0);
    }
    if (option == "--sysroot")
      good = value(line.options.sysroot);
    else if (option == "--counts")
      good = value(line.options.counts);
    else if (option == "--model")
      good = value(line.options.model);
    else if (option == "--opened")
      good = value(line.options.opened);
    else if (option == "--attendant")
      good = value(line.options.attendant);
    else if (option == "--argv0")
      good = value(line.options.argv0);
    else if (option == "--append-counts")
      line.options.append_counts = true;
    else if (option == "--places")
      line.options.places = true;
    else if (option == "--brief")
      line.options.brief = true;
    else if (option == "--quiet")
      line.options.quiet = true;
    else if (option == "--general-only")
      line.options.general_only = true;
    else
      good = false;
    if (!good) {
      fmt::print(stderr, "respike-ia64: {} is no option, or needs a value\n", option);
      return std::nullopt;
    }
  }
  line.words.assign(argv + i, argv + argc);
  if (line.words.empty()) return std::nullopt;
  return line;
}

/// The path of a program: looked up in PATH if the name has no slash.
std::string find_program(const std::string& name) {
  if (name.empty() || name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  std::string folders = path == nullptr ? "" : path;
  if (std::filesystem::exists(name)) return "./" + name;
  for (size_t start = 0; start < folders.size();) {
    const size_t end = std::min(folders.find(':', start), folders.size());
    const std::string candidate = folders.substr(start, end - start) + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    start = end + 1;
  }
  return name;
}

void prepare_counts(ia64::Options& options) {
  if (options.counts.empty()) return;
  options.counts = std::filesystem::absolute(options.counts);
  if (options.append_counts) return;
  std::FILE* file = std::fopen(options.counts.c_str(), "w");
  if (file == nullptr)
    throw respike::Error(fmt::format("cannot be written: {}", std::strerror(errno)),
                         options.counts);
  std::fclose(file);
}

std::string existing_folder(const std::string& path) {
  if (!std::filesystem::is_directory(path)) throw respike::Error("not a folder", path);
  return std::filesystem::canonical(path);
}

int run_program(CommandLine& line) {
  auto process = std::make_unique<ia64::Process>();
  process->options = line.options;
  ia64::Options& options = process->options;
  if (!options.sysroot.empty()) options.sysroot = existing_folder(options.sysroot);
  if (!options.opened.empty()) options.opened = existing_folder(options.opened);
  prepare_counts(options);
  if (!options.model.empty()) {
    options.model = std::filesystem::absolute(options.model);
    process->feed = std::make_unique<ia64::ModelFeed>(options.model, options.places);
  }
  auto first_thread = std::make_unique<ia64::Thread>(*process);
  ia64::Thread* const thread = first_thread.get();
  thread->tid = static_cast<int>(syscall(SYS_gettid));
  syscall(SYS_rt_sigprocmask, SIG_BLOCK, nullptr, &thread->mask, 8);

  const std::string path = find_program(line.words[0]);
  char resolved[PATH_MAX];
  process->program = realpath(path.c_str(), resolved) != nullptr ? resolved : path;
  if (!options.argv0.empty()) line.words[0] = options.argv0;
  for (const std::string& word : line.words) process->command_line += word + '\0';
  ia64::load_program(*process, *thread, process->program, path, line.words, environ);
  ia64::map_trampoline(*process);
  static_cast<void>(first_thread.release());  // other threads may outlive this function
  ia64::current_thread = thread;          // before the first signal
  ia64::start_signals(*process.release());
  ia64::apply_mask(*thread);
  const int status = ia64::run(*thread);
  // The first thread has ended alone; the process continues until the last thread ends.
  ia64::release_thread(*thread);
  ia64::end_first_thread(*thread, status);
}

}  // namespace

int main(int argc, char** argv) {
  auto line = parse(argc, argv);
  if (!line) {
    fmt::print(stderr, "{}", kUsage);
    return 2;
  }
  try {
    return run_program(*line);
  } catch (const ia64::NotExecutable& error) {
    fmt::print(stderr, "respike-ia64: {}\n", error.what());
    return 126;
  } catch (const std::exception& error) {
    fmt::print(stderr, "respike-ia64: {}\n", error.what());
    return 127;
  }
}
