// Gives an image another path. If another image has that path, the two images are merged.
//
// Problem: one file has many paths. /lib/libz.so.1 and /usr/lib/libz.so.1.2.13 are one file if /lib
// is a link to /usr/lib. Databases up to version 5 have an image for each path under which the file
// was registered, each with a profile of its own; and a folder with registered files may be moved
// and become a link at any time.
//
// Everything that refers to the removed image (`from`) is moved to the kept image (`into`), which
// gets the new path:
//
//   builds with new contents    become builds of `into`; all builds are renumbered by first_seen
//   builds with equal contents  are merged:
//     shapes      equal shapes are merged, others stay separate, as within one build
//     count sets  of the same shape, day and weight are added up; others stay separate
//     runs        stay, so that their counter files are not counted again
//     derived images, comparisons   stay; images in the store contain no path
//   applications  use `into`
//
// Example: prog ran 3 times as /a/prog and 2 times as /b/prog. After /b became a link to /a the
// profile of /a/prog has 5 runs, and a counter file that waits in the spool counts as the sixth,
// because the spool and the identity of an instrumented image depend only on contents.
//
// When both builds have counted one counter file (which an older Respike could do, because equal
// contents have equal identities), one row stays. Unless both runs are finished, the counts of the
// unfinished run are removed as well; the counts of two finished runs can no longer be separated.
//
// Everything happens in one transaction: another process sees all of it or nothing. Of two images
// or builds the one with the larger key stays. So the key of a removed row, which another process
// may still use, is never given to a new row: that process gets RowGone or, when it adds runs,
// looks up their build again (add_runs()).

#include <algorithm>
#include <map>

#include "profiledb/counts.h"
#include "profiledb/database_counts.h"
#include "profiledb/database_state.h"

