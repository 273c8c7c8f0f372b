// Opening a database, and operations on the whole database: transactions, pruning, checking.
//
// Every `respike run` opens the database, so opening reads only the version.

#include "profiledb/database.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cassert>
#include <cstdlib>
#include <set>

#include "profiledb/counts.h"
#include "profiledb/database_schema.h"
#include "profiledb/database_state.h"
#include "profiledb/folders.h"

namespace respike {

namespace fs = std::filesystem;

namespace {

fs::path files_of(const fs::path& database) {
  return database.string() + ".files";
}

/// Makes the path absolute, since the spool's path goes into images, and makes its folder.
fs::path prepared(const fs::path& path) {
  if (path.filename().empty()) throw Error("this is not the name of a file", path);
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error).lexically_normal();
  if (error)
    throw Error(fmt::format("the present folder cannot be found: {}", error.message()), path);
  make_folder(absolute.parent_path());
  return absolute;
}

}  // namespace

fs::path default_database_path() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : std::string(value);
  };
  if (const std::string path = variable("RESPIKE_DB"); !path.empty()) return path;
  // A relative $XDG_DATA_HOME is to be ignored: https://specifications.freedesktop.org/basedir-spec
  if (const fs::path data = variable("XDG_DATA_HOME"); data.is_absolute())
    return data / "respike" / "respike.db";
  if (const fs::path home = variable("HOME"); home.is_absolute())
    return home / ".local" / "share" / "respike" / "respike.db";
  throw Error("nothing says where the database is: give it with --db or RESPIKE_DB");
}

// ---- opening ----

Database::State::State(const fs::path& database, Access access)
    : path(prepared(database)), session(path, access), store(files_of(path)) {
  prepare_schema(session, current_schema());
}

ContentHash Database::State::hash_of(const std::string& column) const {
  const auto hash = parse_content_hash(column);
  if (!hash) session.damaged("a hash is not one");
  return *hash;
}

void Database::State::require(const char* table, Id id) {
  long long count = 0;
  session.sql() << fmt::format("select count(*) from {} where id = :id", table), soci::use(id),
      soci::into(count);
  if (count == 0)
    throw RowGone(
        fmt::format("there is no {} with the key {}; perhaps another process has just removed it",
                    table, id),
        path);
}

Id Database::State::next_id(const char* table) {
  Id id = 0;
  session.sql() << fmt::format("select coalesce(max(id), 0) + 1 from {}", table), soci::into(id);
  return id;
}

Database::Database(const fs::path& path, Access access)
    : state_(std::make_unique<State>(path, access)) {}
Database::~Database() = default;
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;

const fs::path& Database::path() const {
  return state_->path;
}
Access Database::access() const {
  return state_->session.access();
}
std::string Database::why_not_written() const {
  const auto& reason = state_->session.why_not_written();
  return reason ? reason->what() : "";
}
void Database::require_writable() const {
  if (const auto& reason = state_->session.why_not_written()) throw *reason;
}
fs::path Database::files() const {
  return files_of(state_->path);
}
ImageStore& Database::store() {
  return state_->store;
}
const ImageStore& Database::store() const {
  return state_->store;
}

// ---- transactions ----

Database::Transaction::Transaction(Database& database) : database_(database) {
  database_.state_->session.begin(true);
}
Database::Transaction::~Transaction() {
  if (open_) database_.state_->session.roll_back();
}
void Database::Transaction::commit() {
  assert(open_);
  database_.state_->session.commit();
  open_ = false;
}

// ---- housekeeping ----

