#pragma once
// Versions of the schema. Internal to database*.cc and its tests.

#include <span>

#include "profiledb/database_session.h"

namespace respike {

/// Leads from version `from` to the next one.
struct Migration {
  int from;
  const char* script;
};

/// The schema that a library knows: its newest version, the script that makes it out of nothing,
/// and the steps from all older ones, in order.
struct SchemaVersions {
  int newest;
  const char* script;
  std::span<const Migration> migrations;
};

extern const char* const kSchema;  // schema.sql
const SchemaVersions& current_schema();

/// Makes the schema in an empty file, or brings an older one to the newest version, all or nothing.
/// Throws Error when the file is of a newer version or something else than a profile database.
void prepare_schema(Session& session, const SchemaVersions& versions);

}  // namespace respike
