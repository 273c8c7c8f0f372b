#pragma once
// The parts that the formats of profiles and counter maps share (docs/profiles.md): a sealed frame,
// and compact records of text and blocks.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "optimizer/base/bytes.h"
#include "optimizer/profile/profile.h"

namespace respike {

/// The frame of a file or section that Respike writes: magic (8 bytes), version (4), zero (4),
/// hash64 of the payload (8), payload.
struct SealedFormat {
  std::string_view magic;  // 8 bytes
  uint32_t version;
  std::string_view what;  // "profile": for errors
  uint32_t oldest;        // version that is still read
};
inline constexpr size_t kSealSize = 24;

std::vector<uint8_t> seal(const SealedFormat& format, std::span<const uint8_t> payload);
/// The payload. Throws Error, about the file `name`, when `bytes` are not of this format and
/// version, or damaged.
std::span<const uint8_t> unseal(const SealedFormat& format, std::span<const uint8_t> bytes,
                                const std::string& name = {});

/// The version in the frame of bytes that unseal() accepts.
uint32_t version_of(std::span<const uint8_t> bytes);

void write_text(ByteWriter& out, std::string_view text);
std::string read_text(ByteReader& in);

/// Reads the number of records that follow, each of at least `least` bytes; throws Error when the
/// bytes left cannot hold so many.
size_t read_count(ByteReader& in, size_t least = 1);
/// Reads a number below 2^32.
uint32_t read_u32(ByteReader& in);

/// The hashes of nodes; the number of nodes comes first.
void write_nodes(ByteWriter& out, std::span<const NodeHash> nodes);
void read_nodes(ByteReader& in, std::vector<NodeHash>& nodes);
/// Throws Error when the node of a block is not below `nodes`.
void check_node(const BlockInfo& block, size_t nodes);

/// The signed difference between a number and the previous number, modulo the size of T.
template <typename T>
void write_difference(ByteWriter& out, T value, T before) {
  out.sleb128(static_cast<std::make_signed_t<T>>(value - before));
}
template <typename T>
T read_difference(ByteReader& in, T before) {
  return before + static_cast<T>(in.sleb128());
}

/// What a writer and a reader of blocks expect of the next block. Expected numbers take no bytes:
/// usually a block starts where the previous block ended, all instructions have the same size, and
/// nodes are numbered in order.
struct BlockContext {
  uint64_t address = 0;  // of the next block
  uint32_t unit = 0;     // bytes of an instruction
  uint32_t node = 0;     // of the next block
};

class BlockWriter {
 public:
  explicit BlockWriter(ByteWriter& out) : out_(out) {}
  /// `extra`: two bits that belong to the caller.
  void write(const BlockInfo& block, unsigned extra = 0);

 private:
  ByteWriter& out_;
  BlockContext context_;
};

class BlockReader {
 public:
  explicit BlockReader(ByteReader& in) : in_(in) {}
  /// Returns the two bits that belong to the caller.
  unsigned read(BlockInfo& block);

 private:
  ByteReader& in_;
  BlockContext context_;
};

}  // namespace respike
