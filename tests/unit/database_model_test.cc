// Compares random sequences of operations on a database with a model of the database, which is
// lists in memory. After every few steps both must agree.

#include <iterator>
#include <map>
#include <set>

#include "profiledb/counts.h"
#include "tests/unit/profiledb_testing.h"

namespace respike {
namespace {

namespace fs = std::filesystem;

constexpr uint64_t kStart = 1'700'000'000'000'000'000;

/// A counter file and its process.
struct ModelFile {
  size_t program = 0;
  uint64_t process = 0, started = 0;
  std::vector<uint64_t> counters;  // as they are in the file now
  std::unique_ptr<RunningFile> running;
  fs::path path;
};

using Key = std::pair<uint64_t, uint64_t>;  // process, start

struct ModelBuild {
  size_t program = 0;
  uint32_t number = 0;
  std::vector<std::vector<uint64_t>> finished;     // counters of runs
  std::map<Key, std::vector<uint64_t>> snapshots;  // of running and lost processes
  std::map<Key, RunState> runs;
  std::vector<Profile> given_profiles;
};

struct ModelApplication {
  std::string main;
  Mode mode = Mode::original;
  std::map<std::string, Role> images;
};

class Model {
 public:
  explicit Model(uint64_t seed)
      : random_(seed), path_(folder_ / "model.db"), database_(std::make_unique<Database>(path_)) {
    for (uint64_t p = 0; p < kPrograms; ++p)
      programs_.push_back(std::make_unique<CountingProgram>(seed * 100 + p));
  }

  void step() {
    switch (below(random_, 17)) {
      case 0:
        return put_image();
      case 1:
        return add_application();
      case 2:
        return change_application();
      case 3:
        return remove_application();
      case 4:
      case 5:
        return put_build();
      case 6:
      case 7:
      case 8:
        return start_process();
      case 9:
        return end_process();
      case 10:
        return count_on();
      case 11:
        return lose_file();
      case 12:
      case 13:
        return merge();
      case 14:
        return give();
      case 15:
        return move();
      default:
        return one_in(random_, 2) ? prune() : reopen();
    }
  }

  void compare() {
    std::set<std::string> names;
    for (const ApplicationRow& row : database_->applications()) {
      names.insert(row.name);
      ASSERT_TRUE(applications_.contains(row.name));
      const ModelApplication& expected = applications_[row.name];
      EXPECT_EQ(row.mode, expected.mode);
      EXPECT_EQ(database_->image(row.main_image).path, expected.main);
      std::map<std::string, Role> images;
      for (const ApplicationImage& image : database_->images_of(row.id))
        images[image.image.path] = image.role;
      EXPECT_EQ(images, expected.images);
    }
    EXPECT_EQ(names.size(), applications_.size());
    std::set<std::string> paths(kPaths.begin(), kPaths.end());
    for (const auto& [first, path] : places_) paths.insert(path);
    for (const std::string& path : paths) {
      const auto image = database_->find_image(path);
      ASSERT_EQ(image.has_value(), images_.contains(path)) << path;
      if (!image) continue;
      const auto rows = database_->builds(image->id);
      auto& builds = images_[path];
      ASSERT_EQ(rows.size(), builds.size()) << path;
      for (const BuildRow& row : rows) {
        const auto build = std::find_if(builds.begin(), builds.end(), [&](const ModelBuild& b) {
          return b.number == row.number;
        });
        ASSERT_NE(build, builds.end());
        compare(row, *build);
      }
    }
    for (const std::string& problem : database_->check()) ADD_FAILURE() << problem;
  }

 private:
  static constexpr uint64_t kPrograms = 6;
  static inline const std::vector<std::string> kPaths = {"/bin/a", "/bin/b", "/lib/c"};

  void compare(const BuildRow& row, const ModelBuild& build) {
    const CountingProgram& program = *programs_[build.program];
    ExpectedSum expected(program);
    for (const auto& counters : build.finished) expected.add(program.profile_of(counters));
    for (const auto& [key, counters] : build.snapshots) expected.add(program.profile_of(counters));
    for (const Profile& profile : build.given_profiles) expected.add(profile);
    expect_same_counts(database_->profile(row.id), expected.profile());
    EXPECT_EQ(database_->summary(row.id).runs, expected.profile().runs);
    std::map<Key, RunState> runs;
    for (const RunRow& run : database_->runs(row.id))
      runs[{run.process_id, run.started}] = run.state;
    EXPECT_EQ(runs, build.runs);
  }

  /// Where the image is now that was first at this path.
  const std::string& place_of(const std::string& path) {
    return places_.try_emplace(path, path).first->second;
  }
  const std::string& any_path() { return place_of(kPaths[below(random_, kPaths.size())]); }
  std::string any_name() { return "application" + std::to_string(below(random_, 4)); }
  Id image_id(const std::string& path) { return database_->find_image(path)->id; }

