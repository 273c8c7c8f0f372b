#pragma once
// Merging: adds the counter files of the spool to the database, each exactly once.
//
// The spool of a build is FILES/spool/<content hash of the build>/ (Database::spool): only the
// instrumented images of the build write there. Files that cannot be counted go to
// FILES/spool/damaged/ and FILES/spool/unknown/.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "optimizer/base/diagnostics.h"
#include "profiledb/database.h"

namespace respike {

/// How a process ended, for the row of its run.
struct ProcessEnd {
  uint64_t process_id = 0;
  uint64_t started_after = 0;  // nanoseconds since 1970: a process with this number that started
                               // earlier is another process
  std::string ended;           // "exited N" or "killed by N"
};

struct MergeOptions {
  /// Whether also to merge the counts so far of processes that still run. Each costs as much as a
  /// finished run. If false, the files of these processes are left alone.
  bool snapshots = true;
  double weight = 1;                   // weight of the merged runs; positive, at most 1e6
  std::vector<ProcessEnd> ended = {};  // known ends of processes that the caller started
};

struct MergeResult {
  uint64_t finished = 0;   // runs added
  uint64_t running = 0;    // snapshots added or replaced
  uint64_t unchanged = 0;  // files of running processes that counted nothing since the last merge
  uint64_t repeated = 0;   // files whose run had been added before; now removed
  uint64_t empty = 0;      // files of processes that ended before they counted; removed
  uint64_t damaged = 0;    // files moved to spool/damaged, each with a warning
  uint64_t unknown = 0;    // files moved to spool/unknown, each with a warning
  uint64_t left = 0;       // files that are still in the spool, snapshots included
  uint64_t lost = 0;       // runs whose file went away before they finished
};

/// Whether the spool holds any counter file: costs only a directory listing.
bool anything_to_merge(const Database& database);

/// Merges the counter files that wait in the spool. Several processes may merge at once, and may be
/// killed at any time. Warnings say which files were set aside and why. Throws Error when the
/// database cannot be written; then no count is lost.
MergeResult merge_spool(Database& database, const MergeOptions& options, Diagnostics& diagnostics);

}  // namespace respike
