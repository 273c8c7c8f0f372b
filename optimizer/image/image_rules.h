#pragma once
// Rules that loaders, unwinders and debuggers rely on, and that nothing but their sources says.
//
// Each rule is a small function with its source; see elf/loader_rules.cc and unwinder_rules.cc.
// They are checked on every output, so that a rewriter cannot break one unnoticed.

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
/// What libgcc's unwinders assume.
std::span<const ImageRule> unwinder_rules();

/// The first rule that `after` breaks and `before` does not, in one sentence; nullopt when there is
/// none. An input may break a rule: then nobody relied on it. Time is linear in the tables' sizes.
std::optional<std::string> find_broken_rule(const Image& before, const Image& after);

}  // namespace respike