  void put_image() {
    const std::string& path = any_path();
    database_->put_image({path, "", "toy", true, ""});
    images_[path];
  }

  void add_application() {
    const std::string name = any_name(), &path = any_path();
    const bool possible = images_.contains(path) && !applications_.contains(name);
    const std::string error = error_of(
        [&] { database_->add_application(name, images_.contains(path) ? image_id(path) : 12345); });
    EXPECT_EQ(error == "no error", possible) << error;
    if (possible) applications_[name] = {path, Mode::original, {{path, Role::main}}};
  }

  void change_application() {
    const std::string name = any_name(), &path = any_path();
    const auto row = database_->find_application(name);
    ASSERT_EQ(row.has_value(), applications_.contains(name));
    if (!row) return;
    ModelApplication& application = applications_[name];
    application.mode = static_cast<Mode>(below(random_, 3));
    database_->set_mode(row->id, application.mode);
    if (!images_.contains(path)) return;
    const Role role = one_in(random_, 2) ? Role::linked : Role::opened;
    if (one_in(random_, 4) && path != application.main) {
      database_->remove_application_image(row->id, image_id(path));
      application.images.erase(path);
    } else {
      database_->add_application_image(row->id, image_id(path), role);
      application.images.emplace(path, role);
    }
  }

  void remove_application() {
    const std::string name = any_name();
    if (const auto row = database_->find_application(name)) database_->remove_application(row->id);
    applications_.erase(name);
  }

  ModelBuild* find_build(size_t program) {
    for (auto& [path, builds] : images_)
      for (ModelBuild& build : builds)
        if (build.program == program) return &build;
    return nullptr;
  }

  /// Moves an image to a new path, or to that of another image: then they become one. Whatever was
  /// at the old path is at the new one from then on.
  void move() {
    const std::string from = any_path();
    const std::string to =
        one_in(random_, 2) ? any_path() : "/moved/" + std::to_string(below(random_, 4));
    if (one_in(random_, 4)) {  // this time it is rolled back
      Database::Transaction transaction(*database_);
      database_->move_image(from, to);
      return;
    }
    database_->move_image(from, to);
    if (from == to) return;
    for (auto& [first, path] : places_)
      if (path == from) path = to;
    const auto moved = images_.find(from);
    if (moved == images_.end()) return;
    std::vector<ModelBuild> builds = std::move(moved->second);
    images_.erase(moved);
    auto& there = images_[to];
    std::move(builds.begin(), builds.end(), std::back_inserter(there));
    // All builds were first seen in the same second or so: their order is that of the database.
    std::map<size_t, uint32_t> numbers;
    for (const BuildRow& row : database_->builds(image_id(to)))
      for (size_t p = 0; p < programs_.size(); ++p)
        if (programs_[p]->map().original_hash == row.file_hash) numbers[p] = row.number;
    for (ModelBuild& build : there) build.number = numbers[build.program];
    for (auto& [name, application] : applications_) {
      if (application.main == from) application.main = to;
      const auto used = application.images.find(from);
      if (used == application.images.end()) continue;
      const Role role = used->second;
      application.images.erase(used);
      const auto [both, added] = application.images.emplace(to, role);
      if (!added) both->second = std::min(both->second, role);
    }
  }

  /// Makes a build. A program has one path, so its counter files belong to one build.
  void put_build() {
    const size_t program = below(random_, kPrograms);
    const std::string& path = place_of(kPaths[program % kPaths.size()]);
    if (one_in(random_, 5)) {  // this time it is rolled back
      Database::Transaction transaction(*database_);
      programs_[program]->put_into(*database_, path, "content");
      return;
    }
    programs_[program]->put_into(*database_, path, "content");
    auto& builds = images_[path];
    uint32_t number = 1;
    for (const ModelBuild& build : builds) number = std::max(number, build.number + 1);
    if (find_build(program) == nullptr) builds.push_back({program, number, {}, {}, {}, {}});
  }

  void start_process() {
    const size_t program = below(random_, kPrograms);
    if (find_build(program) == nullptr) return;
    ModelFile& file = files_.emplace_back();
    file.program = program;
    file.process = below(random_, 5);
    file.started = kStart + below(random_, 3) * 86'400'000'000'000 + ++clock_;
    file.counters = programs_[program]->run();
    file.path = programs_[program]->leave_file(file.process, file.started, file.counters);
    if (one_in(random_, 2)) file.running = std::make_unique<RunningFile>(file.path);
  }

