// Runs programs under an emulator and reads the files of the measuring plugin.
//
// Problem: two runs shall give the same numbers, and two versions of a program shall see the same
// surroundings, so that every difference is due to the program. Idea: fix everything that a run
// takes from its surroundings. Every program is started by the same name (child.h); address
// randomization is off; the emulator's random numbers start from one seed. For QEMU, the
// environment names the plugin and the folder of results, and programs that the program executes
// inherit the environment; an emulator that drives the model itself passes its options on. Not
// fixed: the time, process numbers, getrandom, and how threads interleave.
//
// Example: `respike measure -- hello` runs `/tmp/respike-measure-XXXXXX/program`, a link to hello,
// and adds up the files in `/tmp/respike-measure-XXXXXX/results`.
//
// Results are read from the files of all processes when the first process has ended. A process that
// is still running then counts up to that point.

#include "measure/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>
#include <map>
#include <utility>

#include "host/platform.h"
#include "measure/child.h"
#include "measure/one_run.h"
#include "measure/plugins/measurement_file.h"
#include "measure/plugins/places_file.h"
#include "measure/same_work.h"
#include "measure/windows_program.h"
#include "optimizer/base/error.h"

namespace respike::measure {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPlugin = "respike-measure.so";

// ---- before the run ----

fs::path find_plugin() {
  const fs::path path = own_part(kPlugin);
  if (!fs::exists(path)) throw Error("the emulator's plugin is missing", path);
  if (path.string().find(',') != std::string::npos)
    throw Error("the emulator takes no plugin with a comma in its name", path);
  return path;
}

/// The emulator that drives models of a platform's processors; empty: it is not installed.
fs::path model_emulator(const Platform& platform) {
  return platform.model_emulator.empty()
             ? find_command(platform.emulator, platform.emulator_is_ours)
             : find_command(platform.model_emulator, false);
}

std::string_view model_emulator_name(const Platform& platform) {
  return platform.model_emulator.empty() ? platform.emulator : platform.model_emulator;
}

/// Whether a variable is for the dynamic linker. If program and emulator are for the same machine,
/// the emulator's dynamic linker must not see it.
bool is_for_linker(std::string_view variable) {
  return variable.starts_with("LD_");
}

/// The environment of the run and the variables by which QEMU finds the plugin.
std::vector<std::string> environment_for(const ModelInfo& model, const Folder& folder,
                                         const ProgramRun& run) {
  const Platform& platform = platform_of(model.machine);
  std::vector<std::string> variables;
  if (platform.model_option.empty())
    variables = {"QEMU_RAND_SEED=1",
                 fmt::format("QEMU_PLUGIN={},{}={}/r,model={}", find_plugin().string(),
                             run.places ? "all" : "out", folder.results().string(), model.name)};
  if (platform.model_option.empty() && !platform.native())
    variables.push_back(fmt::format("QEMU_LD_PREFIX={}", sysroot_of(platform)));
  if (platform.native()) variables.emplace_back("QEMU_CPU=max");  // all features that QEMU knows
  variables.insert(variables.end(), run.variables.begin(), run.variables.end());
  variables = environment_with(std::move(variables));
  if (platform.native()) std::erase_if(variables, is_for_linker);
  return variables;
}

/// The words of the emulator's command line.
std::vector<std::string> words_for(const Platform& platform, const Folder& folder,
                                   const ProgramRun& run) {
  std::vector<std::string> words = {std::string(model_emulator_name(platform)),
                                    std::string(platform.argv0_option), run.argv0};
  if (!platform.model_option.empty()) {
    words = emulator_words(platform, run.argv0);
    words.insert(words.end(), {std::string(platform.model_option), folder.results() / "r"});
    if (run.places) words.emplace_back(platform.places_option);
  }
  if (!platform.quiet_option.empty()) words.emplace_back(platform.quiet_option);
  if (platform.native())
    for (const std::string& variable : environment_with(run.variables))
      if (is_for_linker(variable))
        words.insert(words.end(), {std::string(platform.variable_option), variable});
  for (std::string& word : loader_words(run.program, run.argv0)) words.push_back(std::move(word));
  words.push_back(folder.started_by(run));
  words.insert(words.end(), run.arguments.begin(), run.arguments.end());
  return words;
}

// ---- after the run ----

/// A file of results. Each read throws Error when the file ends too early.
class ResultFile {
 public:
  explicit ResultFile(const fs::path& path) : path_(path), file_(path, std::ios::binary) {}

  template <typename T>
  T read() {
    T value;
    file_.read(reinterpret_cast<char*>(&value), sizeof value);
    if (!file_) throw Error("the plugin left no complete result", path_);
    return value;
  }
  std::string read_text(size_t size) {
    std::string text(size, '\0');
    file_.read(text.data(), std::streamsize(size));
    if (!file_) throw Error("the plugin left no complete result", path_);
    return text;
  }

