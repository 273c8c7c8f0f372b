// Writes an image again as a rewriting without changes that keeps no relocations. The writer then
// leaves out the relocation sections, and everything else stays. Example: .rela.text of a library
// linked with --emit-relocs is dropped, .rela.dyn, which the dynamic linker reads, stays.

#include "optimizer/image/without_relocations.h"

#include "optimizer/image/container.h"

namespace respike {

std::vector<uint8_t> without_relocations(const Image& image) {
  // Relocations of other containers are for their loaders.
  if (image.container != &elf::container || image.relocations.empty())
    return {image.file.begin(), image.file.end()};
  NewImage output;  // has no relocations
  output.contents.assign(image.file.begin(), image.file.end());
  output.entry = image.entry;
  return write_image(image, output);
}

}  // namespace respike
