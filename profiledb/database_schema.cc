// Making and migrating the schema.
//
// The usual case is one query: the file has the newest version. Otherwise the file is new, old, or
// of another program; then the version is read again inside a transaction that writes, because
// another process may make or migrate the same file. A file that a newer Respike made is refused:
// guessing the meaning of its columns would damage the file.
//
// A migration is a script that leads from one version to the next. Example: a file of version 2
// gets the scripts of versions 2 and 3, and then has version 4. Migrations stay for ever, so that
// any older file can be read.

#include "profiledb/database_schema.h"

#include <fmt/format.h>

#include <optional>

namespace respike {
namespace {

/// nullopt: there is no table with a version.
std::optional<int> version_of(Session& session) {
  long long tables = 0;
  session.sql() << "select count(*) from sqlite_master where name = 'schema_version'",
      soci::into(tables);
  if (tables == 0) return std::nullopt;
  int version = 0;
  soci::indicator found = soci::i_null;
  session.sql() << "select max(version) from schema_version", soci::into(version, found);
  if (found != soci::i_ok || version < 1) session.damaged("it has no version");
  return version;
}

bool is_empty(Session& session) {
  long long tables = 0;
  session.sql() << "select count(*) from sqlite_master", soci::into(tables);
  return tables == 0;
}

void set_version(Session& session, int version) {
  session.sql() << "delete from schema_version";
  session.sql() << "insert into schema_version (version) values (:version)", soci::use(version);
}

void make_or_migrate(Session& session, const SchemaVersions& versions) {
  Scope scope(session, Scope::Kind::write);
  std::optional<int> version = version_of(session);
  if (!version) {
    session.run(versions.script);
    version = versions.newest;
  }
  for (const Migration& migration : versions.migrations)
    if (migration.from == *version) {
      session.run(migration.script);
      ++*version;
    }
  if (*version != versions.newest)
    throw Error(fmt::format("the database is of version {}, and there is no way from it to {}",
                            *version, versions.newest),
                session.path());
  set_version(session, *version);
  scope.commit();
}

}  // namespace

const SchemaVersions& current_schema() {
  static constexpr int kNewest = 8;
  static constexpr Migration kMigrations[] = {
      {1, "alter table build add column matched text not null default ''"},
      {2,
       "alter table build add column file_changed bigint not null default 0;"
       "alter table derived_image add column file_size bigint not null default 0;"
       "alter table derived_image add column file_modified bigint not null default 0;"
       "alter table derived_image add column file_inode bigint not null default 0;"
       "alter table derived_image add column file_changed bigint not null default 0"},
      {3,
       "alter table build add column machine text not null default '';"
       "update build set machine = (select machine from image where image.id = build.image)"},
      {4,
       "create table comparison ( id integer primary key, build integer not null references "
       "build (id) on delete cascade, optimized_hash text not null, options text not null, "
       "workload text not null, model text not null, difference text not null, made bigint "
       "not null );"
       "create index comparison_by_build on comparison (build);"
       "create table compared_number ( comparison integer not null references comparison "
       "(id) on delete cascade, ordinal integer not null, kind text not null check (kind in "
       "('figure', 'cycles')), name text not null, original bigint not null, optimized "
       "bigint not null, primary key (comparison, ordinal) )"},
      // Paths lose their symbolic links later, one by one (database_moving.cc).
      {5,
       "alter table image add column program integer not null default 0;"
       "update image set program = 1 where id in (select main_image from application);"
       "alter table image add column follows integer references image (id) on delete set null;"
       "alter table application_image add column loaded_as text not null default '';"
       "update application_image set loaded_as = (select path from image where image.id = "
       "application_image.image)"},
      {6,
       "create table fault ( application integer primary key references application (id) on "
       "delete cascade, program text not null, images text not null, signal integer not null, "
       "original_too integer not null, noted bigint not null )"},
      {7,
       "alter table derived_image add column forecast text not null default '';"
       "create table last_run ( application integer primary key references application (id) on "
       "delete cascade, arguments text not null, folder text not null, input text not null, noted "
       "bigint not null );"
       "create table last_check ( application integer primary key references application (id) on "
       "delete cascade, images text not null, result text not null check (result in "
       "('faster', 'same', 'slower', 'differs', 'unclear')), verdict text not null, gain "
       "double precision not null, noted bigint not null );"
       "create table last_export ( application integer primary key references application (id) on "
       "delete cascade, images text not null, folder text not null, noted bigint not null )"},
  };
  static const SchemaVersions versions = {kNewest, kSchema, kMigrations};
  return versions;
}

void prepare_schema(Session& session, const SchemaVersions& versions) {
  session.guard([&] {
    const std::optional<int> version = version_of(session);
    if (version == versions.newest) {
      if (session.access() == Access::write) session.use_write_ahead_log();
      return;
    }
    if (version > versions.newest)
      throw Error(fmt::format("the database is of version {}, which a newer Respike made; this one "
                              "reads versions up to {}",
                              *version, versions.newest),
                  session.path());
    // The version is read again: another process may have made the schema in between.
    if (!version && !is_empty(session) && !version_of(session))
      throw Error("this is the database of another program", session.path());
    if (version && session.access() == Access::read)
      throw Error(
          fmt::format("the database is of version {}, which an older Respike made: the next "
                      "command that may write, such as respike list, brings it up to date",
                      *version),
          session.path());
    if (!version) session.use_write_ahead_log();
    make_or_migrate(session, versions);
  });
}

}  // namespace respike
