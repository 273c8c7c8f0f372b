// Merging of counter files.
//
// For each counter file of the spool:
//   is it in use?         checked first, since a file that is not in use no longer changes
//   read the header       no header: the file is left alone while in use, else removed, because its
//                         process ended before it counted; the header is checked against the file's
//                         size before the rest is read, since a damaged file may have any size
//   read and decode the file
//   find its image        by the image's identity in the header, in the database
//   counted before?       then the file is only removed
//   solve                 counters become counts, with the counter map from the store
// Then one transaction adds the runs of up to 64 files of an image (database_runs.cc), and after
// the commit the finished files are removed.
//
// Example: a process that runs has counted 10 times. Its file gives a snapshot; the file stays. The
// process ends at 15; the next merge replaces the snapshot by a finished run and removes the file.
//
// Each file is solved separately, although sums of counters could be solved as well. Thus the
// counts of a run do not depend on which other files wait in the spool, even if counts are
// estimates because calls did not return or jumps share their targets.
//
// A file that cannot be counted is moved aside, so that its warning comes once. A problem with one
// file (no right to read it, a damaged counter map) is a warning; the other files are merged.

#include "profiledb/merging.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <map>

#include "instrument/collect.h"
#include "optimizer/base/hash.h"
#include "profiledb/database_runs.h"
#include "profiledb/folders.h"
#include "profiledb/spool.h"

namespace respike {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDamaged = "damaged";
constexpr const char* kUnknown = "unknown";

/// An instrumented image and the runs that were read from its counter files.
struct CountedImage {
  ImageId id{};
  Id build = 0;
  bool usable = false;  // the counter map could be read
  CounterMap map;
  Shape procedures;      // without counts
  EncodedShape encoded;  // `procedures`, encoded
  std::vector<RunCounts> runs;
  std::vector<fs::path> files;  // of `runs`
};

class Merger {
 public:
  Merger(Database& database, const MergeOptions& options, Diagnostics& diagnostics)
      : database_(database), options_(options), ended_(options.ended), diagnostics_(diagnostics) {
    // The system reuses process numbers. Of several ends with the process number of a counter file,
    // the right one has the latest started_after that is not later than the file's start time.
    std::sort(ended_.begin(), ended_.end(), [](const ProcessEnd& a, const ProcessEnd& b) {
      return a.started_after > b.started_after;
    });
  }

  MergeResult merge() {
    for (const std::string& folder : folders()) merge_folder(database_.spool() / folder);
    for (const ProcessEnd& end : ended_)
      set_ended(database_, end.process_id, end.started_after, end.ended);
    result_.lost = mark_lost_runs(database_);
    return result_;
  }

 private:
  static constexpr size_t kMostRuns = 64;  // runs that wait for one transaction

  std::vector<std::string> folders() const {
    std::vector<std::string> names = names_in(database_.spool());
    std::erase_if(names, [](const std::string& name) { return !parse_content_hash(name); });
    return names;
  }

  void merge_folder(const fs::path& folder) {
    for (const std::string& name : names_in(folder)) {
      if (!name.ends_with(kCounterFileEnd)) continue;
      try {
        merge_file(folder / name);
      } catch (const Error& error) {
        if (error.file() == database_.path().string()) throw;
        diagnostics_.warn(error.what());
        ++result_.left;
      }
    }
    for (auto& [id, image] : images_) add(image);
    images_.clear();
    if (const auto text = describe_refused_copies(std::exchange(lacking_, 0)))
      diagnostics_.warn(*text);
  }

  void merge_file(const fs::path& path) {
    std::error_code error;
    const fs::file_status status = fs::symlink_status(path, error);
    if (fs::exists(status) && !fs::is_regular_file(status)) {
      result_.damaged +=
          set_aside(path, kDamaged, fmt::format("{}: this is not a regular file", path.string()));
      return;
    }
    const auto file = SpoolFile::open(path);
    if (!file) return;
    const bool running = file->in_use();
    if (running && !options_.snapshots) {
      ++result_.left;
      return;
    }
    result_.left += running;
    const std::vector<uint8_t> start = file->read(kCounterHeaderSize);
    if (has_no_header(start)) {
      if (!running) result_.empty += remove(path);
      return;
    }
    try {
      check_counter_header(start, file->size(), path.string());
    } catch (const Error& problem) {
      if (!running) result_.damaged += set_aside(path, kDamaged, problem.what());
      return;
    }
    if (running)
      merge_running(path, file->read());
    else
      merge_finished(path, file->read());
  }

  /// A damaged file is left alone while its process runs, and set aside when the process has ended.
  void merge_running(const fs::path& path, const std::vector<uint8_t>& bytes) {
    std::optional<CounterFile> file;
    try {
      file = decode_counter_file(bytes, path.string());
    } catch (const Error&) {
      return;
    }
    CountedImage* image = image_of(file->image_id);
    if (image == nullptr || !image->usable) return;
    const uint64_t hash = hash64(bytes);
    const auto known = find_run(database_, {image->build, file->process_id, file->start_time});
    if (known && known->state == RunState::running && known->file_hash == hash)
      ++result_.unchanged;
    else if (!known || known->state != RunState::finished)
      solve(*image, *file, hash, false);
  }

