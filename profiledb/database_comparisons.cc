// Comparisons of a build's image with images that were optimized from it.
//
// Example: comparisons of builds 3 and 4 with one workload show whether build 4 gained less.

#include "profiledb/database_state.h"

namespace respike {
namespace {

constexpr std::string_view kFigureKinds[] = {"figure", "cycles"};

void add_numbers(soci::session& sql, Id comparison, std::string_view kind,
                 const std::vector<ComparedNumber>& numbers, int& ordinal) {
  const std::string name(kind);
  for (const ComparedNumber& number : numbers) {
    change(sql,
           "insert into compared_number (comparison, ordinal, kind, name, original, optimized) "
           "values (:comparison, :ordinal, :kind, :name, :original, :optimized)",
           comparison, ordinal, name, number.name, to_column(number.original),
           to_column(number.optimized));
    ++ordinal;
  }
}

void read_numbers(soci::session& sql, ComparisonRow& row) {
  std::string kind;
  ComparedNumber number;
  long long original = 0, optimized = 0;
  for_each_row(sql,
               "select kind, name, original, optimized from compared_number where comparison = "
               ":comparison order by ordinal",
               std::tie(row.id), std::tie(kind, number.name, original, optimized), [&] {
                 number.original = from_column(original);
                 number.optimized = from_column(optimized);
                 (kind == kFigureKinds[0] ? row.figures : row.cycles).push_back(number);
               });
}

}  // namespace

Id Database::add_comparison(Id build, const ComparisonFacts& facts) {
  return state_->write([&](soci::session& sql) {
    state_->require("build", build);
    const Id id = state_->next_id("comparison");
    const int64_t now = current_time();
    const std::string content = facts.optimized.hex();
    change(sql,
           "insert into comparison (id, build, optimized_hash, options, workload, model, "
           "difference, made) values (:id, :build, :content, :options, :workload, :model, "
           ":difference, :now)",
           id, build, content, facts.options, facts.workload, facts.model, facts.difference, now);
    int ordinal = 0;
    add_numbers(sql, id, kFigureKinds[0], facts.figures, ordinal);
    add_numbers(sql, id, kFigureKinds[1], facts.cycles, ordinal);
    return id;
  });
}

std::vector<ComparisonRow> Database::comparisons(Id image) const {
  return state_->read([&](soci::session& sql) {
    std::vector<ComparisonRow> rows;
    ComparisonRow row;
    std::string content;
    int number = 0;
    for_each_row(sql,
                 "select comparison.id, build.id, build.number, optimized_hash, options, workload, "
                 "model, difference, made from comparison join build on build.id = "
                 "comparison.build where build.image = :image order by comparison.id desc",
                 std::tie(image),
                 std::tie(row.id, row.build, number, content, row.options, row.workload, row.model,
                          row.difference, row.made),
                 [&] {
                   row.build_number = static_cast<uint32_t>(number);
                   row.optimized = state_->hash_of(content);
                   rows.push_back(row);
                 });
    for (ComparisonRow& each : rows) read_numbers(sql, each);
    return rows;
  });
}

void Database::remove_comparison(Id comparison) {
  state_->write([&](soci::session& sql) {
    change(sql, "delete from comparison where id = :id", comparison);
  });
}

}  // namespace respike
