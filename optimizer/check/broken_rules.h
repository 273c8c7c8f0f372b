#pragma once
// Rules that loaders and unwinders rely on and that only their sources state. They are checked on
// every output, so that a rewriter cannot break one unnoticed.

#include <optional>
#include <string>

#include "optimizer/image/image.h"

namespace respike {

/// The first rule of loaders (image/image_rules.h) or of unwinders (UnwindFormat::rules) that
/// `after` breaks and `before` does not, in one sentence, or nullopt. A rule that the input breaks
/// is not needed: the input works without it. Time is linear in the tables' sizes.
std::optional<std::string> find_broken_rule(const Image& before, const Image& after);

}  // namespace respike