  void merge_finished(const fs::path& path, const std::vector<uint8_t>& bytes) {
    std::optional<CounterFile> file;
    try {
      file = decode_counter_file(bytes, path.string());
    } catch (const Error& error) {
      result_.damaged += set_aside(path, kDamaged, error.what());
      return;
    }
    CountedImage* image = image_of(file->image_id);
    if (image == nullptr) {
      result_.unknown += set_aside(
          path, kUnknown,
          fmt::format("{}: the database does not know the image that counted", path.string()));
      return;
    }
    if (!image->usable) {
      ++result_.left;
      return;
    }
    const auto known = find_run(database_, {image->build, file->process_id, file->start_time});
    if (known && known->state == RunState::finished) {
      result_.repeated += remove(path);
      return;
    }
    try {
      solve(*image, *file, hash64(bytes), true);
      lacking_ += file->lacks_copies;
    } catch (const Error& error) {
      if (error.file() != path.string()) throw;
      result_.damaged += set_aside(path, kDamaged, error.what());
    }
  }

  /// nullptr: the database does not know the image. When its counter map cannot be read, a warning
  /// says so and the image is not usable.
  CountedImage* image_of(const ImageId& id) {
    const auto loaded = images_.find(id);
    if (loaded != images_.end()) return &loaded->second;
    const auto found = find_instrumented(database_, id);
    if (!found) return nullptr;
    CountedImage& image = images_[id];
    image.id = id;
    image.build = found->build;
    try {
      image.map = decode_counter_map(database_.store().read(found->map));
      image.usable = true;
    } catch (const Error& error) {
      diagnostics_.warn(
          fmt::format("counter files wait, as their counter map cannot be read: {}", error.what()));
    }
    return &image;
  }

  void solve(CountedImage& image, const CounterFile& file, uint64_t hash, bool finished) {
    CounterSum sum(image.map);
    sum.add(file);
    RunCounts run;
    run.key = {image.build, file.process_id, file.start_time};
    run.file = fs::path(file.path).filename();
    run.file_hash = hash;
    run.ended = end_of(file);
    run.weight = options_.weight;
    run.finished = finished;
    if (image.procedures.empty())
      take_shape(image, sum.profile(), run);
    else
      take_counts(image, sum, run);
    image.runs.push_back(std::move(run));
    image.files.emplace_back(file.path);
    if (image.runs.size() >= kMostRuns) add(image);
  }

  /// Takes the counts of the image's first file, and from it the shape of the image.
  static void take_shape(CountedImage& image, Profile profile, RunCounts& run) {
    image.procedures = std::move(profile.procedures);
    for (uint32_t p = 0; p < image.procedures.size(); ++p) {
      if (is_counted(image.procedures[p])) run.entered.emplace_back(p, image.procedures[p]);
      clear_counts(image.procedures[p]);
    }
    image.encoded = encode_shape(image.procedures);
  }

  static void take_counts(const CountedImage& image, const CounterSum& sum, RunCounts& run) {
    run.entered = sum.counted_procedures();
    std::erase_if(run.entered, [](const auto& entry) { return !is_counted(entry.second); });
    for (const auto& [place, procedure] : run.entered) {
      const ProcedureProfile& shape = image.procedures[place];
      if (procedure.blocks.size() != shape.blocks.size() ||
          procedure.edges.size() != shape.edges.size() ||
          procedure.calls.size() != shape.calls.size())
        throw Error(fmt::format("the counter map of {} makes no sense", procedure.name));
    }
  }

  std::string end_of(const CounterFile& file) const {
    for (const ProcessEnd& end : ended_)
      if (end.process_id == file.process_id && file.start_time >= end.started_after)
        return end.ended;
    return std::string(kUnknownEnd);
  }

  /// Commits the waiting runs of an image, then removes the files of finished runs.
  void add(CountedImage& image) {
    if (image.runs.empty()) return;
    const std::vector<bool> news =
        add_runs(database_, image.id, image.runs, image.procedures, image.encoded);
    for (size_t i = 0; i < news.size(); ++i) {
      if (!image.runs[i].finished) {
        result_.running += news[i];
        continue;
      }
      const bool removed = remove(image.files[i]);
      if (news[i])
        ++result_.finished;
      else
        result_.repeated += removed;
    }
    image.runs.clear();
    image.files.clear();
  }

  /// Returns whether this process removed the file, rather than another process before it.
  static bool remove(const fs::path& path) { return unlink(path.c_str()) == 0; }

  bool set_aside(const fs::path& path, const char* folder, const std::string& reason) {
    const auto to = move_into(path, database_.spool() / folder);
    if (to) diagnostics_.warn(fmt::format("{}; it is now {}", reason, to->string()));
    return to.has_value();
  }

  Database& database_;
  const MergeOptions& options_;
  std::vector<ProcessEnd> ended_;  // latest start first
  Diagnostics& diagnostics_;
  MergeResult result_;
  uint64_t lacking_ = 0;  // processes in which threads had no counters of their own
  std::map<ImageId, CountedImage> images_;  // of one folder
};

}  // namespace

bool anything_to_merge(const Database& database) {
  const fs::path spool = database.spool();
  for (const std::string& folder : names_in(spool)) {
    if (!parse_content_hash(folder)) continue;
    for (const std::string& name : names_in(spool / folder))
      if (name.ends_with(kCounterFileEnd)) return true;
  }
  return false;
}

MergeResult merge_spool(Database& database, const MergeOptions& options, Diagnostics& diagnostics) {
  if (!(options.weight > 0 && options.weight <= kMostWeight))
    throw Error(fmt::format("a weight must be positive and at most {}", kMostWeight));
  return Merger(database, options, diagnostics).merge();
}

}  // namespace respike
