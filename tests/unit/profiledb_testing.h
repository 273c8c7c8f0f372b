#pragma once
// Databases in temporary folders, and toy programs whose runs leave counter files in their spools.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "instrument/collect.h"
#include "profiledb/database.h"
#include "profiledb/merging.h"
#include "tests/unit/flow_testing.h"
#include "tests/unit/temporary_folder.h"

namespace respike {

inline std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

inline std::vector<uint8_t> text_bytes(const std::string& text) {
  return {text.begin(), text.end()};
}

inline std::vector<uint8_t> contents_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline void put_contents(const std::filesystem::path& path, const std::vector<uint8_t>& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc)
      .write(reinterpret_cast<const char*>(bytes.data()), static_cast<long>(bytes.size()));
}

/// All regular files below a folder, relative to it, sorted.
inline std::vector<std::string> files_below(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  if (!std::filesystem::exists(folder)) return names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      names.push_back(std::filesystem::relative(entry.path(), folder).string());
  std::sort(names.begin(), names.end());
  return names;
}

/// Runs an action in a process of its own; returns its exit status, or -1 if it was killed.
inline int in_child(const std::function<void()>& action) {
  const pid_t child = fork();
  if (child == 0) {
    int status = 0;
    try {
      action();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
      status = 1;
    }
    _exit(status);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/// The file that the start code makes for the counters of one run.
inline std::vector<uint8_t> counter_file(const ImageId& id, const CounterMap& map, uint64_t process,
                                         uint64_t started, const std::vector<uint64_t>& counters) {
  constexpr uint32_t kHeader = 8192;
  respike_counter_header header = {};
  std::memcpy(header.magic, RESPIKE_COUNTER_FILE_MAGIC, sizeof header.magic);
  header.version = RESPIKE_COUNTER_FILE_VERSION;
  header.header_size = kHeader;
  header.counters_size = counters.size() * 8;
  std::copy(id.begin(), id.end(), header.image_id);
  header.process_id = process;
  header.start_time = started;
  header.counters_address = map.counters_address;
  std::vector<uint8_t> bytes(kHeader + counters.size() * 8);
  std::memcpy(bytes.data(), &header, sizeof header);
  if (!counters.empty()) std::memcpy(bytes.data() + kHeader, counters.data(), counters.size() * 8);
  return bytes;
}

/// A program with counters, registered and instrumented in a database.
class CountingProgram {
 public:
  explicit CountingProgram(uint64_t seed) : random_(seed) {
    // Options by which all calls return: so the counts of all procedures are exact.
    ToyOptions options;
    options.procedures = 12;
    do {
      program_ = random_toy(random_, options);
      map_ = counter_map_of(program_, random_);
      map_.original_hash = seed;
      machine_ = std::make_unique<ToyMachine>(program_, map_, options, random_);
      machine_->run();
    } while (machine_->killed);
    for (size_t i = 0; i < id_.size(); ++i) id_[i] = static_cast<uint8_t>(seed >> (i % 8 * 8));
    id_[15] = 0x77;
    last_ = machine_->counters();
    options_ = options;
  }

  /// An image with the map's section and nothing else: the map refers to nothing outside.
  Image image() const {
    const auto section =
        std::make_shared<std::vector<uint8_t>>(counter_map_section(id_, encode_counter_map(map_)));
    Image image;
    image.path = "/toy/counting";
    image.sections.resize(2);
    image.sections[1].name = kCounterMapSection;
    image.sections[1].contents = *section;
    image.own(section);
    return image;
  }

  /// The procedures in the shape that is counted, without counts.
  Profile procedures() const {
    Profile profile = profile_of(std::vector<uint64_t>(map_.counters));
    profile.runs = 0;
    return profile;
  }

  /// `content`: of the file; empty: of no other path.
  void put_into(Database& database, const std::string& path = "/toy/program",
                const std::string& content = {}) {
    const Id image_row = database.put_image({path, "", "toy", true, ""});
    BuildFacts facts;
    facts.content = content_hash(
        text_bytes((content.empty() ? path : content) + std::to_string(map_.original_hash)));
    facts.file_hash = map_.original_hash;
    facts.file = {map_.original_hash, 2, 3};
    build_ = database.put_build(image_row, facts, procedures());
    const auto bytes = text_bytes("instrumented " + std::to_string(map_.original_hash));
    const ContentHash stored = database.store().put(bytes, std::filesystem::perms(0755));
    database.add_instrumented(build_, {DerivedKind::instrumented, "shared", "", "", stored}, image());
    spool_ = database.make_spool(build_);
  }

  /// Another identity, as if the image were instrumented with other options.
  void instrument_anew() { ++id_[14]; }

  Id build() const { return build_; }
  const std::filesystem::path& spool() const { return spool_; }
  const CounterMap& map() const { return map_; }
  const ImageId& id() const { return id_; }

  /// Runs the program once more and returns the counters.
  std::vector<uint64_t> run() {
    for (;;) {
      machine_->run();
      std::vector<uint64_t> now = machine_->counters(), counters = now;
      for (size_t i = 0; i < now.size(); ++i) counters[i] -= last_[i];
      last_ = std::move(now);
      if (!machine_->killed) return counters;
      // The counts of a killed run would be a guess: start over.
      machine_ = std::make_unique<ToyMachine>(program_, map_, options_, random_);
      last_.assign(map_.counters, 0);
    }
  }

  /// The profile of one run.
  Profile profile_of(const std::vector<uint64_t>& counters) const {
    CounterFile file;
    file.path = "file";
    file.counters_address = map_.counters_address;
    file.words = counters.size();
    file.counters = counters;
    CounterSum sum(map_);
    sum.add(file);
    return sum.profile();
  }

  std::string file_name(uint64_t process, uint64_t started) const {
    return "program." + std::to_string(process) + "." + std::to_string(started) + ".counts";
  }
  std::filesystem::path leave_file(uint64_t process, uint64_t started,
                                   const std::vector<uint64_t>& counters) const {
    const auto path = spool_ / file_name(process, started);
    put_contents(path, counter_file(id_, map_, process, started, counters));
    return path;
  }

 private:
  Random random_;
  ToyOptions options_;
  std::vector<ToyProcedure> program_;
  CounterMap map_;
  std::unique_ptr<ToyMachine> machine_;
  std::vector<uint64_t> last_;
  ImageId id_{};
  Id build_ = 0;
  std::filesystem::path spool_;
};

/// A running process: it has its counter file mapped.
class RunningFile {
 public:
  explicit RunningFile(const std::filesystem::path& path)
      : file_(open(path.c_str(), O_RDWR | O_CLOEXEC)) {
    EXPECT_GE(file_, 0);
    size_ = std::filesystem::file_size(path);
    memory_ =
        static_cast<uint8_t*>(mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0));
    EXPECT_NE(memory_, MAP_FAILED);
    close(file_);
  }
  ~RunningFile() { munmap(memory_, size_); }
  RunningFile(const RunningFile&) = delete;
  RunningFile& operator=(const RunningFile&) = delete;

  void set(const std::vector<uint64_t>& counters) {
    std::memcpy(memory_ + size_ - counters.size() * 8, counters.data(), counters.size() * 8);
  }

 private:
  int file_;
  size_t size_ = 0;
  uint8_t* memory_ = nullptr;
};

/// The sum of profiles of one image, computed without the database.
class ExpectedSum {
 public:
  explicit ExpectedSum(const CountingProgram& program) : sum_(program.procedures()) {}
  void add(const Profile& profile) {
    const std::vector<Profile> both = {sum_, profile};
    sum_ = merge_profiles(both, std::vector<double>{1, 1}, std::vector<std::string>{"a", "b"});
  }
  const Profile& profile() const { return sum_; }

 private:
  Profile sum_;
};

/// Expects equal profiles, except for the place of the image.
inline void expect_same_counts(const Profile& got, const Profile& expected) {
  EXPECT_EQ(got.runs, expected.runs);
  ASSERT_EQ(got.procedures.size(), expected.procedures.size());
  for (size_t p = 0; p < got.procedures.size(); ++p) {
    // Whether a procedure is exact means nothing, and is not kept, if nothing entered the
    // procedure.
    ProcedureProfile a = got.procedures[p], b = expected.procedures[p];
    if (!b.entered()) a.exact = b.exact = true;
    EXPECT_EQ(a, b) << a.name;
  }
}

}  // namespace respike
