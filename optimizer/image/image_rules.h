#pragma once
// Rules that loaders, unwinders and debuggers rely on, and that only their sources state.
//
// Each rule is a small function with its source: rules of loaders are with their container
// (elf/loader_rules.cc), rules of unwinders with their formats (unwind/). check/broken_rules.h
// looks at all rules.

#include <optional>
#include <span>
#include <string>

#include "optimizer/image/image.h"

namespace respike {

struct ImageRule {
  const char* name;  // for tests
  /// What breaks the rule, in one sentence without a full stop; nullopt where it holds.
  std::optional<std::string> (*violation)(const Image& image);
};

/// What the kernel and the dynamic linker assume of images in its container.
std::span<const ImageRule> loader_rules(const Image& image);

}  // namespace respike
