// Shapes, count sets, and profiles made from both.
//
// The profile of a build is the sum over its count sets: one set per day of finished runs, one per
// unfinished run, one per older build whose counts were carried over, and one per day of profiles
// that users gave. Sets of one shape are added number by number; sums of different shapes are
// united procedure by procedure. Ageing applies to sums, not to stored counts, so that each query
// can choose a half-life. Example: with a half-life of 7 days a set that is a week older than the
// newest set has the factor 0.5.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "optimizer/base/hash.h"
#include "profiledb/database_counts.h"
#include "profiledb/database_state.h"

namespace respike {

namespace fs = std::filesystem;
namespace {

constexpr int64_t kSecondsPerDay = 86'400;
constexpr int64_t kLastDay = 10'000'000;
constexpr double kMostRuns = 1e18;

struct CountSetRow {
  Id id = 0;
  Id shape = 0;
  bool carried = false;
  int64_t day = 0;
  double runs = 0, weight = 1;
};

std::vector<CountSetRow> select_sets(Session& session, Id build) {
  std::vector<CountSetRow> rows;
  CountSetRow row;
  std::string purpose;
  for_each_row(session.sql(),
               "select count_set.id, count_set.shape, count_set.purpose, count_set.day, "
               "count_set.runs, count_set.weight from count_set join shape on shape.id = "
               "count_set.shape where shape.build = :build order by count_set.id",
               std::tie(build), std::tie(row.id, row.shape, purpose, row.day, row.runs, row.weight),
               [&] {
                 row.carried = purpose == "carried";
                 if (!(row.weight > 0 && row.weight <= kMostWeight && row.runs >= 0 &&
                       row.runs <= kMostRuns && row.day >= 0 && row.day <= kLastDay))
                   session.damaged("a count set has an impossible day, weight or number of runs");
                 rows.push_back(row);
               });
  return rows;
}

Id registered_shape(Database::State& state, Id build) {
  Id shape = 0;
  for_each_row(state.session.sql(), "select id from shape where build = :build and registered = 1",
               std::tie(build), std::tie(shape), [] {});
  if (shape == 0) state.session.damaged("a build has no procedures");
  return shape;
}

/// The head of a build's profile; it has no procedures.
Profile empty_profile(const Database& database, Id build) {
  const BuildRow row = database.build(build);
  Profile profile;
  profile.image_path = database.image(row.image).path;
  profile.image_build_id = row.build_id;
  profile.image_hash = row.file_hash;
  return profile;
}

/// The weight of the counts of a day: 1 for the newest day.
double ageing(const ProfileOptions& options, int64_t newest, int64_t day) {
  if (!(options.half_life_days > 0)) return 1;
  return std::exp2(-static_cast<double>(newest - day) / options.half_life_days);
}

void check_weight(double weight, const std::string& path) {
  if (!(weight > 0 && weight <= kMostWeight))
    throw Error(fmt::format("a weight must be positive and at most {}", kMostWeight), path);
}

/// The ordinals of `procedures` in `shape`; nullopt when the shape lacks a procedure.
std::optional<std::vector<uint32_t>> places_in(const Shape& shape, const EncodedShape& encoded,
                                               const Shape& procedures) {
  std::vector<uint32_t> places;
  size_t at = 0;
  for (size_t p = 0; p < procedures.size(); ++p) {
    const ProcedureProfile& procedure = procedures[p];
    while (at < shape.size() && std::tie(shape[at].address, shape[at].name) <
                                    std::tie(procedure.address, procedure.name))
      ++at;
    if (at == shape.size() || shape[at].address != procedure.address ||
        shape[at].name != procedure.name || encode_procedure(shape[at]) != encoded.procedures[p])
      return std::nullopt;
    places.push_back(static_cast<uint32_t>(at++));
  }
  return places;
}

struct Placed {
  Id shape = 0;
  EnteredProcedures entered;
};

/// The counts of a profile with the registered shape, if that shape has all procedures of the
/// profile, else with the profile's own shape: profiles of instrumented images have more edges than
/// the registered shape.
Placed place(Database::State& state, Id build, const Profile& profile) {
  Placed placed;
  const Shape shape = shape_of(profile.procedures);
  const EncodedShape encoded = encode_shape(shape);
  const Id registered = registered_shape(state, build);
  const auto places = places_in(state.read_shape(registered), encoded, shape);
  placed.shape = places ? registered : state.put_shape(build, shape, encoded, false);
  for (uint32_t p = 0; p < profile.procedures.size(); ++p)
    if (is_counted(profile.procedures[p]))
      placed.entered.emplace_back(places ? (*places)[p] : p, profile.procedures[p]);
  return placed;
}

void remove_unused_shapes(soci::session& sql, Id build) {
  change(sql,
         "delete from shape where build = :build and registered = 0 and id not in (select shape "
         "from count_set)",
         build);
}

}  // namespace

int64_t current_day() {
  return current_time() / kSecondsPerDay;
}

// ---- shapes ----

Id Database::State::put_shape(Id build, std::span<const ProcedureProfile> procedures,
                              const EncodedShape& encoded, bool registered) {
  soci::session& sql = session.sql();
  const std::string hash = encoded.hash.hex();
  Id id = 0;
  for_each_row(sql, "select id from shape where build = :build and hash = :hash",
               std::tie(build, hash), std::tie(id), [] {});
  if (id != 0) return id;
  id = next_id("shape");
  const int is_registered = registered ? 1 : 0;
  change(sql, "insert into shape (id, build, hash, registered) values (:id, :build, :hash, :r)", id,
         build, hash, is_registered);
  int ordinal = 0;
  std::string name;
  long long address = 0, signature = 0;
  soci::blob flow(sql);
  soci::statement insert =
      (sql.prepare
           << "insert into procedure_shape (shape, ordinal, name, address, signature, flow) "
              "values (:shape, :ordinal, :name, :address, :signature, :flow)",
       soci::use(id), soci::use(ordinal), soci::use(name), soci::use(address), soci::use(signature),
       soci::use(flow));
  for (const ProcedureProfile& procedure : procedures) {
    name = procedure.name;
    address = to_column(procedure.address);
    signature = to_column(procedure.signature);
    set_blob(flow, encoded.procedures[static_cast<size_t>(ordinal)]);
    insert.execute(true);
    ++ordinal;
  }
  return id;
}

Shape Database::State::read_shape(Id id) {
  soci::session& sql = session.sql();
  Shape shape;
  int ordinal = 0;
  soci::blob flow(sql);
  for_each_row(sql,
               "select ordinal, flow from procedure_shape where shape = :shape order by ordinal",
               std::tie(id), std::tie(ordinal, flow), [&] {
                 if (static_cast<size_t>(ordinal) != shape.size())
                   session.damaged("a procedure is missing");
                 try {
                   shape.push_back(decode_procedure(bytes_of(flow)));
                 } catch (const Error& error) {
                   session.damaged(fmt::format("procedure {}: {}", ordinal, error.what()));
                 }
               });
  return shape;
}

// ---- count sets ----

void for_each_counted(Session& session, Id set, const Shape& shape,
                      const std::function<void(uint32_t, const ProcedureProfile&)>& each) {
  soci::session& sql = session.sql();
  int ordinal = 0;
  soci::blob blob(sql);
  ProcedureProfile procedure;
  for_each_row(sql,
               "select ordinal, counts from procedure_count where count_set = :set order by "
               "ordinal",
               std::tie(set), std::tie(ordinal, blob), [&] {
                 if (ordinal < 0 || static_cast<size_t>(ordinal) >= shape.size())
                   session.damaged("there are counts of no procedure");
                 procedure = shape[static_cast<size_t>(ordinal)];
                 try {
                   decode_counts(bytes_of(blob), procedure);
                 } catch (const Error& error) {
                   session.damaged(fmt::format("counts: {}", error.what()));
                 }
                 each(static_cast<uint32_t>(ordinal), procedure);
               });
}

Id find_set(Database::State& state, Id shape, const std::string& purpose, int64_t day,
            double weight) {
  Id id = 0;
  for_each_row(state.session.sql(),
               "select id from count_set where shape = :shape and purpose = :purpose and day = "
               ":day and weight = :weight",
               std::tie(shape, purpose, day, weight), std::tie(id), [] {});
  return id != 0 ? id : add_set(state, shape, purpose, day, weight);
}

Id add_set(Database::State& state, Id shape, const std::string& purpose, int64_t day,
           double weight) {
  const Id id = state.next_id("count_set");
  change(state.session.sql(),
         "insert into count_set (id, shape, purpose, day, runs, weight, source) values (:id, "
         ":shape, :purpose, :day, 0, :weight, null)",
         id, shape, purpose, day, weight);
  return id;
}

void add_to_set(Database::State& state, Id set, const EnteredProcedures& entered, double runs) {
  soci::session& sql = state.session.sql();
  change(sql, "update count_set set runs = runs + :runs where id = :id", runs, set);
  int ordinal = 0;
  soci::blob before(sql), after(sql);
  soci::statement find = (sql.prepare << "select counts from procedure_count where count_set = "
                                         ":set and ordinal = :ordinal",
                          soci::use(set), soci::use(ordinal), soci::into(before));
  soci::statement insert =
      (sql.prepare << "insert into procedure_count (count_set, ordinal, counts) values (:set, "
                      ":ordinal, :counts)",
       soci::use(set), soci::use(ordinal), soci::use(after));
  soci::statement update = (sql.prepare << "update procedure_count set counts = :counts where "
                                           "count_set = :set and ordinal = :ordinal",
                            soci::use(after), soci::use(set), soci::use(ordinal));
  for (const auto& [place, counts] : entered) {
    ordinal = static_cast<int>(place);
    if (!find.execute(true)) {
      set_blob(after, encode_counts(counts));
      insert.execute(true);
      continue;
    }
    ProcedureProfile sum = counts;
    try {
      decode_counts(bytes_of(before), sum);
    } catch (const Error& error) {
      state.session.damaged(fmt::format("counts: {}", error.what()));
    }
    add_counts(sum, counts);
    set_blob(after, encode_counts(sum));
    update.execute(true);
  }
}

// ---- profiles ----

Profile Database::procedures(Id build) const {
  return state_->read([&](soci::session&) {
    Profile profile = empty_profile(*this, build);
    profile.procedures = state_->read_shape(registered_shape(*state_, build));
    return profile;
  });
}

Profile Database::profile(Id build, const ProfileOptions& options) const {
  return state_->read([&](soci::session&) {
    Profile profile = empty_profile(*this, build);
    std::vector<CountSetRow> sets = select_sets(state_->session, build);
    std::erase_if(sets, [&](const CountSetRow& set) {
      return set.carried ? !(options.carried_weight > 0) : !options.own;
    });
    // unite() keeps the first shape where shapes disagree. So shapes with counts of this build come
    // before carried-over shapes; within each kind the latest comes first.
    std::sort(sets.begin(), sets.end(), [](const CountSetRow& a, const CountSetRow& b) {
      return std::tuple(a.carried, -a.shape, a.id) < std::tuple(b.carried, -b.shape, b.id);
    });
    int64_t newest = 0;
    for (const CountSetRow& set : sets) newest = std::max(newest, set.day);
    std::vector<Id> shapes;
    for (const CountSetRow& set : sets)
      if (std::find(shapes.begin(), shapes.end(), set.shape) == shapes.end())
        shapes.push_back(set.shape);
    for (const Id shape : shapes) {
      CountSum sum(state_->read_shape(shape));
      for (const CountSetRow& set : sets) {
        if (set.shape != shape) continue;
        const double factor =
            std::min(set.weight * (set.carried ? options.carried_weight : 1), kMostWeight) *
            ageing(options, newest, set.day);
        for_each_counted(state_->session, set.id, sum.shape(),
                         [&](uint32_t ordinal, const ProcedureProfile& procedure) {
                           sum.add(ordinal, procedure, factor);
                         });
        profile.runs += set.runs * factor;
      }
      profile.procedures = profile.procedures.empty()
                               ? sum.take()
                               : unite(std::move(profile.procedures), sum.take());
    }
    if (shapes.empty()) profile.procedures = state_->read_shape(registered_shape(*state_, build));
    return profile;
  });
}

ProfileSummary Database::summary(Id build) const {
  return state_->read([&](soci::session& sql) {
    state_->require("build", build);
    ProfileSummary summary;
    std::string version;  // everything that changes whenever counts change
    for (const CountSetRow& set : select_sets(state_->session, build)) {
      version += fmt::format("{} {} {} ", set.id, set.runs, set.weight);
      summary.newest_day = std::max(summary.newest_day.value_or(set.day), set.day);
      if (set.carried) {
        summary.carried_runs += set.runs;
        summary.carried_confidence = std::max(summary.carried_confidence, set.weight);
      } else {
        summary.runs += set.runs * set.weight;
        summary.confidence = 1;
      }
    }
    if (summary.confidence == 0) summary.confidence = summary.carried_confidence;
    // An unfinished run keeps its count set: only the hash of its file shows that its counts
    // changed.
    long long file_hash = 0;
    for_each_row(sql, "select file_hash from run where build = :build and state = 'running'",
                 std::tie(build), std::tie(file_hash),
                 [&] { version += fmt::format("{} ", file_hash); });
    summary.version = hash64({reinterpret_cast<const uint8_t*>(version.data()), version.size()});
    long long procedures = 0;
    const Id registered = registered_shape(*state_, build);
    sql << "select count(*) from procedure_shape where shape = :shape", soci::use(registered),
        soci::into(procedures);
    summary.procedures = static_cast<uint64_t>(procedures);
    long long entered = 0;
    for_each_row(sql,
                 "select count(distinct procedure_count.ordinal) from procedure_count join "
                 "count_set on count_set.id = procedure_count.count_set join shape on shape.id = "
                 "count_set.shape where shape.build = :build and count_set.purpose <> 'carried' "
                 "group by count_set.shape",
                 std::tie(build), std::tie(entered), [&] {
                   summary.entered = std::max(summary.entered, static_cast<uint64_t>(entered));
                 });
    return summary;
  });
}

std::optional<BuildRow> Database::profiled_build_before(Id build) const {
  return state_->read([&](soci::session& sql) -> std::optional<BuildRow> {
    const BuildRow row = this->build(build);
    const std::string content = row.content.hex();
    int below = static_cast<int>(row.number);
    std::set<Id> seen;  // images: after merges, images may follow each other in a circle
    Id found = 0;
    for (Id image = row.image; image != 0 && found == 0 && seen.insert(image).second;
         image = this->image(image).follows) {
      for_each_row(sql,
                   "select build.id from build where build.image = :image and build.number < "
                   ":number and build.machine = :machine and exists (select 1 from count_set join "
                   "shape on shape.id = count_set.shape where shape.build = build.id and "
                   "count_set.purpose <> 'carried') order by case when build.content_hash = "
                   ":content then 1 else 0 end, build.number",
                   std::tie(image, below, row.machine, content), std::tie(found), [] {});
      below = std::numeric_limits<int>::max();
    }
    // A file that was installed elsewhere: with another search path for libraries its content
    // differs, but its name and build-id are the same.
    if (found == 0) {
      const fs::path name = fs::path(this->image(row.image).path).filename();
      Id other = 0;
      std::string path, hash;
      for_each_row(sql,
                   "select build.id, image.path, build.content_hash from build join image on "
                   "image.id = build.image where build.image <> :image and build.machine = "
                   ":machine and (build.content_hash = :content or (build.build_id <> '' and "
                   "build.build_id = :build_id)) and exists (select 1 from count_set join shape on "
                   "shape.id = count_set.shape where shape.build = build.id and count_set.purpose "
                   "<> 'carried') order by case when build.content_hash = :same then 1 else 0 end, "
                   "build.id",
                   std::tie(row.image, row.machine, content, row.build_id, content),
                   std::tie(other, path, hash), [&] {
                     if (hash == content || fs::path(path).filename() == name) found = other;
                   });
    }
    if (found == 0) return std::nullopt;
    return this->build(found);
  });
}

void Database::add_profile(Id build, const Profile& profile, double weight) {
  check_weight(weight, path());
  if (!(profile.runs >= 0 && profile.runs <= kMostRuns))
    throw Error("the profile has an impossible number of runs", profile.image_path);
  state_->write([&](soci::session&) {
    if (profile.image_hash != this->build(build).file_hash)
      throw Error("the profile is of another build", profile.image_path);
    const Placed placed = place(*state_, build, profile);
    add_to_set(*state_, find_set(*state_, placed.shape, "given", current_day(), weight),
               placed.entered, profile.runs);
  });
}

void Database::set_carried(Id build, Id from, const Profile& profile, double confidence) {
  if (!(confidence > 0 && confidence <= 1))
    throw Error("the confidence in a profile must be above 0 and at most 1", path());
  state_->write([&](soci::session& sql) {
    state_->require("build", build);
    change(sql,
           "delete from count_set where purpose = 'carried' and source = :from and shape in "
           "(select id from shape where build = :build)",
           from, build);
    const int64_t day = summary(from).newest_day.value_or(current_day());
    const Placed placed = place(*state_, build, profile);
    const Id set = add_set(*state_, placed.shape, "carried", day, confidence);
    change(sql, "update count_set set source = :from where id = :id", from, set);
    add_to_set(*state_, set, placed.entered, profile.runs);
    remove_unused_shapes(sql, build);
  });
}

std::string Database::matched(Id build) const {
  return state_->read([&](soci::session& sql) {
    state_->require("build", build);
    std::string what;
    sql << "select matched from build where id = :id", soci::use(build), soci::into(what);
    return what;
  });
}

void Database::set_matched(Id build, const std::string& what) {
  state_->write([&](soci::session& sql) {
    state_->require("build", build);
    change(sql, "update build set matched = :what where id = :id", what, build);
  });
}

}  // namespace respike
