// The last run, check and export of each application.
//
// Example: the last run that counted read big.sql, so the manager offers big.sql for the next run.

#include "profiledb/database_state.h"

namespace respike {
namespace {

// In the order of CheckResult.
constexpr std::string_view kResultNames[] = {"faster", "same", "slower", "differs", "unclear"};

/// Replaces the row of an application in `table`.
template <typename... Values>
void replace_last(Database::State& state, const std::string& table, const std::string& columns,
                  Id application, const Values&... values) {
  state.write([&](soci::session& sql) {
    state.require("application", application);
    change(sql, "delete from " + table + " where application = :application", application);
    std::string places;
    for (size_t i = 0; i < sizeof...(values); ++i) places += ":v" + std::to_string(i) + ", ";
    const int64_t now = current_time();
    change(sql,
           "insert into " + table + " (application, " + columns +
               ", noted) values (:application, " + places + ":now)",
           application, values..., now);
  });
}

}  // namespace

std::optional<LastRun> Database::last_run(Id application) const {
  return state_->read([&](soci::session& sql) {
    std::optional<LastRun> found;
    LastRun row;
    for_each_row(
        sql,
        "select arguments, folder, input, noted from last_run where application = :application",
        std::tie(application), std::tie(row.arguments, row.folder, row.input, row.noted),
        [&] { found = row; });
    return found;
  });
}

std::optional<LastCheck> Database::last_check(Id application) const {
  return state_->read([&](soci::session& sql) {
    std::optional<LastCheck> found;
    LastCheck row;
    std::string result;
    for_each_row(sql,
                 "select images, result, verdict, gain, noted from last_check where application = "
                 ":application",
                 std::tie(application),
                 std::tie(row.images, result, row.verdict, row.gain, row.noted), [&] {
                   row.result = read_name<CheckResult>(state_->session, kResultNames, result);
                   found = row;
                 });
    return found;
  });
}

std::optional<LastExport> Database::last_export(Id application) const {
  return state_->read([&](soci::session& sql) {
    std::optional<LastExport> found;
    LastExport row;
    for_each_row(
        sql, "select images, folder, noted from last_export where application = :application",
        std::tie(application), std::tie(row.images, row.folder, row.noted), [&] { found = row; });
    return found;
  });
}

void Database::put_last(Id application, const LastRun& run) {
  replace_last(*state_, "last_run", "arguments, folder, input", application, run.arguments,
               run.folder, run.input);
}

void Database::put_last(Id application, const LastCheck& check) {
  const std::string result(kResultNames[static_cast<size_t>(check.result)]);
  replace_last(*state_, "last_check", "images, result, verdict, gain", application, check.images,
               result, check.verdict, check.gain);
}

void Database::put_last(Id application, const LastExport& exported) {
  replace_last(*state_, "last_export", "images, folder", application, exported.images,
               exported.folder);
}

}  // namespace respike
