// Runs programs under an emulator and reads what the measuring plugin left.
//
// Problem: two runs shall give the same numbers, and two versions of a program shall see the same
// world, so that a difference is the program's. Idea: fix what a run takes from its surroundings.
// Every program is started by the same name (child.h); address randomization is off; the emulator's
// random numbers start from one seed. For QEMU, the environment names the plugin and the folder of
// results, and programs that the program executes inherit the environment; an emulator that drives
// the model itself passes its options on. Not fixed: the time, process numbers, getrandom, and how
// threads interleave.
//
// Example: `respike measure -- hello` runs `/tmp/respike-measure-XXXXXX/program`, a link to hello,
// and adds up the files in `/tmp/respike-measure-XXXXXX/results`.
//
// Results are read from the files of all processes when the first process has ended. A process that
// is still running then counts as far as it got.

#include "simulator/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>

#include "host/platform.h"
#include "optimizer/base/error.h"
#include "simulator/child.h"
#include "simulator/measurement_file.h"
#include "simulator/same_work.h"

namespace respike::simulator {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPlugin = "respike-measure.so";

// ---- before the run ----

/// The path of the plugin, which lies beside the command.
fs::path find_plugin() {
  std::error_code error;
  const fs::path command = fs::read_symlink("/proc/self/exe", error);
  if (error)
    throw Error(
        fmt::format("the emulator's plugin cannot be found without it: {}", error.message()),
        "/proc/self/exe");
  const fs::path path = command.parent_path() / kPlugin;
  if (!fs::exists(path)) throw Error("the emulator's plugin is missing", path);
  if (path.string().find(',') != std::string::npos)
    throw Error("the emulator takes no plugin with a comma in its name", path);
  return path;
}

/// The environment of the run and the variables by which QEMU finds the plugin.
std::vector<std::string> environment_for(const ModelInfo& model, const Folder& folder,
                                         const ProgramRun& run) {
  const Platform& platform = platform_of(model.machine);
  std::vector<std::string> variables;
  if (platform.model_option.empty())
    variables = {fmt::format("QEMU_LD_PREFIX={}", sysroot_of(platform)), "QEMU_RAND_SEED=1",
                 fmt::format("QEMU_PLUGIN={},out={}/r,model={}", find_plugin().string(),
                             folder.results().string(), model.name)};
  variables.insert(variables.end(), run.variables.begin(), run.variables.end());
  return environment_with(std::move(variables));
}

/// The words of the emulator's command line.
std::vector<std::string> words_for(const Platform& platform, const Folder& folder,
                                   const ProgramRun& run) {
  std::vector<std::string> words = {std::string(platform.emulator),
                                    std::string(platform.argv0_option), run.argv0};
  if (!platform.model_option.empty()) {
    words = emulator_words(platform, run.argv0);
    words.insert(words.end(), {std::string(platform.model_option), folder.results() / "r"});
  }
  if (!platform.quiet_option.empty()) words.emplace_back(platform.quiet_option);
  words.push_back(folder.link());
  words.insert(words.end(), run.arguments.begin(), run.arguments.end());
  return words;
}

// ---- after the run ----

/// Adds up the files of all processes.
void read_results(const fs::path& folder, Measurement& result) {
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    std::array<char, offsetof(MeasurementFile, events)> header;
    uint32_t threads = 0;
    file.read(header.data(), header.size());
    if (!file || std::memcmp(header.data(), MeasurementFile::kMagic, 8) != 0)
      throw Error("the plugin left no complete result", entry.path());
    std::memcpy(&threads, header.data() + offsetof(MeasurementFile, threads), sizeof threads);
    for (uint32_t i = 0; i < threads; ++i) {
      Events events;
      file.read(reinterpret_cast<char*>(&events), sizeof events);
      if (!file) throw Error("the plugin left no complete result", entry.path());
      result.events += events;
    }
    ++result.processes;
  }
}

Measurement measure_in(const Folder& folder, const ModelInfo& info, const ProgramRun& run) {
  const Platform& platform = platform_of(info.machine);
  const fs::path emulator =
      find_emulator(platform, fmt::format("programs for {} are measured under it", platform.name));
  require_program_for(platform, run.program);
  folder.prepare(run.program);
  Measurement result;
  result.model = info.name;
  result.exit_status =
      run_child(emulator, words_for(platform, folder, run), environment_for(info, folder, run), run,
                folder.signals(), Addresses::fixed)
          .exit_status;
  read_results(folder.results(), result);
  if (result.events.instructions == 0)
    throw Error(fmt::format("{} executed nothing of it, exit status {}", platform.emulator,
                            result.exit_status),
                run.program);
  const std::unique_ptr<MachineModel> model = info.make();
  result.figures = model->figures(result.events);
  result.components = model->components(result.events);
  result.cycles = sum_of(result.components);
  return result;
}

}  // namespace

const ModelInfo* model_for(const fs::path& program) {
  const auto machine = require_program(program);
  for (const ModelInfo& info : models())
    if (info.machine == machine) return &info;
  if (machine && platform_of(*machine).native()) return nullptr;
  throw Error(fmt::format("there is no model of a processor for its machine{}",
                          machine ? fmt::format(", {}", platform_of(*machine).name) : ""),
              program);
}

Measurement measure(const ModelInfo& model, const ProgramRun& run) {
  return measure_in(Folder(), model, run);
}

Comparison compare(const ModelInfo& model, const fs::path& before, const fs::path& after,
                   const Workload& workload) {
  for (const fs::path& program : {before, after})
    require_program_for(platform_of(model.machine), program);
  const OpenFile input = copy_of_input(workload.input);
  const Folder folder;  // signals are blocked from here on
  const auto run = [&](const fs::path& program, const Outputs& outputs) {
    return measure_in(folder, model, run_of(program, before, workload, input, outputs));
  };
  const Outputs first, second;
  Comparison result;
  result.before = run(before, first);
  result.after = run(after, second);
  result.difference =
      difference_of(result.before.exit_status, first, result.after.exit_status, second);
  return result;
}

}  // namespace respike::simulator
