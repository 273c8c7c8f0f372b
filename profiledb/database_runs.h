#pragma once
// Runs: what makes each counter file count exactly once. Internal to profiledb.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "profiledb/counts.h"
#include "profiledb/database_counts.h"

namespace respike {

/// What a counter file says of its process: no two files have the same.
struct RunKey {
  Id build = 0;
  uint64_t process_id = 0;
  uint64_t started = 0;  // nanoseconds since 1970
};

/// A counter file that was read.
struct RunCounts {
  RunKey key;
  std::string file;        // its name
  uint64_t file_hash = 0;  // hash64 of its bytes
  std::string ended;       // as RunRow::ended
  double weight = 1;
  bool finished = false;  // false: a snapshot
  EnteredProcedures entered;
};

struct KnownRun {
  RunState state{};
  uint64_t file_hash = 0;  // when it was last read
};

struct InstrumentedImage {
  Id build = 0;
  ContentHash map;  // its counter map, in the store
};

/// The image that writes counter files with this identity.
std::optional<InstrumentedImage> find_instrumented(Database& database, const ImageId& id);

std::optional<KnownRun> find_run(Database& database, const RunKey& key);

/// Adds runs of images with the same counts in one transaction. Of a run that is known to have
/// finished nothing is added; whatever was known of one that was running is replaced. Returns for
/// each whether it was news.
std::vector<bool> add_runs(Database& database, std::span<const RunCounts> runs,
                           std::span<const ProcedureProfile> procedures,
                           const EncodedShape& encoded);

/// Notes how a process ended, for those of its runs that are known and of which this is not.
void set_ended(Database& database, uint64_t process_id, uint64_t started_after,
               const std::string& ended);

/// Runs that were running when they were last read and whose file is not there any more: they are
/// lost from now on, what they had counted stays. Returns their number.
uint64_t mark_lost_runs(Database& database);

}  // namespace respike
