// A note (note.h) with a small descriptor: version, build id of the input, options, fragments.
// Numbers are LEB128, addresses of fragments are differences in ascending order, so that a
// scattered image of 100,000 fragments needs about half a megabyte.
//
// Facts that later versions of Respike added are at the end: a reader of an older note finds them
// absent, and an older Respike does not read them. The version is for changes of any other kind.

#include "optimizer/image/provenance.h"

#include <algorithm>

#include "optimizer/base/bytes.h"
#include "optimizer/image/note.h"

namespace respike {
namespace {

constexpr uint64_t kVersion = 1;

void write_text(ByteWriter& writer, std::string_view text) {
  writer.uleb128(text.size());
  writer.append({reinterpret_cast<const uint8_t*>(text.data()), text.size()});
}

std::string read_text(ByteReader& reader) {
  const auto bytes = reader.take(reader.uleb128());
  return {bytes.begin(), bytes.end()};
}

uint64_t next_address(ByteReader& reader, uint64_t& previous) {
  const uint64_t address = previous + reader.uleb128();
  if (address < previous) throw Error("the note .note.respike is damaged");
  return previous = address;
}

void read_range(ByteReader& reader, uint64_t& previous, uint64_t& start, uint64_t& end) {
  start = next_address(reader, previous);
  end = start + reader.uleb128();
  if (end < start) throw Error("the note .note.respike is damaged");
}

/// Writes addresses in ascending order.
void write_addresses(ByteWriter& writer, const std::vector<uint64_t>& addresses) {
  writer.uleb128(addresses.size());
  uint64_t previous = 0;
  for (const uint64_t address : addresses) {
    writer.uleb128(address - previous);
    previous = address;
  }
}

std::vector<uint64_t> read_addresses(ByteReader& reader) {
  std::vector<uint64_t> addresses;
  uint64_t previous = 0;
  for (uint64_t count = reader.uleb128(); count != 0; --count)
    addresses.push_back(next_address(reader, previous));
  return addresses;
}

void write_hot_parts(ByteWriter& writer, const std::vector<Provenance::HotPart>& parts) {
  writer.uleb128(parts.size());
  uint64_t previous = 0;
  for (const auto& part : parts) {
    writer.uleb128(part.entry - previous);
    write_addresses(writer, part.blocks);
    previous = part.entry;
  }
}

std::vector<Provenance::HotPart> read_hot_parts(ByteReader& reader) {
  std::vector<Provenance::HotPart> parts;
  uint64_t previous = 0;
  for (uint64_t count = reader.uleb128(); count != 0; --count) {
    Provenance::HotPart& part = parts.emplace_back();
    part.entry = next_address(reader, previous);
    part.blocks = read_addresses(reader);
  }
  return parts;
}

}  // namespace

std::vector<uint8_t> encode_provenance(const Provenance& provenance) {
  ByteWriter descriptor;
  descriptor.uleb128(kVersion);
  write_text(descriptor, provenance.input_build_id);
  write_text(descriptor, provenance.options);
  descriptor.uleb128(provenance.fragments.size());
  uint64_t previous = 0;
  for (const auto& fragment : provenance.fragments) {
    descriptor.uleb128(fragment.start - previous);
    descriptor.uleb128(fragment.end - fragment.start);
    descriptor.sleb128(static_cast<int64_t>(fragment.owner - fragment.start));
    previous = fragment.start;
  }
  descriptor.uleb128(provenance.far_stubs.size());
  previous = 0;
  for (const auto& range : provenance.far_stubs) {
    descriptor.uleb128(range.start - previous);
    descriptor.uleb128(range.end - range.start);
    previous = range.start;
  }
  descriptor.uleb128(provenance.gp_values.size());
  previous = 0;
  for (const auto& value : provenance.gp_values) {
    descriptor.uleb128(value.entry - previous);
    descriptor.sleb128(static_cast<int64_t>(value.gp - value.entry));
    previous = value.entry;
  }
  write_addresses(descriptor, provenance.dead_ends);
  previous = 0;
  descriptor.uleb128(provenance.hot_parts.size());
  for (const auto& round : provenance.hot_parts) write_hot_parts(descriptor, round);
  write_addresses(descriptor, provenance.left_out);
  write_text(descriptor, provenance.fingerprint);

  return make_note(kNoteOwner, static_cast<uint32_t>(provenance.type), descriptor.bytes());
}

bool is_instrumented(const Image& image) {
  const Section* note = image.section_named(kNoteSection);
  return note != nullptr && find_note(note->contents, note->alignment, kNoteOwner,
                                      static_cast<uint32_t>(NoteType::instrumented));
}

std::optional<Provenance> read_provenance(const Image& image) {
  const Section* section = image.section_named(kNoteSection);
  if (section == nullptr) return std::nullopt;
  try {
    ByteReader reader(section->contents, "the note .note.respike");
    const uint32_t name_size = reader.read<uint32_t>();
    const uint32_t size = reader.read<uint32_t>();
    Provenance result;
    result.type = static_cast<NoteType>(reader.read<uint32_t>());
    reader.skip(align_up(name_size, 4));
    ByteReader descriptor(reader.take(size), "the note .note.respike");
    if (descriptor.uleb128() != kVersion)
      throw Error("the note .note.respike is of a newer version");
    result.input_build_id = read_text(descriptor);
    result.options = read_text(descriptor);
    uint64_t previous = 0;
    for (uint64_t count = descriptor.uleb128(); count != 0; --count) {
      Provenance::Fragment fragment;
      read_range(descriptor, previous, fragment.start, fragment.end);
      fragment.owner = fragment.start + static_cast<uint64_t>(descriptor.sleb128());
      result.fragments.push_back(fragment);
    }
    previous = 0;
    for (uint64_t count = descriptor.uleb128(); count != 0; --count) {
      Provenance::Range& range = result.far_stubs.emplace_back();
      read_range(descriptor, previous, range.start, range.end);
    }
    previous = 0;
    for (uint64_t count = descriptor.uleb128(); count != 0; --count) {
      Provenance::GpValue& value = result.gp_values.emplace_back();
      value.entry = previous += descriptor.uleb128();
      value.gp = value.entry + static_cast<uint64_t>(descriptor.sleb128());
    }
    // Later versions added the rest.
    if (!descriptor.at_end()) result.dead_ends = read_addresses(descriptor);
    for (uint64_t count = descriptor.at_end() ? 0 : descriptor.uleb128(); count != 0; --count)
      result.hot_parts.push_back(read_hot_parts(descriptor));
    if (!descriptor.at_end()) result.left_out = read_addresses(descriptor);
    if (!descriptor.at_end()) result.fingerprint = read_text(descriptor);
    return result;
  } catch (const Error& error) {
    throw Error(error.what(), image.path, section->offset);
  }
}

}  // namespace respike
