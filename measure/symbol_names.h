#pragma once
// Names of procedures from the symbols of an image, whether or not Respike can rewrite the image.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "optimizer/image/image.h"

namespace respike::measure {

class SymbolNames {
 public:
  /// `image` need not outlive this object.
  explicit SymbolNames(const Image& image);

  /// The procedure that holds the code at an offset of the file. Without a symbol, the section's
  /// name; without a section, "code without a name".
  std::string at(uint64_t offset) const;
  /// The link-time address of an offset of the file; nullopt when the offset is not loaded.
  std::optional<uint64_t> address_of(uint64_t offset) const;

 private:
  struct Named {
    uint64_t end = 0;
    std::string name;
  };
  struct Loaded {
    uint64_t offset = 0, size = 0, address = 0;
  };
  std::vector<Loaded> segments_;
  std::map<uint64_t, Named> procedures_, sections_;  // by address
};

/// The symbols of images by path, each read once.
class SymbolsOfImages {
 public:
  std::string operator()(const std::string& image, uint64_t offset);

 private:
  std::map<std::string, std::shared_ptr<const SymbolNames>> images_;  // null: the image cannot be
                                                                      // read
};

}  // namespace respike::measure