namespace respike {
namespace {

struct CountSet {
  Id id = 0;
  std::string purpose;
  int64_t day = 0;
  double runs = 0, weight = 1;
};

std::vector<CountSet> sets_of(soci::session& sql, Id shape) {
  std::vector<CountSet> sets;
  CountSet set;
  for_each_row(sql,
               "select id, purpose, day, runs, weight from count_set where shape = :shape order by "
               "id",
               std::tie(shape), std::tie(set.id, set.purpose, set.day, set.runs, set.weight),
               [&] { sets.push_back(set); });
  return sets;
}

/// The rows of `table` that belong to `parent`, by what identifies them within one parent.
std::map<std::string, Id> rows_by_key(soci::session& sql, const char* table, const char* key,
                                      const char* parent_column, Id parent) {
  std::map<std::string, Id> rows;
  std::string text;
  Id id = 0;
  for_each_row(sql, fmt::format("select {}, id from {} where {} = :p", key, table, parent_column),
               std::tie(parent), std::tie(text, id), [&] { rows.emplace(text, id); });
  return rows;
}

/// Moves the count sets of a shape to an equal shape. Sets of finished runs and of given profiles
/// are added to the sets there.
void merge_counts(Database::State& state, Id from, Id into) {
  soci::session& sql = state.session.sql();
  const Shape shape = state.read_shape(into);
  for (const CountSet& set : sets_of(sql, from)) {
    if (set.purpose != "day" && set.purpose != "given") {
      change(sql, "update count_set set shape = :into where id = :id", into, set.id);
      continue;
    }
    EnteredProcedures entered;
    for_each_counted(state.session, set.id, shape,
                     [&](uint32_t ordinal, const ProcedureProfile& procedure) {
                       entered.emplace_back(ordinal, procedure);
                     });
    const Id sum = find_set(state, into, set.purpose, set.day, set.weight);
    add_to_set(state, sum, entered, set.runs);
    change(sql, "update run set count_set = :sum where count_set = :id", sum, set.id);
    change(sql, "delete from count_set where id = :id", set.id);
  }
}

void merge_shapes(Database::State& state, Id from, Id into) {
  soci::session& sql = state.session.sql();
  const auto there = rows_by_key(sql, "shape", "hash", "build", into);
  for (const auto& [hash, shape] : rows_by_key(sql, "shape", "hash", "build", from)) {
    const auto equal = there.find(hash);
    if (equal != there.end())
      merge_counts(state, shape, equal->second);
    else if (!sets_of(sql, shape).empty())
      change(sql, "update shape set build = :into, registered = 0 where id = :id", into, shape);
  }
}

/// Removes rows of runs that both builds have. A finished run is kept rather than an unfinished
/// one.
void remove_repeated_runs(soci::session& sql, Id from, Id into) {
  struct Repeated {
    Id ours = 0, theirs = 0, our_set = 0, their_set = 0;
    std::string our_state, their_state;
  };
  std::vector<Repeated> all;
  Repeated row;
  for_each_row(
      sql,
      "select ours.id, ours.state, coalesce(ours.count_set, 0), theirs.id, theirs.state, "
      "coalesce(theirs.count_set, 0) from run as ours join run as theirs on theirs.process = "
      "ours.process and theirs.started = ours.started where ours.build = :into and theirs.build = "
      ":from",
      std::tie(into, from),
      std::tie(row.ours, row.our_state, row.our_set, row.theirs, row.their_state, row.their_set),
      [&] { all.push_back(row); });
  for (const Repeated& each : all) {
    const bool ours_goes = each.our_state != "finished" && each.their_state == "finished";
    const std::string& state = ours_goes ? each.our_state : each.their_state;
    if (state != "finished")
      change(sql, "delete from count_set where id = :id",
             ours_goes ? each.our_set : each.their_set);
    change(sql, "delete from run where id = :id", ours_goes ? each.ours : each.theirs);
  }
}

/// Merges two builds with the same contents. The caller ensures that `from` < `into`.
void merge_builds(Database::State& state, Id from, Id into) {
  soci::session& sql = state.session.sql();
  remove_repeated_runs(sql, from, into);
  merge_shapes(state, from, into);
  for (const char* table : {"run", "derived_image", "comparison"})
    change(sql, fmt::format("update {} set build = :into where build = :from", table), into, from);
  change(sql, "update count_set set source = :into where source = :from", into, from);
  change(sql,
         "update build set first_seen = (select min(first_seen) from build where id in (:a, :b)) "
         "where id = :into",
         from, into, into);
  change(sql, "delete from build where id = :from", from);
}

/// Numbers the builds of an image 1, 2, ... in the order in which they were first seen.
void number_builds(soci::session& sql, Id image) {
  std::vector<Id> builds;
  Id id = 0;
  for_each_row(sql, "select id from build where image = :image order by first_seen, id",
               std::tie(image), std::tie(id), [&] { builds.push_back(id); });
  change(sql, "update build set number = -id where image = :image", image);  // all numbers are free
  int number = 0;
  for (const Id build : builds)
    change(sql, "update build set number = :number where id = :id", ++number, build);
}

/// Lets an application (0: all) use `into` where it uses `from`. An application that uses both
/// keeps the role that comes first, with the path of that role.
void replace_uses(soci::session& sql, Id application, Id from, Id into) {
  change(sql,
         "update application set main_image = :into where main_image = :from and (:a = 0 or id = "
         ":a2)",
         into, from, application, application);
  const auto take_over = [&](const char* role, const char* lower_roles) {
    change(sql,
           fmt::format(
               "update application_image set role = '{0}', loaded_as = (select other.loaded_as "
               "from application_image as other where other.application = "
               "application_image.application and other.image = :from) where image = :into and "
               "role in ({1}) and (:a = 0 or application = :a2) and application in (select "
               "application from application_image where image = :from2 and role = '{0}')",
               role, lower_roles),
           from, into, application, application, from);
  };
  take_over("linked", "'opened'");
  take_over("main", "'linked', 'opened'");
  change(sql,
         "delete from application_image where image = :from and (:a = 0 or application = :a2) and "
         "application in (select application from application_image where image = :into)",
         from, application, application, into);
  change(sql,
         "update application_image set image = :into where image = :from and (:a = 0 or "
         "application = :a2)",
         into, from, application, application);
}

/// Merges two images, as merge_builds() merges builds. `into` keeps its path.
void merge_images(Database::State& state, Id from, Id into) {
  soci::session& sql = state.session.sql();
  const auto there = rows_by_key(sql, "build", "content_hash", "image", into);
  for (const auto& [content, build] : rows_by_key(sql, "build", "content_hash", "image", from)) {
    const auto equal = there.find(content);
    Id stays = build;
    if (equal != there.end()) {
      stays = std::max(build, equal->second);
      merge_builds(state, std::min(build, equal->second), stays);
    }
    change(sql, "update build set image = :into, number = -id where id = :id", into, stays);
  }
  number_builds(sql, into);
  replace_uses(sql, 0, from, into);
  change(sql,
         "update image set follows = (select follows from image where id = :from) where id = :into "
         "and (follows is null or follows = :from2)",
         from, into, from);
  change(sql, "update image set follows = :into where follows = :from", into, from);
  change(sql, "update image set follows = null where id = :into and follows = id", into);
  change(sql, "delete from image where id = :from", from);
}

}  // namespace

void Database::move_image(const std::string& from, const std::string& to) {
  state_->write([&](soci::session& sql) {
    const auto moved = find_image(from), there = find_image(to);
    if (!moved || from == to) return;
    Id stays = moved->id;
    if (there) {
      stays = std::max(moved->id, there->id);
      merge_images(*state_, std::min(moved->id, there->id), stays);
    }
    change(sql, "update image set path = :to where id = :id", to, stays);
  });
}

bool Database::replace_application_image(Id application, Id before, Id after) {
  return state_->write([&](soci::session& sql) {
    state_->require("application", application);
    state_->require("image", after);
    long long uses = 0;
    sql << "select count(*) from application_image where application = :a and image = :i",
        soci::use(application), soci::use(before), soci::into(uses);
    if (uses != 0) replace_uses(sql, application, before, after);
    return uses != 0;
  });
}

}  // namespace respike
