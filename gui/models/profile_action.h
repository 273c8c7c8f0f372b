#pragma once
// Actions on profiles: the commands `profile merge` and `profile match`.

#include <memory>
#include <vector>

#include "gui/models/action.h"
#include "gui/models/profile_tables.h"

namespace respike::gui {

struct WeightedSource {
  ProfileSource source;
  double weight = 1;  // factor for the counts: finite, at least 0
};

/// Adds up profiles for the build of the last one, and writes the sum to a file.
Action merge_action(const std::vector<WeightedSource>& inputs, const QString& output);

/// Carries a profile over to an image. `answer` gets the losses. `output`: the file to write the
/// profile to; empty: none.
Action match_action(const ProfileSource& source, const QString& image, const QString& output,
                    std::shared_ptr<LossAnswer> answer);

}  // namespace respike::gui
