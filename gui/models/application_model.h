#pragma once
// The tree of applications and their images.

#include <QAbstractItemModel>

#include <map>
#include <string>
#include <vector>

#include "applications/life.h"

namespace respike::gui {

/// Rows: applications by name; below each its images, the programs first. When a new list differs
/// only in the contents of cells, rows stay, and so do selections and open branches.
class ApplicationModel : public QAbstractItemModel {
  Q_OBJECT

 public:
  enum Column { name, mode, state, profile, age, gain, builds, machine, column_count };
  enum Role {
    application_role = Qt::UserRole,  // QString: the application's name
    image_role,                       // QString: the image's path; empty: the row is an application
    sort_role                         // the value by which columns are sorted
  };

  using QAbstractItemModel::QAbstractItemModel;

  void set(std::vector<ApplicationView> applications);
  /// The index of an application, or of one of its images by path; invalid when there is none.
  QModelIndex find(const QString& application, const QString& image = {}) const;

  QModelIndex index(int row, int column, const QModelIndex& parent = {}) const override;
  QModelIndex parent(const QModelIndex& index) const override;
  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;
  Qt::ItemFlags flags(const QModelIndex& index) const override;

 private:
  QVariant application_data(const ApplicationView& view, int column, int role) const;
  QVariant image_data(const ApplicationView& application, const ImageView& view, int column,
                      int role) const;
  void set_images(int row, const ApplicationView& now);
  int row_of(quintptr number) const;

  std::vector<ApplicationView> applications_;
  std::map<std::string, Life> lives_;  // by application
  std::vector<quintptr> numbers_;      // numbers of the applications; a number is never reused
  quintptr last_number_ = 0;
};

}  // namespace respike::gui
