// Example: the line "\tx = 1;" is read as "        x = 1;".

#include "views/source_text.h"

#include <cstdint>
#include <filesystem>
#include <fstream>

namespace respike {
namespace {

constexpr uintmax_t kLargestSource = 1 << 26;  // bytes

std::string without_tabs(const std::string& line) {
  std::string text;
  for (const char c : line) {
    if (c == '\t')
      text.append(8 - text.size() % 8, ' ');
    else
      text += c;
  }
  return text;
}

}  // namespace

std::optional<std::vector<std::string>> read_source(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error) ||
      std::filesystem::file_size(path, error) > kLargestSource || error)
    return std::nullopt;
  std::ifstream file(path);
  if (!file) return std::nullopt;
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);) lines.push_back(without_tabs(line));
  return lines;
}

}  // namespace respike