 private:
  fs::path path_;
  std::ifstream file_;
};

using Magic = std::array<char, 8>;
using Places = std::map<std::pair<std::string, uint64_t>, Events>;

void read_threads(ResultFile& file, Measurement& result) {
  static_cast<void>(file.read<uint32_t>());  // the process
  const auto threads = file.read<uint32_t>();
  for (uint32_t i = 0; i < threads; ++i) result.events += file.read<Events>();
  ++result.processes;
}

void read_places(ResultFile& file, Measurement& result, Places& places) {
  static_cast<void>(file.read<uint32_t>());  // the process
  const auto rows = file.read<uint32_t>();
  static_cast<void>(file.read<uint32_t>());  // images
  const auto size = file.read<uint32_t>();
  const std::string names = file.read_text(PlacesFile::kNamesSize);
  std::vector<std::string> images = {""};
  for (size_t at = 0; at < size; at += images.back().size() + 1)
    images.emplace_back(names.c_str() + at);
  for (uint32_t i = 0; i < rows; ++i) {
    const auto row = file.read<PlaceRow>();
    places[{images.at(row.image), row.offset}] += row.events;
    result.events += row.events;
  }
}

/// Adds up the files of all processes.
void read_results(const fs::path& folder, Measurement& result) {
  Places places;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    ResultFile file(entry.path());
    const auto magic = file.read<Magic>();
    if (std::memcmp(magic.data(), MeasurementFile::kMagic, magic.size()) == 0)
      read_threads(file, result);
    else if (std::memcmp(magic.data(), PlacesFile::kMagic, magic.size()) == 0)
      read_places(file, result, places);
    else
      throw Error("the plugin left no complete result", entry.path());
  }
  for (auto& [place, events] : places) result.places.push_back({place.first, place.second, events});
}

}  // namespace

MeasuredRun measure_in(const Folder& folder, const ModelInfo& info, const ProgramRun& run) {
  const Platform& platform = platform_of(info.machine);
  const fs::path emulator = model_emulator(platform);
  if (emulator.empty())
    throw Error(fmt::format("{} is not installed: programs for {} are measured under it{}",
                            model_emulator_name(platform), platform.name,
                            platform.native() ? " (--native does without)" : ""));
  require_program_for(platform, run.program);
  folder.prepare(run);
  MeasuredRun measured;
  measured.end =
      run_child(emulator, words_for(platform, folder, run), environment_for(info, folder, run), run,
                folder.signals(), Addresses::fixed);
  Measurement& result = measured.result;
  result.model = info.name;
  result.exit_status = measured.end.exit_status;
  read_results(folder.results(), result);
  if (result.events.instructions == 0) {
    require_exit(measured.end, run);
    throw Error(fmt::format("{} executed nothing of it, exit status {}",
                            model_emulator_name(platform), result.exit_status),
                name_of(run));
  }
  const std::unique_ptr<MachineModel> model = info.make();
  result.figures = model->figures(result.events);
  result.components = model->components(result.events);
  result.cycles = sum_of(result.components);
  return measured;
}

const ModelInfo* model_for(const fs::path& program, std::string_view wanted,
                           std::string* why_timed) {
  if (wanted == kNative) {
    require_native(program);
    return nullptr;
  }
  if (!wanted.empty()) return find_model(wanted);
  const auto machine = require_program(program);
  for (const ModelInfo& info : models()) {
    if (info.machine != machine) continue;
    const Platform& platform = platform_of(info.machine);
    if (!platform.native() || !model_emulator(platform).empty()) return &info;
    if (why_timed != nullptr)
      *why_timed = fmt::format("{} is not installed, under which programs are measured on a model",
                               platform.model_emulator);
    return nullptr;
  }
  throw Error(fmt::format("there is no model of a processor for its machine{}",
                          machine ? fmt::format(", {}", platform_of(*machine).name) : ""),
              program);
}

Measurement measure_run(const ModelInfo& model, const ProgramRun& run) {
  MeasuredRun measured = measure_in(Folder(), model, run);
  require_exit(measured.end, run);
  return std::move(measured.result);
}

Comparison compare(const ModelInfo& model, const Version& before, const Version& after,
                   const Workload& workload) {
  for (const Version& version : {before, after})
    require_program_for(platform_of(model.machine), version.program);
  const OpenFile input = copy_of_input(workload.input);
  const Folder folder;  // signals are blocked from here on
  const auto run_one = [&](const Version& version, const Outputs& outputs) {
    const ProgramRun run = run_of(version, before.program, workload, input, outputs);
    MeasuredRun measured = measure_in(folder, model, run);
    require_exit(measured.end, run);
    return measured;
  };
  const Outputs first, second;
  MeasuredRun original = run_one(before, first), other = run_one(after, second);
  return {.before = std::move(original.result),
          .after = std::move(other.result),
          .difference = difference_of(original.end, first, other.end, second)};
}

}  // namespace respike::measure
