#pragma once
// The implementation of a Database, and how its functions run SQL. Internal to database*.cc.

#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "profiledb/counts.h"
#include "profiledb/database.h"
#include "profiledb/database_session.h"

namespace respike {

struct Database::State {
  State(const std::filesystem::path& database, Access access);

  /// Runs an action on the connection, as a transaction of its own or as part of one.
  template <typename Action>
  auto read(Action&& action) {
    return session.guard([&] {
      const Scope scope(session, Scope::Kind::read);
      return action(session.sql());
    });
  }
  template <typename Action>
  auto write(Action&& action) {
    return session.guard([&] {
      Scope scope(session, Scope::Kind::write);
      if constexpr (std::is_void_v<decltype(action(session.sql()))>) {
        action(session.sql());
        scope.commit();
      } else {
        auto result = action(session.sql());
        scope.commit();
        return result;
      }
    });
  }

  /// Parses a hash from a column.
  ContentHash hash_of(const std::string& column) const;
  /// Throws Error when the table has no such row.
  void require(const char* table, Id id);
  /// The shape of a build that has these procedures; added if there is none. To be called inside a
  /// transaction that writes.
  Id put_shape(Id build, std::span<const ProcedureProfile> procedures, const EncodedShape& encoded,
               bool registered);
  Shape read_shape(Id shape);
  /// The key for a new row of a table. To be called inside a transaction that writes.
  Id next_id(const char* table);

  std::filesystem::path path;
  Session session;
  ImageStore store;
};

// Values of enumerations in columns.
inline constexpr std::string_view kModeNames[] = {"original", "instrumented", "optimized"};
inline constexpr std::string_view kRoleNames[] = {"main", "linked", "opened"};
inline constexpr std::string_view kKindNames[] = {"instrumented", "optimized"};
inline constexpr std::string_view kStateNames[] = {"finished", "running", "lost"};

template <typename Enumeration, size_t N>
std::optional<Enumeration> parse_name(const std::string_view (&names)[N], std::string_view text) {
  for (size_t i = 0; i < N; ++i)
    if (names[i] == text) return static_cast<Enumeration>(i);
  return std::nullopt;
}

/// Like parse_name(), for a column; throws Error for another name.
template <typename Enumeration, size_t N>
Enumeration read_name(const Session& session, const std::string_view (&names)[N],
                      const std::string& column) {
  const auto value = parse_name<Enumeration>(names, column);
  if (!value)
    session.damaged(fmt::format("'{}' is none of the names that may stand there", column));
  return *value;
}

template <typename Row>
std::optional<Row> first_of(std::vector<Row> rows) {
  if (rows.empty()) return std::nullopt;
  return std::move(rows.front());
}

/// Reads the rows of a query one by one into the variables of `row`, and calls `each` for each row.
/// `values` are the query's parameters in order. `values` and `row` are made by std::tie.
template <typename... Values, typename... Columns, typename Each>
void for_each_row(soci::session& sql, const std::string& text, std::tuple<Values&...> values,
                  std::tuple<Columns&...> row, Each&& each) {
  soci::statement statement(sql);
  std::apply([&](auto&... column) { (statement.exchange(soci::into(column)), ...); }, row);
  std::apply([&](auto&... value) { (statement.exchange(soci::use(value)), ...); }, values);
  statement.alloc();
  statement.prepare(text);
  statement.define_and_bind();
  for (bool more = statement.execute(true); more; more = statement.fetch()) each();
}

/// Executes a statement that yields no rows; returns the number of rows that it changed.
template <typename... Values>
long long change(soci::session& sql, const std::string& text, const Values&... values) {
  soci::statement statement(sql);
  (statement.exchange(soci::use(values)), ...);
  statement.alloc();
  statement.prepare(text);
  statement.define_and_bind();
  statement.execute(true);
  return statement.get_affected_rows();
}

}  // namespace respike