namespace {

/// All files of the store that rows refer to.
std::set<ContentHash> needed_files(soci::session& sql) {
  std::set<ContentHash> needed;
  std::string hash;
  for_each_row(sql,
               "select content_hash from derived_image union select map_hash from derived_image",
               std::tie(), std::tie(hash), [&] {
                 if (const auto parsed = parse_content_hash(hash)) needed.insert(*parsed);
               });
  return needed;
}

/// Builds whose spool holds counter files, because a process still runs or a file is not merged
/// yet. Such builds and their derived images are still needed.
std::set<Id> builds_in_use(soci::session& sql, const fs::path& spool) {
  std::set<Id> builds;
  for (const std::string& name : names_in(spool)) {
    if (!parse_content_hash(name) || names_in(spool / name).empty()) continue;
    Id build = 0;
    for_each_row(sql, "select id from build where content_hash = :name", std::tie(name),
                 std::tie(build), [&] { builds.insert(build); });
  }
  return builds;
}

/// Deletes the rows of `table` that `query` lists (by key and build), unless the build is in use.
/// `what` selects the description of a row for `removed`. Returns how many rows were deleted.
template <typename... Values>
uint64_t remove_rows(soci::session& sql, const char* table, const std::string& query,
                     const std::string& what, std::vector<std::string>& removed,
                     const std::set<Id>& in_use, const Values&... values) {
  std::vector<Id> rows;
  Id row = 0, build = 0;
  for_each_row(sql, query, std::tie(values...), std::tie(row, build), [&] {
    if (!in_use.contains(build)) rows.push_back(row);
  });
  std::string text;
  for (const Id id : rows)
    for_each_row(sql, fmt::format("{} where {}.id = :id", what, table), std::tie(id),
                 std::tie(text), [&] { removed.push_back(text); });
  for (const Id id : rows) change(sql, fmt::format("delete from {} where id = :id", table), id);
  return rows.size();
}

/// Removes spools of builds that are gone; spools that are not empty stay.
void remove_empty_spools(soci::session& sql, const fs::path& spool) {
  for (const std::string& name : names_in(spool)) {
    long long builds = 0;
    sql << "select count(*) from build where content_hash = :name", soci::use(name),
        soci::into(builds);
    if (builds == 0) rmdir((spool / name).c_str());
  }
}

}  // namespace

/// Files are removed in a second transaction: the deletion of the rows that referred to them must
/// be committed, and no other process may add new rows in the meantime.
PruneResult Database::prune(unsigned keep, std::chrono::seconds age, bool dry_run) {
  assert(keep > 0);
  PruneResult result;
  std::optional<Transaction> taken_back;  // rolled back at the end, which undoes the whole prune()
  if (dry_run) taken_back.emplace(*this);
  state_->write([&](soci::session& sql) {
    const std::set<Id> in_use = builds_in_use(sql, spool());
    const long long kept = keep, replaced = current_time() - age.count();
    result.derived = remove_rows(sql, "derived_image",
                                 "select id, build from derived_image where exists (select 1 from "
                                 "derived_image as later where later.build = derived_image.build "
                                 "and later.kind = derived_image.kind and later.id > "
                                 "derived_image.id and later.made <= :replaced)",
                                 "select image.path || ', build ' || build.number || ', ' || "
                                 "derived_image.kind || ' image' from derived_image join build on "
                                 "build.id = derived_image.build join image on image.id = "
                                 "build.image",
                                 result.rows, in_use, replaced);
    result.builds = remove_rows(sql, "build",
                                "select id, id from build where (select count(*) from build as "
                                "later where later.image = build.image and later.number > "
                                "build.number) >= :kept or image not in (select image from "
                                "application_image)",
                                "select image.path || ', build ' || build.number from build join "
                                "image on image.id = build.image",
                                result.rows, in_use, kept);
    result.images =
        remove_rows(sql, "image",
                    "select id, 0 from image where id not in (select image from "
                    "application_image) and id not in (select image from build)",
                    "select path || ', which no application uses' from image", result.rows, {});
  });
  state_->write([&](soci::session& sql) {
    const std::set<ContentHash> needed = needed_files(sql);
    result.bytes = state_->store.prune(
        [&](const ContentHash& hash) { return needed.contains(hash); }, age, dry_run);
    if (!dry_run) remove_empty_spools(sql, spool());
  });
  return result;
}

int64_t Database::version() const {
  return state_->read([&](soci::session& sql) {
    long long version = 0;
    sql << "pragma data_version", soci::into(version);
    return int64_t{version};
  });
}

std::vector<std::string> Database::check() const {
  return state_->read([&](soci::session& sql) {
    std::vector<std::string> problems;
    std::string text;
    for_each_row(sql, "pragma integrity_check", std::tie(), std::tie(text), [&] {
      if (text != "ok") problems.push_back(fmt::format("{}: {}", path().string(), text));
    });
    long long wrong = 0;
    sql << "select count(*) from pragma_foreign_key_check", soci::into(wrong);
    if (wrong != 0)
      problems.push_back(
          fmt::format("{}: {} rows refer to others that are not there", path().string(), wrong));
    const auto note = [&](auto&& action) {
      try {
        action();
      } catch (const Error& error) {
        problems.emplace_back(error.what());
      }
    };
    for (const ContentHash& hash : needed_files(sql))
      note([&] { static_cast<void>(store().read(hash)); });
    Id build = 0;
    std::vector<Id> builds;
    for_each_row(sql, "select id from build order by id", std::tie(), std::tie(build),
                 [&] { builds.push_back(build); });
    for (const Id id : builds)
      note([&] {
        static_cast<void>(procedures(id));
        static_cast<void>(profile(id));
      });
    return problems;
  });
}

}  // namespace respike
