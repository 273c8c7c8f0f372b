#pragma once
// The meaning of relocations, for any container and any machine.

#include <cstdint>

namespace respike {

/// How the lifter treats a relocation. `ignored` covers all relocations that say nothing about code
/// addresses (markers of relaxation, thread-local offsets, data-only gp offsets).
enum class RelocationRole : uint8_t {
  unsupported,  // the image cannot be rewritten
  ignored,
  branch,  // direct branch or call
  hint,    // branch_hint
  gp_high,
  gp_low,
  gp_relative16,  // a 16-bit gp offset in an instruction: reaches data only
  gp_offset,      // an instruction, perhaps a long one, that adds to gp: also reaches code
  absolute,       // an address in an instruction: reaches data only
  address_high,   // upper half of an address in an instruction; nothing marks the lower halves.
                  // Symbol and addend are the address, or 0 where the file lacks it.
  gp_load,        // pair of instructions that compute gp; addend: distance to the second
  got_load,       // loads the slot of the global offset table at gp + field
  address64,
  address32,
  gp_relative32,
  pc_relative32,
  pc_relative64,
  image_relative32,  // from Image::base
  // Words of unwind tables, which are rewritten with their relocations. The lifter ignores them.
  unwind_gp_relative64,
  unwind_segment_relative64,  // from the lowest loaded segment
};

}  // namespace respike
