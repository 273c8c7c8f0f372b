#pragma once
// From the IR and a layout to the bytes of an image.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "optimizer/base/diagnostics.h"
#include "optimizer/image/debug_file.h"
#include "optimizer/image/image.h"
#include "optimizer/image/provenance.h"
#include "optimizer/ir/program.h"

namespace respike {

struct EmitStatistics {
  uint64_t text_bytes = 0;        // code in the original text range
  uint64_t added_text_bytes = 0;  // code in the added segment
  uint64_t fragments = 0;
  uint64_t far_stubs = 0;
};

/// An instruction of movable code in the output, and where it came from.
struct PlacedInstruction {
  enum class Kind : uint8_t {
    own,    // of the input
    added,  // a branch between blocks, or code that counts
    stub,   // one half of a far branch
  };
  uint64_t address = 0;
  uint64_t old_address = 0;  // Kind::own
  Kind kind = Kind::own;
};

/// Code, memory and tables that an image gets in addition to the program's own.
struct Injection {
  struct Addresses {
    uint64_t memory = 0;
    uint64_t code = 0;
    uint64_t entry = 0;                                    // of the program, in the output
    std::optional<uint64_t> initializer;                   // of the program, in the output
    std::function<uint64_t(const CodeLocation&)> resolve;  // where code is in the output
  };
  struct Contents {
    std::vector<uint8_t> code;            // code_size bytes
    uint64_t entry = 0;                   // addresses in the output
    std::optional<uint64_t> initializer;  // needs a spare dynamic entry where there was none
    std::vector<NewImage::AddedSection> sections;  // without addresses
    // The initial contents of the memory, and 32-bit words in the memory that hold addresses: place
    // and address.
    std::vector<uint8_t> memory;
    std::vector<std::pair<uint64_t, uint64_t>> words;
    bool wide_words = false;  // the words have 64 bits
  };

  AddedMemory memory;
  uint64_t code_size = 0;
  std::function<Contents(const Addresses&)> make;  // called once, when all addresses are known
};

/// The debug file of the image (debug/debug_file.h), which is rewritten for the output.
struct DebugFile {
  DebugFile(const Image& old_file, std::string new_name)
      : input(old_file), name(std::move(new_name)) {}

  const Image& input;
  std::string name;            // of the new file: the output refers to it
  std::vector<uint8_t> bytes;  // of the new file; emit() fills these in
};

/// Writes `program`, lifted from `program.image`, in the order of `layout`. `note` holds the
/// options and the earlier changes; emission adds the rest. The returned bytes are a complete
/// image; nothing is written to disk. Throws Error when an address cannot be represented. With an
/// injection the output is marked as instrumented. `places`, if not null, gets all instructions of
/// movable code by address. `debug_file` may be null. With `dynamic_fragments`, fragments of
/// procedures that have dynamic symbols get dynamic symbols as well, so that dladdr finds them.
std::vector<uint8_t> emit(const Program& program, Layout layout, Provenance note,
                          Diagnostics& diagnostics, EmitStatistics* statistics = nullptr,
                          const Injection* injection = nullptr,
                          std::vector<PlacedInstruction>* places = nullptr,
                          DebugFile* debug_file = nullptr, bool dynamic_fragments = true);

}  // namespace respike
