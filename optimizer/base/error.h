#pragma once
// The one exception of Respike. Readers and writers throw it; main, GUI slots and thread edges
// catch it.

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

namespace respike {

/// A failure that a user must hear about: one sentence, the file it concerns and, where known, the
/// byte offset in that file.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, std::string file = {},
                 std::optional<uint64_t> offset = std::nullopt)
      : std::runtime_error(format(message, file, offset)),
        file_(std::move(file)),
        offset_(offset) {}

  const std::string& file() const { return file_; }
  std::optional<uint64_t> offset() const { return offset_; }

 private:
  /// "FILE: MESSAGE (at offset 0xN)"; absent parts are left out.
  static std::string format(const std::string& message, const std::string& file,
                            std::optional<uint64_t> offset);

  std::string file_;
  std::optional<uint64_t> offset_;
};

}  // namespace respike
