#pragma once
// Runs: the records that make each counter file count exactly once. Internal to profiledb.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiledb/counts.h"
#include "profiledb/database_counts.h"

namespace respike {

/// Identifies the process that wrote a counter file: no two files have the same key.
struct RunKey {
  Id build = 0;
  uint64_t process_id = 0;
  uint64_t started = 0;  // nanoseconds since 1970
};

/// A counter file that was read.
struct RunCounts {
  RunKey key;
  std::string file;        // the file's name
  uint64_t file_hash = 0;  // hash64 of the file's bytes
  std::string ended;       // as RunRow::ended
  double weight = 1;
  bool finished = false;  // false: a snapshot
  EnteredProcedures entered;
};

struct KnownRun {
  RunState state{};
  uint64_t file_hash = 0;  // of the counter file when last read
};

struct InstrumentedImage {
  Id build = 0;
  ContentHash map;  // the counter map, in the store
};

/// The image that writes counter files with this identity.
std::optional<InstrumentedImage> find_instrumented(Database& database, const ImageId& id);

std::optional<KnownRun> find_run(Database& database, const RunKey& key);

/// Adds runs of one instrumented image, whose shape is `procedures`, in one transaction, to the
/// build that the image belongs to now: the build of the keys may have been merged with another. A
/// run that is finished in the database is left alone; the counts of a run that is running there
/// are replaced. Returns for each run whether it was added or replaced.
std::vector<bool> add_runs(Database& database, const ImageId& image,
                           std::span<const RunCounts> runs,
                           std::span<const ProcedureProfile> procedures,
                           const EncodedShape& encoded);

/// Records how a process ended in the rows of its runs that lack this.
void set_ended(Database& database, uint64_t process_id, uint64_t started_after,
               const std::string& ended);

/// Marks as lost the runs that were running when their file was last read and whose file is gone.
/// Their counts stay. Returns how many runs were marked.
uint64_t mark_lost_runs(Database& database);

}  // namespace respike
