#include "optimizer/image/without_relocations.h"

namespace respike {

std::vector<uint8_t> without_relocations(const Image& image) {
  if (image.relocations.empty()) return {image.file.begin(), image.file.end()};
  NewImage output;  // has no relocations
  output.contents.assign(image.file.begin(), image.file.end());
  output.entry = image.entry;
  return write_image(image, output);
}

}  // namespace respike
