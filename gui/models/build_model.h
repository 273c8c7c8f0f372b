#pragma once
// Tables of an image: its builds, and those of its procedures that are left alone.

#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "applications/environment.h"
#include "gui/models/table_model.h"
#include "views/image_info.h"

namespace respike::gui {

/// How much of the counts of the nearest older counted build is found again in a build.
struct FoundAgain {
  uint32_t before = 0;  // number of the older build
  double share = 0;     // share of the executed instructions, found with certainty
  QString most_lost;    // LossAnswer::most_lost
};

struct BuildLine {
  BuildRow build;
  ProfileSummary profile;
  bool present = false;  // the image's file has this content now
  bool instrumented = false, optimized = false;
  std::optional<FoundAgain> found;  // nullopt: not known yet, or no older build was counted
};

/// The builds of an image, newest first. Asked in the background (Manager::ask).
std::vector<BuildLine> read_builds(Environment& environment, const std::string& application,
                                   const std::string& image);

/// Finds how much builds have of older builds. Each answer takes a match of profiles, so answers
/// are kept until the older build is counted again. For the thread of questions.
class BuildHistory {
 public:
  std::optional<FoundAgain> found(Environment& environment, Id build);

 private:
  std::map<std::tuple<Id, Id, uint64_t>, FoundAgain> known_;  // by both builds and the version of
                                                              // the older counts
};

/// When the build was first seen, in the user's locale.
QString first_seen_text(const BuildRow& build);

class BuildModel : public TableModel {
  Q_OBJECT

 public:
  enum Column { number, first_seen, runs, entered, older, confidence, made, build_id };

  explicit BuildModel(QObject* parent = nullptr);

  void set(std::vector<BuildLine> builds);
  const std::vector<BuildLine>& builds() const { return builds_; }
  void set_found(size_t row, const FoundAgain& found);
  QVariant data(const QModelIndex& index, int role) const override;

 protected:
  int row_count() const override { return int(builds_.size()); }

 private:
  std::vector<BuildLine> builds_;
};

/// Opaque procedures, then pinned procedures, each with its reason.
class LeftAloneModel : public TableModel {
  Q_OBJECT

 public:
  enum Column { name, state, reason };

  explicit LeftAloneModel(QObject* parent = nullptr);

  void set(const ProgramSummary& summary);
  QVariant data(const QModelIndex& index, int role) const override;

 protected:
  int row_count() const override { return int(rows_.size()); }

 private:
  struct Row {
    ProcedureNote note;
    bool opaque = false;
  };
  std::vector<Row> rows_;
};

}  // namespace respike::gui
