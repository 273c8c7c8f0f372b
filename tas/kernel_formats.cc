// Reads and writes the kernel's table of interpreters.
//
// Each rule is a file in /proc/sys/fs/binfmt_misc that describes the rule; a line that is written
// to the file `register` adds a rule. Since Linux 6.7 a user namespace can have a table of its own,
// which replaces the system's.
//
// Source: Documentation/admin-guide/binfmt-misc.rst, fs/binfmt_misc.c. The documentation allows 127
// bytes of magic; the kernel compares all bytes that it reads of a file, 256.

#include "tas/kernel_formats.h"

#include <fmt/format.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "host/platform.h"
#include "optimizer/image/elf/program_headers.h"
#include "tas/namespaces.h"

namespace respike {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFormats = "/proc/sys/fs/binfmt_misc";
constexpr const char* kStarter = "respike-emulate";  // tas/emulate.cc

std::string bytes_of(std::string_view digits) {
  std::string bytes;
  for (size_t i = 0; i + 1 < digits.size(); i += 2) {
    unsigned byte = 0;
    std::from_chars(digits.data() + i, digits.data() + i + 2, byte, 16);
    bytes += char(byte);
  }
  return bytes;
}

/// nullopt for files that are not rules, and for rules that are switched off.
std::optional<FormatRule> read_rule(const fs::path& path) {
  std::ifstream file(path);
  FormatRule rule;
  rule.name = path.filename();
  std::string line;
  if (!std::getline(file, line) || line != "enabled") return std::nullopt;
  while (std::getline(file, line)) {
    const size_t space = std::min(line.find(' '), line.size());
    const std::string word = line.substr(0, space);
    const std::string rest = space < line.size() ? line.substr(space + 1) : "";
    if (word == "interpreter") rule.interpreter = rest;
    if (word == "flags:") rule.flags = rest;
    if (word == "offset") rule.offset = unsigned(std::strtoul(rest.c_str(), nullptr, 10));
    if (word == "magic") rule.magic = bytes_of(rest);
    if (word == "mask") rule.mask = bytes_of(rest);
    if (word == "extension") rule.extension = rest.substr(rest.starts_with('.'));
  }
  if (rule.interpreter.empty()) return std::nullopt;
  return rule;
}

template <typename Bytes>
std::string text_of(const Bytes& bytes) {
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace

std::vector<FormatRule> format_rules() {
  std::vector<FormatRule> rules;
  std::error_code error;
  std::string status;
  std::ifstream(std::string(kFormats) + "/status") >> status;
  if (status != "enabled") return rules;
  // The kernel lists files in the order of its table, newest first.
  for (const auto& entry : fs::directory_iterator(kFormats, error))
    if (auto rule = read_rule(entry.path())) rules.push_back(std::move(*rule));
  return rules;
}

bool are_executed(const Platform& platform, const std::vector<FormatRule>& rules) {
  // First bytes do not distinguish programs of Windows from programs of DOS: a user who wants to
  // execute them has configured it.
  if (platform.windows) return true;
  constexpr size_t kClassEnd = 5, kMachine = 18, kMachineEnd = 20;
  const std::string magic = text_of(elf::program_magic(platform.machine).bytes);
  return std::ranges::any_of(rules, [&](const FormatRule& rule) {
    return rule.offset == 0 && rule.magic.size() >= kMachineEnd &&
           rule.magic.compare(0, kClassEnd, magic, 0, kClassEnd) == 0 &&
           rule.magic.compare(kMachine, 2, magic, kMachine, 2) == 0;
  });
}

std::optional<FormatRule> emulation_rule(const Platform& platform) {
  if (platform.windows) return std::nullopt;
  FormatRule rule;
  rule.interpreter = own_part(kStarter);
  if (access(rule.interpreter.c_str(), X_OK) != 0) return std::nullopt;
  const elf::ProgramMagic magic = elf::program_magic(platform.machine);
  rule.name = fmt::format("respike-{}", platform.key);
  rule.magic = text_of(magic.bytes);
  rule.mask = text_of(magic.mask);
  rule.flags = "PF";  // keep argv[0]; open the interpreter now
  return rule;
}

bool is_intercepted(const std::vector<FormatRule>& rules) {
  return std::ranges::any_of(
      rules, [](const FormatRule& rule) { return rule.name.starts_with(kInterceptionRules); });
}

std::vector<FormatRule> without_interception(std::vector<FormatRule> rules) {
  const std::vector<FormatRule> all = rules;
  std::erase_if(rules, [](const FormatRule& r) { return r.name.starts_with(kInterceptionRules); });
  for (const Platform& platform : platforms())
    if (!platform.native() && are_executed(platform, all) && !are_executed(platform, rules))
      if (auto rule = emulation_rule(platform)) rules.push_back(std::move(*rule));
  return rules;
}

bool mount_formats() {
  return mount("binfmt_misc", kFormats, "binfmt_misc", 0, nullptr) == 0;
}

bool add_format(const FormatRule& rule) {
  const auto escaped = [](const std::string& bytes) {
    std::string text;
    for (const char byte : bytes) text += fmt::format("\\x{:02x}", uint8_t(byte));
    return text;
  };
  const bool by_magic = rule.extension.empty();
  constexpr char kBetween = '\x01';  // separates fields: a character that no field contains
  std::string line;
  for (const std::string& field :
       {rule.name, std::string(by_magic ? "M" : "E"),
        by_magic ? std::to_string(rule.offset) : std::string(),
        by_magic ? escaped(rule.magic) : rule.extension, escaped(rule.mask), rule.interpreter})
    line += kBetween + field;
  line += kBetween + rule.flags;
  return write_at_once(std::string(kFormats) + "/register", line);
}

void remove_format(const std::string& name) {
  write_at_once(fmt::format("{}/{}", kFormats, name), "-1");
}

}  // namespace respike
