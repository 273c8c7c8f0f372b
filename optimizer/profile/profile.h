#pragma once
// Profiles: exact execution counts of blocks and edges, per procedure.
//
// Addresses are those of the original image, but nothing depends on them alone: a procedure is
// known by name and by the signature of its flow graph, a block by its node in the normalised graph
// (signature.h), so that a profile can be carried over to another build.

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "optimizer/ir/program.h"

namespace respike {

/// A block as profiles and counter maps describe it.
struct BlockInfo {
  uint64_t address = 0;       // in the original image; of made-up blocks: where control is
  uint32_t size = 0;          // bytes, there
  uint32_t instructions = 0;  // there
  uint32_t node = kNone;      // of the normalised graph; kNone: empty, or never reached
  bool operator==(const BlockInfo&) const = default;
};

/// What a node of the normalised graph holds, docs/profiles.md: the same code, and code of the same
/// kind, wherever it lies. For matching builds, node_hash.h.
struct NodeHash {
  uint16_t strict = 0;  // instructions with registers and numbers, names of what they refer to
  uint16_t loose = 0;   // mnemonics
  bool operator==(const NodeHash&) const = default;
};

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
  struct Call {  // a jump that leaves the procedure is one, too
    BlockId block = kNone;
    uint64_t callee = 0;  // address of a procedure's entry; 0: not known
    uint64_t count = 0;
    bool operator==(const Call&) const = default;
  };
  struct IndirectTarget {
    BlockId block = kNone;
    uint64_t target = 0;   // entry or block, address in the original image; 0: outside the image
    uint64_t changes = 0;  // how often the target was another than the time before; the first
                           // time counts
    bool operator==(const IndirectTarget&) const = default;
  };

  std::string name;
  uint64_t address = 0;
  uint64_t signature = 0;
  bool exact = true;  // false: some calls never returned and it is not sure which
  std::vector<NodeHash> nodes;
  std::vector<Block> blocks;
  std::vector<Edge> edges;               // by from, to, kind
  std::vector<Call> calls;               // by block
  std::vector<IndirectTarget> indirect;  // by block, target: the last one of each run

  /// Executed instructions, at most 2^64 - 1.
  uint64_t instructions() const;
  /// How often control came in from outside: calls, jumps, and returns to other places than those
  /// behind calls.
  uint64_t entries() const;
  bool entered() const;  // whether anything was counted
  bool operator==(const ProcedureProfile&) const = default;
};

struct Profile {
  std::string image_path;  // of the original
  std::string image_build_id;
  uint64_t image_hash = 0;                   // hash64 of the original file
  double runs = 0;                           // counter files that went into it, weighted
  std::vector<ProcedureProfile> procedures;  // by address; those never entered included
  bool operator==(const Profile&) const = default;
};

/// The documented format, docs/profiles.md. decode and read throw Error, with the offset where
/// known, when the file is damaged, of a newer version, or no profile. `name` stands for the path.
std::vector<uint8_t> encode_profile(const Profile& profile);
Profile decode_profile(std::span<const uint8_t> bytes, const std::string& name);
Profile read_profile(const std::filesystem::path& path);
/// A procedure alone, as it is in the format (docs/profiles.md, the address as a difference to 0).
/// decode throws Error without a file name when the bytes are damaged.
std::vector<uint8_t> encode_procedure(const ProcedureProfile& procedure);
ProcedureProfile decode_procedure(std::span<const uint8_t> bytes);
/// All or nothing, like every output.
void write_profile(const std::filesystem::path& path, const Profile& profile);

/// Whether both are of one image and list the same procedures, blocks, edges and calls, so that
/// counts can be added one by one.
bool same_places(const Profile& a, const Profile& b);

/// Adds counts times weights, at most 2^64 - 1 each. Throws Error when the profiles have not
/// the same places; `names` stand for them then. Weights are not negative and finite.
Profile merge_profiles(std::span<const Profile> profiles, std::span<const double> weights,
                       std::span<const std::string> names);

/// Sets all counts to 0 and forgets indirect targets.
void clear_counts(Profile& profile);
/// Sorts by block and target and adds up what is listed twice.
void unite(std::vector<ProcedureProfile::IndirectTarget>& sites);

/// a + b, at most 2^64 - 1.
constexpr uint64_t saturating_add(uint64_t a, uint64_t b) {
  return a + b < a ? UINT64_MAX : a + b;
}

}  // namespace respike
