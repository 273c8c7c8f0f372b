#pragma once
// Profiles: exact execution counts of blocks and edges, per procedure.
//
// Addresses are those of the original image. But a procedure is also identified by its name and the
// signature of its flow graph, and a block by its node of the normalised graph (signature.h), so
// that a profile can be carried over to another build.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "optimizer/ir/program.h"

namespace respike {

/// A block as profiles and counter maps describe it.
struct BlockInfo {
  uint64_t address = 0;       // in the original image; for a made-up block: end of the previous
                              // block
  uint32_t size = 0;          // in bytes, in the original image
  uint32_t instructions = 0;  // in the original image
  uint32_t node = kNone;      // of the normalised graph; kNone: empty, or never reached
  bool operator==(const BlockInfo&) const = default;
};

/// Hashes of the code of a node of the normalised graph (docs/profiles.md, node_hash.h), to match
/// the nodes of two builds.
struct NodeHash {
  uint16_t strict = 0;  // of mnemonics, registers, numbers, and names of data and callees
  uint16_t loose = 0;   // of mnemonics
  bool operator==(const NodeHash&) const = default;
};

/// The targets of a table through which code jumps, in the table's order: blocks of the procedure.
using Switch = std::vector<BlockId>;

struct ProcedureProfile {
  struct Block : BlockInfo {
    uint64_t count = 0;
    bool operator==(const Block&) const = default;
  };
  struct Edge {
    enum class Kind : uint8_t { fall_through, taken, indirect, landing_pad };  // as in Edge
    BlockId from = kNone;  // indices of `blocks`
    BlockId to = kNone;
    Kind kind{};
    uint64_t count = 0;
    bool operator==(const Edge&) const = default;
  };
  struct Call {  // also a jump that leaves the procedure
    BlockId block = kNone;
    uint64_t callee = 0;  // address of a procedure's entry; 0: not known
    uint64_t count = 0;
    bool operator==(const Call&) const = default;
  };
  struct IndirectTarget {
    BlockId block = kNone;
    uint64_t target = 0;   // entry or block, address in the original image; 0: outside the image
    uint64_t changes = 0;  // how often control went here after it had gone elsewhere; the first
                           // time counts
    bool operator==(const IndirectTarget&) const = default;
  };

  std::string name;
  uint64_t address = 0;
  uint64_t signature = 0;
  bool exact = true;  // false: some calls did not return once, and it is not known which
  std::vector<NodeHash> nodes;
  std::vector<Block> blocks;
  std::vector<Edge> edges;               // by from, to, kind
  std::vector<Call> calls;               // by block
  std::vector<IndirectTarget> indirect;  // by block, target
  std::vector<Switch> switches;          // large ones, see switches.h; profiles before version 3
                                         // have none

  /// Executed instructions, at most 2^64 - 1.
  uint64_t instructions() const;
  /// How often control came in from outside, except by the return of a call.
  uint64_t entries() const;
  bool entered() const;  // whether anything was counted
  bool operator==(const ProcedureProfile&) const = default;
};

struct Profile {
  std::string image_path;  // of the original
  std::string image_build_id;
  uint64_t image_hash = 0;                   // hash64 of the original file
  double runs = 0;                           // weighted number of counter files
  std::vector<ProcedureProfile> procedures;  // by address; also procedures never entered
  bool operator==(const Profile&) const = default;
};

/// The format of docs/profiles.md. decode_profile() and read_profile() throw Error, with the offset
/// where known, when the file is damaged, of another version, or not a profile. `name` stands for
/// the path in errors.
std::vector<uint8_t> encode_profile(const Profile& profile);
Profile decode_profile(std::span<const uint8_t> bytes, const std::string& name);
Profile read_profile(const std::filesystem::path& path);
/// A single procedure in the format of docs/profiles.md, with the address as a difference to 0.
/// decode_procedure() throws Error without a file name when the bytes are damaged.
std::vector<uint8_t> encode_procedure(const ProcedureProfile& procedure);
ProcedureProfile decode_procedure(std::span<const uint8_t> bytes);
/// Writes the whole file or, on error, nothing.
void write_profile(const std::filesystem::path& path, const Profile& profile);

/// Whether two profiles are of one image and have the same procedures, blocks, edges and calls, so
/// that their counts can be added one by one.
bool same_places(const Profile& a, const Profile& b);

/// Adds counts times weights; sums are at most 2^64 - 1. Throws Error, with a name from `names`,
/// for a profile whose places differ from those of the first profile (same_places()). Weights must
/// be finite and not negative.
Profile merge_profiles(std::span<const Profile> profiles, std::span<const double> weights,
                       std::span<const std::string> names);

/// Sets all counts to 0 and removes indirect targets.
void clear_counts(Profile& profile);
/// Sorts by block and target, and adds up targets that are listed twice for a block.
void unite(std::vector<ProcedureProfile::IndirectTarget>& sites);

}  // namespace respike
