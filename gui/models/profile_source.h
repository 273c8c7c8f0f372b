#pragma once
// Profiles to choose from: of an application's builds, from the database, and of files.

#include <QString>

#include <memory>
#include <string>
#include <vector>

#include "applications/environment.h"
#include "gui/models/cell_model.h"
#include "optimizer/profile/profile.h"

namespace respike::gui {

/// Where a profile is kept.
struct ProfileSource {
  std::string file;  // empty: the database has the profile
  Id build = 0;      // of the database
  QString name;      // "libwords.so, build 2 (now)", or the file

  bool is_file() const { return !file.empty(); }
  bool operator==(const ProfileSource&) const = default;
};

/// A profile as a line of a list.
struct ProfileLine {
  ProfileSource source;
  QString image;  // path
  double runs = 0;
  uint64_t procedures = 0, entered = 0;
  QString carried;       // "3 runs of older builds, confidence 0.95"; empty: none
  bool present = false;  // of the build that the image's file has now
};

/// Profiles of an application's builds, the oldest build of an image first; only builds for which
/// the build or an older one was counted. Asked in the background (Manager::ask), as are the next
/// two.
std::vector<ProfileLine> read_build_profiles(Environment& environment,
                                             const std::string& application);
/// Throws Error when the file is not a profile.
ProfileLine read_profile_line(const std::string& file);
/// Throws Error when the file is not a profile, or when the build is gone.
Profile read_profile_of(Environment& environment, const ProfileSource& source);

inline constexpr TableModel::Title kProfileLineTitles[] = {
    {"Profile", "The image and the build that were counted, or the file of the profile"},
    {"Runs", "Runs that were counted, by their weights"},
    {"Procedures", "Procedures of the build; of a file, those that the profile holds"},
    {"Entered", "Procedures that ran"},
    {"From older builds", "Counts of older builds that were carried over, and how surely they fit"},
    {"Image", "The file of the image"}};
std::shared_ptr<const CellRows> line_cells(const std::vector<ProfileLine>& lines);

}  // namespace respike::gui
