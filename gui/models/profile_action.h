#pragma once
// What a user can have done with profiles: the commands `profile merge` and `profile match`.

#include <memory>
#include <vector>

#include "gui/models/action.h"
#include "gui/models/profile_tables.h"

namespace respike::gui {

struct WeightedSource {
  ProfileSource source;
  double weight = 1;  // counts are multiplied by it: finite, from 0 on
};

/// Adds up profiles, in terms of the build of the last one, and writes the sum to a file.
Action merge_action(const std::vector<WeightedSource>& inputs, const QString& output);

/// Carries a profile over to an image. `answer` gets what was lost. `output`: the file to write the
/// profile to; empty: none.
Action match_action(const ProfileSource& source, const QString& image, const QString& output,
                    std::shared_ptr<LossAnswer> answer);

}  // namespace respike::gui
