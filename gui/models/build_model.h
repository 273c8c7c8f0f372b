#pragma once
// Tables of an image: its builds, and the procedures of it that are left alone.

#include <QAbstractTableModel>

#include <vector>

#include "environment/environment.h"
#include "environment/image_info.h"

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

class BuildModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column {
    number,
    first_seen,
    runs,
    entered,
    older,
    confidence,
    made,
    build_id,
    column_count
  };

  using QAbstractTableModel::QAbstractTableModel;

  void set(std::vector<BuildLine> builds);
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  std::vector<BuildLine> builds_;
};

/// Opaque procedures, then pinned ones, each with its reason.
class LeftAloneModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  enum Column { name, state, reason, column_count };

  using QAbstractTableModel::QAbstractTableModel;

  void set(const ProgramSummary& summary);
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  struct Row {
    ProcedureNote note;
    bool opaque = false;
  };
  std::vector<Row> rows_;
};

}  // namespace respike::gui
