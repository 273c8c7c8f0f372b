#pragma once
// Counter files, and profiles from them.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "instrument/counter_map.h"
#include "optimizer/profile/profile.h"

namespace respike {

/// The contents of a counter file; the layout is in instrument/runtime/counter_file.h.
struct CounterFile {
  std::string path;
  ImageId image_id{};
  std::string image_path;  // of the instrumented image
  uint64_t process_id = 0;
  uint64_t start_time = 0;        // nanoseconds since 1970
  uint64_t counters_address = 0;  // in the process
  bool atomic = false;
  uint64_t words = 0;         // of each copy of the counters
  bool lacks_copies = false;  // threads or forked children had no copy
  // Of all copies, at the time of reading: the process may still run, and the last copy may grow.
  std::vector<uint64_t> counters;
};

/// Both throw Error when the file is damaged, incomplete, of a newer version or no counter file.
CounterFile read_counter_file(const std::filesystem::path& path);
CounterFile decode_counter_file(std::span<const uint8_t> bytes, const std::string& path);

/// A warning when threads or children of `processes` had no counters of their own.
std::optional<std::string> describe_refused_copies(uint64_t processes);

/// Whether a file with these first bytes is from a process that has not begun to count: the
/// header's first word is written last.
bool has_no_header(std::span<const uint8_t> bytes);

/// The files of processes that began to count; a warning names the others. Throws Error when there
/// are only others, or when a file cannot be read.
std::vector<std::filesystem::path> files_with_headers(std::span<const std::filesystem::path> files,
                                                      Diagnostics& diagnostics);

/// Throws Error, as read_counter_file() does, when no counter file of `size` bytes starts with
/// `start`: its header, or the whole file if that is shorter.
void check_counter_header(std::span<const uint8_t> start, uint64_t size, const std::string& path);
extern const size_t kCounterHeaderSize;

/// Adds up counter files of one image.
class CounterSum {
 public:
  explicit CounterSum(const CounterMap& map) : map_(map) {}

  /// Throws Error when the file has too few counters.
  void add(const CounterFile& file);
  /// The profile of all files added, at least one.
  Profile profile() const;
  /// The procedures of profile() for which something was counted, with their indices in it. Usually
  /// few, and found much faster.
  std::vector<std::pair<uint32_t, ProcedureProfile>> counted_procedures() const;

 private:
  struct Target {
    uint32_t site;    // numbered through all procedures
    uint64_t target;  // in the original image; 0: outside
    uint64_t changes;
  };

  /// `bias`: the distance by which the process moved the image.
  void add(std::span<const uint64_t> counters, uint64_t bias);
  uint64_t original_place(uint64_t address) const;
  /// Builds the procedures of the profile; procedures without counts only if `all`.
  void build(bool all, const std::function<void(uint32_t, ProcedureProfile)>& take) const;

  const CounterMap& map_;
  std::vector<uint64_t> words_;  // sums modulo 2^64; sized by the first file
  std::vector<Target> targets_;
  uint64_t files_ = 0;
};

/// The profile of some counter files. The image is the one named in their headers, or `image`.
/// Throws Error when the image is missing, another image ran, files belong to different images, or
/// a file is named twice. `diagnostics` gets a warning about code that was not counted.
Profile collect(std::span<const std::filesystem::path> files,
                const std::optional<std::filesystem::path>& image,
                Diagnostics* diagnostics = nullptr);

}  // namespace respike
