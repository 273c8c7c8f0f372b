#pragma once
// Profiles as tables: `respike profile show`, two profiles side by side, and the losses of a
// profile that was carried over.

#include <memory>
#include <vector>

#include "applications/environment.h"
#include "gui/models/cell_model.h"
#include "gui/models/profile_source.h"
#include "optimizer/profile/matching/carried_profile.h"
#include "views/profile_figures.h"

namespace respike::gui {

// ---- one profile ----

struct ProfileContent {
  std::shared_ptr<const Profile> profile;
  ProfileFigures figures;
  ProcedureNames names;
  std::vector<const ProcedureProfile*> procedures;  // procedures of `profile`; rows of the next
                                                    // member
  std::shared_ptr<const CellRows> rows;
};

inline constexpr TableModel::Title kProfileProcedureTitles[] = {
    {"Share", "Share of all executed instructions of the profile"},
    {"Instructions", "Instructions that the procedure itself executed"},
    {"Entries", "How often control came in other than by a call's return"},
    {"Exact", "no: a call did not return, and it is not known which one"},
    {"Blocks", "Basic blocks"},
    {"Address", "In the original image"},
    {"Signature", "Hash of the flow graph: the same in builds in which the graph is the same"},
    {"Procedure", "Name, by the symbol table"}};
inline constexpr TableModel::Title kProfileBlockTitles[] = {
    {"Block", "Number of the basic block in its procedure"},
    {"Address", "In the original image"},
    {"Bytes", "In the original image"},
    {"Instructions", "In the original image"},
    {"Count", "How often the block ran"},
    {"Goes on to", "The blocks that ran next, each with how often, and calls"}};
inline constexpr TableModel::Title kProfileWayTitles[] = {
    {"Kind", "How control goes on: edges, calls, and targets of jumps and calls by pointer"},
    {"From", "Address of the block that control leaves"},
    {"To", "Address of the block or procedure that control comes to; 0: not known, or outside"},
    {"Count", "How often; of a target: how often control went there after it went elsewhere"},
    {"Name", "Of the procedure that control comes to"}};

/// Asked in the background (Manager::ask), as are the other functions that take an Environment.
ProfileContent read_profile_content(Environment& environment, const ProfileSource& source);
/// "words, build id ..., hash ..., 2 runs. 120 procedures, ..."
QString summary_of(const ProfileContent& content);
std::shared_ptr<const CellRows> block_cells(const ProcedureProfile& procedure,
                                            const ProcedureNames& names);
std::shared_ptr<const CellRows> way_cells(const ProcedureProfile& procedure,
                                          const ProcedureNames& names);

// ---- two profiles ----

inline constexpr TableModel::Title kDifferenceTitles[] = {
    {"In A", "Instructions that the procedure executed in profile A"},
    {"In B", "Instructions that the procedure executed in profile B"},
    {"Change", "From A to B, in executed instructions; sorted by its size"},
    {"Share in A", "Share of all executed instructions of profile A"},
    {"Share in B", "Share of all executed instructions of profile B"},
    {"Points", "From share to share, in percentage points; sorted by its size"},
    {"Entries in A", "How often control came in other than by a call's return, in profile A"},
    {"Entries in B", "How often control came in other than by a call's return, in profile B"},
    {"Procedure", "Name in A, or in B if only B has the procedure"},
    {"Partner", "The name in B if B has another one; or which profile alone has the procedure"}};

/// A build that was counted itself is taken without the counts carried over from older builds.
std::shared_ptr<const CellRows> read_differences(Environment& environment, const ProfileSource& a,
                                                 const ProfileSource& b);

// ---- a profile carried over ----

struct LossAnswer {
  QString summary;        // empty: no older build was counted
  double confidence = 0;  // share of the executed instructions that was found again with certainty
  QString most_lost;  // the procedure that lost most, with its loss and the reason; may be empty
  std::shared_ptr<const CellRows> rows = std::make_shared<CellRows>();
};

inline constexpr TableModel::Title kLossTitles[] = {
    {"Lost", "Share of all executed instructions that found no sure place in the newer build"},
    {"Share", "Share of all instructions that the older build executed"},
    {"Instructions", "Instructions that the procedure executed in the older build"},
    {"Confidence", "How surely the procedure's instructions were found again"},
    {"Why", "What differs between the procedure and its partner in the newer build"},
    {"Address", "In the older build"},
    {"Address now", "Of its partner in the newer build"},
    {"Procedure", "Name in the older build"},
    {"Name now", "Of its partner in the newer build; empty: there is none"}};

/// The losses of the older build's profile in the build `build`.
LossAnswer read_losses(Environment& environment, Id build);
LossAnswer losses_of(const QString& title, const Profile& before, const MatchResult& match);

}  // namespace respike::gui
