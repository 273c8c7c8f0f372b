// ELF as a container: where the functions of ../container.h are.

#include "optimizer/image/container.h"

#include "optimizer/image/elf/elf.h"
#include "optimizer/image/elf/layout.h"
#include "optimizer/image/elf/loader_rules.h"
#include "optimizer/image/elf/relocation_roles.h"

namespace respike {

constinit const Container elf::container = {
    .name = "ELF",
    .magic = {llvm::ELF::ElfMagic, 4},
    .read = read,
    .require_rewritable = require_rewritable,
    .require_room_for_initializer = require_room_for_initializer,
    .plan_added_segment =
        [](const Image& image, const AddedMemory& memory) {
          return plan_segment(image, memory).where;
        },
    .write = write,
    .relocation_number = relocation_number,
    .loader_rules = loader_rules,
    .unpack = unpack,
    .pack = pack,
    .write_debug_file = write_debug_file,
    .grow_dynamic_tables = grow_dynamic_tables,
};

}  // namespace respike
