#pragma once
// Rules by which the kernel executes files through interpreters (binfmt_misc).

#include <optional>
#include <string>
#include <vector>

#include "host/platform.h"

namespace respike {

/// A rule for files that start with certain bytes, or whose names end in an extension.
struct FormatRule {
  std::string name;
  std::string interpreter;
  std::string flags;      // as binfmt_misc has them: "POF"
  unsigned offset = 0;    // offset of `magic` in the file
  std::string magic;      // bytes; empty: by extension
  std::string mask;       // mask of the magic; empty: all bits count
  std::string extension;  // without the dot
};

/// How many bytes of a file the kernel compares.
inline constexpr size_t kMagicSize = 256;

/// Prefix of the names of interception rules (interception.h).
inline constexpr const char* kInterceptionRules = "respike-start-";

/// The rules that hold for this process, newest first: the kernel tries them in this order.
std::vector<FormatRule> format_rules();

/// Whether one of the rules is for programs of the machine.
bool are_executed(const Platform& platform, const std::vector<FormatRule>& rules);

/// The rule by which respike-emulate runs the programs of a machine; nullopt when it is missing.
std::optional<FormatRule> emulation_rule(const Platform& platform);

/// Whether one of the rules intercepts programs.
bool is_intercepted(const std::vector<FormatRule>& rules);

/// The rules without those that intercept programs. emulation_rule() then starts the programs of
/// other machines that such a rule started.
std::vector<FormatRule> without_interception(std::vector<FormatRule> rules);

/// Gives the user namespace of this process rules of its own; at first it has none. False, with
/// errno, when the kernel refuses to.
bool mount_formats();
/// Adds a rule. False, with errno, when the kernel refuses the rule.
bool add_format(const FormatRule& rule);
void remove_format(const std::string& name);

}  // namespace respike
