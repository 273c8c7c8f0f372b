#pragma once
// Tables of an image: its builds, and the procedures of it that are left alone.

#include <vector>

#include "environment/environment.h"
#include "environment/image_info.h"
#include "gui/models/table_model.h"

namespace respike::gui {

struct BuildLine {
  BuildRow build;
  ProfileSummary profile;
  bool present = false;  // the image's file has this content now
  bool instrumented = false, optimized = false;
};

/// The builds of an image, newest first. Asked in the background (Manager::ask).
std::vector<BuildLine> read_builds(Environment& environment, const std::string& application,
                                   const std::string& image);

class BuildModel : public TableModel {
  Q_OBJECT

 public:
  enum Column { number, first_seen, runs, entered, older, confidence, made, build_id };

  explicit BuildModel(QObject* parent = nullptr);

  void set(std::vector<BuildLine> builds);
  QVariant data(const QModelIndex& index, int role) const override;

 protected:
  int row_count() const override { return int(builds_.size()); }

 private:
  std::vector<BuildLine> builds_;
};

/// Opaque procedures, then pinned ones, each with its reason.
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
