// What `respike image info` shows of an image: the container's own facts (format, kind, build ID),
// the machine, and the summary of the lifted program. A PE image also gets its linkage, which is
// read from the file again.
//
// Example: an x86-64 program linked with -pie is "position-independent executable"; one linked with
// -static and -no-pie is "static executable".

#include "views/image_info.h"

#include "optimizer/image/image.h"
#include "optimizer/image/loader_view.h"
#include "optimizer/machine/machine.h"

namespace respike {
namespace {

const char* kind_name(const Image& image) {
  switch (image.kind) {
    case Image::Kind::executable:
      return image.dynamic ? "dynamic executable" : "static executable";
    case Image::Kind::pie:
      return "position-independent executable";
    case Image::Kind::shared_library:
      return "shared library";
  }
  return "";
}

}  // namespace

ImageInfo describe_image(const Program& program) {
  const Image& image = *program.image;
  std::optional<pe::Linkage> linkage;
  if (pe::is_pe(image.file)) linkage = pe::read_linkage(image.file, image.path);
  return {.format = image.format,
          .kind = kind_name(image),
          .machine = std::string(program.machine->name),
          .build_id = image.build_id,
          .summary = summarize(program),
          .linkage = std::move(linkage)};
}

}  // namespace respike
