// A block is a byte, followed by its numbers that differ from the expected numbers. Bits 0-2 of the
// byte: the number of instructions (0: it follows). Bit 3: the block does not start at the end of
// the previous block. Bit 4: the size of its instructions differs from the previous block's. Bit 5:
// its node is not the next one. Bits 6 and 7 belong to the caller. Example: a block of 3
// instructions of 4 bytes after another block is only the byte 3.

#include "optimizer/profile/records.h"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>

#include "optimizer/base/file_kind.h"
#include "optimizer/base/hash.h"

namespace respike {
namespace {

constexpr size_t kVersionOffset = 8;

enum : unsigned { kMostInstructions = 7, kAddress = 8, kSize = 16, kNode = 32, kExtraShift = 6 };

/// The expected next block if it has this number of instructions.
BlockInfo expected(const BlockContext& context, uint32_t instructions) {
  return {context.address, context.unit * instructions, instructions, context.node};
}

void advance(BlockContext& context, const BlockInfo& block) {
  context.address = block.address + block.size;
  if (block.instructions != 0) context.unit = block.size / block.instructions;
  if (block.node != kNone) context.node = block.node + 1;
}

}  // namespace

std::vector<uint8_t> seal(const SealedFormat& format, std::span<const uint8_t> payload) {
  assert(format.magic.size() == 8);
  ByteWriter out;
  out.append({reinterpret_cast<const uint8_t*>(format.magic.data()), format.magic.size()});
  out.write(format.version);
  out.write(uint32_t{0});
  out.write(hash64(payload));
  out.append(payload);
  return std::move(out.bytes());
}

/// The message for a file of another format: names the format if it is one of Respike's.
static std::string describe_other(const SealedFormat& format, std::span<const uint8_t> bytes) {
  const std::string_view kind = kind_of_file(bytes);
  if (kind.empty()) return fmt::format("this is no {}", format.what);
  return fmt::format("it is {}, not a {}{}", kind, format.what,
                     kind == "a counter file" ? ": respike image collect makes profiles of them"
                     : kind == "a set of profiles"
                         ? ": respike profile export --image makes a profile of one image"
                         : "");
}

std::span<const uint8_t> unseal(const SealedFormat& format, std::span<const uint8_t> bytes,
                                const std::string& name) {
  if (bytes.size() < format.magic.size() ||
      !std::equal(format.magic.begin(), format.magic.end(), bytes.begin()))
    throw Error(describe_other(format, bytes), name);
  if (bytes.size() < kSealSize)
    throw Error(fmt::format("the {} is damaged: it ends too early", format.what), name);
  const uint32_t version = version_of(bytes);
  if (version < format.oldest || version > format.version)
    throw Error(fmt::format("the {} is of version {}, this Respike reads versions {} to {}",
                            format.what, version, format.oldest, format.version),
                name);
  const auto payload = bytes.subspan(kSealSize);
  if (load<uint32_t>(bytes.data() + 12) != 0 ||
      load<uint64_t>(bytes.data() + 16) != hash64(payload))
    throw Error(fmt::format("the {} is damaged: its checksum is wrong", format.what), name);
  return payload;
}

uint32_t version_of(std::span<const uint8_t> bytes) {
  return load<uint32_t>(bytes.data() + kVersionOffset);
}

void write_text(ByteWriter& out, std::string_view text) {
  out.uleb128(text.size());
  out.append({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

std::string read_text(ByteReader& in) {
  const auto bytes = in.take(read_count(in));
  return {bytes.begin(), bytes.end()};
}

size_t read_count(ByteReader& in, size_t least) {
  const uint64_t count = in.uleb128();
  if (count > in.remaining() / least) throw Error("a number of records is too high");
  return count;
}

uint32_t read_u32(ByteReader& in) {
  const uint64_t value = in.uleb128();
  if (value > UINT32_MAX) throw Error("a number is too high");
  return static_cast<uint32_t>(value);
}

void write_nodes(ByteWriter& out, std::span<const NodeHash> nodes) {
  out.uleb128(nodes.size());
  for (const NodeHash& node : nodes) {
    out.write(node.strict);
    out.write(node.loose);
  }
}

void read_nodes(ByteReader& in, std::vector<NodeHash>& nodes) {
  nodes.resize(read_count(in, 4));
  for (NodeHash& node : nodes) {
    node.strict = in.read<uint16_t>();
    node.loose = in.read<uint16_t>();
  }
}

void check_node(const BlockInfo& block, size_t nodes) {
  if (block.node != kNone && block.node >= nodes) throw Error("a block is of no known node");
}

void BlockWriter::write(const BlockInfo& block, unsigned extra) {
  assert(extra < 4);
  const BlockInfo usual = expected(context_, block.instructions);
  unsigned head = extra << kExtraShift;
  if (block.instructions <= kMostInstructions) head |= block.instructions;
  if (block.address != usual.address) head |= kAddress;
  if (block.size != usual.size) head |= kSize;
  if (block.node != usual.node) head |= kNode;
  out_.write(static_cast<uint8_t>(head));
  if ((head & kMostInstructions) == 0) out_.uleb128(block.instructions);
  if ((head & kAddress) != 0) write_difference(out_, block.address, usual.address);
  if ((head & kSize) != 0) out_.uleb128(block.size);
  if ((head & kNode) != 0) write_difference(out_, block.node, usual.node);
  advance(context_, block);
}

unsigned BlockReader::read(BlockInfo& block) {
  const unsigned head = in_.read<uint8_t>();
  uint32_t instructions = head & kMostInstructions;
  if (instructions == 0) instructions = read_u32(in_);
  block = expected(context_, instructions);
  if ((head & kAddress) != 0) block.address = read_difference(in_, block.address);
  if ((head & kSize) != 0) block.size = read_u32(in_);
  if ((head & kNode) != 0) block.node = read_difference(in_, block.node);
  advance(context_, block);
  return head >> kExtraShift;
}

}  // namespace respike
