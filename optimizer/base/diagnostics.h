#pragma once
// Warnings that a library function wants its caller to see. The library never prints.

#include <string>
#include <utility>
#include <vector>

namespace respike {

class Diagnostics {
 public:
  void warn(std::string message) { warnings_.push_back(std::move(message)); }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  std::vector<std::string> warnings_;
};

}  // namespace respike
