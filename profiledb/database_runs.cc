// Runs of instrumented images.
//
// One transaction adds the counts of a finished run to the count set of its day and sets the row of
// the run to `finished`; the counter file is removed after the commit. So a crash can leave three
// states: file and no row (the next merge adds the run), row and file (the next merge finds the row
// and only removes the file), row and no file. If two processes merge the same file at once, the
// database serializes them; the second process finds the row.
//
// An unfinished run has its own count set with its counts so far, so that the next merge can
// replace them. If the counter file disappears before the finished run is merged, that set stays as
// it is and the run is `lost`.

#include "profiledb/database_runs.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "profiledb/database_state.h"

namespace respike {
namespace {

constexpr uint64_t kNanosecondsPerDay = 86'400'000'000'000;

/// The day on which a run started, at the latest today: clocks may be wrong.
int64_t day_of(const RunKey& key) {
  const auto day = static_cast<int64_t>(key.started / kNanosecondsPerDay);
  return day == 0 ? current_day() : std::min(day, current_day());
}

struct RunEntry {
  Id id = 0;  // 0: the run has no row
  RunState state{};
  std::string ended;
  Id count_set = 0;
  uint64_t file_hash = 0;
};

RunEntry find_entry(Database::State& state, const RunKey& key) {
  RunEntry entry;
  std::string name;
  long long hash = 0;
  const long long process = to_column(key.process_id), started = to_column(key.started);
  for_each_row(state.session.sql(),
               "select id, state, ended, coalesce(count_set, 0), file_hash from run where build = "
               ":build and process = :process and started = :started",
               std::tie(key.build, process, started),
               std::tie(entry.id, name, entry.ended, entry.count_set, hash), [] {});
  if (entry.id != 0) entry.state = read_name<RunState>(state.session, kStateNames, name);
  entry.file_hash = from_column(hash);
  return entry;
}

void put_entry(Database::State& state, Id build, const RunEntry& before, const RunCounts& run,
               Id count_set) {
  soci::session& sql = state.session.sql();
  const long long process = to_column(run.key.process_id), started = to_column(run.key.started),
                  hash = to_column(run.file_hash);
  const int64_t now = current_time();
  const std::string name(
      kStateNames[static_cast<size_t>(run.finished ? RunState::finished : RunState::running)]);
  const std::string ended = run.ended != kUnknownEnd || before.id == 0 ? run.ended : before.ended;
  if (before.id == 0) {
    const Id id = state.next_id("run");
    change(sql,
           "insert into run (id, build, process, started, file, file_hash, merged, ended, weight, "
           "state, count_set) values (:id, :build, :process, :started, :file, :hash, :now, :ended, "
           ":weight, :state, :set)",
           id, build, process, started, run.file, hash, now, ended, run.weight, name, count_set);
  } else {
    change(
        sql,
        "update run set file = :file, file_hash = :hash, merged = :now, ended = :ended, weight = "
        ":weight, state = :state, count_set = :set where id = :id",
        run.file, hash, now, ended, run.weight, name, count_set, before.id);
  }
}

/// Finished runs whose counts go into the same count set.
struct Group {
  EnteredProcedures sum;
  double runs = 0;
};

/// Adds counts; both lists are sorted by ordinal.
void add(EnteredProcedures& sum, const EnteredProcedures& more) {
  EnteredProcedures result;
  result.reserve(std::max(sum.size(), more.size()));
  auto a = sum.begin();
  auto b = more.begin();
  while (a != sum.end() || b != more.end()) {
    if (b == more.end() || (a != sum.end() && a->first < b->first)) {
      result.push_back(std::move(*a++));
    } else if (a == sum.end() || b->first < a->first) {
      result.push_back(*b++);
    } else {
      result.push_back(std::move(*a++));
      add_counts(result.back().second, b++->second);
    }
  }
  sum = std::move(result);
}

}  // namespace

std::optional<InstrumentedImage> find_instrumented(Database& database, const ImageId& id) {
  Database::State& state = database.state();
  return state.read([&](soci::session& sql) -> std::optional<InstrumentedImage> {
    const std::string hex = ContentHash{id}.hex();
    InstrumentedImage found;
    std::string map;
    for_each_row(sql,
                 "select build, map_hash from derived_image where image_id = :id order by id desc",
                 std::tie(hex), std::tie(found.build, map), [] {});
    if (found.build == 0) return std::nullopt;
    found.map = state.hash_of(map);
    return found;
  });
}

std::optional<KnownRun> find_run(Database& database, const RunKey& key) {
  Database::State& state = database.state();
  return state.read([&](soci::session&) -> std::optional<KnownRun> {
    const RunEntry entry = find_entry(state, key);
    if (entry.id == 0) return std::nullopt;
    return KnownRun{entry.state, entry.file_hash};
  });
}

std::vector<bool> add_runs(Database& database, const ImageId& image,
                           std::span<const RunCounts> runs,
                           std::span<const ProcedureProfile> procedures,
                           const EncodedShape& encoded) {
  Database::State& state = database.state();
  return state.write([&](soci::session& sql) {
    std::vector<bool> news;
    std::map<std::pair<int64_t, double>, Id> sets;  // by day and weight
    std::map<Id, Group> groups;                     // by set
    const auto instrumented = find_instrumented(database, image);
    if (!instrumented) throw RowGone("the image that counted is not known any more", state.path);
    const Id build = instrumented->build;
    const Id shape = state.put_shape(build, procedures, encoded, false);
    for (const RunCounts& run : runs) {
      const RunEntry before = find_entry(state, {build, run.key.process_id, run.key.started});
      news.push_back(before.id == 0 || before.state != RunState::finished);
      if (!news.back()) continue;
      if (before.count_set != 0)
        change(sql, "delete from count_set where id = :id", before.count_set);
      const int64_t day = day_of(run.key);
      if (!run.finished) {
        const Id set = add_set(state, shape, "run", day, run.weight);
        add_to_set(state, set, run.entered, 1);
        put_entry(state, build, before, run, set);
        continue;
      }
      Id& set = sets[{day, run.weight}];
      if (set == 0) set = find_set(state, shape, "day", day, run.weight);
      add(groups[set].sum, run.entered);
      ++groups[set].runs;
      put_entry(state, build, before, run, set);
    }
    for (const auto& [set, group] : groups) add_to_set(state, set, group.sum, group.runs);
    return news;
  });
}

void set_ended(Database& database, uint64_t process_id, uint64_t started_after,
               const std::string& ended) {
  Database::State& state = database.state();
  const long long process = to_column(process_id), started = to_column(started_after);
  const std::string unknown(kUnknownEnd);
  long long rows = 0;  // usually 0: then there is no need to wait for a writing transaction
  state.read([&](soci::session& sql) {
    sql << "select count(*) from run where started >= :s and process = :p and ended = :u",
        soci::use(started), soci::use(process), soci::use(unknown), soci::into(rows);
  });
  if (rows == 0) return;
  state.write([&](soci::session& sql) {
    change(sql, "update run set ended = :ended where started >= :s and process = :p and ended = :u",
           ended, started, process, unknown);
  });
}

uint64_t mark_lost_runs(Database& database) {
  Database::State& state = database.state();
  const auto missing = [&](soci::session& sql) {
    std::vector<Id> rows;
    Id id = 0;
    std::string content, file;
    for_each_row(sql,
                 "select run.id, build.content_hash, run.file from run join build on "
                 "build.id = run.build where run.state = 'running'",
                 std::tie(), std::tie(id, content, file), [&] {
                   std::error_code error;
                   if (!std::filesystem::exists(database.spool() / content / file, error) && !error)
                     rows.push_back(id);
                 });
    return rows;
  };
  if (state.read(missing).empty()) return 0;
  // Checked again inside a writing transaction, while no other process can merge: a run whose file
  // was merged in the meantime is `finished`.
  return state.write([&](soci::session& sql) {
    const std::vector<Id> rows = missing(sql);
    for (const Id id : rows) change(sql, "update run set state = 'lost' where id = :id", id);
    return uint64_t{rows.size()};
  });
}

std::vector<RunRow> Database::runs(Id build) const {
  return state_->read([&](soci::session& sql) {
    state_->require("build", build);
    std::vector<RunRow> rows;
    RunRow row;
    long long process = 0, started = 0;
    std::string name;
    for_each_row(
        sql,
        "select id, build, process, started, merged, ended, weight, state from run where "
        "build = :build order by started desc, id desc",
        std::tie(build),
        std::tie(row.id, row.build, process, started, row.merged, row.ended, row.weight, name),
        [&] {
          row.process_id = from_column(process);
          row.started = from_column(started);
          row.state = read_name<RunState>(state_->session, kStateNames, name);
          rows.push_back(row);
        });
    return rows;
  });
}

}  // namespace respike
