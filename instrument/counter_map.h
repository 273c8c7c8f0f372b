#pragma once
// The counter map: what each counter of an instrumented image counts. It is a section of the
// instrumented image, without addresses. Counter files and this section are enough to make a
// profile.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "instrument/runtime/counter_file.h"
#include "optimizer/image/image.h"
#include "optimizer/profile/flow_graph.h"
#include "optimizer/profile/profile.h"
#include "optimizer/report/left_out.h"

namespace respike {

inline constexpr std::string_view kCounterMapSection = ".respike.counters";

using ImageId = std::array<uint8_t, RESPIKE_IMAGE_ID_SIZE>;

struct CounterMap {
  /// An indirect jump or call has two words: its last target, and how often the target changed. The
  /// first target counts as a change.
  struct IndirectSite {
    BlockId block = kNone;
    uint32_t counter = kNone;  // index of the word with the target; the next one counts changes
    bool operator==(const IndirectSite&) const = default;
  };
  /// A block that ends in a call, or in a jump into another procedure.
  struct Call {
    BlockId block = kNone;
    uint32_t callee = kNone;  // index of `procedures`; kNone: outside the map or not known
    uint64_t address = 0;     // of the callee's entry in the original image, if it is not in the
                              // map; 0: not known
    bool jump = false;        // a tail call: the callee returns to the caller of this procedure
    bool operator==(const Call&) const = default;
  };
  struct Block : BlockInfo {
    BlockId landing_pad = kNone;  // of the call that ends the block
    bool operator==(const Block&) const = default;
  };
  struct ProcedureMap {
    std::string name;
    uint64_t address = 0;         // of its entry, in the original image
    uint64_t signature = 0;       // of its flow graph, see optimizer/profile/signature.h
    std::vector<NodeHash> nodes;  // of its blocks' code, see optimizer/profile/signature.h
    FlowGraph graph;              // counters are numbered over the whole image
    std::vector<Block> blocks;
    std::vector<Call> calls;             // all, by block
    std::vector<IndirectSite> indirect;  // by block
    std::vector<Switch> switches;        // large ones; maps before version 3 have none
    bool operator==(const ProcedureMap&) const = default;
  };
  /// An address to which indirect jumps and calls may lead: an entry, or a block whose address is
  /// taken, also in procedures that have no counters.
  struct Place {
    uint64_t address = 0;   // in the instrumented image
    uint64_t original = 0;  // in the original image
    bool operator==(const Place&) const = default;
  };

  std::string original_path;
  std::string original_build_id;
  uint64_t original_hash = 0;  // hash64 of the original file
  bool atomic = false;
  uint32_t counters = 0;                 // words
  uint64_t counters_address = 0;         // as linked
  std::vector<ProcedureMap> procedures;  // the instrumented procedures, by address
  std::vector<Place> places;             // by `address`
  std::vector<LeftOut> left_out;         // procedures that should have counters and do not
  bool operator==(const CounterMap&) const = default;
};

/// Versioned, compact, with a checksum (docs/profiles.md). A decoded map is sound: indices are in
/// range, and the edges without counters form a forest. decode throws Error without a file name.
std::vector<uint8_t> encode_counter_map(const CounterMap& map);
CounterMap decode_counter_map(std::span<const uint8_t> bytes);

/// A warning that procedures are not counted, if they make up much of the code.
std::optional<std::string> describe_left_out(const CounterMap& map);

/// The identity of an instrumented image: the same for the same original, options and map.
ImageId make_image_id(std::span<const uint8_t> original, std::string_view options,
                      std::span<const uint8_t> encoded_map);

/// The contents of the section: the identity, then the encoded map.
std::vector<uint8_t> counter_map_section(const ImageId& id, std::span<const uint8_t> encoded_map);
/// Both throw Error when the image has no such section; read_counter_map() also when the section is
/// damaged.
ImageId read_image_id(const Image& image);
CounterMap read_counter_map(const Image& image);

}  // namespace respike
