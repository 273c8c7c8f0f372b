#pragma once
// What the formats of profiles and counter maps share (docs/profiles.md): a sealed frame, and
// compact records of text and blocks. Lower than the formats, so that both read alike.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/base/bytes.h"
#include "optimizer/profile/profile.h"

namespace respike {

/// A file or section of ours: magic (8 bytes), version (4), zero (4), hash64 of the payload (8).
struct SealedFormat {
  std::string_view magic;  // 8 bytes
  uint32_t version;
  std::string_view what;  // "profile": for errors
};
inline constexpr size_t kSealSize = 24;

std::vector<uint8_t> seal(const SealedFormat& format, std::span<const uint8_t> payload);
/// The payload. Throws Error: not of this format, of a newer version, damaged.
std::span<const uint8_t> unseal(const SealedFormat& format, std::span<const uint8_t> bytes);

void write_text(ByteWriter& out, std::string_view text);
std::string read_text(ByteReader& in);

/// The number of records that follow, each of at least `least` bytes; throws when there cannot be
/// so many.
size_t read_count(ByteReader& in, size_t least = 1);
/// A number below 2^32.
uint32_t read_u32(ByteReader& in);

/// Hashes of nodes, with their number in front.
void write_nodes(ByteWriter& out, std::span<const NodeHash> nodes);
void read_nodes(ByteReader& in, std::vector<NodeHash>& nodes);
/// Throws when a block is of a node that is not there.
void check_node(const BlockInfo& block, size_t nodes);

/// The difference to a number before it, signed. Arithmetic is modulo the numbers' size.
template <typename T>
void write_difference(ByteWriter& out, T value, T before) {
  out.sleb128(static_cast<std::make_signed_t<T>>(value - before));
}
template <typename T>
T read_difference(ByteReader& in, T before) {
  return before + static_cast<T>(in.sleb128());
}

/// Blocks, one after the other. What usually holds costs nothing: a block starts where the one
/// before ended, all instructions are of the same size, nodes are numbered in order.
struct BlockContext {
  uint64_t address = 0;  // where the next block is expected
  uint32_t unit = 0;     // bytes of an instruction
  uint32_t node = 0;     // the next one
};

class BlockWriter {
 public:
  explicit BlockWriter(ByteWriter& out) : out_(out) {}
  /// `extra`: two bits of the caller's.
  void write(const BlockInfo& block, unsigned extra = 0);

 private:
  ByteWriter& out_;
  BlockContext context_;
};

class BlockReader {
 public:
  explicit BlockReader(ByteReader& in) : in_(in) {}
  /// Returns the two bits of the caller's.
  unsigned read(BlockInfo& block);

 private:
  ByteReader& in_;
  BlockContext context_;
};

}  // namespace respike
