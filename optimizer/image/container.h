#pragma once
// The functions that a container has to provide. One folder per container: elf/, pe/, ecoff/.
//
// image.h has the functions that callers use. Each finds the container, by the first bytes of the
// file in container.cc's table or by Image::container, and passes the call on.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "optimizer/image/image.h"
#include "optimizer/image/image_rules.h"

namespace respike {

struct NewDebugFile;  // debug_file.h
struct NewImports;    // imports.h

struct Container {
  std::string_view name;   // as in messages
  std::string_view magic;  // the first bytes of its files

  Image (*read)(std::span<const uint8_t> file, const std::string& name);
  void (*require_rewritable)(const Image& image);  // as in image.h, without the check of
                                                   // is_instrumented()
  void (*require_room_for_initializer)(const Image& image);
  AddedSegment (*plan_added_segment)(const Image& image, const AddedMemory& memory);
  std::vector<uint8_t> (*write)(const Image& input, const NewImage& output);
  uint16_t (*relocation_number)(MachineId machine, RelocationRole role);
  std::span<const ImageRule> (*loader_rules)();
  std::span<const uint8_t> (*unpack)(const Section& section, std::vector<uint8_t>& storage);
  std::vector<uint8_t> (*pack)(const Section& section, std::vector<uint8_t> contents);
  std::vector<uint8_t> (*write_debug_file)(const Image& debug, const NewDebugFile& changes,
                                           const Image& output);
  std::vector<NewImage::MovedSection> (*grow_dynamic_tables)(const Image& image,
                                                             std::vector<Symbol>& symbols,
                                                             uint64_t address);
  // As in imports.h; nullptr: the container has no tables of imports.
  std::vector<std::pair<uint64_t, std::string_view>> (*import_slots)(const Image& image) = nullptr;
  NewImports (*add_imports)(const Image& image, std::string_view library,
                            std::span<const std::string_view> functions,
                            uint64_t address) = nullptr;
  // The file with contents of sections as they were before the image was bound to other images;
  // nullptr: the file was never bound.
  std::shared_ptr<const std::vector<uint8_t>> (*unbound)(const Image& image) = nullptr;
};

namespace elf {
extern const Container container;
}
namespace pe {
extern const Container container;
}
namespace ecoff {
extern const Container container;
}

}  // namespace respike
