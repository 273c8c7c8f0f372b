// Example: for a profile in which `main` executed 300 of 1,000 instructions, the first table has
// the row 30.00%, 300, 1, yes, main.

#include "gui/models/profile_tables.h"

#include "optimizer/base/number_text.h"
#include "views/profile_differences.h"
#include "views/profile_losses.h"

namespace respike::gui {
namespace {

double share(double part, double whole) {
  return whole == 0 ? 0 : part / whole;
}

std::shared_ptr<const CellRows> procedure_cells(const ProfileContent& content) {
  auto rows = std::make_shared<CellRows>();
  for (const ProcedureProfile* procedure : content.procedures) {
    const uint64_t instructions = procedure->instructions();
    rows->push_back({share_cell(share(double(instructions), double(content.figures.instructions))),
                     count_cell(instructions), count_cell(procedure->entries()),
                     text_cell(procedure->exact ? "yes" : "no"),
                     count_cell(procedure->blocks.size()), address_cell(procedure->address),
                     hash_cell(procedure->signature), text_cell(procedure->name)});
  }
  return rows;
}

/// The profile without counts carried over from older builds, if it has other counts.
Profile read_own(Environment& environment, const ProfileSource& source) {
  if (source.is_file() || environment.database().summary(source.build).runs == 0)
    return read_profile_of(environment, source);
  return environment.database().profile(source.build, {.carried_weight = 0});
}

}  // namespace

// ---- one profile ----

ProfileContent read_profile_content(Environment& environment, const ProfileSource& source) {
  ProfileContent content;
  content.profile = std::make_shared<const Profile>(read_profile_of(environment, source));
  content.figures = figures_of(*content.profile);
  content.names = names_by_address(*content.profile);
  content.procedures = hottest_first(*content.profile, {}, source.file);
  content.rows = procedure_cells(content);
  return content;
}

QString summary_of(const ProfileContent& content) {
  const Profile& profile = *content.profile;
  const ProfileFigures& figures = content.figures;
  const QString id = profile.image_build_id.empty()
                         ? QString()
                         : ", build id " + QString::fromStdString(profile.image_build_id);
  return QString(
             "%1%2, hash %3. Runs: %4. %5 procedures, %6 executed, %7 not exact. %8 "
             "instructions executed.")
      .arg(QString::fromStdString(profile.image_path), id,
           QString::number(profile.image_hash, 16).rightJustified(16, '0'),
           QString::number(profile.runs), number(figures.procedures), number(figures.entered),
           number(figures.not_exact), number(figures.instructions));
}

std::shared_ptr<const CellRows> block_cells(const ProcedureProfile& procedure,
                                            const ProcedureNames& names) {
  auto rows = std::make_shared<CellRows>();
  const std::vector<std::string> ways = ways_on(procedure, names);
  for (BlockId b = 0; b < procedure.blocks.size(); ++b) {
    const auto& block = procedure.blocks[b];
    rows->push_back({count_cell(b), address_cell(block.address), count_cell(block.size),
                     count_cell(block.instructions), count_cell(block.count), text_cell(ways[b])});
  }
  return rows;
}

std::shared_ptr<const CellRows> way_cells(const ProcedureProfile& procedure,
                                          const ProcedureNames& names) {
  auto rows = std::make_shared<CellRows>();
  const auto address = [&](BlockId block) { return procedure.blocks[block].address; };
  for (const auto& edge : procedure.edges)
    rows->push_back({text_cell(std::string(name_of(edge.kind))), address_cell(address(edge.from)),
                     address_cell(address(edge.to)), count_cell(edge.count), text_cell({})});
  for (const auto& call : procedure.calls)
    rows->push_back({text_cell("call"), address_cell(address(call.block)),
                     address_cell(call.callee), count_cell(call.count),
                     text_cell(name_or_address(names, call.callee, ""))});
  for (const auto& site : procedure.indirect)
    rows->push_back({text_cell("target"), address_cell(address(site.block)),
                     address_cell(site.target), count_cell(site.changes),
                     text_cell(name_or_address(names, site.target, ""))});
  return rows;
}

// ---- two profiles ----

std::shared_ptr<const CellRows> read_differences(Environment& environment, const ProfileSource& a,
                                                 const ProfileSource& b) {
  auto rows = std::make_shared<CellRows>();
  for (const ProcedureDifference& row :
       compare_profiles(read_own(environment, a), read_own(environment, b))) {
    const std::string partner = row.a == kNone   ? "only in B"
                                : row.b == kNone ? "only in A"
                                                 : row.other_name;
    rows->push_back({count_cell(row.instructions_a), count_cell(row.instructions_b),
                     change_cell(row.change()), share_cell(row.share_a), share_cell(row.share_b),
                     points_cell(row.share_b - row.share_a), count_cell(row.entries_a),
                     count_cell(row.entries_b), text_cell(row.name), text_cell(partner)});
  }
  return rows;
}

// ---- a profile carried over ----

LossAnswer losses_of(const QString& title, const Profile& before, const MatchResult& match) {
  LossAnswer answer;
  answer.summary =
      QString(
          "%1: %2 of %3 procedures matched; of those that ran %4 of %5, with %6 of what was "
          "executed; confidence %7.")
          .arg(title, number(match.procedures_matched), number(match.procedures_before),
               number(match.entered_matched), number(match.entered_before),
               QString::fromStdString(
                   percent(match.instructions_matched, match.instructions_before)),
               QString::fromStdString(percent(match.confidence, 1)));
  auto rows = std::make_shared<CellRows>();
  const std::vector<ProfileLoss> lost = losses(before, match);
  answer.confidence = match.confidence;
  if (!lost.empty() && lost.front().lost() > 0)
    answer.most_lost =
        QString("%1, %2: %3")
            .arg(QString::fromStdString(lost.front().before->name),
                 QString::fromStdString(percent(lost.front().lost(), match.instructions_before)),
                 QString::fromStdString(loss_reason(lost.front())));
  for (const ProfileLoss& loss : lost)
    rows->push_back({share_cell(share(loss.lost(), match.instructions_before)),
                     share_cell(share(loss.executed, match.instructions_before)),
                     count_cell(loss.before->instructions()), share_cell(loss.confidence),
                     text_cell(loss_reason(loss)), address_cell(loss.before->address),
                     loss.now == nullptr ? text_cell({}) : address_cell(loss.now->address),
                     text_cell(loss.before->name),
                     text_cell(loss.now == nullptr ? "" : loss.now->name)});
  answer.rows = std::move(rows);
  return answer;
}

LossAnswer read_losses(Environment& environment, Id build) {
  const Database& database = environment.database();
  const auto before = database.profiled_build_before(build);
  if (!before) return {};
  const Profile older = database.profile(before->id);
  const QString title =
      QString("From build %1 to build %2").arg(before->number).arg(database.build(build).number);
  return losses_of(title, older, match_profile(older, database.procedures(build)));
}

}  // namespace respike::gui