  ModelFile* any_running() {
    std::vector<ModelFile*> running;
    for (ModelFile& file : files_)
      if (file.running) running.push_back(&file);
    return running.empty() ? nullptr
                           : running[below(random_, static_cast<uint32_t>(running.size()))];
  }

  void end_process() {
    if (ModelFile* file = any_running()) file->running.reset();
  }

  void count_on() {
    ModelFile* file = any_running();
    if (file == nullptr) return;
    const auto more = programs_[file->program]->run();
    for (size_t i = 0; i < more.size(); ++i) file->counters[i] += more[i];
    file->running->set(file->counters);
  }

  void lose_file() {
    if (files_.empty() || !one_in(random_, 3)) return;
    const size_t index = below(random_, static_cast<uint32_t>(files_.size()));
    fs::remove(files_[index].path);
    files_.erase(files_.begin() + static_cast<long>(index));
  }

  void merge() {
    const bool snapshots = !one_in(random_, 3);
    Diagnostics diagnostics;
    merge_spool(*database_, {.snapshots = snapshots}, diagnostics);
    EXPECT_TRUE(diagnostics.warnings().empty());
    std::map<size_t, std::set<Key>> there;
    for (ModelFile& file : files_) {
      const Key key = {file.process, file.started};
      ModelBuild& build = *find_build(file.program);
      there[file.program].insert(key);
      if (file.running && !snapshots) continue;
      if (file.running) {
        build.snapshots[key] = file.counters;
        build.runs[key] = RunState::running;
      } else {
        build.snapshots.erase(key);
        build.finished.push_back(file.counters);
        build.runs[key] = RunState::finished;
      }
    }
    for (auto& [path, builds] : images_)
      for (ModelBuild& build : builds)
        for (auto& [key, state] : build.runs)
          if (state == RunState::running && !there[build.program].contains(key))
            state = RunState::lost;
    std::erase_if(files_, [](const ModelFile& file) {
      if (file.running) return false;
      EXPECT_FALSE(fs::exists(file.path));
      return true;
    });
  }

  Id build_id(size_t program) {
    return database_
        ->find_build(image_id(place_of(kPaths[program % kPaths.size()])),
                     FileIdentity{programs_[program]->map().original_hash, 2, 3})
        ->id;
  }

  void give() {
    const size_t program = below(random_, kPrograms);
    ModelBuild* build = find_build(program);
    if (build == nullptr) return;
    Profile profile = programs_[program]->profile_of(programs_[program]->run());
    profile.runs = below(random_, 9);
    database_->add_profile(build_id(program), profile);
    build->given_profiles.push_back(std::move(profile));
  }

  /// Keeps the newest two builds, builds with files in their spools, and images in use.
  void prune() {
    database_->prune(2, std::chrono::seconds(0));
    std::set<size_t> with_files;
    for (const ModelFile& file : files_) with_files.insert(file.program);
    std::set<std::string> used;
    for (const auto& [name, application] : applications_)
      for (const auto& [path, role] : application.images) used.insert(path);
    for (auto image = images_.begin(); image != images_.end();) {
      auto& builds = image->second;
      std::vector<uint32_t> numbers;
      for (const ModelBuild& build : builds) numbers.push_back(build.number);
      std::erase_if(builds, [&](const ModelBuild& build) {
        const auto later = std::count_if(numbers.begin(), numbers.end(),
                                         [&](uint32_t number) { return number > build.number; });
        return (later >= 2 || !used.contains(image->first)) && !with_files.contains(build.program);
      });
      if (builds.empty() && !used.contains(image->first))
        image = images_.erase(image);
      else
        ++image;
    }
  }

  void reopen() {
    database_.reset();
    database_ = std::make_unique<Database>(path_);
  }

  Random random_;
  TemporaryFolder folder_;
  fs::path path_;
  std::unique_ptr<Database> database_;
  std::vector<std::unique_ptr<CountingProgram>> programs_;
  std::map<std::string, ModelApplication> applications_;
  std::map<std::string, std::vector<ModelBuild>> images_;
  std::map<std::string, std::string>
      places_;  // of images, by the path that each was put under first
  std::vector<ModelFile> files_;
  uint64_t clock_ = 0;
};

TEST(DatabaseModel, SaysTheSame) {
  const char* more = std::getenv("RESPIKE_SEEDS");
  const uint64_t seeds = more == nullptr ? 6 : std::strtoull(more, nullptr, 10) * 6;
  for (uint64_t seed = 1; seed <= seeds; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Model model(seed);
    for (int i = 0; i < 200; ++i) {
      ASSERT_NO_THROW(model.step());
      if (i % 8 == 7) model.compare();
      if (testing::Test::HasFailure()) return;
    }
  }
}

}  // namespace
}  // namespace respike
