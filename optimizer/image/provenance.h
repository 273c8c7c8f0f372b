#pragma once
// The note that Respike leaves in its outputs: which fragments belong to which procedure, and
// whether an image was instrumented. It is a section without addresses, so `strip` may remove it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "optimizer/image/image.h"

namespace respike {

inline constexpr std::string_view kNoteSection = ".note.respike";
inline constexpr std::string_view kNoteOwner = "Respike";
enum class NoteType : uint32_t { rewritten = 1, instrumented = 2 };

struct Provenance {
  NoteType type = NoteType::rewritten;
  std::string input_build_id;
  std::string options;  // as on the command line

  struct Fragment {
    uint64_t start = 0;  // output addresses, half-open
    uint64_t end = 0;
    uint64_t owner = 0;  // entry of its procedure
  };
  std::vector<Fragment> fragments;  // without a sized symbol of the procedure's name, or with
                                    // blocks in another order; by address

  struct Range {
    uint64_t start = 0;
    uint64_t end = 0;
  };
  std::vector<Range> far_stubs;  // code that only continues far branches, by address

  struct GpValue {
    uint64_t entry = 0;
    uint64_t gp = 0;
  };
  std::vector<GpValue> gp_values;   // of procedures, by entry, where an image has more than one gp
  std::vector<uint64_t> dead_ends;  // places where code follows a call that does not return to it;
                                    // ascending

  /// The hot parts that hot-cold optimization made. It changes instructions; from the hot parts a
  /// comparison finds out on its own what became of these instructions.
  struct HotPart {
    uint64_t entry = 0;            // of a procedure of the input
    std::vector<uint64_t> blocks;  // their numbers, ascending: blocks of the input come first
  };
  std::vector<std::vector<HotPart>> hot_parts;  // by round, of a round by entry
  std::vector<uint64_t> left_out;  // entries of procedures in the input that had to stay as they
                                   // are, ascending; where there are hot parts
  std::string fingerprint;         // of the Respike that made the image; empty: an older Respike,
                                   // or not said
};

/// The contents of the note section.
std::vector<uint8_t> encode_provenance(const Provenance& provenance);

/// Whether an instrumenter of Respike wrote the image.
bool is_instrumented(const Image& image);

/// nullopt when the image has no such note; throws Error when it is damaged.
std::optional<Provenance> read_provenance(const Image& image);

}  // namespace respike
