#pragma once
// Versions of the schema. Internal to database*.cc and its tests.

#include <span>

#include "profiledb/database_session.h"

namespace respike {

/// Migrates from version `from` to the next version.
struct Migration {
  int from;
  const char* script;
};

/// The schema that this Respike knows: its version, the script that creates it in an empty file,
/// and the migrations from all older versions, in order.
struct SchemaVersions {
  int newest;
  const char* script;
  std::span<const Migration> migrations;
};

extern const char* const kSchema;  // schema.sql
const SchemaVersions& current_schema();

/// Makes the schema in an empty file, or migrates an older file to the newest version, all or
/// nothing. Throws Error when the file is of a newer version or is no profile database.
void prepare_schema(Session& session, const SchemaVersions& versions);

}  // namespace respike
