// What was done last with an application.
//
// Example: the last run that counted read big.sql, so a window offers big.sql for the next one.

#include "profiledb/database_state.h"

namespace respike {
namespace {

// In the order of CheckResult.
constexpr std::string_view kResultNames[] = {"faster", "same", "slower", "differs", "unclear"};

/// Removes what `table` has of an application.
void forget_last(soci::session& sql, const char* table, Id application) {
  change(sql, std::string("delete from ") + table + " where application = :application",
         application);
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
  state_->write([&](soci::session& sql) {
    state_->require("application", application);
    forget_last(sql, "last_run", application);
    const int64_t now = current_time();
    change(sql,
           "insert into last_run (application, arguments, folder, input, noted) values "
           "(:application, :arguments, :folder, :input, :noted)",
           application, run.arguments, run.folder, run.input, now);
  });
}

void Database::put_last(Id application, const LastCheck& check) {
  state_->write([&](soci::session& sql) {
    state_->require("application", application);
    forget_last(sql, "last_check", application);
    const int64_t now = current_time();
    const std::string result(kResultNames[static_cast<size_t>(check.result)]);
    change(sql,
           "insert into last_check (application, images, result, verdict, gain, noted) values "
           "(:application, :images, :result, :verdict, :gain, :noted)",
           application, check.images, result, check.verdict, check.gain, now);
  });
}

void Database::put_last(Id application, const LastExport& exported) {
  state_->write([&](soci::session& sql) {
    state_->require("application", application);
    forget_last(sql, "last_export", application);
    const int64_t now = current_time();
    change(sql,
           "insert into last_export (application, images, folder, noted) values (:application, "
           ":images, :folder, :noted)",
           application, exported.images, exported.folder, now);
  });
}

}  // namespace respike
