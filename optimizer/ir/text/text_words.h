#pragma once
// Words and numbers of the lines of the text form; private to this folder. All functions throw
// Error without a line number, which the parser adds.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace respike::text {

[[noreturn]] void fail(std::string_view message);

/// The text without white space at either end.
std::string_view trim(std::string_view text);

/// The line without its comment; `//` inside a quoted string is text.
std::string_view without_comment(std::string_view line);

/// The bytes that pairs of hexadecimal digits encode.
std::vector<uint8_t> bytes(std::string_view hex);

/// A decimal or 0x hexadecimal number that T can hold, or nullopt.
template <typename T>
std::optional<T> try_number(std::string_view text) {
  bool negative = false;
  if constexpr (std::is_signed_v<T>) {
    if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
      negative = text[0] == '-';
      text.remove_prefix(1);
    }
  }
  int base = 10;
  if (text.substr(0, 2) == "0x") {
    base = 16;
    text.remove_prefix(2);
  }
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  const uint64_t limit = static_cast<uint64_t>(std::numeric_limits<T>::max()) + negative;
  if (value > limit) return std::nullopt;
  return static_cast<T>(negative ? 0 - value : value);
}

template <typename T>
T number(std::string_view text) {
  const auto value = try_number<T>(text);
  if (!value) fail(fmt::format("'{}' is not a number in range", text));
  return *value;
}

/// The enumerator whose name is `word`.
template <typename Enum, size_t N>
Enum named(const std::array<std::string_view, N>& names, std::string_view word) {
  const auto found = std::find(names.begin(), names.end(), word);
  if (found == names.end()) fail(fmt::format("'{}' is not known here", word));
  return static_cast<Enum>(found - names.begin());
}

/// The words of one line: `word`, `key=value`, and quoted strings, which may follow a `key=`.
class Words {
 public:
  explicit Words(std::string_view line) : rest_(trim(line)) {}

  bool at_end() const { return rest_.empty(); }
  std::string_view peek() const { return rest_.substr(0, rest_.find_first_of(" \t")); }
  std::string_view next() {
    if (at_end()) fail("the line ends too early");
    const std::string_view word = peek();
    rest_ = trim(rest_.substr(word.size()));
    return word;
  }
  template <typename T>
  T next_number() {
    return number<T>(next());
  }
  /// Takes the next word if it is `word`.
  bool take(std::string_view word) {
    if (at_end() || peek() != word) return false;
    next();
    return true;
  }
  /// Takes the next word if it is `key=...` and puts the text after the sign into `value`.
  bool take_value(std::string_view key, std::string_view& value) {
    if (!starts_with_key(key)) return false;
    value = next().substr(key.size() + 1);
    return true;
  }
  template <typename T>
  bool take_number(std::string_view key, T& value) {
    std::string_view text;
    if (!take_value(key, text)) return false;
    value = number<T>(text);
    return true;
  }
  bool take_bytes(std::string_view key, std::vector<uint8_t>& value) {
    std::string_view text;
    if (!take_value(key, text)) return false;
    value = bytes(text);
    return true;
  }
  bool take_string(std::string_view key, std::string& value) {
    if (!starts_with_key(key)) return false;
    rest_.remove_prefix(key.size() + 1);
    value = quoted();
    return true;
  }
  std::string quoted();
  void expect_end() const {
    if (!at_end()) fail(fmt::format("'{}' is not known here", peek()));
  }

 private:
  bool starts_with_key(std::string_view key) const {
    return rest_.size() > key.size() && rest_.substr(0, key.size()) == key &&
           rest_[key.size()] == '=';
  }

  std::string_view rest_;
};

}  // namespace respike::text
