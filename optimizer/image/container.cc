// The table of containers, and the functions of image.h that use it.
//
// Example: a file that starts with "\177ELF" is read by the folder elf/. The reader puts its
// container into the Image, so that write_image() knows who writes the output.

#include "optimizer/image/container.h"

#include <fmt/format.h>
#include <llvm/Support/MemoryBuffer.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <system_error>

#include "optimizer/base/file_kind.h"
#include "optimizer/image/debug_file.h"
#include "optimizer/image/dynamic_tables.h"
#include "optimizer/image/imports.h"
#include "optimizer/image/provenance.h"

namespace respike {
namespace {

constexpr const Container* kContainers[] = {&elf::container, &pe::container, &ecoff::container};

/// The names of all containers: "ELF, PE or ECOFF".
std::string names_of_containers() {
  std::string names;
  for (const Container* container : kContainers)
    names += fmt::format("{}{}",
                         container == kContainers[0]              ? ""
                         : container == std::end(kContainers)[-1] ? " or "
                                                                  : ", ",
                         container->name);
  return names;
}

const Container& container_of(std::span<const uint8_t> file, const std::string& name) {
  if (file.empty()) throw Error("the file is empty", name);
  const auto known = std::ranges::find_if(kContainers, [&](const Container* container) {
    const std::string_view magic = container->magic;
    return file.size() >= magic.size() && std::ranges::equal(magic, file.first(magic.size()), {},
                                                             [](char c) { return uint8_t(c); });
  });
  if (known != std::end(kContainers)) return **known;
  const std::string_view kind = kind_of_file(file);
  throw Error(kind.empty() ? fmt::format("this is not an {} file", names_of_containers())
                           : fmt::format("it is {}, not an {} file", kind, names_of_containers()),
              name);
}

/// Shows the contents of sections as they were before the image was bound to others. Returns data
/// that must live as long as the image.
std::shared_ptr<const void> unbind(Image& image) {
  if (image.container->unbound == nullptr) return nullptr;
  const auto file = image.container->unbound(image);
  if (file == nullptr) return nullptr;
  for (Section& section : image.sections)
    if (!section.contents.empty())
      section.contents = std::span(*file).subspan(section.offset, section.contents.size());
  return file;
}

Image read_owned(std::span<const uint8_t> bytes, const std::string& name,
                 std::shared_ptr<const void> storage) {
  Image image = container_of(bytes, name).read(bytes, name);
  std::shared_ptr<const void> unbound = unbind(image);
  image.own(std::make_shared<const std::array<std::shared_ptr<const void>, 2>>(
      std::array{std::move(storage), std::move(unbound)}));
  return image;
}

}  // namespace

Image read_image(const std::filesystem::path& path) {
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found)
    throw Error("the file does not exist", path.string());
  if (std::filesystem::is_directory(status))
    throw Error("this is a directory, not an image", path.string());
  if (!error && !std::filesystem::is_regular_file(status))
    throw Error("this is not a regular file", path.string());
  auto buffer = llvm::MemoryBuffer::getFile(path.string(), /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    throw Error("the file cannot be read: " + buffer.getError().message(), path.string());
  const std::shared_ptr<llvm::MemoryBuffer> storage = std::move(*buffer);
  const auto* data = reinterpret_cast<const uint8_t*>(storage->getBufferStart());
  return read_owned({data, storage->getBufferSize()}, path.string(), storage);
}

Image read_image(std::vector<uint8_t> bytes, const std::string& name) {
  const auto storage = std::make_shared<const std::vector<uint8_t>>(std::move(bytes));
  return read_owned(*storage, name, storage);
}

Image view_image(std::span<const uint8_t> bytes, const std::string& name) {
  Image image = container_of(bytes, name).read(bytes, name);
  image.own(unbind(image));
  return image;
}

void require_rewritable(const Image& image) {
  if (is_instrumented(image))
    throw Error("this is an instrumented image; use the image it was made from", image.path);
  image.container->require_rewritable(image);
}

void require_room_for_initializer(const Image& image) {
  image.container->require_room_for_initializer(image);
}

std::span<const uint8_t> unpacked_contents(const Image& image, const Section& section,
                                           std::vector<uint8_t>& storage) {
  return image.container->unpack(section, storage);
}

std::vector<uint8_t> packed_contents(const Image& image, const Section& section,
                                     std::vector<uint8_t> contents) {
  return image.container->pack(section, std::move(contents));
}

std::vector<uint8_t> write_debug_file(const Image& debug, const NewDebugFile& changes,
                                      const Image& output) {
  return output.container->write_debug_file(debug, changes, output);
}

std::vector<NewImage::MovedSection> grow_dynamic_tables(const Image& image,
                                                        std::vector<Symbol>& symbols,
                                                        uint64_t address) {
  return image.container->grow_dynamic_tables(image, symbols, address);
}

std::vector<std::pair<uint64_t, std::string_view>> import_slots(const Image& image) {
  const auto slots = image.container == nullptr ? nullptr : image.container->import_slots;
  if (slots == nullptr) return {};
  return slots(image);
}

NewImports add_imports(const Image& image, std::string_view library,
                       std::span<const std::string_view> functions, uint64_t address) {
  if (image.container->add_imports == nullptr)
    throw Error("its container has no tables of imports", image.path);
  return image.container->add_imports(image, library, functions, address);
}

AddedSegment plan_added_segment(const Image& image, const AddedMemory& memory) {
  return image.container->plan_added_segment(image, memory);
}

std::vector<uint8_t> write_image(const Image& input, const NewImage& output) {
  return input.container->write(input, output);
}

uint16_t relocation_number(const Image& image, RelocationRole role) {
  return image.container->relocation_number(image.machine, role);
}

std::span<const ImageRule> loader_rules(const Image& image) {
  return image.container->loader_rules();
}

}  // namespace respike
