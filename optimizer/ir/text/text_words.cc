// Splitting lines of the text form into words (text_words.h). Limits: one byte is one character.

#include "optimizer/ir/text/text_words.h"

#include "optimizer/base/error.h"

namespace respike::text {

[[noreturn]] void fail(std::string_view message) {
  throw Error(std::string(message));
}

std::string_view trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::string_view without_comment(std::string_view line) {
  bool quoted = false;
  for (size_t i = 0; i < line.size(); ++i) {
    if (quoted && line[i] == '\\') {
      ++i;
    } else if (line[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && line.substr(i, 2) == "//") {
      return line.substr(0, i);
    }
  }
  return line;
}

std::vector<uint8_t> bytes(std::string_view hex) {
  if (hex.size() % 2 != 0) fail("a byte has two hexadecimal digits");
  std::vector<uint8_t> result(hex.size() / 2);
  for (size_t i = 0; i < result.size(); ++i) {
    const char* digits = hex.data() + 2 * i;
    const auto [end, error] = std::from_chars(digits, digits + 2, result[i], 16);
    if (error != std::errc() || end != digits + 2)
      fail(fmt::format("'{}' is not a hexadecimal byte", std::string_view(digits, 2)));
  }
  return result;
}

std::string Words::quoted() {
  if (rest_.empty() || rest_[0] != '"') fail("a string in quotes is missing");
  std::string text;
  for (size_t i = 1; i < rest_.size(); ++i) {
    if (rest_[i] == '"') {
      rest_ = trim(rest_.substr(i + 1));
      return text;
    }
    if (rest_[i] != '\\') {
      text.push_back(rest_[i]);
    } else if (rest_.substr(i + 1, 1) == "x" && i + 3 < rest_.size()) {
      text.push_back(static_cast<char>(bytes(rest_.substr(i + 2, 2))[0]));
      i += 3;
    } else if (++i < rest_.size()) {
      text.push_back(rest_[i]);
    }
  }
  fail("a string has no end");
}

}  // namespace respike::text
